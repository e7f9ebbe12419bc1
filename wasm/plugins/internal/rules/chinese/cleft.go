package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// cleft takes 对海鲜过敏的是我老公, which means 我老公对海鲜过敏, and notes what no rule takes. It reports whether a
// clause is of that form.
func cleft(t *discourse.Talk, b *discourse.BareZh) bool {
	what, who, ok := strings.Cut(discourse.TrimZhEnd(b.Text), "的是")
	if !ok || who == "" || utf8.RuneCountInString(what) < 2 || syntax.StartsWithAny(what, []string{"我", "这", "那", "他", "她", "你", "有"}) || strings.Contains(what, "最") && !strings.Contains(what, "怕") {
		return false
	}
	p, ok := t.SubjectZh(who)
	if !ok {
		return false
	}
	made := len(t.Out.Candidates)
	plain := *b
	plain.Text = who + what
	if stated(t, &plain); len(t.Out.Candidates) == made && t.Part == discourse.Facts {
		t.Out.Candidates = append(t.Out.Candidates, t.BaseZh(b, "semantic", "noted", p, discourse.NotedSure))
	}
	return true
}
