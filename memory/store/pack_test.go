package store

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/memory"
)

// Packs of similar size are padded to one size.
func TestPackIsPadded(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	sizes := map[int]bool{}
	for i := range 8 {
		n := 10 + i
		update(t, s, func(tx *Tx) error {
			_, err := tx.AssertRemote(fact(n, you, uint64(n), strings.Repeat("One and "+rand.Text(), i+1)))
			return err
		})
		if frozen, left := sh.freeze(t, s, testID(n)); frozen != 1 {
			t.Fatal(left)
		}
	}
	for _, body := range sh {
		sizes[len(body)] = true
		if int64(len(body)) != length.Padded(int64(len(body))) {
			t.Errorf("a pack of %d bytes", len(body))
		}
	}
	if len(sizes) > 4 {
		t.Errorf("packs of %v bytes", sizes)
	}
	if n := sh.thaw(t, s); n != 8 {
		t.Errorf("%d came back", n)
	}
}

// A pack that differs from the acknowledged one is refused, and changes nothing.
func TestAlteredPack(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 1, "One."), fact(2, you, 2, "Two."))
		return err
	})
	sh.freeze(t, s, testID(1), testID(2))
	for at, body := range sh {
		for name, b := range map[string][]byte{"short": body[:len(body)-1], "empty": nil, "long": append(slices.Clone(body), 0)} {
			if err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Thaw(1, b, nil); return err }); !errors.Is(err, ErrPack) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for i := range body {
			b := slices.Clone(body)
			b[i] ^= 1
			if err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Thaw(1, b, nil); return err }); !errors.Is(err, memory.ErrDamaged) {
				t.Fatalf("byte %d of %x: %v", i, at[:1], err)
			}
		}
	}
	if n := sh.thaw(t, s); n != 2 {
		t.Errorf("%d came back", n)
	}
}

func TestDotRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dots
		has := map[uint64]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			n := rapid.Uint64Range(1, 40).Draw(t, "dot")
			d, has[n] = d.with(n), true
		}
		last := uint64(0)
		for n := range uint64(42) {
			if has[n] {
				last = n
			}
			if d.has(n) != has[n] || d.upTo(n) != last {
				t.Fatalf("%d: %v, up to it %d, in %v", n, d.has(n), d.upTo(n), d)
			}
		}
		for n := range has {
			less := slices.Clone(d).without(n)
			for m := range uint64(42) {
				if less.has(m) != (has[m] && m != n) {
					t.Fatalf("%v without %d: %v", d, n, less)
				}
			}
		}
		for i := 2; i < len(d); i += 2 {
			if d[i] <= d[i-1]+1 {
				t.Fatalf("runs touch: %v", d)
			}
		}
	})
}

func TestStubsSurviveARewrite(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(fact(1, you, 1, "One.")); return err })
	sh.freeze(t, s, testID(1))
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	if n := sh.thaw(t, s, testID(1)); n != 1 {
		t.Errorf("%d came back after a rewrite", n)
	}
}
