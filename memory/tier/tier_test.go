package tier

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func drawItem(t *rapid.T, n int) Item {
	it := Item{ID: memory.ID{byte(n), 1}, Type: rapid.SampledFrom(memory.Types[:]).Draw(t, "type"), State: memory.Active,
		Fixed: rapid.IntRange(0, 5).Draw(t, "fixed") == 0, Said: now.AddDate(0, 0, -rapid.IntRange(0, 800).Draw(t, "said")),
		Heard: rapid.IntRange(0, 9).Draw(t, "heard"), Used: rapid.IntRange(0, 9).Draw(t, "used"), Bytes: rapid.Int64Range(100, 9000).Draw(t, "bytes")}
	if it.Used > 0 {
		it.Last = now.AddDate(0, 0, -rapid.IntRange(0, 400).Draw(t, "last"))
	}
	if rapid.Bool().Draw(t, "past") {
		it.State = memory.Superseded
	}
	return it
}

func drawItems(t *rapid.T) (items []Item) {
	for n := range rapid.IntRange(0, 60).Draw(t, "items") {
		items = append(items, drawItem(t, n))
	}
	return items
}

func drawBudget(t *rapid.T) Budget {
	return Budget{rapid.IntRange(0, 40).Draw(t, "records"), rapid.Int64Range(0, 200_000).Draw(t, "budget")}
}

func sums(items []Item, without []memory.ID) (records int, size int64, movable int) {
	for i := range items {
		if slices.Contains(without, items[i].ID) {
			continue
		}
		records++
		size += items[i].Bytes
		if !items[i].fixed() {
			movable++
		}
	}
	return records, size, movable
}

// A choice keeps the budget or has nothing left to choose. It takes no fixed item and no more than
// it must, and does not depend on the order.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, b := drawItems(t), drawBudget(t)
		out := Choose(items, b, now)
		all, size, _ := sums(items, nil)
		if !b.Over(all, size) && len(out) > 0 {
			t.Fatalf("%d turn cold within the budget", len(out))
		}
		for _, id := range out {
			if it := items[id[0]]; it.fixed() {
				t.Fatalf("%+v turns cold", it)
			}
		}
		records, left, movable := sums(items, out)
		if b.Over(records, left) && movable > 0 {
			t.Fatalf("%d records of %d bytes are left over %+v, and %d could go", records, left, b, movable)
		}
		if n := len(out); n > 0 {
			if r, s, _ := sums(items, out[:n-1]); !b.room().Over(r, s) {
				t.Fatalf("one more than it must: %d records of %d bytes fit %+v", r, s, b.room())
			}
		}
		shuffled := rapid.Permutation(items).Draw(t, "order")
		if again := Choose(shuffled, b, now); !slices.Equal(out, again) {
			t.Fatalf("%v, in another order %v", out, again)
		}
		if again := Choose(slices.DeleteFunc(slices.Clone(items), func(it Item) bool { return slices.Contains(out, it.ID) }), b, now); len(again) > 0 {
			t.Fatalf("a second choice takes %d more", len(again))
		}
	})
}

// An item that was used more often or later, or heard more often or later, is not less warm.
func TestWarmth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := drawItem(t, 1)
		was := it.warmth(now)
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			it.Used++
			if it.Last.IsZero() {
				it.Last = now
			}
		case 1:
			if it.Used > 0 {
				it.Last = it.Last.Add(now.Sub(it.Last) / 2)
			}
		case 2:
			it.Heard++
		case 3:
			it.Said = it.Said.Add(now.Sub(it.Said) / 2)
		}
		if w := it.warmth(now); w < was {
			t.Fatalf("%+v: %f, was %f", it, w, was)
		}
	})
	old := Item{ID: memory.ID{1}, Type: memory.Episodic, State: memory.Active, Said: now.AddDate(-1, 0, 0)}
	plan := old
	plan.ID, plan.Starts = memory.ID{2}, now.AddDate(0, 0, 1)
	used := old
	used.ID, used.Used, used.Last = memory.ID{3}, 3, now.AddDate(0, 0, -2)
	if got := Choose([]Item{plan, used, old}, Budget{Records: 2}, now); len(got) != 1 || got[0] != old.ID {
		t.Errorf("first to turn cold: %v", got)
	}
}

func TestCues(t *testing.T) {
	d := Day{Now: now, Place: "Ghent Station", People: []string{"Bo", "Ana", "Bo", "  "}, Wearer: "ana", Plans: []string{"Dentist with Bo", "bo"}}
	want := []string{"14 March 2026", "15 March 2026", "Ghent Station", "Bo", "Dentist with Bo"}
	if got := Cues(d); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Cues(Day{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	d.People, d.Plans = make([]string, 0), nil
	for i := range 40 {
		d.People, d.Plans = append(d.People, string(rune('a'+i))), append(d.Plans, "plan "+string(rune('a'+i)))
	}
	if got := Cues(d); len(got) != 3+maxPeople+maxPlans {
		t.Errorf("%d cues of a fair", len(got))
	}
}
