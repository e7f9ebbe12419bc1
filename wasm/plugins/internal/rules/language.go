package rules

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// clause passes a clause to the rules of its language.
func clause(t *discourse.Talk, s syntax.Sentence) {
	if s.Chinese() {
		chinese.Clause(t, s)
	} else {
		english.Clause(t, s)
	}
}

// reread reads other words in place of a sentence, which stays their evidence, and keeps them as a
// promise if no rule makes more of them.
func reread(t *discourse.Talk, s syntax.Sentence, words string) bool {
	all := syntax.Sentences(words + ".")
	if len(all) == 0 {
		return false
	}
	from := len(t.Out.Candidates)
	if all[0].Chinese() {
		chinese.Promise(t, all[0])
	} else {
		english.Promise(t, all[0])
	}
	discourse.StandsFor(t, from, s)
	return len(t.Out.Candidates) > from
}

// advised takes advice that a professional gave the speaker. It reports whether the sentence is
// one.
func advised(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Ends == "?" || s.Ends == "？" || discourse.Conditioned(s) || noted.Orders(s) {
		return false
	}
	if s.Chinese() {
		return chinese.Advised(t, s)
	}
	return english.Advised(t, s)
}
