package replica

import (
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

// lastOf gives how far each incarnation of a member was taken, ascending.
func (r *Replica) lastOf(id memory.MemberID) []envelope.Position {
	var out []envelope.Position
	for k, l := range r.st.Chains {
		rest, ok := strings.CutPrefix(k, id.String()+"/")
		if !ok || l.Seq == 0 {
			continue
		}
		if n, err := strconv.ParseUint(rest, 16, 64); err == nil {
			out = append(out, envelope.Position{Incarnation: n, Seq: l.Seq})
		}
	}
	slices.SortFunc(out, func(a, b envelope.Position) int {
		if a.Incarnation < b.Incarnation {
			return -1
		}
		return 1
	})
	return out
}

func sortWraps(ws []envelope.Wrap) {
	slices.SortFunc(ws, func(a, b envelope.Wrap) int { return a.To.Compare(b.To) })
}
