package extract

import (
	"log/slog"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A line in an ongoing session does not write the session, and a restart finds it as it
// was nevertheless. An event without a line writes it.
func TestSessionIsWrittenWhenItChanges(t *testing.T) {
	b := newBench(t)
	written := func() (s saved) {
		t.Helper()
		err := b.store.View(t.Context(), func(tx *store.Tx) error { _, err := tx.Meta(sessionMeta, &s); return err })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	again := func() *Extractor {
		t.Helper()
		x, err := New(t.Context(), Config{Owner: "ana", Wearer: "Ana"}, b.x.engine, b.store, testKeys{}, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if x.session.saved != b.x.session.saved {
			t.Errorf("a start finds %+v, want %+v", x.session.saved, b.x.session.saved)
		}
		return x
	}
	b.must(b.text("The kettle is on."))
	first := written()
	if first.Name == "" || !first.Last.Equal(b.at) {
		t.Fatalf("first: %+v at %s", first, b.at)
	}
	b.must(b.text("It boils."))
	if got := written(); got != first {
		t.Errorf("written again: %+v, was %+v", got, first)
	}
	if x := again(); !x.session.Last.Equal(b.at) || len(x.session.turns) != 2 {
		t.Errorf("last %s, %d turns", x.session.Last, len(x.session.turns))
	}
	b.must(b.event(memory.KindButton))
	if got := written(); !got.Last.Equal(b.at) || got.Name != first.Name {
		t.Errorf("after a press at %s: %+v", b.at, got)
	}
	again()
	b.at = b.at.Add(2 * memory.SessionGap)
	b.must(b.text("Good evening."))
	if got := written(); got.Name == first.Name || !got.Began.Equal(b.at) {
		t.Errorf("after a silence: %+v", got)
	}
	again()
}

// The stored state of the session is cached, and not read for each line. After a failed
// commit it is read once.
func TestSessionIsNotReadForEachLine(t *testing.T) {
	b := newBench(t)
	b.must(b.text("The kettle is on."))
	spoil := func(v any) {
		t.Helper()
		if err := b.store.Update(t.Context(), func(tx *store.Tx) error { return tx.PutMeta(sessionMeta, v) }); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.x.session.saved
	spoil("nobody can read this as a session")
	b.must(b.text("It boils."))
	b.x.cfg.Voices = fullDisk{}
	if _, err := b.x.Process(t.Context(), b.w, b.text("Where are the cups?")); err == nil {
		t.Fatal("the line was committed, although voices could not be saved")
	}
	b.x.cfg.Voices = nil
	if _, err := b.x.Process(t.Context(), b.w, b.text("Where are they?")); err == nil {
		t.Error("after a failure, what the store has is not read")
	}
	spoil(whole)
	b.must(b.text("In the cupboard."))
	spoil("nobody can read this as a session")
	b.must(b.text("Thanks."))
}

// fullDisk makes everything fail that is written after the session.
type fullDisk struct{ Voices }

func (fullDisk) Save(*store.Tx) error { return memory.ErrNoSpace }

// The clock of events does not go back when something older is said, such as an imported chat. A time
// in the future counts only until the next event.
func TestLatestEventOfAll(t *testing.T) {
	b := newBench(t)
	now := time.Now().UTC().Truncate(time.Second)
	say := func(at, want time.Time) {
		t.Helper()
		b.at = at
		b.must(b.text("The kettle is on."))
		want = want.Add(b.at.Sub(at)) // each text comes a little later
		x, err := New(t.Context(), Config{Owner: "ana", Wearer: "Ana"}, b.x.engine, b.store, testKeys{}, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]*Extractor{"here": b.x, "after a start": x} {
			if got := x.Latest(nil); !got.Equal(want) {
				t.Errorf("%s: after an event at %s the latest is at %s, want %s", name, at, got, want)
			}
		}
	}
	yesterday, hourAgo, later := now.AddDate(0, 0, -1), now.Add(-time.Hour), now.AddDate(3, 0, 0)
	say(yesterday, yesterday)
	say(now.AddDate(-7, 0, 0), yesterday)
	say(now.AddDate(-6, 0, 0), yesterday)
	say(hourAgo, hourAgo)
	say(later, later)
	say(now.AddDate(-5, 0, 0), hourAgo)
	say(now, now)
}
