package replica

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// Contact is what is known here of when a member was there. What the relay knows
// of it, by what the member asks for, is nobody's to believe.
type Contact struct {
	// Added is when it was let in, by the clock of who did, as far as that is not
	// ahead of ours.
	Added time.Time
	// Heard is when it last said something that has come here: memories, an entry
	// of the log, a snapshot or a vote on one, or heads that were compared. It is
	// by its own clock, as far as that is not ahead of ours, and never too late:
	// of a vote it is the time of the snapshot. Zero: nothing came.
	Heard time.Time
}

// Contacts tells of each member that was ever in the log.
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
			c.Added = later(time.Time{}, at, r.c.Now())
			out[e.Member.ID] = c
		}
		if c, ok := out[e.Author]; ok { // the root is no member
			c.Heard = later(c.Heard, at, r.c.Now())
			out[e.Author] = c
		}
	}
	for id, at := range r.st.Heard {
		c := out[id]
		c.Heard = later(c.Heard, at, r.c.Now())
		out[id] = c
	}
	return out, nil
}

// later is the later of two times, of which the second is believed up to now.
func later(known, told, now time.Time) time.Time {
	if told.After(now) {
		told = now
	}
	if told = told.UTC().Truncate(time.Second); told.After(known) {
		return told
	}
	return known
}

// heardAt notes that a member said something at a time, in seconds since 1970,
// and reports whether that is news.
func (s *State) heardAt(member memory.MemberID, at int64, now time.Time) bool {
	was := s.Heard[member]
	s.Heard[member] = later(was, time.Unix(at, 0), now)
	return !s.Heard[member].Equal(was)
}

// heardBeside notes whose heads were compared. Those of one whom our log does not
// have are anybody's: no signature was checked.
func (r *Replica) heardBeside(ctx context.Context, h *envelope.Heads) error {
	if _, ok := r.log.Member(h.Member); !ok || h.Member == r.c.Member {
		return nil
	}
	next := r.st.next()
	if !next.heardAt(h.Member, h.At, r.c.Now()) {
		return nil
	}
	return r.save(ctx, next)
}

// heardOf notes who made these snapshots, and who voted on them. The member
// itself is no news.
func (s *State) heardOf(seen []*listed, self memory.MemberID, now time.Time) (news bool) {
	for _, l := range seen {
		who := []memory.MemberID{l.Author}
		for _, v := range l.votes {
			who = append(who, v.Member)
		}
		for _, m := range who {
			if m != self && s.heardAt(m, l.At, now) {
				news = true
			}
		}
	}
	return news
}

// maxHeard is of how many members it is remembered when they were heard: of all
// that a space can have, and of many who have left it.
const maxHeard = 4 * envelope.MaxMembers

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
	if !last.IsZero() {
		s.Heard[member] = later(s.Heard[member], last, now)
	}
	for len(s.Heard) > maxHeard { // of those who belonged once
		longest := member
		for m, at := range s.Heard {
			if at.Before(s.Heard[longest]) {
				longest = m
			}
		}
		delete(s.Heard, longest)
	}
}
