package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A home that an earlier Locket made can be opened with this one: memories, the vault, an app, a
// wearable, and events that a locked daemon accepted and nobody has read. What was forgotten stays
// forgotten. testdata/home.tar.gz was made by the commit 43cf2dd2, with .ci/upgrade --make; that
// script also tests the way back, with the programs of both versions.
func TestUpgrade(t *testing.T) {
	h := newHome(t)
	tmp := t.TempDir()
	if out, err := exec.Command("tar", "-C", tmp, "-xzf", filepath.Join("testdata", "home.tar.gz")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h.dir = filepath.Join(tmp, "home")
	// What waited is of March and the rest of November, so that the photo would be too old.
	settings, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, "config.toml"), append(settings, "\n[retention.photo]\nage = \"3650d\"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"where does Grace live": "Porto", "who is my sister": "Ines", "what is Ana allergic to": "peanuts",
		"when is the dentist": "dentist", // from the events that waited
	} {
		if out := h.must("search", query); !strings.Contains(out, want) {
			t.Errorf("%s: %s", query, out)
		}
	}
	if out := h.must("list", "--type", "resource"); !strings.Contains(out, "photo") && !strings.Contains(out, "Photo") {
		t.Errorf("the photo that waited: %s", out)
	}
	var secret struct{ ID string }
	mustParse(t, h.must("vault", "--json"), &secret)
	if out := h.must("vault", "show", secret.ID); !strings.Contains(out, "4711") {
		t.Error(out)
	}
	if out := h.must("app", "list"); !strings.Contains(out, "notes") {
		t.Error(out)
	}
	if out := h.must("wearable", "list"); !strings.Contains(out, "pin") {
		t.Error(out)
	}
	if out := h.must("export"); strings.Contains(out, "level 3") {
		t.Error("what was forgotten is there")
	}
	h.must("doctor", "--verify")
}
