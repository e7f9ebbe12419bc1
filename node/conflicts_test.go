package node_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Two devices that were offline say where the wearer lives, and correct the
// same memory. Both show the conflicts, and who said what; what is settled on
// one is settled on the other.
func TestConflictsSync(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 41), newDevice(t, relay.url, 42)
	a.init()
	a.home("Berlin")
	note := a.tell("The key is under the mat.", nil)
	a.well()
	a.pair(b)
	b.well()

	a.home("Ghent")
	b.home("Antwerp")
	for d, text := range map[*device]string{a: "The key is in the shed.", b: "The key is with Tom."} {
		if _, err := d.Update(t.Context(), note, serve.UpdateRequest{Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	meet := func() {
		a.well()
		b.well()
		a.well()
	}
	meet()
	open := func(d *device) map[string]serve.Conflict {
		list, err := d.Conflicts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]serve.Conflict{}
		for _, c := range list {
			out[c.Kind] = c
			here := 0
			for _, s := range c.Sides {
				if s.Here {
					here++
				}
				if s.Rank != memory.RankPerson || s.At.IsZero() {
					t.Errorf("who, where, when: %+v", s)
				}
			}
			if here != 1 || len(c.Sides) != 2 || c.Why == "" {
				t.Errorf("%+v", c)
			}
		}
		return out
	}
	at, there := open(a), open(b)
	if len(at) != 2 || len(there) != 2 || at["slot"].ID != there["slot"].ID || at["field"].ID != there["field"].ID {
		t.Fatalf("%+v\n%+v", at, there)
	}
	for i, s := range at["slot"].Sides {
		if s.Value == "Ghent" {
			if _, err := a.Settle(t.Context(), at["slot"].ID, serve.SettleRequest{Choose: i + 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := b.Settle(t.Context(), there["field"].ID, serve.SettleRequest{Write: "The key is on the hook."}); err != nil {
		t.Fatal(err)
	}
	meet()
	for name, d := range map[string]*device{"first": a, "second": b} {
		if left := open(d); len(left) != 0 {
			t.Errorf("%s: %+v", name, left)
		}
		state := d.state()
		if m, err := d.Get(t.Context(), note); err != nil || m.Text != "The key is on the hook." || m.Conflict != nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		if !strings.Contains(state, "Ghent") {
			t.Errorf("%s: %s", name, state)
		}
		page, err := d.List(t.Context(), serve.ListQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Memories {
			if m.Slot != nil && m.Slot.Value != "Ghent" {
				t.Errorf("%s: shown %s", name, m.Text)
			}
		}
	}
	if a.state() != b.state() {
		t.Errorf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

// Two devices correct the value of one memory. It is one conflict, and what the wearer writes in its
// place changes the value, too.
func TestCorrectedApart(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 41), newDevice(t, relay.url, 42)
	a.init()
	home := a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	for d, text := range map[*device]string{a: "User lives in Ghent.", b: "User lives in Antwerp."} {
		if m, err := d.Update(t.Context(), home, serve.UpdateRequest{Text: &text}); err != nil || !strings.Contains(text, m.Slot.Value) {
			t.Fatal(m, err)
		}
	}
	a.well()
	b.well()
	a.well()
	list, err := a.Conflicts(t.Context())
	if err != nil || len(list) != 1 || list[0].Field != "text" {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := a.Settle(t.Context(), list[0].ID, serve.SettleRequest{Write: "User lives in Oslo."}); err != nil {
		t.Fatal(err)
	}
	a.well()
	b.well()
	for name, d := range map[string]*device{"first": a, "second": b} {
		m, err := d.Get(t.Context(), home)
		if err != nil || m.Text != "User lives in Oslo." || m.Slot.Value != "Oslo" || m.Conflict != nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		if left, err := d.Conflicts(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("%s: %+v, %v", name, left, err)
		}
	}
}
