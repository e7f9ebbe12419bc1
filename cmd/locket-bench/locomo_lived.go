package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// lived is a node that a conversation happens to: its turns are published over
// MQTT by a wearable, journalled, taken through the plugins and committed, and
// it is asked as any caller asks.
type lived struct {
	cache string // of compiled plugins
	home  string
	node  *node.Node
	turns map[memory.EventID]turn
	kept  float64
	now   time.Time
}

func newLived(cache string) *lived {
	return &lived{cache: cache, turns: map[memory.EventID]turn{}}
}

func (e *lived) Feed(ctx context.Context, c *conversation) (err error) {
	if e.home, err = os.MkdirTemp("", "locket-bench-"); err != nil {
		return err
	}
	cfg := config.Config{Home: filepath.Join(e.home, "home"), Wearer: "User", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}}
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		return err
	}
	if e.node, err = node.Open(cfg, node.Options{Cache: e.cache}); err != nil {
		return err
	}
	if _, err := e.node.UnlockAsConfigured(ctx); err != nil {
		return err
	}
	if err := e.node.Start(ctx); err != nil {
		return err
	}
	if err := e.publish(ctx, c); err != nil {
		return err
	}
	if err := e.node.Quiet(ctx); err != nil {
		return err
	}
	return e.count(ctx)
}

// spacing lies between two turns of a session, of which only the first has a
// date.
const spacing = 10 * time.Second

func (e *lived) publish(ctx context.Context, c *conversation) error {
	cred, err := e.node.AddDevice(ctx, "talk")
	if err != nil {
		return err
	}
	var events []day.Event
	for _, s := range c.Sessions {
		for i, t := range s.Turns {
			text := t.Text
			if t.Caption != "" {
				text += " " + t.Caption
			}
			at := s.At.Add(time.Duration(i) * spacing)
			id := memory.EventID{Device: "talk", Boot: 1, Seq: uint64(len(events) + 1)}
			e.turns[id] = t
			events = append(events, day.Event{Line: len(events) + 1, Event: memory.Event{ID: id, Kind: memory.KindText, At: at, Zone: "UTC", Text: text, Speaker: t.Speaker}})
			if after := at.Add(24 * time.Hour); after.After(e.now) {
				e.now = after
			}
		}
	}
	rep, err := player.Play(ctx, player.Config{URL: cred.Broker, Password: func(string) string { return string(cred.Password) }}, events)
	if err == nil && rep.Acked != len(events) {
		err = fmt.Errorf("%d of %d turns were acknowledged", rep.Acked, len(events))
	}
	return err
}

// count finds the share of turns that a memory quotes.
func (e *lived) count(ctx context.Context) error {
	quoted := map[memory.EventID]bool{}
	for q := (serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage}); ; {
		page, err := e.node.List(ctx, q)
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			for _, ev := range m.Evidence {
				quoted[ev.Event] = true
			}
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	e.kept = float64(len(quoted)) / float64(max(1, len(e.turns)))
	return nil
}

func (e *lived) Ask(ctx context.Context, question string, kinds []recall.Kind, k int) ([]answer, error) {
	r := serve.SearchRequest{Query: question, K: k, At: e.now}
	if len(kinds) == 1 {
		r.Only = map[recall.Kind]string{recall.Utterance: "utterances", recall.Memory: "memories"}[kinds[0]]
	}
	res, err := e.node.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(res.Hits))
	for i, h := range res.Hits {
		out[i].text = h.Text
		if len(h.Evidence) > 0 {
			out[i].turn = e.turns[h.Evidence[0].Event].ID
		}
	}
	return out, nil
}

func (e *lived) Within(ctx context.Context, question string, budget int) ([]answer, error) {
	res, err := e.node.Context(ctx, serve.ContextRequest{Messages: []serve.ContextMessage{{Text: question}}, Budget: budget, At: e.now})
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(res.Items))
	for i, it := range res.Items {
		out[i].text = it.Text
		if len(it.Evidence) > 0 {
			out[i].turn = e.turns[it.Evidence[0].Event].ID
		}
	}
	return out, nil
}

func (e *lived) Kept() float64 { return e.kept }

func (e *lived) Close() error {
	var err error
	if e.node != nil {
		err = errors.Join(e.node.Stop(context.Background()), e.node.Close())
	}
	return errors.Join(err, os.RemoveAll(e.home))
}
