package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// packStore keeps packs, as a relay does.
type packStore map[string][]byte

func idBytes(n int) []byte { id := testID(n); return id[:] }

// covered says that the index's segments have everything.
var covered = Cooling{Covered: 1 << 60}

// freeze makes all memories cold that it can, and returns which stayed hot and why.
func (sh packStore) freeze(tb interface{ Fatal(...any) }, s *Store, ids ...memory.ID) (frozen int, left map[memory.ID]string) {
	var p *Packed
	err := s.View(context.Background(), func(tx *Tx) (err error) { p, err = tx.MakePack(ids, covered); return err })
	if err == nil && p.Count > 0 {
		at := sha256.Sum256(p.Body)
		sh[string(at[:])] = p.Body
		err = s.Update(context.Background(), func(tx *Tx) (err error) { frozen, err = tx.Freeze(p, at[:], covered); return err })
	}
	if err != nil {
		tb.Fatal(err)
	}
	return frozen, p.Left
}

// thaw brings memories back, or all memories if none is named.
func (sh packStore) thaw(tb interface{ Fatal(...any) }, s *Store, ids ...memory.ID) (back int) {
	var packs []ColdPack
	err := s.View(context.Background(), func(tx *Tx) error {
		for p, err := range tx.Packs() {
			if err != nil {
				return err
			}
			packs = append(packs, p)
		}
		return nil
	})
	for _, p := range packs {
		if err != nil {
			break
		}
		err = s.Update(context.Background(), func(tx *Tx) error {
			n, err := tx.Thaw(p.Number, sh[string(p.At)], ids)
			back += len(n)
			return err
		})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return back
}

func remembered(tb testing.TB, s *Store, id memory.ID) (m *memory.Memory, history []memory.Change) {
	tb.Helper()
	view(tb, s, func(tx *Tx) (err error) {
		if m, err = tx.Memory(id); err == nil {
			history, err = tx.History(id)
		}
		return err
	})
	return m, history
}

// A memory that turned cold is only a stub, comes back as it was, and is found by its id in
// between.
func TestColdRoundTrip(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 1, "The kettle is descaled with Zitronella."), home(2, you, 2, "Ghent"), fact(3, you, 3, "It rains."))
		return err
	})
	was, history := remembered(t, s, testID(1))
	if n, left := sh.freeze(t, s, testID(1), testID(2)); n != 2 || len(left) != 0 {
		t.Fatalf("%d turned cold, left %v", n, left)
	}
	s = reopen(t, s)
	view(t, s, func(tx *Tx) error {
		var cold *memory.ColdError
		if _, err := tx.Memory(testID(1)); !errors.As(err, &cold) || cold.ID != testID(1) || !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("a cold memory: %v", err)
		}
		if _, err := tx.Find(testID(1).String()[:9]); !errors.As(err, &cold) || cold.ID != testID(1) {
			t.Errorf("by a part of its id: %v", err)
		}
		if st, ok, err := tx.Stub(testID(1)); err != nil || !ok || st.Type != memory.Semantic || st.State != memory.Active || !st.Learnt.Equal(was.Learnt) {
			t.Errorf("stub %+v %v %v", st, ok, err)
		}
		if _, ok, err := tx.Stub(testID(3)); ok || err != nil {
			t.Errorf("a hot one has a stub: %v", err)
		}
		if hot := collect(t, tx.Memories(Filter{})); len(hot) != 1 || hot[0].ID != testID(3) {
			t.Errorf("hot: %+v", hot)
		}
		for k := range kinds {
			for e, err := range tx.scan(keyOf(k), nil, false) {
				if err == nil && k != kindCold && k != kindHead && k != kindGuard && bytes.Contains(e.key, idBytes(1)) {
					t.Errorf("%s is still here", kinds[k].name)
				}
			}
		}
		return nil
	})
	sound(t, s)
	for at, body := range sh {
		for _, word := range []string{"Zitronella", "kettle", "Ghent", "pin"} {
			if bytes.Contains(body, []byte(word)) {
				t.Errorf("the pack %x holds %q in clear", at[:2], word)
			}
		}
	}
	if n := sh.thaw(t, s, testID(1)); n != 1 {
		t.Errorf("%d came back", n)
	}
	if m, h := remembered(t, s, testID(1)); !same(t, m, was) || !same(t, h, history) {
		t.Errorf("came back as %+v, %+v", m, h)
	}
	// The dot of a cold assertion is still known, and is not used again.
	update(t, s, func(tx *Tx) error {
		if got, err := tx.AssertRemote(fact(1, you, 1, "The kettle is descaled with Zitronella.")); err != nil || len(got) != 0 {
			t.Errorf("said again: %+v, %v", got, err)
		}
		if _, err := tx.AssertRemote(fact(1, you, 1, "Otherwise.")); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("the dot on another assertion: %v", err)
		}
		if got, err := tx.AssertRemote(home(2, you, 2, "Ghent")); err != nil || len(got) != 0 {
			t.Errorf("said again of what is cold: %+v, %v", got, err)
		}
		d, err := tx.NextDot(you)
		if d.Seq>>countBits == 0 {
			t.Errorf("next dot %d", d.Seq)
		}
		return err
	})
	if n := sh.thaw(t, s); n != 1 {
		t.Errorf("%d more came back", n)
	}
	view(t, s, func(tx *Tx) error {
		for p, err := range tx.Packs() {
			if err != nil || len(p.Stubs) != 0 {
				t.Errorf("%+v, %v", p, err)
			}
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.DropPack(1) })
	sound(t, s)
}

func same(tb testing.TB, a, b any) bool {
	tb.Helper()
	x, err1 := encode(a)
	y, err2 := encode(b)
	if err := errors.Join(err1, err2); err != nil {
		tb.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// A memory that must not turn cold stays hot, with the reason.
func TestReasonsToStayHot(t *testing.T) {
	s := open(t, t.TempDir())
	photo := fact(5, you, 5, "A photo of the quay.")
	photo.Candidate.Type, photo.Candidate.Fields = memory.Resource, memory.Fields{Resource: &memory.ResourceFields{Title: "quay", MediaType: "image/jpeg", Blob: testID(9).String()}}
	block := fact(6, you, 6, "Likes it short.")
	block.Candidate.Type, block.Candidate.Fields = memory.Core, memory.Fields{Core: &memory.CoreFields{Block: "persona", Limit: 200}}
	secret := fact(7, you, 7, "The gate's code.")
	secret.Candidate.Type, secret.Candidate.Fields = memory.Vault, memory.Fields{Vault: &memory.VaultFields{EntryType: "code", Label: "gate", Sealed: []byte("sealed")}}
	update(t, s, func(tx *Tx) error {
		if _, err := tx.Assert(fact(1, me, 1, "Not sent yet.")); err != nil {
			return err
		}
		_, err := tx.AssertRemote(fact(2, you, 1, "Pinned."), act(2, you, 2, memory.ActPin), photo, block, secret, fact(8, you, 8, "Anything."))
		return err
	})
	sh := packStore{}
	n, left := sh.freeze(t, s, testID(1), testID(2), testID(5), testID(6), testID(7), testID(8), testID(99))
	if n != 1 {
		t.Errorf("%d turned cold", n)
	}
	for id, want := range map[int]string{1: "relay", 2: "pinned", 5: "photo", 6: "core", 7: "vault", 99: "not here"} {
		if !strings.Contains(left[testID(id)], want) {
			t.Errorf("%d: stays because %q, want %q", id, left[testID(id)], want)
		}
	}
	// A memory that changed between packing and acknowledgement stays hot, too.
	var p *Packed
	update(t, s, func(tx *Tx) error { return tx.sentUpTo(1 << 60) })
	view(t, s, func(tx *Tx) (err error) { p, err = tx.MakePack([]memory.ID{testID(1)}, covered); return err })
	if p.Count != 1 {
		t.Fatalf("left %v", p.Left)
	}
	update(t, s, func(tx *Tx) error {
		if _, err := tx.AssertRemote(act(1, you, 9, memory.ActArchive)); err != nil {
			return err
		}
		if n, err := tx.Freeze(p, []byte("at"), covered); n != 0 || err != nil {
			t.Errorf("turned cold: %d, %v", n, err)
		}
		return nil
	})
	// So does a memory that is not in the index's segments.
	view(t, s, func(tx *Tx) (err error) {
		p, err = tx.MakePack([]memory.ID{testID(1)}, Cooling{Covered: 3})
		return err
	})
	if !strings.Contains(p.Left[testID(1)], "segments") {
		t.Errorf("left %v", p.Left)
	}
	sound(t, s)
}

// A memory that came back is in the document log, where a rebuilt index finds it.
func TestReturnedMemoryIsInTheDocumentLog(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 1, "The kettle."), fact(2, you, 2, "It rains."))
		return err
	})
	sh := packStore{}
	sh.freeze(t, s, testID(1))
	sh.thaw(t, s)
	view(t, s, func(tx *Tx) error {
		n := 0
		for _, d := range collect(t, tx.IndexPending(0)) {
			if d.ID == testID(1) && !d.Gone {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d entries", n)
		}
		return nil
	})
	sound(t, s)
}

// A group that would not fit into one transaction on its way back does not turn cold.
func TestOversizedGroupStaysHot(t *testing.T) {
	s := open(t, t.TempDir())
	say := func(n, times int) {
		for i := range times {
			a := fact(n, you, uint64(1000*n+i+1), fmt.Sprintf("%d: %s", n, strings.Repeat("A long word. ", 1000)))
			a.Candidate.Evidence[0].Excerpt = "A long word."
			update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(a); return err })
		}
	}
	say(1, 60)
	say(2, 5)
	sh := packStore{}
	n, left := sh.freeze(t, s, testID(1), testID(2))
	if n != 1 || left[testID(1)] != tooMuch {
		t.Errorf("%d turned cold, left %v", n, left)
	}
	if n := sh.thaw(t, s); n != 1 {
		t.Errorf("%d came back", n)
	}
	sound(t, s)
}

// The last numbers of members include those of cold assertions: a device that begins from a
// snapshot must not use them again.
func TestLastDotsIncludeCold(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 4, "One."), fact(2, me, 2, "Two."), fact(3, me, 1, "Three."))
		return err
	})
	last := func() (out []memory.Dot) {
		view(t, s, func(tx *Tx) (err error) { out, err = tx.LastDots(); return err })
		return out
	}
	was := last()
	if n, left := sh.freeze(t, s, testID(1), testID(2)); n != 2 {
		t.Fatalf("left %v", left)
	}
	if now := last(); !slices.Equal(now, was) {
		t.Errorf("cold: %v, was %v", now, was)
	}
	sh.thaw(t, s)
	if now := last(); !slices.Equal(now, was) {
		t.Errorf("back: %v, was %v", now, was)
	}
}

// The stub of an erased memory is removed with its key at once; if it shared the key with others,
// it is removed when those are back.
func TestEraseOfColdMemory(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 1, "The locker is Quillwort."), home(2, you, 2, "Ghent"), home(3, you, 3, "Antwerp"))
		return err
	})
	if n, left := sh.freeze(t, s, testID(1), testID(2)); n != 3 {
		t.Fatalf("%d turned cold, left %v", n, left)
	}
	update(t, s, func(tx *Tx) error { return tx.EraseRemote(Targets{Memories: []memory.ID{testID(1), testID(3)}}) })
	view(t, s, func(tx *Tx) error {
		for _, n := range []int{1, 3} {
			if m, err := tx.Memory(testID(n)); err != nil || m.State != memory.Erased {
				t.Errorf("%d: %+v, %v", n, m, err)
			}
		}
		for at, body := range sh {
			cold, err := tx.ReadPack(1, body)
			if err != nil || len(cold) != 1 || cold[0].Memory.ID != testID(2) {
				t.Errorf("the pack %x gives %+v, %v", at[:1], cold, err)
			}
		}
		wanted, err := tx.Wanted()
		if err != nil || len(wanted) != 1 || wanted[0].ID != testID(2) {
			t.Errorf("wanted: %+v, %v", wanted, err)
		}
		return nil
	})
	if n := sh.thaw(t, s); n != 1 {
		t.Errorf("%d came back", n)
	}
	m, h := remembered(t, s, testID(2))
	if m.State != memory.Active || !m.TrueTo.IsZero() {
		t.Errorf("what another had ended, which was erased: %+v", m)
	}
	for _, c := range h {
		if strings.Contains(c.Old+c.New, "Antwerp") {
			t.Errorf("its history names what was erased: %+v", c)
		}
	}
	sound(t, s)
}

// Memories are told, turn cold and come back in any order: in the end everything follows from all
// assertions.
func TestColdDerivesTheSame(t *testing.T) {
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	sh := packStore{}
	user := 0
	rapid.Check(t, func(t *rapid.T) {
		user++
		all := drawAssertions(t, user)
		give(t, a, all)
		ids := []memory.ID{memoryOf(user, 0), memoryOf(user, 1), memoryOf(user, 2), memoryOf(user, 3)}
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "said")
			give(t, b, rest[:n])
			rest = rest[n:]
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0, 1:
				sh.freeze(t, b, rapid.SampledFrom(ids).Draw(t, "cold"))
			case 2:
				sh.thaw(t, b, rapid.SampledFrom(ids).Draw(t, "back"))
			}
		}
		sh.thaw(t, b)
		for i, id := range ids {
			for _, s := range []*Store{a, b} {
				if err := s.View(context.Background(), func(tx *Tx) error { return checkDerived(tx, id) }); err != nil {
					t.Fatal(err)
				}
			}
			if x, y := encoded(t, a, id), encoded(t, b, id); !bytes.Equal(x, y) {
				t.Fatalf("memory %d:\n%x\n%x", i, x, y)
			}
		}
	})
	sound(t, a)
	sound(t, b)
}
