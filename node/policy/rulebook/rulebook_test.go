package rulebook

import (
	"context"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

// A worker or plugin that states a policy, before or after the wearer does,
// changes nothing.
func TestThreatPolicyOfAWorker(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Small: true, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := engine.New(engine.Config{Space: memory.SpaceID{1}, Member: memory.MemberID{1}, Store: s, Clock: &memory.Ticker{}})
	rb := New(Config{Engine: e, Now: nil})
	rb.c.Now = (&memory.Ticker{}).Tick().Time
	p := NewPolicer(opened.From(func() (*Rulebook, *opened.Life, func(), error) { return rb, nil, func() {}, nil }))
	const wide, narrow = `permit (principal, action, resource); // wide`, `forbid (principal, action, resource);`
	lie := func(rank memory.Rank) {
		t.Helper()
		for _, what := range []string{thePolicy, theNever} {
			text := wide
			c := memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Confidence: 1, Sensitivity: memory.Private}
			if err := e.Commit(ctx, func(tx *store.Tx) error {
				_, err := e.AssertTx(tx, rank, memory.Assertion{Memory: idOf(what, 0), Act: memory.ActPropose, Candidate: &c},
					memory.Assertion{Memory: idOf(what, 0), Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func() (r Rules) {
		t.Helper()
		if err := e.View(context.Background(), func(tx *store.Tx) (err error) { r, err = Read(tx); return err }); err != nil {
			t.Fatal(err)
		}
		return r
	}
	lie(memory.RankCloud)
	lie(memory.RankDevice)
	if r := read(); r.Mine || r.List[0].Text != policy.ByHand || len(r.Never) != 0 {
		t.Errorf("before the wearer said anything: %+v", r)
	}
	if _, err := p.SetPolicy(ctx, serve.NewPolicy{Text: narrow}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetNever(ctx, serve.NeverList{Words: []string{"Zuzana"}}); err != nil {
		t.Fatal(err)
	}
	lie(memory.RankCloud)
	lie(memory.RankDevice)
	if r := read(); !r.Mine || len(r.List) != 1 || r.List[0].Text != narrow || len(r.Never) != 1 || r.Never[0] != "Zuzana" {
		t.Errorf("after it: %+v", r)
	}
}
