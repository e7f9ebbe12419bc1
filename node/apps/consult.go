package apps

import (
	"context"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/serve"
)

// consult asks the wearer about what an app would have been given if the wearer had
// agreed before. find returns that: memories and lines that a scope admits. The app
// is not told, because it would learn that there is something.
func (v *visit) consult(ctx context.Context, find func(*scope) ([]memory.Memory, []memory.Utterance, error)) error {
	if !v.asks || v.book.ask == nil {
		return nil
	}
	wide := v.scope
	wide.waits = true
	ms, us, err := find(&wide)
	if err != nil {
		return err
	}
	var held []consent.Held
	hold := func(it policy.Item) {
		if d := v.scope.decide(&it); d.Asks {
			held = append(held, consent.Held{By: v.by, Rules: d.Rules, Memory: it.ID})
		}
	}
	for i := range ms {
		if wide.sees(&ms[i]) {
			hold(policy.ItemOf(&ms[i]))
		}
	}
	for i := range us {
		if wide.seesLine(&us[i]) {
			hold(policy.ItemOfLine(&us[i]))
		}
	}
	return v.book.ask(ctx, held)
}

// consultFound is consult for the hits of a search.
func (v *visit) consultFound(ctx context.Context, in serve.Recaller, q serve.SearchRequest, f filter.Filter) error {
	return v.consult(ctx, func(wide *scope) (ms []memory.Memory, us []memory.Utterance, err error) {
		q.Filters, q.Sees = wide.asked(f), wide.filter()
		res, err := in.Search(ctx, q)
		for _, h := range res.Hits {
			if h.Memory != nil && h.SharedBy == nil {
				ms = append(ms, *h.Memory)
			}
			if h.Utterance != nil {
				us = append(us, *h.Utterance)
			}
		}
		return ms, us, err
	})
}
