package recall

import (
	"math"
	"os"
	"strings"
	"testing"
)

// Every part is in the documents, and every part of a hit is one of them.
func TestScorePartsAreDocumented(t *testing.T) {
	known := map[string]bool{}
	for _, doc := range []string{"../../docs/recall.md", "../../docs/openapi.yaml"} {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Parts() {
			known[p.Name] = true
			if !strings.Contains(string(b), "`"+p.Name+"`") {
				t.Errorf("%s does not name %s", doc, p.Name)
			}
		}
	}
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s", june, 1, [2]string{"Ana", "Where is the red bicycle, Ben?"}, [2]string{"Ben", "The bicycle is in the cellar since yesterday."})
	for _, q := range []string{"where is Ben's red bycicle", "when did Ben see the bicycle yesterday", "which vehicle"} {
		for _, h := range find(t, x, Query{Text: q, Now: june}).Hits {
			for _, p := range h.Parts {
				if !known[p.Name] {
					t.Errorf("%q: part %q is not listed", q, p.Name)
				}
			}
		}
	}
}

// The parts of a hit add up to its score, to six decimal places, however each of them was rounded.
func TestScorePartsAddUp(t *testing.T) {
	turns, asked := readFriends(t, "testdata/friends-1.txt")
	x, now := friends(t, turns, nil, nil)
	for _, q := range asked {
		for _, h := range find(t, x, Query{Text: q.text, Now: now}).Hits {
			sum := 0.
			for _, p := range h.Parts {
				sum += p.Value
			}
			if math.Abs(sum-h.Score) > 1e-9 {
				t.Fatalf("%q: the parts of %v add up to %v, its score is %v", q.text, h.ID, sum, h.Score)
			}
		}
	}
}
