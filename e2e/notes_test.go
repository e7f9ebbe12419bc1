package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// remark from npm, with its plugin for wikilinks, reads the notes: each link leads to an existing
// note, and no text of a memory becomes a link, a picture, code or HTML.
func TestNotes(t *testing.T) {
	npm(t, "remark-wiki-link/package.json")
	h := newHome(t)
	for _, line := range []string{"My sister Ann likes green tea.", "I met Tom at the harbour in Lindau yesterday.", "My wifi password is hunter2swordfish9."} {
		h.must("add", line)
	}
	hostile := "A stranger said <img src=http://evil.example/x> ![x](http://evil.example) [[../../etc]] `$= dv` [a](b) #tag %% x"
	h.must("add", "--plain", hostile)
	dir := filepath.Join(t.TempDir(), "vault")
	h.must("notes", dir)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "notes.mjs", dir)
	cmd.Dir = "clients"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type note struct {
		File, Properties, Words string
		Links, Missing, Acts    []string
	}
	all := map[string]note{}
	for line := range strings.Lines(string(out)) {
		var n note
		mustParse(t, line, &n)
		all[n.File] = n
		if len(n.Missing)+len(n.Acts) > 0 {
			t.Errorf("%s: links to nowhere %q, and has %q", n.File, n.Missing, n.Acts)
		}
		if strings.Contains(line, "hunter2") || strings.Contains(line, "Wi-Fi") {
			t.Errorf("a secret in %s", line)
		}
	}
	met := all["Memories/Ana met Tom at the harbour in Lindau.md"]
	for _, want := range []string{"Tom", "Lindau"} {
		if !slices.Contains(met.Links, want) {
			t.Errorf("no link %s in %+v", want, met)
		}
	}
	if !strings.Contains(met.Properties, "type: episodic") || len(all["People/Tom.md"].Links) != 2 || len(all["Places/Lindau.md"].Links) != 2 {
		t.Errorf("%s", out)
	}
	if said := all["Memories/A stranger said img src=http evil.example x.md"]; !strings.Contains(said.Words, hostile) {
		t.Errorf("%+v\nin\n%s", said, out)
	}
}
