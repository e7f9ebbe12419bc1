package replica

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

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
