package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Promise takes 我得给妈妈打电话, and keeps it as a promise where no rule makes more of it.
func Promise(t *discourse.Talk, s syntax.Sentence) {
	from := len(t.Out.Candidates)
	b := t.Bare(s)
	Event(t, &b)
	if len(t.Out.Candidates) == from {
		p := discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + syntax.TrimZh(strings.TrimPrefix(b.Text, "我得")), What: "promise", Chinese: true}
		t.Emit(p, t.RewriteZh(s, b.Whens, false), "promise", 0.65, s, false)
	}
}
