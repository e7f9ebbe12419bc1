package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// then says when the thing before 不是 is, as if the sentence were HEAD是RIGHT; s is the whole
// sentence. It reports whether the denied and the right words are times.
func then(t *discourse.Talk, s syntax.Sentence, head, wrong, right string) bool {
	right, _, _ = strings.Cut(strings.TrimSpace(right), "，")
	if strings.HasSuffix(head, "是") || !time(wrong, t.Now) || !time(right, t.Now) {
		return false
	}
	all := syntax.Sentences(head + "是" + right)
	if len(all) != 1 {
		return false
	}
	from := len(t.Out.Candidates)
	read(t, all[0])
	if len(t.Out.Candidates) == from && t.Part == discourse.Facts {
		noted.Note(t, all[0])
	}
	discourse.StandsFor(t, from, s)
	return true
}

// time reports whether words begin with a day or a time of day.
func time(text string, now timex.Moment) bool {
	all := syntax.Sentences(text)
	if len(all) == 0 {
		return false
	}
	_, ok := timex.WhenAt(all[0], 0, now)
	return ok
}

// festiveDay reports whether head is a yearly day: a birthday, an anniversary.
func festiveDay(head string) bool { return syntax.EndsWithAny(head, []string{"生日", "纪念日"}) }
