package replica

import (
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Confirmation is what another member last said, signed, that it has.
type Confirmation struct {
	Deltas uint64    `json:"deltas"` // how many it had of the deltas that others sent and that were here; it may have had more
	At     time.Time `json:"at"`     // by its clock, but not after ours
}

// Reach says how far another member has come, as far as this member knows. A member
// that reads says nothing about it, so this is known of a member that made a snapshot,
// agreed with one, or whose heads were compared here.
type Reach struct {
	Own       uint64    // deltas that it sent and that are here
	Others    uint64    // deltas that all others sent, this member among them, and that are here
	Confirmed uint64    // how many of Others it said that it has, at least
	At        time.Time // when it said so; zero: it never did
}

// setReaches sets the reach of each contact. The caller holds the round.
func (r *Replica) setReaches(of map[memory.MemberID]Contact) {
	here, own, all := r.heads(), map[memory.MemberID]uint64{}, uint64(0)
	for k, l := range here {
		if m, _, ok := parseChain(k); ok {
			n := r.countedUpTo(k, l.Seq)
			own[m] += n
			all += n
		}
	}
	st := r.st.clone()
	st.noteConfirmations(r.checkpoints, r.c.Member, here, r.c.Now()) // more may be here than when the snapshots were listed
	for id, c := range of {
		said := st.Confirmed[id]
		c.Reach = Reach{Own: own[id], Others: all - own[id], Confirmed: min(said.Deltas, all-own[id]), At: said.At}
		of[id] = c
	}
}

// noteConfirmations records what the authors of snapshots, and those who agreed with them,
// had then. It reports whether that is news.
func (s *State) noteConfirmations(seen []*listed, self memory.MemberID, here map[string]envelope.Link, now time.Time) (news bool) {
	for _, l := range seen {
		if l.standing == envelope.Disputed {
			continue
		}
		for _, m := range l.agreed {
			if m != self && s.noteConfirmation(m, l.At, l.Places, here, now) {
				news = true
			}
		}
	}
	return news
}

// noteConfirmation records that a member had the deltas up to these places at a time in seconds
// since 1970, and reports whether that is news. Only deltas that are here count.
func (s *State) noteConfirmation(member memory.MemberID, at int64, places []envelope.Place, here map[string]envelope.Link, now time.Time) bool {
	is := Confirmation{At: laterTime(time.Time{}, time.Unix(at, 0), now)}
	for _, p := range places {
		if p.Member != member {
			is.Deltas += min(p.Seq, here[chainKey(p.Member, p.Incarnation)].Seq)
		}
	}
	was := s.Confirmed[member]
	if is.At.Before(was.At) || is.At.Equal(was.At) && is.Deltas <= was.Deltas {
		return false
	}
	s.Confirmed[member] = is
	return true
}
