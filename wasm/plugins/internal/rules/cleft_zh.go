package rules

import (
	"strings"
	"unicode/utf8"
)

// cleftZh takes 对海鲜过敏的是我老公, which says 我老公对海鲜过敏, and notes what no rule takes. It reports
// whether a clause is of that form.
func (t *talk) cleftZh(b *bareZh) bool {
	what, who, ok := strings.Cut(trimZhEnd(b.text), "的是")
	if !ok || who == "" || utf8.RuneCountInString(what) < 2 || startsWithAny(what, []string{"我", "这", "那", "他", "她", "你", "有"}) || strings.Contains(what, "最") && !strings.Contains(what, "怕") {
		return false
	}
	p, ok := t.subjectZh(who)
	if !ok {
		return false
	}
	made := len(t.out.Candidates)
	plain := *b
	plain.text = who + what
	if t.statedZh(&plain); len(t.out.Candidates) == made && t.part == Facts {
		t.out.Candidates = append(t.out.Candidates, t.baseZh(b, "semantic", "noted", p, notedSure))
	}
	return true
}
