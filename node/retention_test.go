package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Rules end memories by type, tag and sensitivity, using the time of events;
// what would go is shown first; what is pinned stays; and what goes is really
// gone.
func TestRetentionByRule(t *testing.T) {
	n := keyed(t, func(c *config.Config) {
		c.Retention.Rules = []string{"tag:family forever", "type:episodic 30d", "sensitivity:private 7d"}
	})
	began := time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)
	add := func(text string, kind memory.Type, s memory.Sensitivity, tags ...string) memory.ID {
		no := false
		r, err := n.Add(t.Context(), serve.AddRequest{Text: text, Infer: &no, Type: kind, At: began, Sensitivity: &s, Tags: tags})
		if err != nil {
			t.Fatal(err)
		}
		return r.Changes[0].Memory
	}
	visit := add("Quintavius came by", memory.Episodic, memory.Personal)
	family := add("Grandmother came by", memory.Episodic, memory.Personal, "family")
	private := add("The Zanzibarra account is empty", memory.Semantic, memory.Private)
	pinned := add("Keep this of that day", memory.Episodic, memory.Secret)
	fact := add("The bike is blue", memory.Semantic, memory.Personal)
	if _, err := n.Pin(t.Context(), pinned, true); err != nil {
		t.Fatal(err)
	}
	plan := func() map[memory.ID]string {
		r, err := n.Retention(t.Context(), serve.RetentionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[memory.ID]string{}
		for _, e := range r.Memories {
			out[e.ID] = e.Why
		}
		return out
	}
	// The node was switched off since then: by its own clock nothing is old
	// yet.
	if p := plan(); len(p) != 0 {
		t.Errorf("without a later event: %v", p)
	}
	hear(t, n, began.AddDate(0, 0, 10), "Ana", "The kettle stands beside the stove.")
	if p := plan(); len(p) != 1 || p[private] != "sensitivity:private 7d" {
		t.Errorf("after ten days: %v", p)
	}
	hear(t, n, began.AddDate(0, 0, 40), "Ana", "The kettle stands beside the window.")
	if p := plan(); len(p) != 2 || p[visit] != "type:episodic 30d" {
		t.Errorf("after forty days: %v", p)
	}
	if err := n.open.applyRetention(t.Context(), n.open.latest()); err != nil {
		t.Fatal(err)
	}
	for id, gone := range map[memory.ID]bool{visit: true, private: true, family: false, pinned: false, fact: false} {
		if _, err := n.Get(t.Context(), id); (err != nil) != gone {
			t.Errorf("%s: %v, want gone %v", id, err, gone)
		}
	}
	for _, f := range dig(t, n, "Quintavius", "Zanzibarra").Finds {
		t.Error(f)
	}
}
