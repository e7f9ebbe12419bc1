package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/serve"
)

// Ask implements serve.Recaller.
func (rd Reader) Ask(ctx context.Context, r serve.AskRequest) (res serve.AskResult, err error) {
	if !r.Photo.IsZero() {
		return rd.askPhoto(ctx, r)
	}
	r.Question = memory.Cut(r.Question, recall.MaxQuestion)
	err = rd.of.During(ctx, func(ctx context.Context, qr *Query) error {
		got, err := qr.follow(ctx, &r)
		if err != nil {
			return err
		}
		res = serve.AskResult{Topic: got.topic, Known: got.Known, Confidence: got.Confidence, Citations: []serve.ContextItem{}, Evidence: serve.EvidenceOf(got.Items)}
		if err := qr.hint(ctx, &r, &res); err != nil {
			return err
		}
		model, modelErr := qr.c.Model()
		// Recall is sure by words alone, so it is not sure that "Dr Meyer says no more coffee" answers "what
		// did the doctor forbid". A model may see that it does.
		switch {
		case !got.Known && (r.EvidenceOnly || model == nil || len(res.Evidence) == 0):
			res.Answer = answer.Unknown
			return nil
		case r.EvidenceOnly || model == nil:
			if modelErr != nil && !r.EvidenceOnly {
				res.Trouble = modelErr.Error()
			}
			got.records.answer(&res)
			if res.Answer == "" && len(res.Vault) == 0 && !slices.ContainsFunc(res.Evidence, func(it serve.ContextItem) bool { return !it.Minor }) {
				res.Known, res.Answer = false, answer.Unknown // what made it known is not shown here, such as a secret
			}
			return nil
		}
		said, err := model.Ask(ctx, answer.Request(r.Question, before(r.Before), got.Text, qr.c.Wearer, qr.askedAt(r.At)))
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			res.Trouble = f.Error()
			if !got.Known {
				res.Answer = answer.Unknown
				return nil
			}
			got.records.answer(&res)
			return nil
		}
		if err != nil {
			return err
		}
		qr.read(model.Name(), said.Text, got.lines, got.Items, &res)
		return nil
	})
	return res, err
}

// before returns the end of a conversation in the form for a model.
func before(messages []serve.ContextMessage) (turns []retrieve.Turn) {
	for _, m := range messages[max(0, len(messages)-lastTurns):] {
		turns = append(turns, retrieve.Turn{Speaker: m.Speaker, Text: m.Text})
	}
	return turns
}

// read puts the model's answer into the result, after a check against the lines
// that the model was given. If recall was not sure, an answer counts only if it is cited, and it is
// unknown otherwise.
func (qr *Query) read(by, text string, lines []retrieve.Line, items []serve.ContextItem, res *serve.AskResult) {
	a := answer.Read(text, lines)
	if !res.Known && !a.Cited {
		res.Answer = answer.Unknown
		return
	}
	res.Known = !a.Unknown
	res.Answer, res.Model, res.Cited, res.Invented = a.Text, by, a.Cited, a.Invented
	for _, l := range a.Lines {
		for _, it := range items {
			if it.ID == l.ID {
				res.Citations = append(res.Citations, it)
			}
		}
	}
	qr.c.OnServed(qr.c.Now(), a.Plain()) // if an assistant reads it aloud, the node must not learn from it
}

// topicByModel asks the model what a conversation is about. It returns the empty
// string if no answer comes in time.
func topicByModel(ctx context.Context, model *llm.Client, r llm.Request) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, topicTime)
	defer cancel()
	said, err := model.Ask(ctx, r)
	if _, ok := errors.AsType[*llm.Fault](err); ok || ctx.Err() != nil {
		return "", nil
	}
	return answer.Topic(said.Text), err
}

// topicTime is how long a context waits for a model to say what the conversation is
// about.
const topicTime = 3 * time.Second
