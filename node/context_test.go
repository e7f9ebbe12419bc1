package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// The topic is what was just talked about. What is known about it is in the context
// with dates, and the vault is not.
func TestContextOfTheLiveSession(t *testing.T) {
	n := newNode(t, nil)
	now := time.Now()
	day := now.AddDate(0, 0, -30)
	hear(t, n, day, "Maja", "I bought a red kayak in Lindau")
	hear(t, n, day.Add(time.Minute), "Maja", "The wifi password of the boat house is Tr0ut-pine-88")
	for i := range 30 {
		hear(t, n, day.AddDate(0, 0, i/4+1).Add(time.Duration(i%4)*time.Hour), "Bo", []string{"The tram was late again", "Soup for lunch, I guess", "Rain all day", "My knee hurts"}[i%4])
	}
	hear(t, n, now, "Bo", "Do you still have the red kayak?")
	res, err := n.Context(t.Context(), serve.ContextRequest{Budget: 300})
	if err != nil || res.Topic != "Do you still have the red kayak?" || !res.Known {
		t.Fatalf("%+v, %v", res, err)
	}
	if !strings.Contains(res.Text, day.In(n.zone).Format(time.DateOnly)) || !strings.Contains(res.Text, "red kayak in Lindau") || res.Tokens > 300 || retrieve.Tokens(res.Text) != res.Tokens {
		t.Errorf("%d tokens\n%s", res.Tokens, res.Text)
	}
	// A turn that refers back is searched with the words of the turns before it.
	hear(t, n, now.Add(time.Minute), "Bo", "Where did you buy it?")
	if res, err = n.Context(t.Context(), serve.ContextRequest{}); err != nil || !strings.Contains(res.Text, "Lindau") {
		t.Errorf("topic %q, %v\n%s", res.Topic, err, res.Text)
	}
	res, err = n.Context(t.Context(), serve.ContextRequest{Topic: "wifi password of the boat house", Budget: 2000})
	if err != nil || strings.Contains(res.Text, "Tr0ut") {
		t.Errorf("a secret: %v\n%s", err, res.Text)
	}
	for _, it := range res.Items {
		if it.Section == string(memory.Vault) {
			t.Errorf("of the vault: %+v", it)
		}
	}
}

// Core memories of another user are in no block, unless that user is asked for.
func TestContextWithoutOthersCore(t *testing.T) {
	n, asIs := newNode(t, nil), false
	for user, text := range map[string]string{"": "Ana is allergic to bees", "alice": "Alice is allergic to nuts"} {
		_, err := n.Add(t.Context(), serve.AddRequest{Text: text, Infer: &asIs, Type: memory.Core, User: user, Fields: memory.Fields{Core: &memory.CoreFields{Block: "human", Limit: memory.CoreLimit}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	alices, err := filter.Parse("user = alice", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]filter.Filter{"bees": {}, "nuts": alices} {
		res, err := n.Context(t.Context(), serve.ContextRequest{Filters: f})
		if err != nil || len(res.Items) != 1 || !strings.Contains(res.Items[0].Text, want) {
			t.Errorf("want %s: %+v, %v", want, res.Items, err)
		}
	}
}

// If a block is read aloud again, the node learns nothing from it. What was found but
// left out of the block may still be said by the wearer.
func TestContextReadAloudIsNotLearnt(t *testing.T) {
	n := newNode(t, nil)
	now := time.Now().Add(-time.Hour)
	hear(t, n, now, "Maja", "My sister Lena keeps bees in Ghent")
	for range 15 {
		now = now.Add(time.Second)
		hear(t, n, now, "Maja", "My sister Lena keeps "+strings.Repeat("very ", 30)+"many hens and goats in Ghent "+now.String())
	}
	res, err := n.Context(t.Context(), serve.ContextRequest{Topic: "What does my sister Lena keep? bees", Budget: 150})
	if err != nil || res.Left == 0 || len(res.Items) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	process := func(text string) []memory.Refusal {
		at := time.Now()
		out, err := o.process(t.Context(), memory.Event{ID: memory.EventID{Device: "pin", Boot: 2, Seq: uint64(at.UnixNano())}, Kind: memory.KindText,
			At: at, Received: at, Clock: memory.ClockWall, Text: text, Speaker: "Maja"})
		if err != nil {
			t.Fatal(err)
		}
		return out.Refusals
	}
	if got := process(res.Items[0].Text); len(got) != 1 || got[0].Kind != "feedback" {
		t.Errorf("read aloud: %+v", got)
	}
	in := map[string]bool{}
	for _, it := range res.Items {
		in[it.Text] = true
	}
	all, err := o.query.Find(t.Context(), serve.SearchRequest{Query: "sister Lena hens", K: 40})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all.Hits {
		if h.Utterance != nil && !in[h.Text] {
			if got := process(h.Text); len(got) > 0 && got[0].Kind == "feedback" {
				t.Errorf("%q was not given out: %+v", h.Text, got)
			}
			return
		}
	}
	t.Error("everything was in the block")
}
