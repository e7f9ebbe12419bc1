package delta_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/sample"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

func testHeader() envelope.Header {
	s, m := randomLike("space"), randomLike("member")
	return envelope.Header{Version: envelope.Version, Space: memory.SpaceID(s[:16]), Member: memory.MemberID(m[:8]),
		Incarnation: 0xa1b2c3d4e5f60718, Seq: 300, Prev: randomLike("prev"), Head: randomLike("head"), Epoch: 3}
}

func randomLike(s string) envelope.Hash { return sha256.Sum256([]byte(s)) }

// wire returns the number of bytes that go to the relay for ops: encoded, padded, sealed, signed.
func wire(t testing.TB, ops []delta.Op) int {
	t.Helper()
	h := testHeader()
	plain, err := delta.Encode(h, ops)
	if err != nil {
		t.Fatal(err)
	}
	body, err := seal.SealBody(seal.NewKey(), plain)
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	d, err := envelope.Sign(h, body, envelope.KeySigner(key))
	if err != nil {
		t.Fatal(err)
	}
	return len(d.Bytes())
}

// perMemory returns the mean over all runs of n memories.
func perMemory(t testing.TB, as []memory.Assertion, n int) float64 {
	total, count := 0, 0
	for len(as) >= n {
		ops := make([]delta.Op, n)
		for i := range ops {
			ops[i].Assertion = &as[i]
		}
		total, count, as = total+wire(t, ops), count+n, as[n:]
	}
	return float64(total) / float64(count)
}

// The test measures the size of a memory on the wire. The dictionary was
// trained on days of other seeds, and the fixed day was written by hand, so the
// dictionary has not seen any of its sentences.
func TestSizeOnTheWire(t *testing.T) {
	var made []memory.Assertion
	for seed := range uint64(20) {
		d, err := day.Generate(seed + 1)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, assertionsOf(t, d)...)
	}
	d, err := day.Fixed()
	if err != nil {
		t.Fatal(err)
	}
	fixed := assertionsOf(t, d)
	for _, c := range []struct {
		name                string
		as                  []memory.Assertion
		one, tens, hundreds float64
	}{
		{"generated days", made, 640, 150, 95},
		{"the fixed day", fixed, 640, 260, 999},
	} {
		one, tens, hundreds := perMemory(t, c.as, 1), perMemory(t, c.as, 20), perMemory(t, c.as, min(400, len(c.as)))
		t.Logf("%s: %d memories: alone %.0f B, in twenties %.0f B, in hundreds (%d) %.0f B each", c.name, len(c.as), one, tens, min(400, len(c.as)), hundreds)
		if one > c.one || tens > c.tens || hundreds > c.hundreds {
			t.Errorf("%s: more than %.0f, %.0f, %.0f", c.name, c.one, c.tens, c.hundreds)
		}
	}
}

func assertionsOf(t testing.TB, d *day.Day) []memory.Assertion {
	t.Helper()
	h := testHeader()
	ops, err := sample.Of(d, h.Space, h.Member)
	if err != nil {
		t.Fatal(err)
	}
	return ops.Assertions
}
