// Package retention finds what has been kept for long enough.
//
// The words:
//
// A rule says how long memories of a type, with a tag, or of a sensitivity are
// kept; the first rule that matches a memory decides. The clock is the clock of
// events: the time of the latest event, or the wall clock if that is earlier, so
// that nothing ends because a device was in a drawer. A memory's age counts from
// when it was last heard. No rule ends a pinned memory.
package retention

import (
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

func fits(r *config.Rule, m *memory.Memory) bool {
	return (len(r.Types) == 0 || slices.Contains(r.Types, m.Type)) && m.Sensitivity >= r.Least &&
		!slices.ContainsFunc(r.Tags, func(t string) bool { return !slices.Contains(m.Tags, t) })
}

// Ends returns the rule by which a memory has ended, or nil.
func Ends(rules []config.Rule, m *memory.Memory, now time.Time) *config.Rule {
	if m.Pinned {
		return nil
	}
	for i := range rules {
		if r := &rules[i]; fits(r, m) {
			if r.Keep > 0 && now.Sub(heardLast(m)) > r.Keep.Std() {
				return r
			}
			return nil
		}
	}
	return nil
}

// heardLast returns the time of a memory's latest evidence, or when it was learnt.
func heardLast(m *memory.Memory) time.Time {
	at := time.Time{}
	for _, e := range m.Evidence {
		if e.At.After(at) {
			at = e.At
		}
	}
	if at.IsZero() {
		return m.Learnt
	}
	return at
}
