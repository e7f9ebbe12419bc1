package reconcile

import (
	"cmp"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// authority says whose word counts in one memory, and what for. A worker's words
// are taken when they come, whatever is known then; what they may change is
// decided here, from all that was said, so that the order in which replicas
// heard it makes no difference:
//
//   - What anybody but a worker has proposed, a worker's proposal is one more
//     piece of evidence for. It gives no words, no time, no tags.
//   - A worker corrects, closes and puts away what workers alone have proposed
//     and corrected.
//   - What a person has pinned stands as the person saw it. Machines neither
//     pin nor unpin.
//   - What is in the vault, workers have nothing to do with.
type authority struct {
	pin     *memory.Assertion   // the pin that stands; nil: it is not pinned
	shaping []*memory.Assertion // the proposals that its words may be of; none where nobody has proposed it
	shown   *memory.Assertion   // of them, the one that its words are of
	workers bool                // nobody but workers has proposed it
	theirs  bool                // … nor corrected it
	vault   bool
}

// authorityOf takes what stands of one memory.
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

// pinnedProposal is the one that the pin names, which was shown when it was
// pinned; else the first: a machine that proposes it again changes nothing.
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
		return v.shown // another worker's clock may say anything
	}
	first := v.shaping[0]
	for _, p := range v.shaping[1:] {
		if earlier(p, first) {
			first = p
		}
	}
	return first
}

// counts reports whether an assertion may change what the memory says, or
// whether it is shown.
func (v *authority) counts(a *memory.Assertion) bool {
	switch {
	case v.pin != nil:
		return a.Rank == memory.RankPerson
	case a.Rank == memory.RankCloud:
		return v.theirs && !v.vault
	}
	return true
}

// mayDiffer reports whether an assertion that sets something is told to the
// wearer where it differs from what is shown. What a worker has no say in is
// not, nor how private workers call it, of which the most private holds.
func (v *authority) mayDiffer(a *memory.Assertion, field string) bool {
	return a.Rank > memory.RankCloud || v.theirs && !v.vault && field != sensitivityField
}

// shapes reports whether an assertion has a say in where the memory stands in
// time, and in its tags.
func (v *authority) shapes(a *memory.Assertion) bool {
	return a.Rank > memory.RankCloud || v.workers && (v.pin == nil || a == v.shown)
}

// keptPrivate is what makes a memory of workers' words the most private: what
// one of them has called so, none makes less so. Of what is pinned it is as the
// pin names it.
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
