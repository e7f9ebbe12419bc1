package recall

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// An Allow that reads the store does not lock the index meanwhile, and gives the same hits as a
// quick Allow, however few they are. Nothing is read for a caller that has left.
func TestThreatFilterThatReads(t *testing.T) {
	x, r := openOn(t, newSegments(), Options{}), rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 5000; n++ {
		if err := x.Add(randomDoc(r, n)); err != nil {
			t.Fatal(err)
		}
	}
	unsure := func(a About) (ok, sure bool) { return false, a.ID[15] == 7 }
	added := 5000
	for _, one := range []int{1, 3, 500, 6000} { // one in so many documents is allowed
		allow := func(a About) bool {
			return a.ID[15] != 7 && (int(a.ID[15])+int(a.ID[14])<<8)%one == 0
		}
		for _, text := range someQueries {
			q := Query{Text: text, Now: june.Add(48 * time.Hour), K: 20, Allow: allow}
			want := find(t, x, q)
			asked, once := 0, map[memory.ID]bool{}
			q.Glance, q.Allow = unsure, func(a About) bool {
				if asked++; once[a.ID] {
					t.Fatal("it is asked twice about a document")
				}
				once[a.ID] = true
				return allow(a)
			}
			if got := find(t, x, q); !reflect.DeepEqual(got, want) {
				t.Errorf("%q, one of %d: %+v, want %+v", text, one, got, want)
			}
			if one == 1 && asked > 4*firstAsked {
				t.Errorf("%q: %d documents were read for 20 hits", text, asked)
			}
		}
	}
	q := Query{Text: "garden", Now: june, Glance: unsure, Allow: func(About) bool {
		added++
		return x.Add(randomDoc(r, added)) != nil // which would wait for ever if the search held the index
	}}
	if find(t, x, q); added == 5000 {
		t.Error("nothing was asked")
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	q.Allow = func(About) bool {
		if asked++; asked == 10 {
			cancel()
		}
		return false
	}
	if _, err := x.Search(ctx, q); !errors.Is(err, context.Canceled) || asked != 10 {
		t.Errorf("%d documents were read, and %v", asked, err)
	}
}

// A filter that panics leaves nothing behind that would change a later search.
func TestFilterThatPanics(t *testing.T) {
	x, r := openOn(t, newSegments(), Options{}), rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 500; n++ {
		if err := x.Add(randomDoc(r, n)); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range someQueries {
		q := Query{Text: text, Now: june, K: 20}
		want := find(t, x, q)
		func() {
			defer func() { _ = recover() }()
			other := someQueries[(i+1)%len(someQueries)]
			find(t, x, Query{Text: other, Now: june, K: 20, Allow: func(About) bool { panic("a filter's fault") }})
		}()
		if got := find(t, x, q); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
