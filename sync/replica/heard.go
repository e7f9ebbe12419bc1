package replica

import (
	"context"
	"maps"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
)

// Heard tells when each other member last said something that has come here, by
// its own clock, as far as that is not ahead of ours.
func (r *Replica) Heard(ctx context.Context) (map[memory.MemberID]time.Time, error) {
	_, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return maps.Clone(r.st.Heard), nil
}

// heard notes when a member said ops that came at now.
func (s *State) heard(member memory.MemberID, ops []delta.Op, now time.Time) {
	var last time.Time
	for i := range ops {
		at := time.Time{}
		if a := ops[i].Assertion; a != nil {
			at = a.Clock.Time()
		} else if u := ops[i].Utterance; u != nil {
			at = u.Received
		}
		if at.After(last) {
			last = at
		}
	}
	if last.After(now) {
		last = now
	}
	if last.After(s.Heard[member]) {
		s.Heard[member] = last.UTC().Truncate(time.Second)
	}
}
