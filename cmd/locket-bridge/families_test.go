package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// A family consists of a folder for its wire format, with a fuzz target; a folder for its session,
// with a simulator; a line in families.go; and a row in the document. Files and this machine's
// screen have no wire format of their own.
func TestEachFamily(t *testing.T) {
	root := filepath.Join("..", "..")
	document, err := os.ReadFile(filepath.Join(root, "docs", "devices.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families() {
		names = append(names, f.Name)
		if !regexp.MustCompile("(?m)^\\| `" + f.Name + "`: .* \\| .* \\| .* \\|$").Match(document) {
			t.Errorf("%s: docs/devices.md has no row of it", f.Name)
		}
		if f.Carrier == carry.Folder || f.Carrier == carry.Screen {
			continue
		}
		if f.Simulate == nil {
			t.Errorf("%s has no simulator", f.Name)
		}
		if slices.Contains(f.SceneKinds, "audio") != (f.SceneCodec.Name != "") || (f.SceneCodec.Name == "lc3") != (f.SceneCodec.Bytes > 0) {
			t.Errorf("%s hears %+v of %v", f.Name, f.SceneCodec, f.SceneKinds)
		}
		tests, err := filepath.Glob(filepath.Join(root, "firmware-bridge", "frame", f.Name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(path string) bool {
			b, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(b), "\nfunc Fuzz")
		}) {
			t.Errorf("frame/%s has no fuzz target", f.Name)
		}
	}
	sessions, err := os.ReadDir(filepath.Join(root, "firmware-bridge", "carry"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.IsDir() && s.Name() != "carrytest" && !slices.Contains(names, s.Name()) {
			t.Errorf("carry/%s has no line in families.go", s.Name())
		}
	}
}

// Frame and Halo advertise one service: their names tell them apart.
func TestFamilyOf(t *testing.T) {
	const glasses = "7a230001-5475-a6a4-654c-8431f6ad49c4"
	for _, c := range []struct{ name, service, want string }{
		{"Halo 4F", glasses, "halo"}, {"Frame 4F", glasses, "brilliant"}, {"", glasses, "brilliant"}, {"Halo 4F", "", ""},
		{"friend", "1a3fd0e7-b1f3-ac9e-2e49-b647b2c4f8da", "friend"}, {"Halo", "19b10000-e8f2-537e-4f6c-d104768a1214", "omi"},
	} {
		if got := familyOf(&link.Found{Name: c.name, Services: []string{c.service}}); got != c.want {
			t.Errorf("%q, %s: %q", c.name, c.service, got)
		}
	}
}

// In a Wayland session the screen is the Wayland display: the X11 display beside it shows only X11
// programs.
func TestDisplays(t *testing.T) {
	for _, c := range []struct {
		wayland, x, given string
		want              link.Dialer
	}{
		{"", ":0", "", &link.X11{Display: ":0"}},
		{"wayland-1", ":0", "", &link.Wayland{Display: "wayland-1", Sway: "/run/sway"}},
		{"wayland-1", ":0", ":0", &link.X11{Display: ":0"}},
		{"", ":0", "wayland-2", &link.Wayland{Display: "wayland-2", Sway: "/run/sway"}},
		{"/run/w:1", ":0", "", &link.Wayland{Display: "/run/w:1", Sway: "/run/sway"}},
		{"", "", "/run/w", &link.Wayland{Display: "/run/w", Sway: "/run/sway"}},
		{"", "", "far:1", &link.X11{Display: "far:1"}},
		{"", "/private/tmp/com.apple.launchd.x/org.xquartz:0", "", &link.X11{Display: "/private/tmp/com.apple.launchd.x/org.xquartz:0"}},
		{"", ":0.1", "", &link.X11{Display: ":0.1"}},
	} {
		t.Setenv("WAYLAND_DISPLAY", c.wayland)
		t.Setenv("DISPLAY", c.x)
		t.Setenv("SWAYSOCK", "/run/sway")
		f := deviceFlags{family: screen.Family, display: c.given}
		got, _, err := f.source()
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}
