package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Clause parses a clause and gives it to the rules.
func Clause(t *discourse.Talk, s syntax.Sentence) {
	if andKin(t, s) {
		return
	}
	parts := shared(s)
	c, ok := t.Parse(parts[0])
	if !ok {
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
