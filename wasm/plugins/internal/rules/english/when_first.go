package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "When I was ten, I broke my arm" tells about the past, and not about today. It is read as "I
// broke my arm when I was ten", so that the rules for a clause see both parts, and the statement
// keeps both.

// WhenFirst takes a sentence in the past tense that begins with a clause of time, such as "when I
// was ten" or "as a child". If several things follow, the whole sentence is noted.
func WhenFirst(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || len(s.Toks) > 40 {
		return false
	}
	then, main := timex.ThenFirst(s)
	if main == 0 || timex.NamelessAt(s, main) && !timex.NamelessAt(s, 1) {
		return false // "when my mum was young she lived in Egypt"
	}
	end := len(s.Toks)
	rest := s.Sub(main, end)
	first, ok := t.Parse(rest)
	if !ok || !first.Past {
		return false
	}
	for _, o := range syntax.Clauses(rest) {
		if c, ok := t.Parse(o); ok && !c.Past {
			return false // "… I moved to Rome, now I live in Leeds": a part of it is true today
		}
	}
	lead := s.Sub(0, then)
	all := syntax.Sentences(s.Text[s.Toks[main].Start:s.Toks[end-1].End] + " " + strings.ToLower(s.At(0)) + s.Text[lead.Toks[0].End:lead.End])
	if len(all) != 1 {
		return false
	}
	from := len(t.Out.Candidates)
	several := timex.SeveralFrom(s, main)
	if c := syntax.Clauses(all[0]); len(c) == 1 && !several {
		Clause(t, c[0])
	}
	if len(t.Out.Candidates) == from && t.Part == discourse.Facts && !noted.Note(t, all[0]) && several && momentous(&first) {
		noted.NoteClause(t, &first, all[0], false, false, discourse.NotedSure)
	}
	discourse.StandsFor(t, from, s)
	return true // in each part: nothing of it is true today
}
