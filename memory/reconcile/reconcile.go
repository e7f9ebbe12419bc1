// Package reconcile turns assertions into memories.
//
// Everything here is a pure function of its arguments: no clock, no storage,
// no randomness. Replicas that hold the same set of assertions of a group, in
// whatever order they came and however often, derive the same memories.
//
// A group (see [memory.Candidate.Group]) is the assertions that can affect
// each other: those about one slot, or about one statement. Within it:
//
//   - First, the assertions about each memory are combined. A field is a
//     register that shows the last value which nobody overruled. Tags are an
//     observed-remove set. An erasure makes everything else ineffective.
//   - Then the memories are ordered by the time from which they are true. A
//     memory that repeats the value before it adds evidence ([memory.Noop]). A
//     memory with another value ends the value before it ([memory.Update]). A
//     negation ends the value without a new one ([memory.Delete]). Two recordings
//     or photos never repeat each other, even if they are described in the same words.
//   - A statement by somebody who can't know something ends nothing that was said by
//     somebody who can (see [memory.Hearsay]): both are then shown, as a conflict.
//   - Only a person can change what a person has pinned. Workers' assertions
//     alone can't end what a person has said: both are then shown.
package reconcile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Derive returns the memories that follow from all assertions of one group,
// ordered by the time from which they are true. Assertions about a memory
// without a proposal are ignored until the proposal comes. The slice is not
// changed.
func Derive(group []memory.Assertion) []memory.Memory {
	byMemory := map[memory.ID][]*memory.Assertion{}
	seen := map[memory.Dot]bool{}
	for i := range group {
		a := &group[i]
		if !seen[a.Dot] {
			seen[a.Dot] = true
			byMemory[a.Memory] = append(byMemory[a.Memory], a)
		}
	}
	items := make([]*item, 0, len(byMemory))
	for id, as := range byMemory {
		if it := fold(id, as); it != nil {
			items = append(items, it)
		}
	}
	sorting.Sort(items, func(a, b *item) int {
		return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.mem.Rank, b.mem.Rank),
			a.first.Clock.Compare(b.first.Clock), a.first.Dot.Compare(b.first.Dot))
	})
	arrange(items)
	out := make([]memory.Memory, len(items))
	for i, it := range items {
		out[i] = it.mem
	}
	return out
}

// arrange walks the memories of a group in the order in which they began to
// hold, and ends each where the next one takes its place.
func arrange(items []*item) {
	var current []*item
	for _, it := range items {
		switch {
		case it.mem.State == memory.Erased || it.mem.State == memory.Superseded:
			// It is erased, or somebody has ended it, so it changes no other memory.
		case it.mem.Negates:
			it.mem.State = memory.Superseded
			current = slices.DeleteFunc(current, func(c *item) bool {
				if !names(it, c) || c.protectedFrom(it) {
					return false
				}
				it.mem.Into = c.mem.ID
				c.end(it, memory.ID{})
				return true
			})
		default:
			into, heard := it.mem.ID, false
			if i := slices.IndexFunc(current, func(c *item) bool { return c.value == it.value && c.thing == it.thing }); i >= 0 {
				workers := it.mem.Rank == memory.RankCloud
				if c := current[i]; c.workers && !it.workers && it.mem.State == memory.Active {
					it.addRepetition(c) // a worker may say that it was so earlier, but the statement of a device or a person stays a memory of its own
					current[i] = it
				} else {
					c.addRepetition(it)
				}
				if workers {
					continue
				}
				into, heard = current[i].mem.ID, true // and it ends the other memories that still hold
			}
			current = slices.DeleteFunc(current, func(c *item) bool {
				if c.value == it.value || it.mem.Slot == nil || memory.MultiValued(it.mem.Slot.Attribute) || c.thing != it.thing || c.protectedFrom(it) || heard && c.mem.Pinned {
					return false
				}
				c.end(it, into)
				return true
			})
			if !heard {
				current = append(current, it)
			}
		}
	}
}

// names reports whether a negation means c. It does if it has c's value or no value, or if the slot
// is single-valued and its value begins with the negated one, up to its place: "bakery" of "bakery
// on Park Street".
func names(no, c *item) bool {
	if no.value == "" || no.value == c.value {
		return true
	}
	rest, ok := strings.CutPrefix(c.value, no.value+" ")
	first, _, _ := strings.Cut(rest, " ")
	return ok && c.mem.Slot != nil && !c.mem.Slot.Many && prepositions[first]
}

// protectedFrom reports whether by cannot end c. That is so if c is pinned and by is a machine's
// statement, if c was said by somebody who can know it and by is hearsay, if a person said c and
// only workers said by, or if the wearer's own devices said c and an app said by.
func (c *item) protectedFrom(by *item) bool {
	if c.mem.Pinned && by.mem.Rank < memory.RankPerson || by.hearsay && !c.hearsay {
		return true
	}
	if by.mem.Rank != memory.RankCloud {
		return false
	}
	return c.mem.Rank == memory.RankPerson || c.mem.Rank > memory.RankCloud && by.mem.Source.App() != ""
}

// end closes c at the time from which by is true. If c began after that time, it closes
// c at the time at which by was said. An earlier end that c already has stays.
func (c *item) end(by *item, into memory.ID) {
	at := by.mem.TrueFrom
	if at.IsZero() || at.Before(c.mem.TrueFrom) {
		at = by.from
	}
	if c.mem.TrueTo.IsZero() || c.mem.TrueTo.After(at) {
		c.mem.TrueTo = at
	}
	if c.mem.TrueTo.Before(c.mem.TrueFrom) {
		c.mem.TrueTo = c.mem.TrueFrom
	}
	if c.mem.State == memory.Archived {
		return // it stays archived, and now it has an end
	}
	c.mem.State = memory.Superseded
	c.mem.Unlearnt = by.mem.Learnt
	c.mem.Into = into
}

// addRepetition takes a repetition into c: its evidence counts for c, and its own record is closed.
func (c *item) addRepetition(it *item) {
	c.evidence = append(c.evidence, it.evidence...)
	c.setEvidence()
	c.mem.Confidence = max(c.mem.Confidence, it.mem.Confidence)
	c.mem.Rank = max(c.mem.Rank, it.mem.Rank)
	c.mem.Pinned = c.mem.Pinned || it.mem.Pinned
	c.hearsay = c.hearsay && it.hearsay
	if c.mem.State == memory.Archived && it.mem.State == memory.Active && it.mem.Learnt.After(c.mem.Unlearnt) {
		c.mem.State, c.mem.Unlearnt, c.mem.Into = memory.Active, time.Time{}, memory.ID{} // it was said again, so it is useful again
	}
	it.mem.State, it.mem.Repeats = memory.Superseded, true
	it.mem.Into = c.mem.ID
	it.mem.Unlearnt = it.mem.Learnt
}

// item is one memory while its group is being derived.
type item struct {
	mem      memory.Memory
	first    *memory.Assertion // the earliest proposal
	from     time.Time         // the time by which the group orders it
	value    string            // what is compared within the group
	thing    string            // of a resource: its file and its sources; memories of two things don't change each other
	evidence []memory.Evidence // all of it
	putAway  memory.Rank       // the rank that archived it
	workers  bool              // only workers have made assertions about it
	hearsay  bool              // only people who can't know it have said it, and no person has confirmed it
}

func (c *item) setEvidence() {
	sorting.Sort(c.evidence, func(a, b memory.Evidence) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Event.String(), b.Event.String()),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Excerpt, b.Excerpt))
	})
	c.evidence = slices.CompactFunc(c.evidence, func(a, b memory.Evidence) bool {
		return a.Event == b.Event && a.Utterance == b.Utterance && a.Start == b.Start && a.End == b.End && a.Excerpt == b.Excerpt
	})
	c.mem.Heard = len(c.evidence)
	if len(c.evidence) <= memory.MaxEvidence {
		c.mem.Evidence = slices.Clone(c.evidence)
		return
	}
	half := memory.MaxEvidence / 2
	c.mem.Evidence = append(slices.Clone(c.evidence[:half]), c.evidence[len(c.evidence)-half:]...)
}
