package retention

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

func TestRules(t *testing.T) {
	now := time.Date(2025, 4, 2, 12, 0, 0, 0, time.UTC)
	rules, err := config.ParseRules([]string{"tag:family forever", "type:episodic & tag:work 30d", "type:episodic 90d", "sensitivity:private 7d"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		m    memory.Memory
		days int // since it was last heard
		by   string
	}{
		{"young", memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic}}, 89, ""},
		{"old", memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic}}, 91, "type:episodic 90d"},
		{"the first that fits", memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic, Tags: []string{"work"}}}, 31, "type:episodic & tag:work 30d"},
		{"not a later one", memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic, Sensitivity: memory.Secret}}, 8, ""},
		{"more sensitive", memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Secret}}, 8, "sensitivity:private 7d"},
		{"less sensitive", memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Personal}}, 800, ""},
		{"for ever", memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic, Tags: []string{"work", "family"}}}, 9000, ""},
		{"pinned", memory.Memory{Pinned: true, Candidate: memory.Candidate{Type: memory.Episodic}}, 9000, ""},
	} {
		c.m.Evidence = []memory.Evidence{{At: now.AddDate(-30, 0, 0)}, {At: now.AddDate(0, 0, -c.days)}}
		got := ""
		if r := Ends(rules, &c.m, now); r != nil {
			got = r.Text
		}
		if got != c.by {
			t.Errorf("%s: %q, want %q", c.name, got, c.by)
		}
	}
}
