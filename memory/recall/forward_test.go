package recall

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A document has the terms and the order that it was given, whatever happens to the document on
// which it is based.
func TestForwardIndex(t *testing.T) {
	type given struct {
		order  uint64
		source memory.ID
		terms  map[uint32]uint32
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := newCore()
		for i := range 300 {
			c.term(fmt.Sprint("w", i))
		}
		want := map[memory.ID]given{}
		id := func(n int) memory.ID { return memory.ID{1, byte(n), byte(n >> 8)} }
		based, chained := 0, 0
		check := func(when string) {
			t.Helper()
			for id, w := range want {
				d, ok := c.find(id)
				if !ok || c.orderOf(d) != w.order || c.sourceOf(&c.docs[d]) != w.source {
					t.Fatalf("seed %d: %s: document %s: %v, order %d, want %+v", seed, when, id, ok, c.orderOf(d), w)
				}
				got := map[string]uint32{}
				for term, n := range c.terms(d) {
					if _, twice := got[c.dict.text(term)]; twice {
						t.Fatalf("seed %d: %s: term %s twice", seed, when, c.dict.text(term))
					}
					got[c.dict.text(term)] = n
				}
				named := map[string]uint32{}
				for term, n := range w.terms {
					named[fmt.Sprint("w", term)] = n
				}
				if !maps.Equal(got, named) {
					t.Fatalf("seed %d: %s: document %s has %v, want %v", seed, when, id, got, named)
				}
			}
		}
		for n := range 400 {
			if r.IntN(5) == 0 {
				if d, ok := c.find(id(r.IntN(n + 1))); ok {
					delete(want, c.docs[d].id)
					c.remove(d)
				}
			}
			g := given{order: r.Uint64() >> r.IntN(64), terms: map[uint32]uint32{}}
			if n > 0 && r.IntN(3) > 0 {
				g.source = id(n - 1 - r.IntN(n)*r.IntN(2))      // the previous document, as when a memory is made from a line at once
				for term, count := range want[g.source].terms { // most of its words
					if r.IntN(8) > 0 {
						g.terms[term] = count + uint32(r.IntN(10)/9)
					}
				}
			}
			for range r.IntN(20) {
				g.terms[uint32(r.IntN(300))] = 1 + uint32(r.IntN(300)*r.IntN(2))
			}
			var terms []tf
			for term, count := range g.terms {
				terms = append(terms, tf{term, count})
			}
			sortTerms(terms)
			d := c.insert(meta{id: id(n), what: whatOf(Memory, 0, 0, false)}, g.order, g.source, terms)
			want[id(n)] = g
			if m := &c.docs[d]; m.based() {
				based++
				if c.docs[m.link].based() {
					chained++
				}
			}
		}
		check("as they came")
		if based < 20 || chained > 0 {
			t.Fatalf("seed %d: %d are based, %d of them on one that is", seed, based, chained)
		}
		c.tighten()
		check("made tight")
		c, _ = c.rebuilt()
		check("rebuilt")
	}
}

// A memory in the words of its line takes little memory.
func TestMemoryAndItsLineShareRoom(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	line := Doc{ID: idOf(1), Kind: Utterance, At: june, Speaker: "Ana", Text: "The kettle of the upper room is to be descaled by Ben with vinegar, and not with anything that has a scent"}
	same := line
	same.ID, same.Kind, same.Type, same.Source = idOf(2), Memory, memory.Semantic, line.ID
	other := same
	other.ID, other.Text = idOf(3), "Nobody feeds pigeons"
	if err := x.Add(line, same, other); err != nil {
		t.Fatal(err)
	}
	alone, both := len(x.core.forwardOf(0)), len(x.core.forwardOf(1))
	if alone < 15 || both > 5 {
		t.Errorf("a line takes %d bytes, and a memory in its words %d", alone, both)
	}
	got, want := maps.Collect(x.core.terms(1)), maps.Collect(x.core.terms(0))
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
