package query_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// aheadNode returns the API of a node whose clock is ahead by that many nanoseconds.
func aheadNode(t *testing.T) (*serve.Client, *atomic.Int64) {
	t.Helper()
	cfg, opt := nodetest.Config(t), nodetest.Options(t)
	ahead := new(atomic.Int64)
	opt.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{Passphrase: nodetest.Passphrase, Work: 4}); err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(cfg, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	if err := n.Unlock(t.Context(), nodetest.Passphrase); err != nil {
		t.Fatal(err)
	}
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	t.Cleanup(func() { api.Close() })
	return api, ahead
}

// What has expired is shown nowhere, although it is erased only later; a pinned memory
// stays. A time in the past can't be set as the expiry.
func TestExpired(t *testing.T) {
	api, ahead := aheadNode(t)
	ctx := t.Context()

	no := false
	add := func(text string, typ memory.Type) memory.ID {
		t.Helper()
		res, err := api.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Type: typ, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return res.Changes[0].Memory
	}
	_, err := api.Add(ctx, serve.AddRequest{Text: "The raft is late", Infer: &no, Expires: time.Now().Add(-time.Minute)})
	if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Status != 422 || p.Field != "expires" {
		t.Errorf("a past time: %v", err)
	}
	gone, core, kept := add("The canoe has a leak", ""), add("The paddle is in the shed", memory.Core), add("The anchor is of iron", "")
	if _, err := api.Pin(ctx, kept.String(), true); err != nil {
		t.Fatal(err)
	}
	count := func() (listed int, found, known, asked bool, block string) {
		t.Helper()
		page, err := api.List(ctx, serve.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := api.Search(ctx, serve.SearchRequest{Query: "does the canoe have a leak"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits.Hits {
			found = found || h.ID == gone
		}
		answer, err := api.Ask(ctx, serve.AskRequest{Question: "Does the canoe have a leak?"})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range answer.Evidence {
			asked = asked || it.ID == gone
		}
		around, err := api.Context(ctx, serve.ContextRequest{Topic: "the canoe and the anchor"})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Memories), found, hits.Known, asked, around.Text
	}
	if listed, found, known, asked, block := count(); listed != 3 || !found || !known || !asked || !strings.Contains(block, "canoe") || !strings.Contains(block, "paddle") {
		t.Errorf("before: %d listed, %v %v %v, %q", listed, found, known, asked, block)
	}
	ahead.Store(int64(2 * time.Hour))
	if listed, found, _, asked, block := count(); listed != 1 || found || asked || strings.Contains(block, "canoe") || strings.Contains(block, "paddle") || !strings.Contains(block, "anchor") {
		t.Errorf("after: %d listed, %v %v, %q", listed, found, asked, block)
	}
	for _, id := range []memory.ID{gone, core} {
		if m, err := api.Get(ctx, id.String()); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%+v, %v", m, err)
		}
		if w, err := api.Why(ctx, id.String()); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%+v, %v", w, err)
		}
	}
	if _, err := api.Get(ctx, kept.String()); err != nil {
		t.Error(err)
	}
}

// An expired memory takes up no place among the hits.
func TestExpiredTakesNoPlace(t *testing.T) {
	api, ahead := aheadNode(t)
	no := false
	for i := range 13 {
		r := serve.AddRequest{Text: fmt.Sprintf("The canoe is parked at pier %d", i), Infer: &no, Expires: time.Now().Add(time.Hour)}
		if i == 0 {
			r.Text, r.Expires = "The canoe was painted green by Ola", time.Time{}
		}
		if _, err := api.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	q := serve.SearchRequest{Query: "where is the canoe parked", K: 3}
	if res, err := api.Search(t.Context(), q); err != nil || len(res.Hits) != 3 || strings.Contains(res.Hits[0].Text, "green") {
		t.Fatalf("before: %+v, %v", res.Hits, err)
	}
	ahead.Store(int64(2 * time.Hour))
	res, err := api.Search(t.Context(), q)
	if err != nil || len(res.Hits) != 1 || !strings.Contains(res.Hits[0].Text, "green") {
		t.Errorf("after: %+v, %v", res, err)
	}
}
