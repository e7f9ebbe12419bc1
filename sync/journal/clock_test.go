package journal_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// A member's clock is ten years off, in either direction. Its assertions may
// get a wrong order. It can't make anything be lost or blocked, and can't
// change another clock. A member that knows its assertion can overrule it, and
// both derive the same.
func TestThreatBadClock(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 10 * 365 * 24 * time.Hour, "behind": -10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			b.tick.Now = func() time.Time { return time.Now().Add(off) }
			b.say(fact(1, "It is by the wrong clock."))
			b.sync()
			a.sync()
			var known []memory.Assertion
			err := a.store.View(t.Context(), func(tx *store.Tx) (err error) {
				known, err = tx.Assertions(memory.ID{1})
				return err
			})
			if err != nil || len(known) != 1 {
				t.Fatalf("%d assertions, %v", len(known), err)
			}
			if now := a.tick.Tick().Time(); now.After(time.Now().Add(memory.MaxAhead)) {
				t.Errorf("the clock of who heard it was moved to %s", now)
			}
			text := "It is by the right one."
			a.say(memory.Assertion{Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}}, fact(2, "It goes on."))
			a.sync()
			b.sync()
			for who, m := range map[string]*member{"whose clock is right": a, "whose clock is off": b} {
				if got := m.memory(memory.ID{1}); got == nil || got.Text != text || len(got.Conflict) > 0 {
					t.Errorf("who %s: %+v", who, got)
				}
				if m.memory(memory.ID{2}) == nil {
					t.Errorf("who %s was blocked", who)
				}
			}
			// A rule of the membership does not depend on a clock, either.
			c := b.let(b.url, envelope.Writer, nil)
			c.sync()
			if c.memory(memory.ID{2}) == nil {
				t.Error("who was let in by the one with the wrong clock has nothing")
			}
		})
	}
}
