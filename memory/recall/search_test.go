package recall

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func idOf(n int) memory.ID { return memory.ID{15: byte(n), 14: byte(n >> 8), 13: byte(n >> 16), 0: 1} }

func openOn(t testing.TB, s Segments, o Options) *Index {
	t.Helper()
	x, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// talk indexes lines "speaker: text" a minute apart, as one session.
func talk(t testing.TB, x *Index, session string, from time.Time, first int, lines ...[2]string) {
	t.Helper()
	for i, l := range lines {
		d := Doc{ID: idOf(first + i), Kind: Utterance, Session: session, At: from.Add(time.Duration(i) * time.Minute), Speaker: l[0], Text: l[1]}
		if err := x.Add(d); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t testing.TB, x *Index, q Query) Result {
	t.Helper()
	r, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var june = time.Date(2025, 6, 12, 9, 0, 0, 0, time.UTC)

func TestContextBringsTheAnswer(t *testing.T) {
	x := openOn(t, newShelf(), Options{})
	talk(t, x, "s1", june, 1,
		[2]string{"Ana", "Did you ever call the dentist about the crown?"},
		[2]string{"Ben", "Yes, next Tuesday at ten."},
		[2]string{"Ana", "Good. Shall we cook rice tonight?"},
		[2]string{"Ben", "I would rather have noodles."},
		[2]string{"Ana", "The garden needs water as well."},
	)
	r := find(t, x, Query{Text: "when is the dentist", Now: june, K: 3})
	if len(r.Hits) == 0 || r.Hits[0].ID != idOf(2) {
		t.Fatalf("hits %+v: want the answer to the question first", r.Hits)
	}
	if r.Shape != When {
		t.Errorf("shape %s", r.Shape)
	}
}
