package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// loseAPage flips a bit of the store such that pages of lines are lost, and
// nothing else. It leaves the node closed.
func (d *device) loseAPage() {
	d.t.Helper()
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.Node = nil
	paths, err := filepath.Glob(filepath.Join(d.cfg.Home, "store/records/*.sst"))
	if err != nil {
		d.t.Fatal(err)
	}
	const places = 40
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			d.t.Fatal(err)
		}
		for n := range places {
			at := (2*n + 1) * len(b) / (2 * places)
			b[at] ^= 0x10
			if err := os.WriteFile(p, b, 0o600); err != nil {
				d.t.Fatal(err)
			}
			found := d.look()
			if len(found) > 0 && !slices.ContainsFunc(found, func(f node.RepairedItem) bool {
				return !strings.Contains(f.Place, "page of utterances") && !strings.Contains(f.Place, ".sst")
			}) && slices.ContainsFunc(found, func(f node.RepairedItem) bool { return strings.Contains(f.Place, "page of utterances") }) {
				return
			}
			b[at] ^= 0x10
			if err := os.WriteFile(p, b, 0o600); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	d.t.Fatal("no bit flip damages only pages of utterances")
}

func linesLost(r *node.Repaired) (lost []string) {
	for _, f := range r.Findings {
		if f.Lost && (f.Place == "lines" || strings.Contains(f.Place, "page of utterances")) {
			lost = append(lost, f.Place+": "+f.What)
		}
	}
	return lost
}

// The lines of a lost page are fetched from the relay again, and then nothing is
// lost. Without a relay, the number of lost lines is reported, once.
func TestRepairOfALostPageOfLines(t *testing.T) {
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprintf("synced %v", synced), func(t *testing.T) {
			t.Parallel()
			d := newDevice(t, "", 21)
			if synced {
				d = newDevice(t, serveRelay(t).url, 21)
			}
			d.init()
			const lines = 160
			for n := range lines {
				said := serve.AddRequest{Text: fmt.Sprintf("Well, the tram number %d was late again, would you believe it.", n), At: time.Now().Add(-72*time.Hour + time.Duration(n)*time.Second)}
				if _, err := d.Add(t.Context(), said); err != nil {
					t.Fatal(err)
				}
			}
			d.cfg.Hot.Records = 1000
			d.reopen()
			if synced {
				d.well()
			}
			d.cool()
			d.loseAPage()
			r := d.repair()
			s, err := d.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lost := linesLost(&r)
			if synced {
				if len(lost) > 0 || !r.OK || s.Utterances != lines || len(r.Findings) == 0 {
					t.Errorf("from the relay, %d lines: %+v", s.Utterances, r.Findings)
				}
				d.well()
			} else if want := fmt.Sprintf("lines: %d lines of lost pages were found nowhere", lines-s.Utterances); r.OK || s.Utterances == lines || !slices.Equal(lost, []string{want}) {
				t.Errorf("without a relay, %d lines: %+v, want %s", s.Utterances, r.Findings, want)
			}
			if r := d.repair(); len(r.Findings) > 0 || !r.OK {
				t.Errorf("a second repair: %+v", r.Findings)
			}
		})
	}
}
