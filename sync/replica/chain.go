package replica

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// chainKey names one incarnation of a member, in State.Chains.
func chainKey(m memory.MemberID, incarnation uint64) string {
	return fmt.Sprintf("%s/%016x", m, incarnation)
}

// parseChain reads what chainKey makes.
func parseChain(key string) (m memory.MemberID, incarnation uint64, ok bool) {
	member, number, _ := strings.Cut(key, "/")
	incarnation, err := strconv.ParseUint(number, 16, 64)
	ok = err == nil && m.UnmarshalText([]byte(member)) == nil
	return m, incarnation, ok
}

// lastOf gives how far each incarnation of a member was taken, ascending. Of
// more than a removal can name, as only who means harm has, it gives those of
// which most was taken: a member can always be put out.
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
		slices.SortFunc(out, func(a, b envelope.Position) int {
			return cmp.Or(cmp.Compare(b.Seq, a.Seq), byIncarnation(a, b))
		})
		out = out[:envelope.MaxIncarnations]
	}
	slices.SortFunc(out, byIncarnation)
	return out
}

func sortWraps(ws []envelope.Wrap) {
	slices.SortFunc(ws, func(a, b envelope.Wrap) int { return a.To.Compare(b.To) })
}
