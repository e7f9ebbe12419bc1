package dense

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

func id(n int) memory.ID {
	h := sha256.Sum256([]byte{byte(n >> 16), byte(n >> 8), byte(n)})
	return memory.ID(h[:16])
}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// around returns vectors in clusters, as the vectors of texts are.
func around(r *rand.Rand, centre []float32, noise float64) []float32 {
	v := slices.Clone(centre)
	for i := range v {
		v[i] += float32(noise * r.NormFloat64())
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// Codes and 8-bit vectors find almost everything that full vectors would find.
func TestPrefilter(t *testing.T) {
	const dim, docs = 384, 20_000
	r := rand.New(rand.NewPCG(1, 2))
	s, err := New(dim)
	if err != nil {
		t.Fatal(err)
	}
	var centres, all [][]float32
	for range 200 {
		centres = append(centres, random(r, dim))
	}
	for i := range docs {
		v := around(r, centres[i%len(centres)], 1)
		all = append(all, v)
		if err := s.Put(id(i), Sum{}, v); err != nil {
			t.Fatal(err)
		}
	}
	found, wanted := 0, 0
	for q := range 20 {
		ask := around(r, centres[q], .8)
		type truth struct {
			id memory.ID
			c  float64
		}
		var best []truth
		for i, v := range all {
			best = append(best, truth{id(i), cosine(ask, v)})
		}
		slices.SortFunc(best, func(a, b truth) int { return -1 * cmpFloat(a.c, b.c) })
		got, err := s.Nearest(ask, 10)
		if err != nil || len(got) != 10 {
			t.Fatal(got, err)
		}
		for _, b := range best[:10] {
			wanted++
			if i := slices.IndexFunc(got, func(n Near) bool { return n.ID == b.id }); i >= 0 {
				found++
				if math.Abs(float64(got[i].Cosine)-b.c) > .01 {
					t.Errorf("cosine %.4f, is %.4f", got[i].Cosine, b.c)
				}
			}
		}
	}
	if found*100 < wanted*97 {
		t.Errorf("%d of %d of the nearest are found", found, wanted)
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// store keeps segments as the owner of a set would.
type store map[int][]byte

func (st store) do(changes []Change) {
	for _, c := range changes {
		if c.Data == nil {
			delete(st, c.Number)
		} else {
			st[c.Number] = c.Data
		}
	}
}

func (st store) load(t interface{ Fatal(...any) }, dim int) *Set {
	s, err := New(dim)
	if err != nil {
		t.Fatal(err)
	}
	for n, b := range st {
		if err := s.Load(n, b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// After any sequence of puts, removals and flushes, loading gives what was in the set, and no
// segment has anything that was removed.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const dim = MinDim
		s, _ := New(dim)
		st := store{}
		have := map[memory.ID]Sum{}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		gone := map[memory.ID]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			doc := id(rapid.IntRange(0, 12).Draw(t, "doc"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				sum := Sum{byte(rapid.IntRange(0, 2).Draw(t, "text"))}
				if err := s.Put(doc, sum, random(r, dim)); err != nil {
					t.Fatal(err)
				}
				have[doc] = sum
				delete(gone, doc)
			case 2:
				s.Remove(doc)
				delete(have, doc)
				gone[doc] = true
			default:
				st.do(s.Flush())
				if rapid.Bool().Draw(t, "again") {
					s = st.load(t, dim)
				}
			}
		}
		st.do(s.Flush())
		if more := s.Flush(); len(more) > 0 {
			t.Fatalf("a second flush changes %d segments", len(more))
		}
		again := st.load(t, dim)
		if again.Len() != len(have) || s.Len() != len(have) {
			t.Fatalf("%d are %d, loaded %d", len(have), s.Len(), again.Len())
		}
		ask := random(r, dim)
		a, _ := s.Nearest(ask, 20)
		b, err := again.Nearest(ask, 20)
		if err != nil || !slices.Equal(a, b) {
			t.Fatalf("nearest %v, loaded %v, %v", a, b, err)
		}
		for doc, sum := range have {
			if !again.Has(doc, sum) {
				t.Fatalf("%v is missing", doc)
			}
		}
		for doc := range gone {
			for n, seg := range st {
				if bytes.Contains(seg, doc[:]) {
					t.Fatalf("segment %d holds %v, which is gone", n, doc)
				}
			}
		}
	})
}

func TestRefused(t *testing.T) {
	for _, dim := range []int{0, MinDim - 1, MaxDim + 1} {
		if _, err := New(dim); err == nil {
			t.Errorf("%d dimensions", dim)
		}
	}
	s, _ := New(8)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, make([]float32, 8), make([]float32, 9), {nan, 1, 1, 1, 1, 1, 1, 1}, {inf, 1, 1, 1, 1, 1, 1, 1}} {
		if err := s.Put(id(1), Sum{}, v); !errors.Is(err, ErrVector) {
			t.Errorf("%v: %v", v, err)
		}
		if _, err := s.Nearest(v, 1); !errors.Is(err, ErrVector) {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := s.Put(id(1), Sum{}, []float32{1e-38, 0, 0, 0, 0, 0, 0, -1e-38}); err != nil {
		t.Errorf("a short vector: %v", err)
	}
	good := s.Flush()[0].Data
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			other, _ := New(8)
			if err := other.Load(1, bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	for n := range good {
		other, _ := New(8)
		if err := other.Load(1, good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d: %v", n, err)
		}
	}
	other, _ := New(16)
	if err := other.Load(1, good); !errors.Is(err, ErrCorrupt) {
		t.Errorf("of another dimension: %v", err)
	}
}

func BenchmarkNearest(b *testing.B) {
	const dim, docs = 384, 100_000
	r := rand.New(rand.NewPCG(1, 2))
	s, _ := New(dim)
	for i := range docs {
		if err := s.Put(id(i), Sum{}, random(r, dim)); err != nil {
			b.Fatal(err)
		}
	}
	ask := random(r, dim)
	b.ResetTimer()
	for range b.N {
		if _, err := s.Nearest(ask, 50); err != nil {
			b.Fatal(err)
		}
	}
}
