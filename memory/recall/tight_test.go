package recall

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A tightened index answers as before, and takes more documents without lists overlapping.
func TestTightenedIndexAnswersTheSame(t *testing.T) {
	open := func() *Index {
		x, err := Open(t.Context(), newSegments(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	doc := func(i int) Doc {
		return Doc{ID: memory.ID{1, byte(i), byte(i >> 8)}, Kind: Utterance, Session: fmt.Sprint("s", i/9), Speaker: []string{"Ana", "Bo"}[i%2], Order: uint64(i),
			At: time.Unix(1.7e9+int64(i)*60, 0), Text: fmt.Sprintf("Kettle %d of Porto is whistling in room %d", i%13, i%7)}
	}
	tight, loose := open(), open()
	for i := range 300 {
		for _, x := range []*Index{tight, loose} {
			if err := x.Add(doc(i)); err != nil {
				t.Fatal(err)
			}
		}
		if i%97 == 50 {
			tight.core.tighten()
			for j := range tight.core.lists {
				if b := tight.core.lists[j].b; cap(b) != len(b) {
					t.Fatalf("list %d has room for %d more: it would write into the next", j, cap(b)-len(b))
				}
			}
			for _, l := range tight.core.grams.lists {
				if cap(l) != len(l) {
					t.Fatal("a list of grams has room")
				}
			}
		}
	}
	for _, q := range []string{"kettle 5 in room 3", "ketle 4", "what did Bo say of Porto", "whistling"} {
		now := time.Unix(1.7e9+1e6, 0)
		a, err1 := tight.Search(t.Context(), Query{Text: q, K: 20, Now: now})
		b, err2 := loose.Search(t.Context(), Query{Text: q, K: 20, Now: now})
		if err1 != nil || err2 != nil || len(a.Hits) == 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %+v, %v; loose %+v, %v", q, a, err1, b, err2)
		}
	}
	if c := newCore(); c.needsTightening() {
		t.Error("an empty index is loose")
	}
}

// Lists keep their content in pieces, whatever their sizes, and can't grow into each other.
func TestTightListsGrow(t *testing.T) {
	var lists, laid [][]byte
	to := pieces[byte]{}
	for i, n := range []int{0, 1, pieceSize / 5, 7, pieceSize / 4, pieceSize/4 + 1, 3 * pieceSize, pieceSize / 5, pieceSize / 5, pieceSize / 5, pieceSize / 5, 2} {
		lists = append(lists, bytes.Repeat([]byte{byte(i + 1)}, n))
		to.left += n
	}
	for _, l := range lists {
		laid = append(laid, to.lay(l))
	}
	for i, l := range laid {
		if !bytes.Equal(l, lists[i]) || cap(l) != len(l) {
			t.Errorf("list %d of %d bytes: %d of %d", i, len(lists[i]), len(l), cap(l))
		}
	}
	if to.left != 0 || cap(to.last) > pieceSize {
		t.Errorf("%d left, a piece of %d", to.left, cap(to.last))
	}
}
