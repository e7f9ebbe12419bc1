package delta_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// The state of one memory must follow FORMAT.md, whatever the order of its
// assertions. The vectors are written by hand, and the Python reader is tested
// with them, too.
func TestFoldVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/fold.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name   string
		Said   []memory.Assertion
		Memory *struct {
			Text        string
			Sensitivity memory.Sensitivity
			Pinned      bool
			Tags        []string
		}
	}
	if err := json.Unmarshal(b, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal(len(vectors), err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			for range 2 {
				for i := range v.Said {
					if err := v.Said[i].Validate(); err != nil {
						t.Fatal(err)
					}
				}
				ms := reconcile.Derive(v.Said)
				switch want := v.Memory; {
				case want == nil:
					if len(ms) != 0 {
						t.Errorf("there is %+v", ms)
					}
				case len(ms) != 1:
					t.Errorf("%d memories", len(ms))
				case want.Text == "":
					if ms[0].State != memory.Erased || ms[0].Text != "" {
						t.Errorf("not erased: %+v", ms[0])
					}
				default:
					m := ms[0]
					slices.Sort(m.Tags)
					if m.Text != want.Text || m.Sensitivity != want.Sensitivity || m.Pinned != want.Pinned || !slices.Equal(m.Tags, want.Tags) {
						t.Errorf("it says %q, %s, pinned %v, %q; want %+v", m.Text, m.Sensitivity, m.Pinned, m.Tags, *want)
					}
				}
				slices.Reverse(v.Said)
			}
		})
	}
}
