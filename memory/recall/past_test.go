package recall

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// TestSupersededMemoriesOfALine: a line says which of its memories are superseded, also after the index was opened
// again. It does not if one of its memories still holds, or if the memory is gone.
func TestSupersededMemoriesOfALine(t *testing.T) {
	segs := newSegments()
	x := openOn(t, segs, Options{})
	talk(t, x, "s", june, 1, [2]string{"Ana", "I live in Beijing."}, [2]string{"Ana", "I like the smell of rain."})
	add := func(n, source int, text string, past bool) {
		t.Helper()
		if err := x.Add(Doc{ID: idOf(n), Kind: Memory, Type: memory.Semantic, At: june, Text: text, Source: idOf(source), Past: past}); err != nil {
			t.Fatal(err)
		}
	}
	past := func() []memory.ID {
		t.Helper()
		r := find(t, x, Query{Text: "who lives in Beijing", Now: june})
		if len(r.Hits) == 0 {
			t.Fatal("no hit")
		}
		if r.Hits[0].Kind != Utterance {
			return nil
		}
		if r.Hits[0].ID != idOf(1) {
			t.Fatalf("hits %+v", r.Hits)
		}
		return r.Hits[0].Past
	}
	if got := past(); got != nil {
		t.Errorf("a line without memories has past ones: %v", got)
	}
	add(12, 1, "Ana has a flat in Beijing", true)
	add(11, 1, "Ana lives in Beijing", false)
	if got := past(); got != nil {
		t.Errorf("one of its memories holds, and the line is past: %v", got)
	}
	add(11, 1, "Ana lives in Beijing", true)
	want := []memory.ID{idOf(11), idOf(12)}
	if got := past(); !slices.Equal(got, want) {
		t.Errorf("past %v, want %v", got, want)
	}
	if err := x.Flush(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	x = openOn(t, segs, Options{})
	if got := past(); !slices.Equal(got, want) {
		t.Errorf("read again: past %v, want %v", got, want)
	}
	if err := x.Remove(idOf(11), idOf(12)); err != nil {
		t.Fatal(err)
	}
	if got := past(); got != nil {
		t.Errorf("the memories are gone, and the line is past: %v", got)
	}
}
