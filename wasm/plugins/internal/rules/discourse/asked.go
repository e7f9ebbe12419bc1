package discourse

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// AnswerWithin is how soon after a question, in ms, its answer comes.
const AnswerWithin = 60 * 1000

// FollowWithin is how long, in ms, a line may refer to the previous one.
const FollowWithin = 2 * 60 * 1000

// Asked is a question that a later sentence answers.
type Asked struct {
	syntax.Sentence
	Turn int    // 0: of this turn itself
	By   Person // who asked
	Of   Person // who was asked
}

// SentencesOf returns the sentences of the turn before this one.
func (t *Talk) SentencesOf(before *abi.Turn) []syntax.Sentence {
	if t.before == nil {
		t.before = syntax.Sentences(before.Text)
	}
	return t.before
}

// JustSaid returns the turn before this one, if another speaker said it and this one may answer it.
// Otherwise it returns nil.
func (t *Talk) JustSaid() *abi.Turn {
	n := len(t.Ev.Before)
	if n == 0 || t.Ev.Before[n-1].Speaker == t.Ev.Speaker || t.Ev.At-t.Ev.Before[n-1].At > AnswerWithin {
		return nil
	}
	return &t.Ev.Before[n-1]
}

// AskedBefore returns the question that was asked just before: earlier in this turn, or by another
// speaker in the previous turn.
func AskedBefore(t *Talk, s syntax.Sentence) (Asked, bool) {
	var q Asked
	for _, o := range t.Own {
		if o.Start >= s.Start {
			break
		}
		if o.Ends == "?" || o.Ends == "？" {
			to, _ := t.Addressee()
			q = Asked{Sentence: o, Turn: 0, By: t.Self, Of: to}
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
			q = Asked{Sentence: o, Turn: -1, By: SpeakerOf(t.Ev, b.Speaker), Of: t.Self}
		}
	}
	return q, q.Toks != nil
}
