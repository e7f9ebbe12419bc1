package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Question is the one that was asked just before: earlier in this turn, or by
// another speaker in the turn before.
func Question(t *discourse.Talk, s syntax.Sentence) (discourse.Asked, bool) {
	var q discourse.Asked
	for _, o := range t.Own {
		if o.Start >= s.Start {
			break
		}
		if o.Ends == "?" || o.Ends == "？" {
			to, _ := t.Addressee()
			q = discourse.Asked{Sentence: o, Turn: 0, By: t.Self, Of: to}
		}
	}
	if q.Toks != nil {
		return q, true
	}
	b := t.JustSaid()
	if b == nil {
		return q, false
	}
	for _, o := range t.SentencesOf(b) {
		if o.Ends == "?" || o.Ends == "？" {
			q = discourse.Asked{Sentence: o, Turn: -1, By: discourse.SpeakerOf(t.Ev, b.Speaker), Of: t.Self}
		}
	}
	return q, q.Toks != nil
}

// animal is the animal that 叫团子 names: one named earlier in this text, or
// in the turns just before.
func animal(t *discourse.Talk, s syntax.Sentence) (string, bool) {
	texts := []string{s.Text[:s.Start]}
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-3); i-- {
		if t.Ev.At-t.Ev.Before[i].At <= discourse.AnswerWithin {
			texts = append(texts, t.Ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, a := range discourse.PetsZh {
			if strings.Contains(text, a) {
				return a, true
			}
		}
	}
	return "", false
}
