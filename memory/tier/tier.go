// Package tier chooses which memories a device keeps completely, and which it
// keeps as stubs. It is pure.
//
// The words:
//
//   - A hot memory is completely on the device. Of a cold memory, the device
//     has only a stub and an index entry.
//   - A [Budget] is how much may be hot. Zero means no limit.
//   - The warmth of a memory is a number computed from its use, age and type.
//     Less warm memories turn cold first.
//   - A fixed memory never turns cold: it is pinned, in the vault or a core
//     block, will be needed soon, or is not stored safely elsewhere yet.
//   - A cue is a search for memories that the day will need.
package tier

import (
	"bytes"
	"cmp"
	"math"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Item is one hot memory as a choice sees it.
type Item struct {
	ID     memory.ID
	Type   memory.Type
	State  memory.State
	Fixed  bool      // for a reason beside its type
	Said   time.Time // when its latest evidence was said, or else when it was learnt
	Heard  int       // pieces of evidence
	Used   int       // how often it was useful on this device
	Last   time.Time // when it was last used; zero: never
	Bytes  int64     // size on this device
	Starts time.Time // of a plan: when it begins; zero: no plan
}

// ItemOf makes an item of a memory; the caller adds use counts and bytes.
func ItemOf(m *memory.Memory) Item {
	it := Item{ID: m.ID, Type: m.Type, State: m.State, Fixed: m.Pinned, Said: m.Learnt, Heard: m.Heard}
	for i := range m.Evidence {
		if at := m.Evidence[i].At; at.After(it.Said) {
			it.Said = at
		}
	}
	if f := m.Fields.Episodic; f != nil {
		it.Starts = f.Started
	}
	return it
}

// Budget is how much may be hot.
type Budget struct {
	Records int
	Bytes   int64
}

// Over reports whether records and size exceed the budget.
func (b Budget) Over(records int, size int64) bool {
	return b.Records > 0 && records > b.Records || b.Bytes > 0 && size > b.Bytes
}

// room returns nine tenths of a budget. A choice fills only that, so that not every new memory
// makes another one turn cold.
func (b Budget) room() Budget {
	return Budget{b.Records - b.Records/10, b.Bytes - b.Bytes/10}
}

// fixed reports whether an item never turns cold.
func (it *Item) fixed() bool {
	return it.Fixed || it.Type == memory.Vault || it.Type == memory.Core
}

// How warmth fades: what was said loses half of its warmth in a month, what was useful in two
// months; a plan is warmest when it is due.
const (
	saidHalf = 30 * 24 * time.Hour
	usedHalf = 60 * 24 * time.Hour
	planHalf = 7 * 24 * time.Hour
)

// warmthOf weighs the types. A procedure is asked for rarely, but badly missed; a document is found
// again by its words, which the index has; events fade.
var warmthOf = map[memory.Type]float64{memory.Semantic: 1, memory.Procedural: 1.2, memory.Episodic: .8, memory.Resource: .6}

// warmth is greater for memories that are more likely to be asked for.
func (it *Item) warmth(now time.Time) float64 {
	fade := func(at time.Time, half time.Duration) float64 {
		if at.IsZero() {
			return 0
		}
		return math.Exp2(-math.Abs(now.Sub(at).Hours()) / half.Hours())
	}
	w := fade(it.Said, saidHalf)*math.Log2(2+float64(max(0, it.Heard-1))) + 2*fade(it.Last, usedHalf)*math.Log2(1+float64(max(0, it.Used)))
	w += 2 * fade(it.Starts, planHalf)
	w *= cmp.Or(warmthOf[it.Type], 1)
	if it.State != memory.Active {
		w /= 4
	}
	return w
}

// Choose returns the items that turn cold, the coldest first, until the rest fits in nine
// tenths of the budget. While the budget is kept, it returns none. Fixed items are never
// among them, so the rest may still exceed the budget. The order of items does not matter.
func Choose(items []Item, b Budget, now time.Time) []memory.ID {
	records, size := 0, int64(0)
	for i := range items {
		records++
		size += items[i].Bytes
	}
	if !b.Over(records, size) {
		return nil
	}
	type rated struct {
		*Item
		warmth float64
	}
	var list []rated
	for i := range items {
		if it := &items[i]; !it.fixed() {
			list = append(list, rated{it, it.warmth(now)})
		}
	}
	sorting.Sort(list, func(a, b rated) int {
		return cmp.Or(cmp.Compare(a.warmth, b.warmth), bytes.Compare(a.ID[:], b.ID[:]))
	})
	var out []memory.ID
	for room := b.room(); len(list) > 0 && room.Over(records, size); list = list[1:] {
		out = append(out, list[0].ID)
		records--
		size -= list[0].Bytes
	}
	return out
}
