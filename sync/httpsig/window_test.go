package httpsig

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// If a clock jumps far ahead and comes back, for example behind a captive
// portal, nothing is accepted twice and nobody is locked out.
func TestWindowOfAClockThatJumps(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	for name, far := range map[string]time.Duration{"ten years ahead": 10 * 365 * 24 * time.Hour, "an hour ahead": time.Hour, "two spans ahead": 20 * time.Minute,
		"ten years back": -10 * 365 * 24 * time.Hour, "an hour back": -time.Hour} {
		var passed, off time.Duration
		now := func() time.Time { return start.Add(passed + off) }
		w := &Window{Now: now, Elapsed: func() time.Duration { return passed }, Max: 90}
		var taken []Params
		take := func() {
			p := Params{KeyID: "k", Nonce: fmt.Sprint(len(taken)), Created: now()}
			if err := w.Take(p, ""); err != nil {
				t.Fatalf("%s: after %s: %v", name, passed, err)
			}
			taken = append(taken, p)
		}
		twice := func() {
			for _, p := range taken {
				if err := w.Take(p, ""); !errors.Is(err, ErrReplayed) && !errors.Is(err, ErrStale) {
					t.Fatalf("%s: after %s, of %s: %v", name, passed, p.Created, err)
				}
			}
		}
		for range 20 { // at the time that it shows, and in a third of the cases at another time
			take()
			off = far
			passed += time.Minute
			take()
			twice()
			off = 0
			passed += 2 * time.Minute
			twice()
		}
		for range 200 { // hours later, it shows the same time again
			passed += 2 * time.Minute
			take()
			twice()
		}
	}
}

// However many signatures come while a clock jumps, none is forgotten while it
// is fresh.
func TestFullWindowKeepsFreshSignatures(t *testing.T) {
	var passed, off time.Duration
	start := time.Unix(1_800_000_000, 0)
	now := func() time.Time { return start.Add(passed + off) }
	w := &Window{Now: now, Elapsed: func() time.Duration { return passed }, Max: 3}
	var taken []Params
	for jump := range 5 {
		off = time.Duration(jump) * 24 * time.Hour
		for n := range 3 {
			p := Params{KeyID: "k", Nonce: fmt.Sprint(jump, n), Created: now()}
			if err := w.Take(p, ""); err != nil {
				t.Fatal(err)
			}
			taken = append(taken, p)
		}
		passed += time.Second
	}
	off = 0
	for _, p := range taken[:3] {
		if err := w.Take(p, ""); !errors.Is(err, ErrReplayed) {
			t.Errorf("%v", err)
		}
	}
}

// Nonces that are no longer needed are dropped. What a jumping clock leaves is
// bounded, in spans and in nonces.
func TestWindowIsBounded(t *testing.T) {
	var passed, off time.Duration
	start := time.Unix(1_800_000_000, 0)
	now := func() time.Time { return start.Add(passed + off) }
	w := &Window{Now: now, Elapsed: func() time.Duration { return passed }, Max: 30}
	taken := 0
	take := func() {
		t.Helper()
		taken++
		if err := w.Take(Params{KeyID: "k", Nonce: fmt.Sprint(taken), Created: now()}, ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		passed += time.Minute
		take()
		if len(w.spans) > 4 {
			t.Fatalf("%d spans after %s", len(w.spans), passed)
		}
	}
	for n := range 1000 {
		passed += life
		off = time.Duration(1+n%500) * 24 * time.Hour
		take()
		if len(w.spans) > maxSpans+4 || len(w.spans) > 30+4 {
			t.Fatalf("%d spans of a clock that wanders", len(w.spans))
		}
	}
	w.Max = 1000
	for n := range 1000 {
		passed += life
		off = time.Duration(1+n%500) * 24 * time.Hour
		take()
		if len(w.spans) > maxSpans+4 {
			t.Fatalf("%d spans of a clock that wanders", len(w.spans))
		}
	}
}

// However many requests one holder sends, a second and a third still find room.
func TestWindowIsSharedByHolders(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	w := &Window{Now: func() time.Time { return now }, Max: 300}
	for i, want := range []int{100, 66, 44} {
		of := fmt.Sprint(i)
		n := 0
		for w.Take(Params{KeyID: of, Nonce: fmt.Sprint(n), Created: now}, of) == nil {
			n++
		}
		if n < want || n > want+1 {
			t.Errorf("holder %d has room for %d, want %d", i, n, want)
		}
	}
}
