package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// A context without a topic begins with what is due today and tomorrow.
func TestContextBeginsWithDueTasks(t *testing.T) {
	n, asIs := newNode(t, nil), false
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 16, 50, 0, 0, zone)
	add := func(kind, text string, started, ended time.Time, tags ...string) {
		t.Helper()
		r := serve.AddRequest{Text: text, Infer: &asIs, Type: memory.Episodic, Tags: tags, Fields: memory.Fields{Episodic: &memory.EpisodicFields{EventType: kind, Started: started, Ended: ended}}}
		if _, err := n.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	today := time.Date(2026, 11, 25, 0, 0, 0, 0, zone)
	none := time.Time{}
	add("appointment", "The vet looks at Momo", now.Add(20*time.Hour), none)
	add("plan", "Ana pays the rent", today, none, "money")
	add("event", "Bo's train comes in", now.Add(47*time.Hour), none)
	add("trip", "Bo is in Porto", now.Add(-100*time.Hour), now.Add(20*time.Hour))
	for text, at := range map[string]time.Time{"The concert of the choir": now.Add(49 * time.Hour), "A call with the bank": now.Add(-time.Hour), "The plants want water": today.AddDate(0, 0, -1)} {
		add("plan", text, at, none)
	}
	add("event", "Ana finished the tax return", today, none)
	hear(t, n, now.Add(-3*time.Hour), "Ana", "I have a dentist appointment tomorrow at 9 am")
	hear(t, n, now.Add(-2*time.Hour), "Ana", "My dentist appointment tomorrow is cancelled")
	hear(t, n, now.Add(-time.Hour), "Bo", "My knee hurts")

	due := func(r serve.ContextRequest) (list []string) {
		t.Helper()
		r.At = now
		res, err := n.Context(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range res.Items {
			if it.Section == string(memory.Episodic) {
				list = append(list, it.Text)
			}
		}
		if slices.Contains(list, "Ana pays the rent") && !strings.Contains(res.Text, "] 2026-11-25 · Ana pays the rent") {
			t.Errorf("without the day of the rent:\n%s", res.Text)
		}
		return list
	}
	want := []string{"Bo is in Porto", "Ana pays the rent", "The vet looks at Momo", "Bo's train comes in"}
	if got := due(serve.ContextRequest{}); len(got) < len(want) || !slices.Equal(got[:len(want)], want) || slices.ContainsFunc(got[len(want):], func(s string) bool { return !strings.Contains(s, "knee") }) {
		t.Errorf("%q", got)
	}
	if got := due(serve.ContextRequest{Budget: 90}); len(got) == 0 || len(got) == len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("in a small block: %q", got)
	}
	money, err := filter.Parse("tags contains money", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if got := due(serve.ContextRequest{Filters: money, Sees: money}); !slices.Equal(got, want[1:2]) {
		t.Errorf("for an app that sees money alone: %q", got)
	}
	if got := due(serve.ContextRequest{Topic: "my knee", Due: true}); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("about something else, after what is due: %q", got)
	}
	if got := due(serve.ContextRequest{Due: true}); !slices.Equal(got, want) {
		t.Errorf("nothing but what is due: %q", got)
	}
	if got := due(serve.ContextRequest{Topic: "my knee"}); slices.Contains(got, "The vet looks at Momo") {
		t.Errorf("about something else: %q", got)
	}
}
