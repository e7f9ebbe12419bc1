package query

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

func TestOwnMemoriesRankFirst(t *testing.T) {
	of := func(subject, attribute string) serve.Hit {
		m := memory.Memory{State: memory.Active}
		m.Slot = &memory.Slot{Subject: subject, Attribute: attribute, Value: "x"}
		return serve.Hit{Memory: &m}
	}
	for _, c := range []struct {
		question, other, attribute string
		own                        bool
	}{
		{"where do I live", "Anna", "home", true},
		{"when is my birthday", "Anna", "birthday", true},
		{"What is my phone number?", "Anna", "phone", true},
		{"我的生日是几号", "user的妈妈", "birthday", true},
		{"when is my sister's birthday", "Anna", "birthday", false},
		{"when is my birthday, or Anna's", "Anna", "birthday", false},
		{"我的妈妈的生日是几号", "user的妈妈", "birthday", false},
		{"when is Anna's birthday", "Anna", "birthday", false},
	} {
		hits := []serve.Hit{of(c.other, c.attribute), of("user", c.attribute)}
		ownFirst(c.question, hits, true)
		if own := hits[0].Memory.Slot.Subject == "user"; own != c.own {
			t.Errorf("%s: the wearer's own first: %v", c.question, own)
		}
	}
}

func TestOwnMemoriesRankFirstAmongUsers(t *testing.T) {
	of := func(user string) serve.Hit {
		m := memory.Memory{State: memory.Active}
		m.Owner.User, m.Slot = user, &memory.Slot{Subject: "user", Attribute: "home", Value: "x"}
		return serve.Hit{Memory: &m, Score: .5}
	}
	for _, c := range []struct {
		question string
		wearers  bool
		first    string
	}{
		{"where do I live", true, memory.WearerUser},
		{"where do I live", false, "alice"},
		{"where do I live, and where does Alice", true, "alice"},
		{"where is home", true, "alice"},
	} {
		hits := []serve.Hit{of("alice"), of(memory.WearerUser)}
		ownFirst(c.question, hits, c.wearers)
		if got := hits[0].Memory.Owner.User; got != c.first {
			t.Errorf("%s: %s is first", c.question, got)
		}
	}
}

func TestMayBeWearers(t *testing.T) {
	for text, want := range map[string]bool{"": true, "type = episodic": true, "kind = utterance": true, "tags = rail": true, "user = alice": false, "user = alice and type = episodic": false} {
		var f filter.Filter
		if text != "" {
			var err error
			if f, err = filter.Parse(text, time.UTC); err != nil {
				t.Fatal(err)
			}
		}
		if got := mayBeWearers(f); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
