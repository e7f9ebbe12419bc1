package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Hedge is by how much a hedge lowers the confidence of a statement.
const Hedge = 0.2

// Doubt returns by how much a clause is less certain because of its hedges: "I think", "probably",
// 可能. The hedge is in the clause, or directly before it.
func Doubt(s syntax.Sentence) float64 {
	from := max(0, s.Start-24)
	if i := strings.LastIndexAny(s.Text[from:s.Start], ".!?\n。！？"); i >= 0 {
		from += i + 1
	}
	said := strings.ToLower(s.Text[from:s.End])
	if rest, ok := strings.CutPrefix(s.Text[s.End:], ", "); ok { // "…, I think"
		said += " " + strings.ToLower(syntax.Cut(rest, 12))
	}
	if s.Chinese() {
		for _, w := range [...]string{"可能", "好像", "大概", "也许", "估计", "听说", "应该是", "说不定", "似乎", "如果没记错", "我猜"} {
			if strings.Contains(said, w) {
				return Hedge
			}
		}
		return 0
	}
	for _, w := range [...]string{"i think", "i guess", "i suppose", "i believe", "probably", "maybe", "perhaps", "possibly", "apparently", "supposedly", "not sure", "i heard", "i reckon", "if i remember", "as far as i know", "sort of", "kind of", "might", "looks like", "it seems"} {
		if HoldsWord(said, w) {
			return Hedge
		}
	}
	return 0
}
