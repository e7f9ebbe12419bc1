package recall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var somePeople = []string{"Ana", "Ben", "Chen", "Dora"}
var someWords = strings.Fields(`garden dentist river guitar piano soup noodle bicycle train ticket museum painting camera Paris
Tuesday yesterday birthday daughter brother allergic peanut password office meeting deadline swim 北京 牙医 上海 火车 生日 朋友 hiking mountain
coffee chess violin pottery shelter volunteer lawyer mortgage kitten`)

// randomDoc returns document n of a made-up life.
func randomDoc(r *rand.Rand, n int) Doc {
	var text []string
	for range 3 + r.IntN(12) {
		text = append(text, someWords[r.IntN(len(someWords))])
	}
	d := Doc{
		ID: idOf(n), Kind: Utterance, Session: fmt.Sprintf("s%d", n/10), At: june.Add(time.Duration(n) * time.Minute), Order: uint64(n),
		Speaker: somePeople[r.IntN(len(somePeople))], Text: strings.Join(text, " ") + []string{".", "?"}[r.IntN(2)], Pinned: r.IntN(20) == 0,
	}
	if r.IntN(5) == 0 {
		d.Kind, d.Type, d.Session = Memory, memory.Types[r.IntN(len(memory.Types))], ""
		d.Source = idOf(1 + r.IntN(n+1))
		d.Entities = []string{somePeople[r.IntN(len(somePeople))]}
	}
	return d
}

var someQueries = []string{
	"when is the dentist", "who plays the guitar or piano", "Ana's birthday", "去北京的火车", "what hobbies does Ben have",
	"peanut allergy", "what happened yesterday", "which instruments does Chen play", "paintng in the musem", `"kitten"`, "zzz",
}

func answers(t testing.TB, x *Index) []Result {
	t.Helper()
	var out []Result
	for _, q := range someQueries {
		r := find(t, x, Query{Text: q, Now: june.Add(48 * time.Hour), K: 20})
		r.Scanned = 0 // it counts dead entries too
		out = append(out, r)
	}
	return out
}

// An index gives the same answers however its documents got there: in any order, through any
// flushes, merges, rebuilds and reopenings, and whatever was removed in between.
func TestAnswersAreIndependentOfOrder(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 300 + r.IntN(900)
		docs := make([]Doc, n)
		for i := range docs {
			docs[i] = randomDoc(r, i+1)
		}
		s := newSegments()
		x := openOn(t, s, Options{SegmentDocs: 16 + r.IntN(200)})
		want := map[int]Doc{}
		for _, i := range r.Perm(n) {
			d := docs[i]
			if r.IntN(4) == 0 { // first with other content
				other := randomDoc(r, i+1)
				if err := x.Add(other); err != nil {
					t.Fatal(err)
				}
			}
			if err := x.Add(d); err != nil {
				t.Fatal(err)
			}
			want[i] = d
			if r.IntN(3) == 0 {
				gone := r.IntN(n)
				if err := x.Remove(docs[gone].ID); err != nil {
					t.Fatal(err)
				}
				delete(want, gone)
			}
			switch r.IntN(60) {
			case 0:
				if err := x.Flush(t.Context(), uint64(i)); err != nil {
					t.Fatal(err)
				}
			case 1:
				if err := x.Flush(t.Context(), uint64(i)); err != nil {
					t.Fatal(err)
				}
				limit := x.limit
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
				x = openOn(t, s, Options{SegmentDocs: limit})
				if x.Covered() != uint64(i) {
					t.Fatalf("covered %d, want %d", x.Covered(), i)
				}
			}
		}
		if err := x.Flush(t.Context(), 99); err != nil {
			t.Fatal(err)
		}
		fresh := openOn(t, newSegments(), Options{})
		for i := range docs {
			if d, ok := want[i]; ok {
				if err := fresh.Add(d); err != nil {
					t.Fatal(err)
				}
			}
		}
		if x.Len() != len(want) || fresh.Len() != len(want) {
			t.Fatalf("seed %d: %d and %d documents, want %d", seed, x.Len(), fresh.Len(), len(want))
		}
		again := openOn(t, s, Options{})
		a, b, c := answers(t, fresh), answers(t, x), answers(t, again)
		for i := range a {
			if !reflect.DeepEqual(a[i], b[i]) {
				t.Errorf("seed %d: %q differs after a life of changes:\n%+v\n%+v", seed, someQueries[i], a[i], b[i])
			}
			if !reflect.DeepEqual(a[i], c[i]) {
				t.Errorf("seed %d: %q differs after reopening", seed, someQueries[i])
			}
		}
		if len(a[0].Hits) == 0 {
			t.Fatal("the first query finds nothing: the test proves nothing")
		}
	}
}

func TestReadersWhileOneWrites(t *testing.T) {
	x := openOn(t, newSegments(), Options{SegmentDocs: 64})
	r := rand.New(rand.NewPCG(1, 1))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for g := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := x.Search(context.Background(), Query{Text: someQueries[(i+g)%len(someQueries)], K: 5}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 1; n <= 1500; n++ {
		if err := x.Add(randomDoc(r, n)); err != nil {
			t.Fatal(err)
		}
		if n%3 == 0 {
			if err := x.Remove(idOf(1 + r.IntN(n))); err != nil {
				t.Fatal(err)
			}
		}
		if n%200 == 0 {
			if err := x.Flush(t.Context(), uint64(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	wg.Wait()
}

// failing fails the nth Put.
type failing struct {
	*memSegments
	left int
}

var errDisk = errors.New("disk full")

func (f *failing) Put(ctx context.Context, name string, b []byte) error {
	if f.left--; f.left == 0 {
		return errDisk
	}
	return f.memSegments.Put(ctx, name, b)
}

// If a flush is cut off at any Put, the state before it can be opened, and the flush can be tried
// again.
func TestFlushCutOff(t *testing.T) {
	for at := 1; at <= 4; at++ {
		s := &failing{memSegments: newSegments()}
		x := openOn(t, s, Options{SegmentDocs: 10})
		r := rand.New(rand.NewPCG(2, 2))
		for n := 1; n <= 25; n++ {
			if err := x.Add(randomDoc(r, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Flush(t.Context(), 25); err != nil {
			t.Fatal(err)
		}
		before := answers(t, x)
		for n := 26; n <= 55; n++ {
			if err := x.Add(randomDoc(r, n)); err != nil {
				t.Fatal(err)
			}
		}
		s.left = at
		if err := x.Flush(t.Context(), 55); !errors.Is(err, errDisk) {
			t.Fatalf("put %d: %v, want the disk's error", at, err)
		}
		old := openOn(t, s.memSegments, Options{})
		if old.Covered() != 25 || !reflect.DeepEqual(answers(t, old), before) {
			t.Errorf("put %d: the state before the flush can't be opened", at)
		}
		if err := x.Flush(t.Context(), 55); err != nil {
			t.Fatal(err)
		}
		if y := openOn(t, s.memSegments, Options{}); y.Covered() != 55 || !reflect.DeepEqual(answers(t, y), answers(t, x)) {
			t.Errorf("put %d: the second try did not store everything", at)
		}
	}
}

func TestSegmentsStayFew(t *testing.T) {
	s := newSegments()
	x := openOn(t, s, Options{SegmentDocs: 256})
	r := rand.New(rand.NewPCG(3, 3))
	for n := 1; n <= 1000; n++ {
		if err := x.Add(randomDoc(r, n)); err != nil {
			t.Fatal(err)
		}
		if n%5 == 0 {
			if err := x.Flush(t.Context(), uint64(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.m) > 20 {
		t.Errorf("%d segments for 1,000 documents in 200 flushes", len(s.m)-1)
	}
}

func TestClosed(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	if err := errors.Join(x.Close(), x.Close()); err != nil {
		t.Fatal(err)
	}
	_, err := x.Search(t.Context(), Query{Text: "a"})
	for _, err := range []error{err, x.Add(Doc{ID: idOf(1), Kind: Utterance}), x.Remove(idOf(1)), x.Flush(t.Context(), 1)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	for _, d := range []Doc{{Kind: Utterance}, {ID: idOf(1)}, {ID: idOf(1), Kind: Memory, Type: "dream"}} {
		if err := x.Add(Doc{ID: idOf(2), Kind: Utterance}, d); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if x.Len() != 0 {
		t.Error("a refused batch was added in part")
	}
}
