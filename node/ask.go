package node

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/serve"
)

// Ask implements serve.Recaller.
func (n *Node) Ask(ctx context.Context, r serve.AskRequest) (res serve.AskResult, err error) {
	if !r.Photo.IsZero() {
		return n.askPhoto(ctx, r)
	}
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		got, lines, err := n.surround(ctx, o, serve.ContextRequest{Topic: r.Question, Budget: r.Budget, At: r.At, Agent: r.Agent, Run: r.Run})
		if err != nil {
			return err
		}
		res = serve.AskResult{Known: got.Known, Confidence: got.Confidence, Citations: []serve.ContextItem{}, Evidence: serve.EvidenceOf(got.Items)}
		switch {
		case !got.Known:
			res.Answer = answer.Unknown
			return nil
		case r.EvidenceOnly || o.model.client == nil:
			if o.model.err != nil && !r.EvidenceOnly {
				res.Trouble = o.model.err.Error()
			}
			return nil
		}
		now := r.At
		if now.IsZero() {
			now = time.Now()
		}
		said, err := o.model.client.Ask(ctx, answer.Request(r.Question, got.Text, n.cfg.Wearer, now.In(n.zone)))
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			res.Trouble = f.Error()
			return nil
		}
		if err != nil {
			return err
		}
		n.read(o, said.Text, lines, got.Items, &res)
		return nil
	})
	return res, err
}

// read takes what the model said into the result, held to what it was given.
func (n *Node) read(o *session, text string, lines []retrieve.Line, items []serve.ContextItem, res *serve.AskResult) {
	a := answer.Read(text, lines)
	res.Answer, res.Model, res.Cited, res.Invented = a.Text, o.model.client.Name(), a.Cited, a.Invented
	if a.Unknown {
		res.Known = false
	}
	for _, l := range a.Lines {
		for _, it := range items {
			if it.ID == l.ID {
				res.Citations = append(res.Citations, it)
			}
		}
	}
	o.extract.Served(time.Now(), a.Plain()) // an assistant that reads it aloud teaches the node nothing
}

// topicByModel asks what turns are about; empty where no answer comes in time.
func (o *session) topicByModel(ctx context.Context, turns []retrieve.Turn) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, topicTime)
	defer cancel()
	said, err := o.model.client.Ask(ctx, answer.TopicRequest(turns))
	if _, ok := errors.AsType[*llm.Fault](err); ok || ctx.Err() != nil {
		return "", nil
	}
	return answer.Topic(said.Text), err
}

// topicTime is how long a context waits for a model to say what it is about.
const topicTime = 3 * time.Second
