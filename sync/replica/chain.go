package replica

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// chainKey returns the key in State.Chains of one incarnation of a member.
func chainKey(m memory.MemberID, incarnation uint64) string {
	return fmt.Sprintf("%s/%016x", m, incarnation)
}

// parseChain parses a key that chainKey made.
func parseChain(key string) (m memory.MemberID, incarnation uint64, ok bool) {
	member, number, _ := strings.Cut(key, "/")
	incarnation, err := strconv.ParseUint(number, 16, 64)
	ok = err == nil && m.UnmarshalText([]byte(member)) == nil
	return m, incarnation, ok
}

// lastOf returns the last position that this member took of each incarnation
// of a member, in ascending order. A removal can name a limited number of
// incarnations. Only a hostile member has more. In that case lastOf returns
// those with the most deltas, so that any member can be removed.
func (r *Replica) lastOf(id memory.MemberID) []envelope.Position {
	var out []envelope.Position
	for k, l := range r.st.Chains.All() {
		rest, ok := strings.CutPrefix(k, id.String()+"/")
		if !ok || l.Seq == 0 {
			continue
		}
		if n, err := strconv.ParseUint(rest, 16, 64); err == nil {
			out = append(out, envelope.Position{Incarnation: n, Seq: l.Seq})
		}
	}
	byIncarnation := func(a, b envelope.Position) int { return cmp.Compare(a.Incarnation, b.Incarnation) }
	if len(out) > envelope.MaxIncarnations {
		sorting.Sort(out, func(a, b envelope.Position) int {
			return cmp.Or(cmp.Compare(b.Seq, a.Seq), byIncarnation(a, b))
		})
		out = out[:envelope.MaxIncarnations]
	}
	sorting.Sort(out, byIncarnation)
	return out
}

func sortWraps(ws []envelope.Wrap) {
	sorting.Sort(ws, func(a, b envelope.Wrap) int { return a.To.Compare(b.To) })
}
