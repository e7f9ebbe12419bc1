package reconcile

import (
	"cmp"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// authority says whose assertions count for a memory, and for which purposes. A
// worker's assertions are accepted when they come, whatever is known then. What
// they may change is decided here from all assertions together, so that the
// order of arrival makes no difference:
//
//   - If anybody but a worker has proposed a memory, a worker's proposal only
//     counts as more evidence. It determines no words, times or tags.
//   - A worker can correct, close and archive only what workers alone have
//     proposed and corrected.
//   - A pinned memory stays as the person saw it. Machines can neither pin nor
//     unpin.
//   - Workers can't change anything in the vault.
type authority struct {
	pin     *memory.Assertion   // the pin in force; nil: not pinned
	shaping []*memory.Assertion // the proposals that may determine the words; none if nobody has proposed it
	shown   *memory.Assertion   // the one of them that determines the words
	workers bool                // only workers have proposed it
	theirs  bool                // only workers have proposed and corrected it
	vault   bool
}

// authorityOf returns the authority for one memory's assertions.
func authorityOf(as []*memory.Assertion) authority {
	v := authority{workers: true, theirs: true}
	proposals := pick(as, memory.ActPropose)
	for _, a := range as {
		if a.Rank > memory.RankCloud && (a.Act == memory.ActPropose || a.Act == memory.ActCorrect) {
			v.theirs = false
			v.workers = v.workers && a.Act != memory.ActPropose
		}
	}
	for _, p := range proposals {
		v.vault = v.vault || p.Candidate.Type == memory.Vault
		if !v.workers && p.Rank == memory.RankCloud {
			continue
		}
		v.shaping = append(v.shaping, p)
		if v.shown == nil || v.shown.Before(p) {
			v.shown = p
		}
	}
	if pin := winner(as, isPin); pin != nil && pin.Act == memory.ActPin {
		v.pin = pin
		if v.shown != nil && v.shown.Rank < memory.RankPerson {
			v.shown = v.pinnedProposal()
		}
	}
	return v
}

// pinnedProposal returns the proposal that the pin names, which was shown when
// the memory was pinned. If it names none, it returns the first. A machine's
// later proposal then changes nothing.
func (v *authority) pinnedProposal() *memory.Assertion {
	var named, first *memory.Assertion
	for _, p := range v.shaping {
		if slices.Contains(v.pin.Seen, p.Dot) && (named == nil || named.Before(p)) {
			named = p
		}
		if first == nil || earlier(p, first) {
			first = p
		}
	}
	if named != nil {
		return named
	}
	return first
}

// first is the proposal from which the memory has been known.
func (v *authority) first() *memory.Assertion {
	if v.pin != nil && v.workers {
		return v.shown // the clock of another worker is not trusted
	}
	first := v.shaping[0]
	for _, p := range v.shaping[1:] {
		if earlier(p, first) {
			first = p
		}
	}
	return first
}

// counts reports whether an assertion may change the content or the visibility
// of the memory.
func (v *authority) counts(a *memory.Assertion) bool {
	switch {
	case v.pin != nil:
		return a.Rank == memory.RankPerson
	case a.Rank == memory.RankCloud:
		return v.theirs && !v.vault
	}
	return true
}

// mayDiffer reports whether the wearer is told when an assertion differs from
// what is shown. The wearer is not told about fields that a worker may not
// change, nor about a worker's sensitivity, because the highest of those
// counts.
func (v *authority) mayDiffer(a *memory.Assertion, field string) bool {
	return a.Rank > memory.RankCloud || v.theirs && !v.vault && field != sensitivityField
}

// shapes reports whether an assertion may change the memory's times and tags.
func (v *authority) shapes(a *memory.Assertion) bool {
	return a.Rank > memory.RankCloud || v.workers && (v.pin == nil || a == v.shown)
}

// keptPrivate returns the assertion that sets the highest sensitivity of a
// memory that only workers proposed. No worker can lower what another has set.
// For a pinned memory, the pin decides which assertions count.
func (v *authority) keptPrivate(as []*memory.Assertion) (by *memory.Assertion, s memory.Sensitivity) {
	for _, a := range as {
		if a.Rank > memory.RankCloud || v.pin != nil && a != v.shown && !slices.Contains(v.pin.Seen, a.Dot) {
			continue
		}
		said, ok := sensitivityOf(a)
		if ok && (by == nil || said > s) {
			by, s = a, said
		}
	}
	return by, s
}

func sensitivityOf(a *memory.Assertion) (s memory.Sensitivity, ok bool) {
	switch {
	case a.Act == memory.ActPropose:
		return a.Candidate.Sensitivity, true
	case a.Act == memory.ActCorrect && a.Patch.Sensitivity != nil:
		return *a.Patch.Sensitivity, true
	}
	return 0, false
}

// earlier orders proposals by when they were made.
func earlier(a, b *memory.Assertion) bool {
	return cmp.Or(a.Clock.Compare(b.Clock), a.Dot.Compare(b.Dot)) < 0
}
