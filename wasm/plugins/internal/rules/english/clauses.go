package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Clause parses a clause and passes it to the rules.
func Clause(t *discourse.Talk, s syntax.Sentence) {
	if andKin(t, s) || dosesApart(t, s) || apart(t, s) {
		return
	}
	clause(t, s)
}

// clause is [Clause] for one subject.
func clause(t *discourse.Talk, s syntax.Sentence) {
	parts := shared(s)
	c, ok := t.Parse(parts[0])
	if !ok {
		return
	}
	if done, cut := beforeCondition(&c); cut && len(parts) == 1 {
		clause(t, done)
		return
	}
	for i := range parts {
		more, made := c, len(t.Out.Candidates)
		if i > 0 {
			if more, ok = continued(t, parts[i], &c); !ok {
				continue
			}
		}
		Read(t, &more)
		left(t, &more)
		t.Hold(&more)
		if more.UsedTo {
			onceDid(t, &more, made)
		}
		discourse.Outlast(t, made, more.Past || more.Perfect || more.UsedTo)
		if i == 0 {
			c = more
		}
	}
}

// beforeCondition returns what is already done, without a condition for something else that follows
// after a comma: "I lent Tom my tent, if it isn't back by Easter remind me".
func beforeCondition(c *discourse.Clause) (syntax.Sentence, bool) {
	if !c.Past && !c.Perfect || c.Modal || c.Future || c.UsedTo {
		return c.Sentence, false
	}
	for k := c.Words[c.Vi].Tok + 1; k+2 < len(c.Toks); k++ {
		if _, rest := syntax.Contraction(c.At(k)); rest == "would" || rest == "will" || c.At(k) == "would" || c.At(k) == "will" {
			break // "I said I'd come, if he pays"
		}
		next := k + 1
		if c.At(next) == "and" || c.At(next) == "but" || c.At(next) == "so" {
			next++
		}
		if c.At(k) == "," && (c.At(next) == "if" || c.At(next) == "unless") {
			return c.Sub(0, k), true
		}
	}
	return c.Sentence, false
}

// Promise takes a sentence that says what the speaker has to do, and keeps it as a promise if no
// rule makes more of it.
func Promise(t *discourse.Talk, s syntax.Sentence) {
	c, ok := t.Parse(s)
	if !ok {
		return
	}
	from := len(t.Out.Candidates)
	plan(t, &c, c.FirstTime())
	if len(t.Out.Candidates) == from && c.Verb != "" && (!c.Conditional() || onceThere(&c)) {
		a := t.Emit(discourse.Plan{Subject: c.Subj.Key, Attribute: c.SlotName(), What: "promise"}, t.Rewrite(&c), "promise", 0.65, s, false)
		a.Entities = t.Entities(&c)
	}
}

// onceThere reports whether something has to be done when the speaker gets somewhere, and depends
// on nothing else: "when we get home".
func onceThere(c *discourse.Clause) bool {
	for i := range c.Words {
		switch c.W(i) {
		case "if", "unless", "maybe", "perhaps", "whenever":
			return false
		case "when", "once":
			if verb := c.W(i + 2); c.W(i+1) != "i" && c.W(i+1) != "we" || verb != "get" && verb != "arrive" && verb != "leave" && verb != "come" && verb != "am" && verb != "are" {
				return false
			}
		}
	}
	return true
}
