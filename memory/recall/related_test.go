package recall

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
)

func TestMentions(t *testing.T) {
	for in, want := range map[string]string{
		"Yesterday I met Tom Weaver in Porto. He likes it.":    "tom weaver|porto",
		"Did Mia's brother call? Maybe on Monday, in May.":     "mia",
		"OK THEN. Tom Weaver called.":                          "tom weaver",
		"I'm at Acme, I've got the keys from O'Brien":          "acme|obrien",
		"It is “The Old Mill” again":                           "old mill",
		"nothing here. Nor here: Not a name":                   "",
		"我昨天见了 Tom 和 Mia":                                      "tom|mia",
		strings.Repeat("x Aa Bb, ", 3) + "y Cc. Dd":            "aa bb|cc",
		"see A, B and C and the Sao-Paulo office in Sao Paulo": "sao paulo",
	} {
		if got := strings.Join(mentions(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRelationTerm(t *testing.T) {
	r := graph.Relation{Subject: "Mia", Predicate: " Sister\x1f of ", Object: "Ana Silva", From: june}
	got, ok := relationOf(relationTerm(r))
	want := graph.Relation{Subject: "mia", Predicate: "sister of", Object: "ana silva", From: june}
	if !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, bad := range []graph.Relation{{}, {Subject: "a", Predicate: "b"}, {Subject: "a", Predicate: "\x00", Object: "c"}} {
		if relationTerm(bad) != "" {
			t.Errorf("%+v is a term", bad)
		}
	}
	for _, bad := range []string{"", relationMark, relationMark + "a\x1fb\x1fc\x1fx\x1f"} {
		if _, ok := relationOf(bad); ok {
			t.Errorf("%q is a relation", bad)
		}
	}
}

// kin is a life with many birthdays, in which relations lead to the right one.
func kin(t *testing.T, s Segments) *Index {
	x := openOn(t, s, Options{})
	talk(t, x, "a", june, 1,
		[2]string{"Ana", "The birthday of Ben is on the third of March."},
		[2]string{"Ben", "The plumber was here about the sink."},
		[2]string{"Ana", "We planned a hike along the river."})
	talk(t, x, "b", june.AddDate(0, 0, 1), 11,
		[2]string{"Ben", "Tom was born on the ninth of May, so we bake then."},
		[2]string{"Ana", "The roof needs new tiles before winter."})
	talk(t, x, "c", june.AddDate(0, 0, 2), 21,
		[2]string{"Ben", "Karl works at the harbour as a pilot."},
		[2]string{"Ana", "Somebody works on the street again."},
		[2]string{"Ben", "Her husband works too much, said the neighbour."})
	err := x.Add(
		Doc{ID: idOf(31), Kind: Memory, Type: memory.Semantic, At: june, Text: "Mia is Ana's sister", Relations: []graph.Relation{{Subject: "Mia", Predicate: "sister of", Object: "Ana"}}},
		Doc{ID: idOf(32), Kind: Memory, Type: memory.Semantic, At: june, Text: "Tom is married to Mia", Relations: []graph.Relation{{Subject: "Tom", Predicate: "husband of", Object: "Mia", From: june.AddDate(-1, 0, 0)}}},
		Doc{ID: idOf(33), Kind: Memory, Type: memory.Semantic, At: june, Text: "Karl was married to Mia", Past: true, Relations: []graph.Relation{{Subject: "Karl", Predicate: "husband of", Object: "Mia", To: june.AddDate(-1, 0, 0)}}},
		Doc{ID: idOf(34), Kind: Memory, Type: memory.Semantic, At: june, Text: "张伟 is the dentist of Ana", Relations: []graph.Relation{{Subject: "张伟", Predicate: "dentist of", Object: "Ana"}}},
		Doc{ID: idOf(35), Kind: Utterance, At: june, Text: "张伟下周去上海开会"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestRelationsLeadToTheAnswer(t *testing.T) {
	s := newSegments()
	grown := kin(t, s)
	if err := grown.Flush(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*Index{"grown": grown, "opened": openOn(t, s, Options{})} {
		for _, c := range []struct {
			question string
			now      time.Time
			want     int
			sure     bool
		}{
			{"When was the husband of Ana's sister born?", june, 11, true},
			{"When was my sister's husband born?", june, 11, true},
			{"Where does my sister's husband work?", june.AddDate(-2, 0, 0), 21, true},
			{"Does my dentist travel next week?", june, 35, false},
		} {
			r := find(t, x, Query{Text: c.question, Now: c.now, Wearer: "Ana"})
			at := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.ID == idOf(c.want) })
			if at < 0 || at > 2 || partOf(r.Hits[at], "graph_match") == 0 || c.sure && r.Confidence < Unsure {
				t.Errorf("%s, %s: at %d of %d, confidence %.2f", name, c.question, at, len(r.Hits), r.Confidence)
			}
		}
		if r := find(t, x, Query{Text: "Does Zhang Wei travel next week?", Now: june}); len(r.Hits) == 0 || r.Hits[0].ID != idOf(35) {
			t.Errorf("%s: a name in the other script: %+v", name, r.Hits)
		}
	}
	if err := grown.Remove(idOf(32)); err != nil {
		t.Fatal(err)
	}
	for _, h := range find(t, grown, Query{Text: "When was my sister's husband born?", Now: june, Wearer: "Ana"}).Hits {
		if h.ID == idOf(11) && partOf(h, "graph_match") != 0 {
			t.Error("a relation that was removed still leads somewhere")
		}
	}
}
