package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/intake/wire"
)

// Time, zone, place and orientation are read as exiftool writes them, in JPEG and HEIC.
func TestExiftool(t *testing.T) {
	t.Parallel()
	jpeg, err := os.ReadFile(day + "astronaut.jpg")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC)
	for name, b := range map[string][]byte{"photo.jpg": jpeg, "photo.heic": photoHEIC(t)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command("exiftool", "-overwrite_original", "-DateTimeOriginal=2026:05:02 07:30:00", "-OffsetTimeOriginal=+02:00", "-Make=Locket", "-Orientation#=8",
			"-GPSLatitude=48.2082", "-GPSLatitudeRef=N", "-GPSLongitude=16.3738", "-GPSLongitudeRef=E", "-GPSAltitude=171", path).CombinedOutput(); err != nil {
			t.Fatalf("exiftool: install what .ci/needs names (%v: %s)", err, said)
		}
		if b, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		list, err := messages(t.Context(), b, time.Now(), 7, 0)
		if err != nil || len(list) != 2 {
			t.Errorf("%s: %d messages, %v", name, len(list), err)
			continue
		}
		turned := map[string]int{"photo.jpg": 270, "photo.heic": 0}[name] // heif-convert turns it upright
		if p := list[0].(*wire.Photo); !p.At.Equal(at) || p.Orientation != turned {
			t.Errorf("%s: at %s, turned by %d", name, p.At, p.Orientation)
		}
		if l := list[1].(*wire.Location); !l.At.Equal(at) || l.Place.Lat < 48.2081 || l.Place.Lat > 48.2083 || l.Place.Lon < 16.3737 || l.Place.Lon > 16.3739 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
