package memory

import (
	"testing"
	"time"
)

func TestZoneName(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	local, err := time.LoadLocation("Local")
	if err != nil {
		t.Fatal(err)
	}
	for z, want := range map[*time.Location]string{berlin: "Europe/Berlin", time.UTC: "UTC", local: ""} {
		if got := ZoneName(z); got != want {
			t.Errorf("%s: %q, want %q", z, got, want)
		}
	}
}
