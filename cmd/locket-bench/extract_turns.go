package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// turnsOf feeds each of LoCoMo's conversations to a node. It measures how many of the turns with
// the evidence of a question are quoted by a memory, and how many of the quoted turns have
// evidence, compared with picking the same number of the longest turns in each conversation.
func turnsOf(ctx context.Context, cache string, conversations []conversation) (out []result, err error) {
	var ours, long count
	for i := range conversations {
		o, l, err := turnsIn(ctx, cache, &conversations[i])
		if err != nil {
			return nil, err
		}
		out = append(out, turnResults("_"+conversations[i].Name, o, l)...)
		for _, to := range []struct{ sum, more *count }{{&ours, &o}, {&long, &l}} {
			to.sum.labels, to.sum.made = to.sum.labels+to.more.labels, to.sum.made+to.more.made
			to.sum.found, to.sum.right = to.sum.found+to.more.found, to.sum.right+to.more.right
		}
	}
	return append(turnResults("", ours, long), out...), nil
}

func turnResults(suffix string, ours, long count) []result {
	row := func(name string, n int, value, peer float64) result {
		return result{Suite: "extract", Case: name + suffix, N: n, Value: value, Unit: "%"}.beside("length", peer, true)
	}
	return []result{row("turn_precision", ours.made, ours.precision(), long.precision()), row("turn_recall", ours.labels, ours.recall(), long.recall()), row("turn_f1", ours.labels, ours.f1(), long.f1())}
}

// turnsIn counts one conversation.
func turnsIn(ctx context.Context, cache string, c *conversation) (ours, long count, err error) {
	e := newLived(cache, config.LLM{})
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := e.Feed(ctx, c); err != nil {
		return ours, long, err
	}
	all, err := e.memories(ctx)
	if err != nil {
		return ours, long, err
	}
	quoted := map[string]bool{}
	for i := range all {
		for _, ev := range all[i].Evidence {
			quoted[e.turns[ev.Event].ID] = true
		}
	}
	evidence := map[string]bool{}
	for _, a := range c.Asked {
		for _, id := range a.Evidence {
			evidence[id] = true
		}
	}
	ids := slices.SortedFunc(maps.Keys(e.turns), func(a, b memory.EventID) int { return int(a.Seq) - int(b.Seq) })
	words := func(id memory.EventID) int { return len(strings.Fields(e.turns[id].Text)) }
	longest := slices.Clone(ids)
	slices.SortStableFunc(longest, func(a, b memory.EventID) int { return words(b) - words(a) })
	taken, made := map[memory.EventID]bool{}, 0
	for _, id := range ids {
		if quoted[e.turns[id].ID] {
			made++
		}
	}
	for _, id := range longest[:made] {
		taken[id] = true
	}
	holds, kept, control := make([]bool, len(ids)), make([]bool, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		holds[i], kept[i], control[i] = evidence[e.turns[id].ID], quoted[e.turns[id].ID], taken[id]
	}
	return picked(holds, kept), picked(holds, control), nil
}
