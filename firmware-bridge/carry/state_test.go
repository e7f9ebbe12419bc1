package carry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, path string) *State {
	t.Helper()
	s, err := OpenState(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBootNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "state.json")
	var before uint64
	for i := range 5 {
		boot, err := open(t, path).Begin()
		if err != nil || boot == 0 || boot >= StoredBit || i > 0 && boot != before+1 {
			t.Fatalf("%d after %d, %v", boot, before, err)
		}
		before = boot
	}
	for _, bad := range []string{"", "{", `{"version":2,"boot":1}`, "[]"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenState(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q was taken: %v", bad, err)
		}
	}
}

// A file of the first version, which had Omi's parts at its top level, is read unchanged.
func TestStateOfTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"boot":41,"mic_gain":5,"ring":{"boot":7,"from":1,"to":2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if boot, err := s.Begin(); err != nil || boot != 42 {
		t.Fatal(boot, err)
	}
	if err := s.Keep("page", 9); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	gain, page, none := 0, 0, 3
	for name, v := range map[string]*int{"mic_gain": &gain, "page": &page, "none": &none} {
		if err := s.Part(name, v); err != nil {
			t.Error(err)
		}
	}
	if gain != 5 || page != 9 || none != 3 {
		t.Error(gain, page, none)
	}
	if err := s.Part("ring", &gain); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "ring") {
		t.Errorf("%v", err)
	}
}
