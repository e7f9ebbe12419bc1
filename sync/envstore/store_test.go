package envstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// The content of a store is the same after it is opened again. Differences that
// a crash left between a file and its line are repaired.
func TestReopenRepairsACrash(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newStore(t, dir, log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	first := p.say(t, "one")
	take(t, s, first, w.say(t, "two"), p.say(t, "three"))
	if err := s.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: first.Header.Position()}}); err != nil {
		t.Fatal(err)
	}
	want := bodies(t, s)
	order := filepath.Join(dir, spaceID.String(), "order")
	b, err := os.ReadFile(order)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(order, b[:len(b)-4], 0o600); err != nil { // the last line is torn
		t.Fatal(err)
	}
	again, err := Open(dir, log[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, again); got != want || len(again.since(0)) != 3 || again.log.N() != 2 {
		t.Errorf("%s, want %s", got, want)
	}
	if fresh, err := again.TakeDelta(first); err != nil || fresh {
		t.Errorf("what was taken away is back: %v, %v", fresh, err)
	}
	if placed, err := again.Deltas(t.Context(), 0); err != nil || len(placed) != 3 || placed[2].Cursor != 3 {
		t.Errorf("%+v, %v", placed, err)
	}
}

// A store takes only what a member has signed, at its place in its chain.
func TestTakeRefuses(t *testing.T) {
	log, state := world(t)
	s := newStore(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	one, two, three := p.say(t, "one"), p.say(t, "two"), p.say(t, "three")
	take(t, s, one)
	if _, err := s.TakeDelta(three); !errors.Is(err, envelope.ErrGap) {
		t.Errorf("with a gap: %v", err)
	}
	forked := (&author{actor: phone, state: state}).say(t, "another one")
	var fork *envelope.ForkError
	if _, err := s.TakeDelta(forked); !errors.As(err, &fork) {
		t.Errorf("another in its place: %v", err)
	}
	stranger := (&author{actor: theirs, state: state}).say(t, "let me in")
	if _, err := s.TakeDelta(stranger); !errors.Is(err, envelope.ErrRule) {
		t.Errorf("a stranger's: %v", err)
	}
	bad := *two
	bad.Body = []byte("owt")
	if _, err := s.TakeDelta(&bad); !errors.Is(err, envelope.ErrBody) {
		t.Errorf("another body: %v", err)
	}
	bad = *two
	bad.Signature = bytes.Clone(two.Signature)
	bad.Signature[3] ^= 1
	if _, err := s.TakeDelta(&bad); !errors.Is(err, envelope.ErrSignature) {
		t.Errorf("another signature: %v", err)
	}
	if fresh, err := s.TakeDelta(two.WithoutBody()); err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	if fresh, err := s.TakeDelta(two); err != nil || !fresh || !strings.Contains(bodies(t, s), "two") {
		t.Errorf("the body that came later: %v, %v, %s", fresh, err, bodies(t, s))
	}
}

// If the line of a delta can't be written, the delta is not taken. It is taken when it comes again.
func TestTakeAfterFailedWrite(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newStore(t, dir, log)
	p := &author{actor: phone, state: state}
	one, two := p.say(t, "one"), p.say(t, "two")
	order := filepath.Join(dir, spaceID.String(), "order")
	failing := func(d *envelope.Delta) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(order), os.Mkdir(order, 0o700)); err != nil {
			t.Fatal(err)
		}
		if fresh, err := s.TakeDelta(d); err == nil || fresh {
			t.Errorf("without a line: %v, %v", fresh, err)
		}
		if err := os.Remove(order); err != nil {
			t.Fatal(err)
		}
		if fresh, err := s.TakeDelta(d); err != nil || !fresh {
			t.Errorf("again: %v, %v", fresh, err)
		}
	}
	failing(one)
	if _, n := s.Position(); n != 1 {
		t.Errorf("%d in the order, want 1", n)
	}
	take(t, s, two.WithoutBody())
	failing(two) // the body that comes later
	if _, n := s.Position(); n != 3 {
		t.Errorf("%d in the order, want 3", n)
	}
}
