package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
)

// Copies and answers are sold separately, and a rule without an action is about both. Until a rule
// names answers, they are treated as copies are, and what is kept from buyers stays so until a rule
// permits answers.
func TestAnswersAreASeparateAction(t *testing.T) {
	garden := policy.ItemOf(&memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Text: "Beans want poles.", Tags: []string{"garden"}}})
	secret := policy.ItemOf(&memory.Memory{Candidate: memory.Candidate{Type: memory.Vault, Text: "1234"}})
	for _, c := range []struct {
		text          string
		copies, reply bool
	}{
		{`permit (principal is Buyer, action == Action::"sell", resource);`, true, true},
		{`permit (principal, action, resource); forbid (principal is Buyer, action == Action::"sell", resource) when { resource.tags.contains("garden") };`, false, false},
		{`permit (principal, action, resource); forbid (principal is Buyer, action == Action::"sell", resource); forbid (principal, action == Action::"answer", resource) when { resource.type == "core" };`, false, false},
		{`permit (principal is Buyer, action == Action::"sell", resource); forbid (principal, action == Action::"answer", resource) when { resource.type == "core" };`, true, false},
		{`permit (principal, action, resource); forbid (principal is Buyer, action == Action::"sell", resource); permit (principal, action == Action::"answer", resource);`, false, true},
		{`permit (principal is Buyer, action == Action::"answer", resource);`, false, true},
		{`permit (principal is Buyer, action in [Action::"sell", Action::"answer"], resource);`, true, true},
		{`permit (principal is Buyer, action, resource);`, true, true},
		{`permit (principal is Buyer, action, resource); forbid (principal, action == Action::"answer", resource);`, true, false},
		{`permit (principal is Buyer, action, resource); forbid (principal, action == Action::"sell", resource);`, false, false},
		{`permit (principal, action == Action::"share", resource);`, false, false},
	} {
		p, err := policy.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for action, want := range map[policy.Action]bool{policy.Sell: c.copies, policy.SellAnswers: c.reply} {
			q := policy.Request{Action: action, Kind: policy.Buyer, Now: moment}
			if d := policy.Decide([]policy.Policy{p}, nil, &q, &garden); d.Allow != want {
				t.Errorf("%s: %s: %t", c.text, action, d.Allow)
			}
			if policy.Decide([]policy.Policy{p}, nil, &q, &secret).Allow {
				t.Errorf("%s: %s gives the vault", c.text, action)
			}
		}
	}
	p, err := policy.Parse(`permit (principal is Buyer, action in [Action::"sell", Action::"answer"], resource) when { resource.tags.contains("garden") };`)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Rules[0].Words(); !strings.HasPrefix(got, "Anybody who pays may buy or pay for an answer from a memory if ") {
		t.Error(got)
	}
	for _, c := range []struct {
		kind  policy.Kind
		named string
		want  policy.Action
	}{{policy.Buyer, "", policy.Sell}, {policy.Buyer, "answer", policy.SellAnswers}, {policy.Buyer, "sell", policy.Sell}, {policy.Reader, "share", policy.Share}, {policy.Reader, "answer", ""}, {policy.App, "sell", ""}} {
		if got, err := policy.ActionBy(c.kind, c.named); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %q: %q, %v", c.kind, c.named, got, err)
		}
	}
}

// A yes to a sale, given by a program from before answers were an action, still applies to answers;
// a yes to answers does not permit copies.
func TestConsentToSalesCoversAnswers(t *testing.T) {
	garden := policy.ItemOf(&memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Text: "Beans want poles."}})
	for _, c := range []struct {
		by            policy.Action
		more          string
		copies, reply bool
	}{{policy.Sell, "", true, true}, {policy.SellAnswers, "", false, true},
		{policy.Sell, `@ask("each time") permit (principal is Buyer, action == Action::"answer", resource);`, true, false}} {
		p, err := policy.Parse(`@ask("1 day") permit (principal is Buyer, action == Action::"sell", resource);` + c.more)
		if err != nil {
			t.Fatal(err)
		}
		yes := policy.Answer{Rule: p.Rules[0].Key(), By: policy.Request{Action: c.by, Kind: policy.Buyer}, Allow: true, Until: moment.Add(time.Hour)}
		for action, want := range map[policy.Action]bool{policy.Sell: c.copies, policy.SellAnswers: c.reply} {
			q := policy.Request{Action: action, Kind: policy.Buyer, Now: moment}
			if d := policy.Decide([]policy.Policy{p}, []policy.Answer{yes}, &q, &garden); d.Allow != want || !d.Allow && !d.Asks {
				t.Errorf("a yes to %s: %s: %+v", c.by, action, d)
			}
		}
	}
}
