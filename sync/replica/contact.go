package replica

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// Contact says when another member was last active, as far as this member
// knows. The relay knows more from its requests, but its word is not used.
type Contact struct {
	// Added is when the member was added, by the clock of the member that added
	// it, but not after our own clock.
	Added time.Time
	// Heard is when the newest of the data that we have from the member was made:
	// memories, a log entry, a snapshot, a vote on a snapshot, or the heads that two
	// members compare. The member's clock gives the time; a time in the future becomes
	// now. A vote counts with the time of its snapshot. Heard is zero if the member
	// has sent nothing.
	Heard time.Time
	Reach Reach
}

// Contacts returns the contact of each member that was ever in the log.
func (r *Replica) Contacts(ctx context.Context) (map[memory.MemberID]Contact, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	entries, err := r.c.Journal.Entries(ctx)
	if err != nil {
		return nil, err
	}
	out := map[memory.MemberID]Contact{}
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return nil, err
		}
		at := time.Unix(e.At, 0).UTC()
		if e.Member != nil {
			c := out[e.Member.ID]
			c.Added = laterTime(time.Time{}, at, r.c.Now())
			out[e.Member.ID] = c
		}
		if c, ok := out[e.Author]; ok { // the root key is an author, but not a member
			c.Heard = laterTime(c.Heard, at, r.c.Now())
			out[e.Author] = c
		}
	}
	for id, at := range r.st.Heard {
		c := out[id]
		c.Heard = laterTime(c.Heard, at, r.c.Now())
		out[id] = c
	}
	r.setReaches(out)
	return out, nil
}

// laterTime returns the later of the times known and told. A told time after now
// counts as now.
func laterTime(known, told, now time.Time) time.Time {
	if told.After(now) {
		told = now
	}
	if told = told.UTC().Truncate(time.Second); told.After(known) {
		return told
	}
	return known
}

// noteActive records that a member said something at a time in seconds since 1970,
// and reports whether that is news.
func (s *State) noteActive(member memory.MemberID, at int64, now time.Time) bool {
	was := s.Heard[member]
	s.Heard[member] = laterTime(was, time.Unix(at, 0), now)
	return !s.Heard[member].Equal(was)
}

// noteComparedHeads records that the author of compared heads was active, and what it
// has, unless its history is another one. If our log does not have the author, its
// signature could not be checked, and nothing is recorded.
func (r *Replica) noteComparedHeads(ctx context.Context, h *envelope.Heads, forked bool) error {
	if _, ok := r.log.Member(h.Member); !ok || h.Member == r.c.Member {
		return nil
	}
	next := r.st.clone()
	news := next.noteActive(h.Member, h.At, r.c.Now())
	if !forked {
		news = next.noteConfirmation(h.Member, h.At, h.Places, r.heads(), r.c.Now()) || news
	}
	if !news {
		return nil
	}
	return r.save(ctx, next)
}

// noteSnapshotActivity records when others made or voted on these snapshots.
func (s *State) noteSnapshotActivity(seen []*listed, self memory.MemberID, now time.Time) (news bool) {
	for _, l := range seen {
		for _, m := range l.activeMembers {
			if m != self && s.noteActive(m, l.At, now) {
				news = true
			}
		}
	}
	return news
}

// maxActiveTimes is the number of members whose last time is kept: all that a space
// can have, and many that have left.
const maxActiveTimes = 4 * envelope.MaxMembers

// noteOpsActivity records when a member said the ops that arrived now.
func (s *State) noteOpsActivity(member memory.MemberID, ops []delta.Op, now time.Time) {
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
	if !last.IsZero() {
		s.Heard[member] = laterTime(s.Heard[member], last, now)
	}
	for len(s.Heard) > maxActiveTimes { // members that have left go first
		longest := member
		for m, at := range s.Heard {
			if at.Before(s.Heard[longest]) {
				longest = m
			}
		}
		delete(s.Heard, longest)
		delete(s.Confirmed, longest)
	}
}
