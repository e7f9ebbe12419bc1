package node_test

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A policy allows answers to be sold but no copies, or copies but no answers; policy test
// says the same in advance.
func TestPolicyForSellingAnswersAndCopies(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 73)
	ctx := t.Context()
	d.init()
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	no := false
	if _, err := c.Add(ctx, serve.AddRequest{Text: "The tomatoes are ripe.", Infer: &no, Tags: []string{"garden"}}); err != nil {
		t.Fatal(err)
	}
	wish := serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Title: "A garden", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "5.00 EUR"}
	for _, c2 := range []struct {
		policy          string
		copies, answers bool
	}{
		{`permit (principal is Buyer, action == Action::"sell", resource);`, true, true},
		{`permit (principal is Buyer, action == Action::"sell", resource); forbid (principal, action == Action::"answer", resource);`, true, false},
		{`permit (principal, action, resource); forbid (principal is Buyer, action == Action::"sell", resource) when { resource.tags.contains("garden") };`, false, false},
		{`permit (principal is Buyer, action == Action::"answer", resource);`, false, true},
	} {
		if _, err := c.SetPolicy(ctx, c2.policy); err != nil {
			t.Fatal(err)
		}
		for _, of := range []struct {
			answers *serve.ListingAnswers
			action  string
			want    bool
		}{{nil, "", c2.copies}, {&serve.ListingAnswers{}, "answer", c2.answers}} {
			wish.Answers = of.answers
			p, err := c.PreviewListing(ctx, wish)
			if got := err == nil && len(p.Memories) == 1; got != of.want || err != nil && !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("%s: answers %t: %+v, %v", c2.policy, of.answers != nil, p.Memories, err)
			}
			tested, err := c.TestPolicy(ctx, serve.PolicyTestRequest{As: "buyer", Action: of.action})
			if garden := len(tested.Passes) > 0; err != nil || garden != of.want {
				t.Errorf("%s: %q: %+v, %v", c2.policy, of.action, tested, err)
			}
		}
	}
	if _, err := c.TestPolicy(ctx, serve.PolicyTestRequest{As: "reader:Ann", Action: "answer"}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a reader who pays for answers: %v", err)
	}
}
