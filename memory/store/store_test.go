package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

var (
	noon  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	space = memory.SpaceID{1, 2, 3}
	me    = memory.MemberID{0xaa}
	you   = memory.MemberID{0xbb}
)

func testKey() *seal.Key {
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		panic(err)
	}
	return k
}

func testOptions(dir string) Options {
	return Options{Dir: dir, Key: testKey(), Derive: reconcile.Derive, Diff: reconcile.Diff}
}

func open(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(testOptions(dir))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func reopen(tb testing.TB, s *Store) *Store {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return open(tb, s.opt.Dir)
}

func update(tb testing.TB, s *Store, fn func(t *Tx) error) {
	tb.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func view(tb testing.TB, s *Store, fn func(t *Tx) error) {
	tb.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func sound(tb testing.TB, s *Store) {
	tb.Helper()
	found, err := s.Verify(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range found {
		tb.Errorf("damaged: %s", d.Error())
	}
}

func testID(n int) (id memory.ID) {
	copy(id[:], "an id for a test")
	binary.BigEndian.PutUint32(id[:], uint32(n)*2654435761) // spread, so that prefixes differ
	binary.BigEndian.PutUint32(id[4:], uint32(n))
	return id
}

func clockOf(n int) memory.Clock {
	return memory.Clock{Wall: noon.Add(time.Duration(n) * time.Minute).UnixMilli()}
}

func evidence(n int, excerpt string) memory.Evidence {
	return memory.Evidence{
		Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)}, Speaker: "user",
		At: noon.Add(time.Duration(n) * time.Minute), Excerpt: excerpt,
	}
}

// home proposes where the wearer lives: one slot, one value at a time.
func home(n int, member memory.MemberID, seq uint64, city string) memory.Assertion {
	return memory.Assertion{
		Dot: memory.Dot{Member: member, Seq: seq}, Clock: clockOf(n), Rank: memory.RankDevice, Space: space,
		Memory: testID(n), Act: memory.ActPropose, Source: memory.Source{Device: "pin", Plugin: "facts"},
		Candidate: &memory.Candidate{
			Type: memory.Semantic, Text: "The user lives in " + city + ".", Owner: memory.Owner{User: "user"},
			Slot:     &memory.Slot{Subject: "user", Attribute: "home", Value: city},
			Fields:   memory.Fields{Semantic: &memory.SemanticFields{Name: "home"}},
			Evidence: []memory.Evidence{evidence(n, "I live in "+city)}, Confidence: 0.8, Sensitivity: memory.Personal,
			TrueFrom: noon.Add(time.Duration(n) * time.Minute),
		},
	}
}

// fact proposes a statement that stands by itself.
func fact(n int, member memory.MemberID, seq uint64, text string) memory.Assertion {
	a := home(n, member, seq, "")
	a.Candidate.Text, a.Candidate.Slot = text, nil
	a.Candidate.Evidence[0].Excerpt = text
	return a
}

func act(n int, member memory.MemberID, seq uint64, act memory.Act) memory.Assertion {
	return memory.Assertion{
		Dot: memory.Dot{Member: member, Seq: seq}, Clock: clockOf(1000 + int(seq)), Rank: memory.RankPerson,
		Space: space, Memory: testID(n), Act: act, Source: memory.Source{Plugin: "person"},
	}
}

func collect[T any](tb testing.TB, seq func(func(T, error) bool)) []T {
	tb.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func TestAssertDerivesAndRemembers(t *testing.T) {
	s := open(t, t.TempDir())
	var changes []memory.Change
	update(t, s, func(tx *Tx) error {
		dot, err := tx.NextDot(me)
		if err != nil {
			return err
		}
		a := home(1, me, dot.Seq, "Ghent")
		changes, err = tx.Assert(a)
		if len(tx.Touched()) != 1 || tx.Touched()[0].ID != a.Memory {
			t.Errorf("touched: %v", tx.Touched())
		}
		return err
	})
	if len(changes) != 1 || changes[0].Verdict != memory.Add || changes[0].Seq != 1 {
		t.Fatalf("first home: %+v", changes)
	}
	update(t, s, func(tx *Tx) (err error) {
		dot, err := tx.NextDot(me)
		if err != nil {
			return err
		}
		if dot.Seq != 2 {
			t.Errorf("next dot: %d", dot.Seq)
		}
		changes, err = tx.Assert(home(60, me, dot.Seq, "Antwerp"))
		return err
	})
	if len(changes) == 0 || !slices.ContainsFunc(changes, func(c memory.Change) bool { return c.Verdict == memory.Update }) {
		t.Fatalf("second home: %+v", changes)
	}
	s = reopen(t, s)
	view(t, s, func(tx *Tx) error {
		old, err := tx.Memory(testID(1))
		if err != nil {
			return err
		}
		if old.State != memory.Superseded || old.Into != testID(60) || old.TrueTo.IsZero() {
			t.Errorf("old home: %+v", old)
		}
		now, err := tx.Memory(testID(60))
		if err != nil {
			return err
		}
		if now.State != memory.Active || now.Slot.Value != "Antwerp" || !now.Evidence[0].At.Equal(noon.Add(time.Hour)) {
			t.Errorf("new home: %+v", now)
		}
		both, err := tx.Group(now.Group)
		if err != nil || len(both) != 2 {
			t.Errorf("group: %d memories, %v", len(both), err)
		}
		h, err := tx.History(testID(1))
		if err != nil || len(h) < 2 {
			t.Errorf("history of the old home: %+v, %v", h, err)
		}
		if all := collect(t, tx.Changes(1)); len(all) == 0 || all[0].Seq != 2 {
			t.Errorf("changes after 1: %+v", all)
		}
		if out := collect(t, tx.Outbox(0)); len(out) != 2 || out[1].Assertion.Candidate.Slot.Value != "Antwerp" {
			t.Errorf("outbox: %+v", out)
		}
		if as, err := tx.Assertions(testID(1)); err != nil || len(as) != 1 {
			t.Errorf("assertions: %v, %v", as, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.Sent(1) })
	view(t, s, func(tx *Tx) error {
		if out := collect(t, tx.Outbox(0)); len(out) != 1 || out[0].Seq != 2 {
			t.Errorf("outbox after sending one: %+v", out)
		}
		return nil
	})
	sound(t, s)
}

func TestAssertIsIdempotent(t *testing.T) {
	s := open(t, t.TempDir())
	a := home(1, me, 1, "Ghent")
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(a); return err })
	before := s.state.head
	update(t, s, func(tx *Tx) error {
		changes, err := tx.Assert(a, a)
		if len(changes) != 0 {
			t.Errorf("a known dot changed %+v", changes)
		}
		return err
	})
	if s.state.head.Generation != before.Generation {
		t.Error("a known dot was written again")
	}
	for name, other := range map[string]memory.Assertion{
		"another memory": home(2, me, 1, "Ghent"), "another text": home(1, me, 1, "Bruges"),
	} {
		err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Assert(other); return err })
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("dot given to %s: %v", name, err)
		}
	}
	bad := home(3, me, 3, "Ghent")
	bad.Candidate.Confidence = 2
	err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Assert(home(4, me, 4, "Ypres"), bad); return err })
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "assertion 1") {
		t.Errorf("invalid assertion: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if _, err := tx.Memory(testID(4)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("of a failed transaction: %v", err)
		}
		return nil
	})
}

func TestAssertionWaitsForItsProposal(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		changes, err := tx.AssertRemote(act(1, you, 9, memory.ActPin))
		if len(changes) != 0 {
			t.Errorf("changes: %+v", changes)
		}
		return err
	})
	view(t, s, func(tx *Tx) error {
		if _, err := tx.Memory(testID(1)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("before the proposal: %v", err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(1, me, 1, "Ghent")); return err })
	view(t, s, func(tx *Tx) error {
		m, err := tx.Memory(testID(1))
		if err == nil && !m.Pinned {
			t.Error("the waiting pin was lost")
		}
		if n := len(collect(t, tx.Outbox(0))); n != 1 {
			t.Errorf("outbox has %d, a remote one is not for it", n)
		}
		return err
	})
	sound(t, s)
}

// TestProposalMovesGroup: two proposals of one id which disagree about the
// group; the one with the lesser dot decides, whichever came first.
func TestProposalMovesGroup(t *testing.T) {
	first, second := home(1, me, 1, "Ghent"), fact(1, you, 1, "It rains.")
	for name, order := range map[string][]memory.Assertion{"in order": {first, second}, "out of order": {second, first}} {
		s := open(t, t.TempDir())
		for _, a := range order {
			update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(a); return err })
		}
		view(t, s, func(tx *Tx) error {
			m, err := tx.Memory(testID(1))
			if err == nil && m.Group != first.Candidate.Group() {
				t.Errorf("%s: group %q", name, m.Group)
			}
			if g, err := tx.Group(second.Candidate.Group()); err != nil || len(g) != 0 {
				t.Errorf("%s: the other group has %d, %v", name, len(g), err)
			}
			return err
		})
		sound(t, s)
	}
}

func TestFind(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 40 {
		update(t, s, func(tx *Tx) error {
			_, err := tx.Assert(fact(i, me, uint64(i+1), "Fact number "+strconv.Itoa(i)+"."))
			return err
		})
	}
	view(t, s, func(tx *Tx) error {
		for i := range 40 {
			id := testID(i).String()
			for _, prefix := range []string{id, strings.ToUpper(id), id[:25], id[:14]} {
				if m, err := tx.Find(prefix); err != nil || m.ID != testID(i) {
					t.Errorf("find %q: %v", prefix, err)
				}
			}
		}
		for prefix, want := range map[string]error{
			testID(1).String()[:1]: memory.ErrAmbiguous, "zzzzzz": memory.ErrNotFound,
			"": memory.ErrInvalid, "u!": memory.ErrInvalid, strings.Repeat("0", 27): memory.ErrInvalid,
		} {
			if want == memory.ErrAmbiguous && strings.Count(allIDs(40), "\n"+prefix) < 2 {
				continue
			}
			if _, err := tx.Find(prefix); !errors.Is(err, want) {
				t.Errorf("find %q: %v, want %v", prefix, err, want)
			}
		}
		return nil
	})
}

func allIDs(n int) (s string) {
	for i := range n {
		s += "\n" + testID(i).String()
	}
	return s
}

func TestMemoriesFilter(t *testing.T) {
	s := open(t, t.TempDir())
	const n = 50
	update(t, s, func(tx *Tx) error {
		for i := range n {
			a := fact(i, me, uint64(i+1), fmt.Sprintf("Fact %c%c.", 'a'+i/26, 'a'+i%26))
			if i%5 == 0 {
				a.Candidate.Type, a.Candidate.Fields = memory.Episodic, memory.Fields{}
			}
			if _, err := tx.Assert(a); err != nil {
				return err
			}
		}
		_, err := tx.Assert(act(3, me, n+1, memory.ActArchive), act(4, me, n+2, memory.ActErase))
		return err
	})
	numbers := func(f Filter) (out []int) {
		view(t, s, func(tx *Tx) error {
			for _, m := range collect(t, tx.Memories(f)) {
				out = append(out, int(binary.BigEndian.Uint32(m.ID[4:])))
			}
			return nil
		})
		return out
	}
	at := func(i int) time.Time { return clockOf(i).Time() }
	for name, c := range map[string]struct {
		f    Filter
		want string
	}{
		"newest first":   {Filter{Limit: 3}, "[49 48 47]"},
		"oldest first":   {Filter{Limit: 6, Oldest: true}, "[0 1 2 3 5 6]"},
		"by type":        {Filter{Types: []memory.Type{memory.Episodic}, Limit: 3}, "[45 40 35]"},
		"by state":       {Filter{States: []memory.State{memory.Archived}}, "[3]"},
		"active, oldest": {Filter{States: []memory.State{memory.Active}, Limit: 4, Oldest: true}, "[0 1 2 5]"},
		"a span":         {Filter{Since: at(7), Until: at(10)}, "[9 8 7]"},
		"a span, oldest": {Filter{Since: at(7), Until: at(10), Oldest: true}, "[7 8 9]"},
		"after":          {Filter{After: testID(10), Limit: 2}, "[9 8]"},
		"after, oldest":  {Filter{After: testID(10), Limit: 2, Oldest: true}, "[11 12]"},
	} {
		if got := fmt.Sprint(numbers(c.f)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := len(numbers(Filter{})); got != n-1 {
		t.Errorf("all but the erased: %d", got)
	}
}

func TestUtterances(t *testing.T) {
	s := open(t, t.TempDir())
	event := memory.EventID{Device: "pin", Boot: 1, Seq: 7}
	say := func(n int, text string) *memory.Utterance {
		return &memory.Utterance{ID: testID(n), Space: space, Event: event, Session: "s", At: noon.Add(time.Duration(n) * time.Minute), Text: text}
	}
	update(t, s, func(tx *Tx) error {
		for n := range 5 {
			if err := tx.PutUtterance(say(n, "my PIN is 4711")); err != nil {
				return err
			}
		}
		return nil
	})
	seq := s.state.head.Seq.Document
	update(t, s, func(tx *Tx) error {
		u := say(2, "my PIN is [redacted]")
		u.At, u.Redacted = noon.Add(time.Hour), 1
		return errors.Join(tx.PutUtterance(u), tx.PutUtterance(u), tx.PutUtterance(say(3, "my PIN is 4711")))
	})
	view(t, s, func(tx *Tx) error {
		if p := collect(t, tx.IndexPending(seq)); len(p) != 1 || p[0].ID != testID(2) || p[0].Kind != UtteranceDocument || p[0].Gone {
			t.Errorf("pending after the redaction: %+v", p)
		}
		if p := collect(t, tx.IndexPending(0)); len(p) != 5 || p[4].ID != testID(2) {
			t.Errorf("each document once, the redacted last: %+v", p)
		}
		got := collect(t, tx.Utterances(noon.Add(time.Minute), noon.Add(4*time.Minute)))
		if len(got) != 2 || got[0].ID != testID(1) || got[1].ID != testID(3) {
			t.Errorf("by time: %d", len(got))
		}
		if got := collect(t, tx.Utterances(time.Time{}, time.Time{})); len(got) != 5 || got[4].Text != "my PIN is [redacted]" {
			t.Errorf("all: %d, last %+v", len(got), got[4])
		}
		if got := collect(t, tx.UtterancesOf(event)); len(got) != 5 {
			t.Errorf("by event: %d", len(got))
		}
		if got := collect(t, tx.UtterancesOf(memory.EventID{Device: "pin", Boot: 1, Seq: 8})); len(got) != 0 {
			t.Errorf("by another event: %d", len(got))
		}
		_, err := tx.Utterance(testID(9))
		if !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
		return nil
	})
	for name, u := range map[string]*memory.Utterance{
		"no id": {Text: "x"}, "long": say(9, strings.Repeat("x", memory.MaxText+1)), "not UTF-8": say(9, "\xff"),
	} {
		err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutUtterance(u) })
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sound(t, s)
}

func TestInUse(t *testing.T) {
	s := open(t, t.TempDir())
	_, err := Open(testOptions(s.opt.Dir))
	if !errors.Is(err, memory.ErrInUse) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("second open: %v", err)
	}
	s = reopen(t, s)
	sound(t, s)
}

func TestWrongKey(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opt := testOptions(s.opt.Dir)
	opt.Key = seal.NewKey()
	if _, err := Open(opt); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("open: %v", err)
	}
	sound(t, open(t, s.opt.Dir))
}

func TestReserve(t *testing.T) {
	opt := testOptions(t.TempDir())
	free := uint64(200 << 20)
	opt.Reserve, opt.Free = 100<<20, func(string) (uint64, error) { return free, nil }
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	free = 100<<20 - 1
	ran := false
	err = s.Update(t.Context(), func(*Tx) error { ran = true; return nil })
	if !errors.Is(err, memory.ErrNoSpace) || ran {
		t.Errorf("update: %v, ran: %v", err, ran)
	}
	if _, err := s.WriteBlob(t.Context(), strings.NewReader("x")); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("blob: %v", err)
	}
	if files, err := os.ReadDir(filepath.Join(opt.Dir, blobsName)); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := s.Compact(t.Context()); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("compact: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	free = 1 << 20
	if _, err := Open(opt); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("open without room for Badger: %v", err)
	}
	free = 50 << 20 // below the reserve: what is there can be read
	if s, err = Open(opt); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	view(t, s, func(*Tx) error { return nil })
	free = 200 << 20
	update(t, s, func(tx *Tx) error { return tx.SetCursor("journal", 5) })
	if n, err := FreeSpace(opt.Dir); err != nil || n == 0 {
		t.Errorf("free space of this machine: %d, %v", n, err)
	}
}

func TestContextAndClose(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(context.Background(), func(*Tx) error { close(held); <-release; return nil })
	}()
	<-held
	ctx, cancel = context.WithCancel(context.Background())
	waiting := make(chan error)
	go func() { waiting <- s.Update(ctx, func(*Tx) error { return nil }) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("update behind another: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.View(t.Context(), func(tx *Tx) error { return tx.SetCursor("x", 1) }); err == nil {
		t.Error("a View wrote")
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := s.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	s := open(t, t.TempDir())
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 20_000 {
			if err := tx.SetCursor(strconv.Itoa(i), 1); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("many records: %v", err)
	}
	err = s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta("x", strings.Repeat("x", maxValue)) })
	if !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a large value: %v", err)
	}
	update(t, s, func(tx *Tx) error { // what the comment on Update promises
		for i := range 200 {
			if _, err := tx.Assert(fact(i, me, uint64(i+1), "Fact number "+strconv.Itoa(i)+".")); err != nil {
				return err
			}
		}
		return nil
	})
	sound(t, s)
}
