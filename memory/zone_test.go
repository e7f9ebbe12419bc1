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
	local := time.FixedZone("Local", 3600) // the name of time.Local if TZ is not set
	for z, want := range map[*time.Location]string{berlin: "Europe/Berlin", time.UTC: "UTC", local: ""} {
		if got := ZoneName(z); got != want {
			t.Errorf("%s: %q, want %q", z, got, want)
		}
	}
}
