package apps

import (
	"cmp"
	"context"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// recaller is serve.Recaller, for the owner and for apps.
type recaller struct{ in serve.Recaller }

func (r *recaller) Search(ctx context.Context, q serve.SearchRequest) (serve.SearchResult, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Search(ctx, q)
	}
	if err := v.present(ctx, "search", q.KnownAt); err != nil {
		return serve.SearchResult{}, err
	}
	done, err := v.recalls(ctx)
	if err != nil {
		return serve.SearchResult{}, err
	}
	defer done()
	if err := v.consultFound(ctx, r.in, q, q.Filters); err != nil {
		return serve.SearchResult{}, err
	}
	q.Filters, q.Sees = v.scope.asked(q.Filters), v.scope.filter()
	res, err := r.in.Search(ctx, q)
	if err != nil {
		return serve.SearchResult{}, err
	}
	u := serve.AppUse{Did: "search"}
	hits := []serve.Hit{}
	for _, h := range res.Hits {
		switch {
		case h.Cold:
			continue
		case h.Memory != nil && v.scope.sees(h.Memory):
			m := v.scope.show(*h.Memory)
			h.Memory = &m
			u.Tokens += tokens(m)
		case h.Utterance != nil && v.scope.seesLine(h.Utterance):
			u.Tokens += retrieve.Tokens(h.Text)
		default:
			continue
		}
		if !v.scope.lines {
			h.Said = "" // the whole line may say more than the memory that quotes it
		}
		h.Evidence = v.scope.evidence(h.Evidence)
		u.Shown = append(u.Shown, h.ID)
		hits = append(hits, h)
	}
	res.Hits, res.Missing = hits, 0
	return res, v.book.note(ctx, v, u)
}

func (r *recaller) Ask(ctx context.Context, q serve.AskRequest) (serve.AskResult, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Ask(ctx, q)
	}
	if err := v.can(serve.RightRead); err != nil {
		return serve.AskResult{}, err
	}
	if !q.Photo.IsZero() {
		return serve.AskResult{}, v.deny(ctx, "ask", refused("photo: a question about a photo is kept and sent to a worker, so only the owner may ask one"))
	}
	done, err := v.recalls(ctx)
	if err != nil {
		return serve.AskResult{}, err
	}
	defer done()
	// The owner pays for the model, so it is not asked for an answer that could not be
	// given to the app.
	left, err := v.book.left(ctx, v)
	if err != nil {
		return serve.AskResult{}, err
	}
	if err := v.consultFound(ctx, r.in, serve.SearchRequest{Query: q.Question, At: q.At, Agent: q.Agent, Run: q.Run}, q.Filters); err != nil {
		return serve.AskResult{}, err
	}
	q.EvidenceOnly = q.EvidenceOnly || left < cmp.Or(q.Budget, serve.DefaultBudget)
	q.Filters, q.Sees, q.NoQuotes = v.scope.asked(q.Filters), v.scope.filter(), q.NoQuotes || !v.scope.lines
	res, err := r.in.Ask(ctx, q)
	if err != nil {
		return serve.AskResult{}, err
	}
	res.Vault, res.Unheard = nil, nil // only for the owner
	v.items(res.Citations)
	u := v.items(res.Evidence)
	answer := retrieve.Tokens(res.Answer)
	u.Did, u.Tokens = "ask", u.Tokens+answer
	return res, v.book.noteAnswer(ctx, v, u, answer)
}

func (r *recaller) Context(ctx context.Context, q serve.ContextRequest) (serve.ContextResult, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Context(ctx, q)
	}
	if err := v.can(serve.RightRead); err != nil {
		return serve.ContextResult{}, err
	}
	if q.Topic == "" && len(q.Messages) == 0 && !q.Due && !v.scope.lines {
		return serve.ContextResult{}, v.deny(ctx, "context", refused("messages: app %s may not see what is being said around the wearer: send messages or a topic", v.Name()))
	}
	done, err := v.recalls(ctx)
	if err != nil {
		return serve.ContextResult{}, err
	}
	defer done()
	topic := q.Topic
	if n := len(q.Messages); topic == "" && n > 0 {
		topic = q.Messages[n-1].Text
	}
	if topic != "" {
		if err := v.consultFound(ctx, r.in, serve.SearchRequest{Query: topic, At: q.At, Agent: q.Agent, Run: q.Run}, q.Filters); err != nil {
			return serve.ContextResult{}, err
		}
	}
	q.Filters, q.Sees, q.NoQuotes = v.scope.asked(q.Filters), v.scope.filter(), q.NoQuotes || !v.scope.lines
	// The owner pays for the model here, too: what it is sent is taken from the day's
	// tokens, and it is not asked if there would be no room left for a block.
	q.AskModel = func(n int) bool {
		left, err := v.book.left(ctx, v)
		return err == nil && left >= n+cmp.Or(q.Budget, serve.DefaultBudget) && v.book.note(ctx, v, serve.AppUse{Did: "topic", Tokens: n}) == nil
	}
	res, err := r.in.Context(ctx, q)
	if err != nil {
		return serve.ContextResult{}, err
	}
	u := v.items(res.Items)
	u.Did, u.Tokens = "context", res.Tokens
	return res, v.book.note(ctx, v, u)
}

// items limits the evidence of items to the app's times, and counts them.
func (v *visit) items(list []serve.ContextItem) (u serve.AppUse) {
	u.Shown = make([]memory.ID, len(list))
	for i := range list {
		list[i].Evidence = v.scope.evidence(list[i].Evidence)
		u.Shown[i] = list[i].ID
		u.Tokens += list[i].Tokens
	}
	return u
}
