package query

import (
	"context"
	"strings"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// followed is what was found for a question, and how it was looked for.
type followed struct {
	serve.ContextResult
	lines   []retrieve.Line
	records recorded // what visits and speakers answer
	topic   string   // what was looked for, where the conversation lent words; empty: the question
}

// tellsOf is in how many of the best items a question's own words are looked for.
const tellsOf = 3

// follow finds what a question asks for. One that goes on from the questions and
// answers before it ("and where did she buy it?") is lent their names and words.
// What is found with lent words and has none of the question's own is no answer:
// a question about something else would be answered by the subject before.
func (qr *Query) follow(ctx context.Context, r *serve.AskRequest) (f followed, err error) {
	question := strings.TrimSpace(r.Question)
	look := func(topic string) (f followed, err error) {
		return qr.surround(ctx, serve.ContextRequest{Topic: topic, Own: question, Budget: r.Budget, At: r.At, Agent: r.Agent, Run: r.Run, Filters: r.Filters, NoQuotes: r.NoQuotes, Sees: r.Sees})
	}
	turns := before(r.Before)
	topic := question
	if _, ok := readWhereabouts(question, qr.askedAt(r.At)); !ok && len(turns) > 0 { // where the wearer was needs no lent words
		if topic, _ = retrieve.Topic(append(turns, retrieve.Turn{Text: question})); !strings.HasPrefix(topic, question) {
			topic = question + " " + topic
		}
	}
	if topic == question {
		return look(question)
	}
	back := retrieve.PointsBack(question)
	var alone followed
	if !back {
		if alone, err = look(question); err != nil || alone.Known {
			return alone, err
		}
	}
	if f, err = look(topic); err != nil {
		return f, err
	}
	f.topic = topic
	// What was lent may hold words that nobody ever said. A single word of its own
	// and "she" would be answered by whatever has that word.
	if back && !f.Known && len(recall.ContentWords(question)) > 1 {
		if alone, err = look(question); err != nil || alone.Known {
			return alone, err
		}
	}
	if !f.Known || !tells(serve.EvidenceOf(f.Items), question) {
		if !back {
			return alone, nil
		}
		f.Known = false
	}
	return f, nil
}

// tells is whether one of the best items has a word of the question's own, where
// it has any.
func tells(items []serve.ContextItem, question string) bool {
	own := map[string]bool{}
	for _, w := range recall.ContentWords(question) {
		own[w.Term] = true
	}
	for _, it := range items[:min(len(items), tellsOf)] {
		text := it.Text
		for _, e := range it.Evidence {
			text += " " + e.Excerpt
		}
		for _, w := range recall.ContentWords(text) {
			if own[w.Term] {
				return true
			}
		}
	}
	return len(own) == 0
}
