package recall

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// Documents that come, go, return and name each other as sources are found by their ids, and keep
// their sources, before and after a rebuild.
func TestDocumentsByID(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	id := func(n int) (id memory.ID) { binary.BigEndian.PutUint32(id[12:], uint32(n+1)); return id }
	c := newCore()
	sources := map[memory.ID]memory.ID{} // sources of the living documents
	check := func() {
		t.Helper()
		for n := range 600 {
			want, lives := sources[id(n)]
			d, ok := c.find(id(n))
			if ok != lives || ok && (c.docs[d].id != id(n) || c.docs[d].dead() || c.sourceOf(&c.docs[d]) != want) {
				t.Fatalf("document %d: found %v, want %v", n, ok, lives)
			}
		}
		if c.alive != len(sources) {
			t.Fatalf("%d alive, want %d", c.alive, len(sources))
		}
	}
	for step := range 6000 {
		n := r.IntN(600)
		switch {
		case r.IntN(3) > 0:
			var source memory.ID
			if r.IntN(2) == 0 {
				source = id(r.IntN(700)) // some are not in the index
			}
			terms := []tf{{c.term("a"), 1}, {c.term("b"), 1 + uint32(r.IntN(200))}}
			d := c.insert(meta{id: id(n), what: whatOf(Memory, 0, 0, false)}, 0, source, terms)
			if got := maps.Collect(c.terms(d)); got[terms[0].term] != 1 || got[terms[1].term] != terms[1].n {
				t.Fatalf("terms %v, want %v", got, terms)
			}
			sources[id(n)] = source
		default:
			if d, ok := c.find(id(n)); ok {
				c.remove(d)
			}
			delete(sources, id(n))
		}
		if step%500 == 0 {
			check()
		}
	}
	check()
	c.tighten()
	check()
	c, _ = c.rebuilt()
	check()
	if !slices.ContainsFunc(c.docs, func(m meta) bool { return m.sourced() && m.link&inSources == 0 }) || len(c.sources) == 0 {
		t.Error("the sources are all of one kind")
	}
}
