package query

import (
	"context"
	"strings"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// followed is what was found for a question, and what was searched for.
type followed struct {
	serve.ContextResult
	lines   []retrieve.Line
	records recorded // what the records of visits and speakers answer
	topic   string   // the search text, if words of the conversation were added; empty: the question itself
}

// tellsOf is in how many of the best items the question's own words must appear.
const tellsOf = 3

// follow finds what a question asks for. If the question continues the
// conversation before it ("and where did she buy it?"), the search adds names and
// words from that conversation. Hits that were found with added words but contain
// none of the question's own words are not an answer; otherwise a question about
// something new would be answered with the previous subject.
func (qr *Query) follow(ctx context.Context, r *serve.AskRequest) (f followed, err error) {
	question := strings.TrimSpace(r.Question)
	look := func(topic string) (f followed, err error) {
		return qr.surround(ctx, serve.ContextRequest{Topic: topic, Own: question, Budget: r.Budget, At: r.At, Agent: r.Agent, Run: r.Run, Filters: r.Filters, NoQuotes: r.NoQuotes, Sees: r.Sees})
	}
	turns := before(r.Before)
	topic := question
	if _, ok := readWhereabouts(question, qr.askedAt(r.At)); !ok && len(turns) > 0 { // a question about where the wearer was needs no added words
		if topic, _ = retrieve.Topic(append(turns, retrieve.Turn{Text: question})); !strings.HasPrefix(topic, question) {
			topic = question + " " + topic
		}
	}
	if topic == question {
		return look(question)
	}
	back := retrieve.RefersBack(question)
	var withoutTopic followed
	if !back {
		if withoutTopic, err = look(question); err != nil || withoutTopic.Known {
			return withoutTopic, err
		}
	}
	if f, err = look(topic); err != nil {
		return f, err
	}
	f.topic = topic
	// The added words may include some that nobody ever said. But a question that
	// has only "she" and a single word of its own must not be searched alone: it
	// would match anything with that word.
	if back && !f.Known && len(recall.ContentWords(question)) > 1 {
		if withoutTopic, err = look(question); err != nil || withoutTopic.Known {
			return withoutTopic, err
		}
	}
	if !f.Known || !hasOwnWord(serve.EvidenceOf(f.Items), question) {
		if !back {
			return withoutTopic, nil
		}
		f.Known = false
	}
	return f, nil
}

// hasOwnWord reports whether one of the best items has one of the question's own words.
// It is true if the question has none.
func hasOwnWord(items []serve.ContextItem, question string) bool {
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
