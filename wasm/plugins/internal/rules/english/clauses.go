package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Clause parses a clause of either language and gives it to the rules.
func Clause(t *discourse.Talk, s syntax.Sentence) {
	if len(s.Toks) == 0 {
		return
	}
	if made := len(t.Out.Candidates); s.Chinese() {
		chinese.Read(t, s)
		outlast(t, made, !strings.ContainsAny(s.Raw(), "不没") && (discourse.CompletedZh(s.Raw()) || syntax.ContainsAny(s.Raw(), chinese.Once[:]...)))
		return
	}
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
		outlast(t, made, more.Past || more.Perfect || more.UsedTo)
		if i == 0 {
			c = more
		}
	}
}
