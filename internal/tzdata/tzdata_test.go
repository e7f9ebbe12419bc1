package tzdata

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The zones are those of the Go version that builds. If they are not: go generate ./internal/tzdata
func TestZonesMatchTheGoVersion(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	have, err := zones()
	if err != nil || len(have.File) != len(want.File) || len(want.File) < 500 {
		t.Fatal(err, len(want.File))
	}
	for _, f := range want.File {
		b, err := fs.ReadFile(want, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := load(f.Name); err != nil || got != string(b) {
			t.Errorf("%s: %d bytes %v, want %d", f.Name, len(got), err, len(b))
		}
	}
	for _, name := range []string{"Nowhere/Town", "Europe", "", "../Europe/Lisbon", "/Europe/Lisbon"} {
		if _, err := load(name); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A name in other letters, or only a city, leads to the zone.
func TestLike(t *testing.T) {
	for name, want := range map[string]string{
		"europe/berlin": "Europe/Berlin", "Berlin": "Europe/Berlin", " new york ": "America/New_York", "AMERICA/ARGENTINA/USHUAIA": "America/Argentina/Ushuaia",
		"shanghai": "Asia/Shanghai", "Europe/Berln": "Europe/Berlin", "Asia/Shangai": "Asia/Shanghai", "utc": "Etc/UTC UTC", "Mars/Base": "", "": "", "Europe": "", "/": "", "..": "",
	} {
		if got := strings.Join(Like(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
