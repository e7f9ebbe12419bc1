package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// TimeAlone reports whether a text is a time and nothing else.
func TimeAlone(text string, now timex.Moment) bool {
	all := syntax.Sentences(text)
	if len(all) != 1 {
		return false
	}
	timed := 0
	for _, w := range timex.FindWhens(all[0], now) {
		timed += w.Next - w.First
	}
	return timed == len(all[0].Toks)
}

// onceThere reports what is to be done when the speaker comes somewhere, and hangs on nothing else: "when we get home".
func onceThere(c *discourse.Clause) bool {
	for i := range c.Words {
		switch c.W(i) {
		case "if", "unless", "maybe", "perhaps", "whenever":
			return false
		case "when", "once":
			switch verb := c.W(i + 2); {
			case c.W(i+1) != "i" && c.W(i+1) != "we", verb != "get" && verb != "arrive" && verb != "leave" && verb != "come" && verb != "am" && verb != "are":
				return false
			}
		}
	}
	return true
}

// Says reads other words in place of a sentence, of which they are the
// evidence, and keeps them as a promise where no rule makes more of them.
func Says(t *discourse.Talk, s syntax.Sentence, words string) bool {
	from := len(t.Out.Candidates)
	text := words + "."
	all := syntax.Sentences(text)
	if len(all) == 0 {
		return false
	}
	first := all[0]
	if c, ok := t.Parse(first); !first.Chinese() && ok {
		plan(t, &c, c.FirstTime())
		if len(t.Out.Candidates) == from && c.Verb != "" && (!c.Conditional() || onceThere(&c)) {
			a := t.Emit(discourse.Plan{Subject: c.Subj.Key, Attribute: c.SlotName(), What: "promise"}, t.Rewrite(&c), "promise", 0.65, first, false)
			a.Entities = t.Entities(&c)
		}
	} else if first.Chinese() {
		b := t.Bare(first)
		chinese.Event(t, &b)
		if len(t.Out.Candidates) == from {
			p := discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + syntax.TrimZh(strings.TrimPrefix(b.Text, "我得")), What: "promise", Chinese: true}
			t.Emit(p, t.RewriteZh(first, b.Whens, false), "promise", 0.65, first, false)
		}
	}
	discourse.StandsFor(t, from, s)
	return len(t.Out.Candidates) > from
}
