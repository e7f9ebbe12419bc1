package recall

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// TestYearIsNotACode: memories spell out dates and lines don't. If a year counted like the
// number of a flight, every memory of that year would come before the line that answers.
func TestYearIsNotACode(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "We painted the kitchen yellow with the kids."})
	talk(t, x, "s2", june.AddDate(0, 0, 2), 11, [2]string{"Ana", "Last week I was in a pottery class."}, [2]string{"Ben", "The key of room 2019 is with Ana."}, [2]string{"Ben", "The key of the car is in a drawer of the room."})
	if err := x.Add(Doc{ID: idOf(99), Kind: Memory, Type: memory.Episodic, Source: idOf(11), At: june, Text: "Ana was in a pottery class last week (week of 2 June 2025)."}); err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]int{
		"What did Ana and the kids paint in June 2025?":    1,
		"What did Ana and the kids paint on 12 June 2025?": 1,
		"What did Ana paint with the kids in 2025?":        1,
		"2025年Ana和kids paint了什么":                           1,
		"Where is the key of room 2019?":                   12,
	} {
		r := find(t, x, Query{Text: question, Now: june.AddDate(0, 1, 0), K: 3})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(want) {
			t.Errorf("%s: %+v", question, r.Hits)
		}
		for _, p := range r.Hits[0].Parts {
			if p.Name == PartString && want == 1 && p.Value > .2 {
				t.Errorf("%s: the year counts as a code, %v", question, p)
			}
		}
	}
}

// TestMemoryHasTheLengthOfItsLine: the memory of a long line is short, but no better a match for that
// than a line that says as much about the matter and has no memory.
func TestMemoryHasTheLengthOfItsLine(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "Hello again, what a week that was, with the floor full of boxes and both of the lamps broken, and in all of it I applied to an adoption agency."})
	talk(t, x, "s2", june.AddDate(0, 0, 2), 11, [2]string{"Ben", "They were kind, they had time for all of our questions, and so in the end it was this adoption agency and no other."})
	talk(t, x, "s3", june.AddDate(0, 0, 4), 21, [2]string{"Ben", "The garden wants water."})
	if err := x.Add(Doc{ID: idOf(99), Kind: Memory, Type: memory.Episodic, Source: idOf(1), At: june, Speaker: "Ana", Text: "Ana applied to an adoption agency."}); err != nil {
		t.Fatal(err)
	}
	hits := find(t, x, Query{Text: "Why this adoption agency?", Now: june.AddDate(0, 1, 0), K: 3}).Hits
	if len(hits) < 2 || hits[0].ID != idOf(11) || hits[1].ID != idOf(99) {
		t.Errorf("a memory ranks before a line that says as much: %+v", hits)
	}
}
