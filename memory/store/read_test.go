package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

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
		if _, err := tx.Find("nope"); err == nil || !strings.Contains(err.Error(), "letters but i, l, o and u") {
			t.Errorf("of a word with an o: %v", err)
		}
		return nil
	})
}

func TestAlike(t *testing.T) {
	s := open(t, t.TempDir())
	var begins []string
	for i := 0; i < 800; { // more than a page for each first character
		update(t, s, func(tx *Tx) error {
			for range 100 {
				begins = append(begins, testID(i).String())
				if _, err := tx.Assert(fact(i, me, uint64(i+1), "Fact number "+strconv.Itoa(i)+".")); err != nil {
					return err
				}
				i++
			}
			return nil
		})
	}
	slices.Sort(begins)
	view(t, s, func(tx *Tx) error {
		for i, id := range begins {
			for _, n := range []int{1, 2, 4, 25, 26} {
				got, err := tx.Alike(strings.ToUpper(id[:n]), 20)
				first := slices.IndexFunc(begins, func(s string) bool { return strings.HasPrefix(s, id[:n]) })
				want := begins[first : first+1]
				for len(want) < 20 && first+len(want) < len(begins) && strings.HasPrefix(begins[first+len(want)], id[:n]) {
					want = begins[first : first+len(want)+1]
				}
				if err != nil || !slices.EqualFunc(got, want, func(a memory.ID, b string) bool { return a.String() == b }) {
					t.Fatalf("%d characters of %d: %v, want %v, %v", n, i, got, want, err)
				}
			}
		}
		if none, err := tx.Alike("zzzzzz", 100); err != nil || len(none) != 0 {
			t.Errorf("%v, %v", none, err)
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
	place := func(i int) Place { return Place{at(i), testID(i)} }
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
		"after":          {Filter{After: place(10), Limit: 2}, "[9 8]"},
		"after one gone": {Filter{After: place(4), Limit: 2}, "[3 2]"},
		"after, oldest":  {Filter{After: place(10), Limit: 2, Oldest: true}, "[11 12]"},
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
