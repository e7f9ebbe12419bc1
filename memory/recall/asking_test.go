package recall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
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
		for most := range 60 {
			called := 0
			panics := func(About) bool {
				if called++; called > most {
					panic("a filter's fault")
				}
				return true
			}
			bad := Query{Text: someQueries[(i+1)%len(someQueries)] + " gardn violn", Now: june, K: 20}
			if most%2 == 0 {
				bad.Allow = panics
			} else {
				bad.IsShown = panics
			}
			func() {
				defer func() { _ = recover() }()
				find(t, x, bad)
			}()
			if got := find(t, x, q); !reflect.DeepEqual(got, want) {
				t.Fatalf("call %d, %q: %+v, want %+v", most, text, got, want)
			}
		}
	}
}

// A question of very many words that asks for somebody's property has no group of the owner among
// those that count.
func TestLongQuestionForAProperty(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	var words []string
	for i := range 200 {
		words = append(words, strings.Map(func(c rune) rune { return c - '0' + 'b' }, fmt.Sprintf("%04d", i*37))+"mo")
	}
	talk(t, x, "s1", june, 1, [2]string{"Ana", strings.Join(words, " ")}, [2]string{"Rita", "My address is Rua Nova 3."})
	r := find(t, x, Query{Text: strings.Join(words, " ") + " what is Rita's address", Owner: "Rita", TellsOfPerson: func(memory.ID) bool { return true }, Now: june, K: 3})
	if len(r.Hits) == 0 {
		t.Error("no hit")
	}
}

// A memory without a type takes the place of the utterance that it quotes, as others do.
func TestMemoryWithoutAType(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "I keep the passport in the blue folder."})
	if err := x.Add(Doc{ID: idOf(9), Kind: Memory, Source: idOf(1), At: june, Text: "The passport is in the blue folder."}); err != nil {
		t.Fatal(err)
	}
	if r := find(t, x, Query{Text: "where is the passport", Now: june, K: 3}); len(r.Hits) != 1 || r.Hits[0].ID != idOf(9) || r.Hits[0].Type != "" {
		t.Errorf("%+v", r.Hits)
	}
}
