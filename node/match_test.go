package node_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Two nodes compare interests over their APIs: nothing is answered without a yes, and what
// a state does not allow is a conflict. Secrets do not suggest interests.
func TestNodesCompareInterests(t *testing.T) {
	relay := serveRelay(t)
	ann, ben := newDevice(t, relay.url, 73), newDevice(t, relay.url, 74)
	ctx := t.Context()
	ann.init()
	ben.init()
	a, b := serve.InProcess(serve.New(serve.Options{Services: ann.Services()})), serve.InProcess(serve.New(serve.Options{Services: ben.Services()}))
	defer a.Close()
	defer b.Close()

	infer := false
	for tag, how := range map[string]memory.Sensitivity{"bee keeping": memory.Personal, "poker": memory.Private} {
		if _, err := a.Add(ctx, serve.AddRequest{Text: "A note about " + tag + ".", Infer: &infer, Tags: []string{tag}, Sensitivity: &how}); err != nil {
			t.Fatal(err)
		}
	}
	proposed, err := a.ProposeInterests(ctx)
	if err != nil || !slices.Equal(proposed, []string{"bee keeping"}) {
		t.Fatalf("proposed: %q, %v", proposed, err)
	}
	if _, err := a.ChooseInterests(ctx, serve.ChooseInterests{Add: append(proposed, "chess", "Rowing")}); err != nil {
		t.Fatal(err)
	}
	if again, err := a.ProposeInterests(ctx); err != nil || len(again) != 0 {
		t.Errorf("proposed again: %q, %v", again, err)
	}
	if _, err := b.ChooseInterests(ctx, serve.ChooseInterests{Add: []string{"rowing", "Bee Keeping", "go"}, Remove: []string{"none of his"}}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("removed what is none: %v", err)
	}
	if v, err := b.ChooseInterests(ctx, serve.ChooseInterests{Add: []string{"rowing", "Bee Keeping", "go"}}); err != nil || len(v.Interests) != 3 {
		t.Fatalf("%+v, %v", v, err)
	}

	key, err := b.GivenKey(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.AskInterests(ctx, serve.AskInterests{Key: key.Key}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("asked without a name: %v", err)
	}
	asks, err := a.AskInterests(ctx, serve.AskInterests{Name: "Ben", Key: key.Key})
	if err != nil || asks.Comparison == nil || asks.Comparison.Words != key.Words {
		t.Fatalf("%+v, %v", asks, err)
	}
	if _, err := a.AskInterests(ctx, serve.AskInterests{Name: "Benny", Key: key.Key}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("asked twice: %v", err)
	}
	looked, err := b.OpenInterests(ctx, serve.OpenInterests{Message: asks.Message, Name: "Ann"})
	if err != nil || looked.Asked == nil || looked.Asked.Ours != 3 || looked.Comparison != nil || looked.Message != "" {
		t.Fatalf("without his yes: %+v, %v", looked, err)
	}
	if v, err := b.Interests(ctx); err != nil || len(v.Comparisons) != 0 {
		t.Errorf("without his yes: %+v, %v", v, err)
	}
	open := func(c *serve.Client, message, name string) serve.ComparisonStep {
		t.Helper()
		s, err := c.OpenInterests(ctx, serve.OpenInterests{Message: message, Name: name, Yes: true})
		if err != nil || s.Comparison == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		return s
	}
	if _, err := b.OpenInterests(ctx, serve.OpenInterests{Message: asks.Message, Yes: true}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("answered without a name: %v", err)
	}
	answer := open(b, asks.Message, "Ann")
	if _, err := b.TellInterests(ctx, answer.Comparison.ID); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("told before it is known how many: %v", err)
	}
	counts := open(a, answer.Message, "")
	if c := open(b, counts.Message, "").Comparison; c.Count == nil || *c.Count != 2 {
		t.Fatalf("%+v", c)
	}
	told, err := a.TellInterests(ctx, "Ben")
	if err != nil || told.Comparison.Both != nil {
		t.Fatalf("%+v, %v", told, err)
	}
	open(b, told.Message, "")
	back, err := b.TellInterests(ctx, "Ann")
	if err != nil || !slices.Equal(back.Comparison.Both, []string{"rowing", "Bee Keeping"}) {
		t.Fatalf("%+v, %v", back, err)
	}
	if c := open(a, back.Message, "").Comparison; !slices.Equal(c.Both, []string{"bee keeping", "Rowing"}) {
		t.Errorf("%+v", c)
	}
	if s, err := a.InterestsAgain(ctx, told.Comparison.ID); err != nil || s.Message != told.Message {
		t.Errorf("%+v, %v", s, err)
	}
	if err := a.ForgetInterests(ctx, "Ben"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.InterestsAgain(ctx, "Ben"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("of what is forgotten: %v", err)
	}
	if _, err := a.AskInterests(ctx, serve.AskInterests{Name: "Ben", Key: key.Key}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("asked again after it was forgotten: %v", err)
	}
	if err := ann.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Interests(ctx); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("of a locked node: %v", err)
	}
}
