package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// errNoDerive: the store was opened without the functions that assertions need.
var errNoDerive = errors.New("store: opened without Derive and Diff")

// assertionRecord is the stored form of an assertion.
type assertionRecord struct {
	Assertion memory.Assertion `json:"a"`
	Outbox    uint64           `json:"o,omitempty"` // its number in the outbox
}

func assertionKey(id memory.ID, d memory.Dot) []byte { return keyOf(kindAssertion, id[:], dotKey(d)) }

// Assert takes assertions that were made on this device. It stores them, puts
// them into the outbox, derives the memories that follow from them, and returns
// the changes that it adds to the history. An assertion with a known dot is
// ignored. An assertion about a memory that nobody has proposed waits for the
// proposal. An assertion about an erased memory has no effect. If one is
// invalid, Assert takes none of them and returns [memory.ErrInvalid] with its
// place.
func (t *Tx) Assert(as ...memory.Assertion) ([]memory.Change, error) { return t.assert(as, true) }

// AssertRemote takes assertions of other members. It is like Assert, but does
// not put them into the outbox.
func (t *Tx) AssertRemote(as ...memory.Assertion) ([]memory.Change, error) {
	return t.assert(as, false)
}

func (t *Tx) assert(as []memory.Assertion, local bool) ([]memory.Change, error) {
	switch {
	case t.state == nil:
		return nil, errReadOnly
	case t.store.opt.Derive == nil || t.store.opt.Diff == nil:
		return nil, errNoDerive
	}
	for i := range as {
		if err := as[i].Validate(); err != nil {
			return nil, fmt.Errorf("store: assertion %d: %w", i, err)
		}
	}
	var out []memory.Change
	for i := range as {
		changes, err := t.assertOne(&as[i], local)
		if err != nil {
			return nil, fmt.Errorf("store: assertion %d: %w", i, err)
		}
		out = append(out, changes...)
	}
	return out, nil
}

func (t *Tx) assertOne(a *memory.Assertion, local bool) ([]memory.Change, error) {
	known, err := t.isStored(a)
	if err != nil || known {
		return nil, err
	}
	if err := t.put(keyOf(kindDot, dotKey(a.Dot)), a.Memory[:]); err != nil {
		return nil, err
	}
	t.counted(a.Dot)
	if _, erased, err := t.get(keyOf(kindErased, a.Memory[:])); err != nil || erased {
		return nil, err
	}
	if _, err := t.wantCold(a.Memory); err != nil {
		return nil, err
	}
	if !local || a.Rank == memory.RankCloud || a.Act == memory.ActWithdraw { // a withdrawal may make a worker's assertion count again
		t.fromOthers = append(t.fromOthers, Document{Kind: MemoryDocument, ID: a.Memory})
	}
	before, err := t.assertionsOf(a.Memory)
	if err != nil {
		return nil, err
	}
	r := assertionRecord{Assertion: *a}
	if local {
		if r.Outbox, err = t.post(outboxRecord{Memory: a.Memory, Dot: a.Dot}); err != nil {
			return nil, err
		}
	}
	if err := t.save(assertionKey(a.Memory, a.Dot), r); err != nil {
		return nil, err
	}
	was, now := groupOf(before), groupOf(append(before[:len(before):len(before)], *a))
	if now == "" {
		return nil, nil // it waits for its proposal
	}
	var out []memory.Change
	if was != "" && was != now {
		// This proposal has a smaller dot than the one that decided so far, and
		// puts the memory into another group.
		if out, err = t.leave(was, a); err != nil {
			return nil, err
		}
	}
	if was == "" && len(before) > 0 {
		return t.catchUp(now, a, before)
	}
	changes, err := t.join(now, a, was != now)
	return append(out, changes...), err
}

// isStored reports whether the assertion is stored already. If another assertion
// has the same dot, it returns an error, because a member uses each dot once.
func (t *Tx) isStored(a *memory.Assertion) (bool, error) {
	key := keyOf(kindDot, dotKey(a.Dot))
	id, ok, err := t.get(key)
	if err != nil {
		return false, err
	}
	var nothing memory.ID
	if !ok || bytes.Equal(id, nothing[:]) { // the dot was never used here, or only its number is known: see MarkDotUsed
		return t.knownCold(a)
	}
	if !bytes.Equal(id, a.Memory[:]) {
		return false, reusedDot(a.Dot)
	}
	r, ok, err := load[assertionRecord](t, assertionKey(a.Memory, a.Dot))
	if err != nil || !ok { // not ok: it was erased
		return true, err
	}
	same, err := alike(r.Assertion, *a)
	if err == nil && !same {
		err = reusedDot(a.Dot)
	}
	return err == nil, err
}

func reusedDot(d memory.Dot) error {
	return fmt.Errorf("%w: dot %s:%d was used for another assertion", memory.ErrInvalid, d.Member, d.Seq)
}

// assertionsOf returns the assertions about one memory, in the order of dots.
func (t *Tx) assertionsOf(id memory.ID) ([]memory.Assertion, error) {
	var out []memory.Assertion
	for r, err := range under[assertionRecord](t, keyOf(kindAssertion, id[:])) {
		if err != nil {
			return nil, err
		}
		out = append(out, r.Assertion)
	}
	return out, nil
}

// groupOf returns the group of a memory. Its proposal with the smallest dot
// decides, so that replicas agree whatever the order of arrival. A worker's
// proposal decides only if nobody else has proposed the memory, so that no
// worker can move what others said. groupOf returns "" if there is no proposal.
func groupOf(as []memory.Assertion) string {
	first := firstProposal(as)
	if first == nil {
		return ""
	}
	return first.Candidate.Group()
}

// firstProposal returns the proposal that decides a memory's group, or nil if
// there is none.
func firstProposal(as []memory.Assertion) (first *memory.Assertion) {
	for i := range as {
		a := &as[i]
		if a.Act != memory.ActPropose {
			continue
		}
		if first == nil || workers(a) != workers(first) && workers(first) || workers(a) == workers(first) && a.Dot.Compare(first.Dot) < 0 {
			first = a
		}
	}
	return first
}

func workers(a *memory.Assertion) bool { return a.Rank == memory.RankCloud }
