package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Left ends the home or the job of somebody who has left it: "I live in Leeds, well, I actually moved
// out in May". The sentence before it in the text counts only if this one corrects it. text is the
// statement that they left.
func (t *Talk) Left(who Person, attribute, text string) {
	raw := strings.ToLower(t.Said.Raw())
	corrects := HoldsWord(raw, "actually") || HoldsWord(raw, "but") || HoldsWord(raw, "well") || syntax.ContainsAny(raw, "其实", "不过", "但", "已经", "早就")
	for i := range t.Out.Candidates {
		c := &t.Out.Candidates[i]
		if c.Slot == nil || c.Negates || c.Slot.Attribute != attribute || c.Slot.Subject != who.Key || c.TrueFrom != 0 || c.Text == text {
			continue
		}
		if len(c.Spans) == 0 || c.Spans[0].Turn != 0 || c.Spans[0].Start < t.Said.Start && !corrects {
			continue
		}
		c.Negates = true
		if head, chinese := strings.CutSuffix(c.Text, "。"); chinese {
			c.Text = head + "，" + text
		} else {
			c.Text = strings.TrimSuffix(c.Text, ".") + ", but " + text
		}
	}
}
