package worker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Limits of the names that an engine gets as a hint. Whisper takes 224 tokens
// of prompt, which is about this many names.
const (
	hintNames  = 30
	hintLook   = 400 // how many of the newest memories are read
	hintLength = 40  // bytes of a name
)

// names returns the people and places that occur most often in the newest
// memories, for an engine that takes hints. They are sent to the same host as
// the recording.
func (s *space) names(ctx context.Context) (out []string, err error) {
	count := map[string]int{}
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		seen := 0
		for m, err := range s.memories(tx, store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if seen++; seen > hintLook {
				return nil
			}
			if m.Sensitivity >= memory.Secret {
				continue
			}
			for _, e := range m.Entities {
				name := strings.TrimSpace(e.Name)
				if name != "" && len(name) <= hintLength && !strings.ContainsAny(name, "\n\r\t") {
					count[name]++
				}
			}
		}
		return nil
	})
	out = slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	return out[:min(len(out), hintNames)], err
}
