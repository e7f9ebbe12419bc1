package market

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// However many buyers ask, in whatever order, none is shown more of a bundle than its
// listing says, and neither are all of them together.
func TestBuyersSeeNoMoreThanListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "items")
		of := make([]copyOf, n)
		for i := range of {
			binary.BigEndian.PutUint32(of[i].Of[:], uint32(i)+1)
		}
		a := &trade.Answers{All: uint32(rapid.IntRange(1, n).Draw(t, "all"))}
		a.Each = uint32(rapid.IntRange(1, int(a.All)).Draw(t, "each"))
		buyers := make([][]copyOf, rapid.IntRange(1, 8).Draw(t, "buyers"))
		other := copyOf{Of: memory.ID{9, 9}} // of another listing: it takes up no room here
		all := []copyOf{other}
		for range rapid.IntRange(0, 80).Draw(t, "questions") {
			b := rapid.IntRange(0, len(buyers)-1).Draw(t, "buyer")
			places := rapid.SliceOfN(rapid.IntRange(0, n+1), 0, trade.MaxLines).Draw(t, "found")
			got := roomOf(a, of, buyers[b], all).allowed(places)
			last := -1
			for _, place := range got {
				at := slices.Index(places, place)
				if at <= last {
					t.Fatalf("%v of %v", got, places)
				}
				last = at
				buyers[b], all = with(buyers[b], of[place]), with(all, of[place])
			}
			for _, place := range places { // what was shown may be shown again
				if place < n && slices.Contains(buyers[b], of[place]) && !slices.Contains(got, place) {
					t.Fatalf("item %d was shown before, and is kept back", place)
				}
			}
			if again := roomOf(a, of, buyers[b], all).allowed(places); !slices.Equal(again, got) {
				t.Fatalf("the same question again: %v after %v", again, got)
			}
			for _, shown := range buyers {
				if len(shown) > int(a.Each) {
					t.Fatalf("a buyer was shown %d, at most %d", len(shown), a.Each)
				}
			}
			if len(all)-1 > int(a.All) {
				t.Fatalf("all were shown %d, at most %d", len(all)-1, a.All)
			}
		}
	})
}

func TestQuestionsPerDay(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var v told
	for i := range askedADay {
		v.Asked = append(v.Asked, asked{Order: trade.Hash{byte(i)}, At: now.Add(time.Duration(i) * time.Hour)})
	}
	for hours, want := range map[int]bool{-30: false, -5: false, -4: true, 0: true, 10: true, 23: true, 24: false, 50: false} {
		if got := v.tooMany(now.Add(time.Duration(hours) * time.Hour)); got != want {
			t.Errorf("after %d hours: %v", hours, got)
		}
	}
	if v.order(trade.Hash{3}) == nil || v.order(trade.Hash{31}) != nil {
		t.Error("an order is not found again")
	}
}
