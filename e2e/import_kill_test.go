package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/long"
)

// An import or a restore is killed halfway, or its daemon is, and is run again: everything is there
// once. KILLS sets the number of kills.
func TestImportKilledHalfway(t *testing.T) {
	t.Parallel()
	const seed, memories = 19, 120
	kills := long.Kills(t, 2)
	var list []map[string]string
	want := map[string]bool{}
	for i := range memories {
		text := fmt.Sprintf("Key %d hangs on hook %d.", i, i*7)
		want[text] = true
		list = append(list, map[string]string{"id": fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), "memory": text, "created_at": "2026-05-01T10:00:00Z"})
	}
	b, err := json.Marshal(map[string]any{"results": list})
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	mem0, archive, stick, pass := filepath.Join(tmp, "mem0.json"), filepath.Join(tmp, "archive.jsonl"), filepath.Join(tmp, "stick"), filepath.Join(tmp, "pass")
	if err := os.WriteFile(mem0, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pass, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	from := newHome(t)
	from.must("import", "--from", "mem0", mem0)
	from.must("export", "-o", archive)
	from.must("backup", stick, "--passphrase-file", pass)
	other := filepath.Join(tmp, "other") // a backup is locked while it is read, and both ways read at the same time
	if err := os.CopyFS(other, os.DirFS(stick)); err != nil {
		t.Fatal(err)
	}

	for i, way := range []struct {
		name           string
		args           []string
		daemon, victim bool // whether a daemon takes it, and is killed instead of the command
	}{
		{"mem0, without a daemon", []string{"import", "--from", "mem0", mem0}, false, false},
		{"mem0, the command", []string{"import", "--from", "mem0", mem0}, true, false},
		{"mem0, the daemon", []string{"import", "--from", "mem0", mem0}, true, true},
		{"archive, without a daemon", []string{"import", archive}, false, false},
		{"archive, the daemon", []string{"import", archive}, true, true},
		{"backup, without a daemon", []string{"backup", "restore", stick, "--passphrase-file", pass}, false, false},
		{"backup, the daemon", []string{"backup", "restore", other, "--passphrase-file", pass}, true, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			var whole time.Duration // duration of an import that is not killed: the first
			for n := range kills + 1 {
				h := newHome(t)
				if way.daemon {
					h.start()
				}
				began := time.Now()
				cmd := exec.Command(filepath.Join(bin, "locket"), append([]string{"--home", h.dir}, way.args...)...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					wait(time.Duration((.3 + .7*r.Float64()) * float64(whole))) // earlier than that it has barely begun
					if way.victim {
						h.d.kill()
					} else {
						_ = cmd.Process.Kill() // it may have ended
					}
				}
				err := cmd.Wait()
				took := time.Since(began)
				if way.victim && n > 0 {
					h.start()
				}
				before := once(h, want)
				t.Logf("%d of %d are there, %v", before, memories, err)
				if err == nil && before != memories || err != nil && n == 0 {
					t.Errorf("seed %d: %v, and %d of %d are there", seed, err, before, memories)
				}
				if n == 0 {
					whole = took
					continue
				}
				h.must(way.args...)
				if after := once(h, want); after != memories {
					t.Errorf("seed %d: %d of %d are there", seed, after, memories)
				}
			}
		})
	}
}

// once returns how many of these texts are memories of the home, which must have no others, and
// none twice.
func once(h *home, want map[string]bool) int {
	h.t.Helper()
	have := map[string]bool{}
	for line := range strings.Lines(h.must("list", "--json")) {
		var m struct{ Text string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || have[m.Text] || !want[m.Text] {
			h.t.Fatalf("twice, or from elsewhere: %s, %v", line, err)
		}
		have[m.Text] = true
	}
	return len(have)
}
