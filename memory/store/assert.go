package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// errNoDerive: the store was opened without what it needs to take assertions.
var errNoDerive = errors.New("store: opened without Derive and Diff")

// assertionRecord is an assertion as it is kept.
type assertionRecord struct {
	Assertion memory.Assertion `json:"a"`
	Outbox    uint64           `json:"o,omitempty"` // its number in the outbox
}

func assertionKey(id memory.ID, d memory.Dot) []byte { return keyOf(kindAssertion, id[:], dotKey(d)) }

// Assert takes assertions that were made here: they are stored, put in the
// outbox, and what follows from them is derived. It returns the lines that they
// add to the history. An assertion whose dot is known is passed over; one about
// a memory that nobody has proposed waits for its proposal; one about an erased
// memory is absorbed. Where one is not valid ([memory.ErrInvalid], with its
// place), none is taken.
func (t *Tx) Assert(as ...memory.Assertion) ([]memory.Change, error) { return t.assert(as, true) }

// AssertRemote takes assertions of other members: as Assert, but not for the outbox.
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
	known, err := t.known(a)
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
	if !local || a.Rank == memory.RankCloud || a.Act == memory.ActWithdraw { // which may uncover a worker's words
		t.heard = append(t.heard, Document{Kind: MemoryDocument, ID: a.Memory})
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
		return nil, nil // waits for its proposal
	}
	var out []memory.Change
	if was != "" && was != now {
		// A proposal that comes first in order of dots, and says otherwise where
		// the memory belongs.
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

// known reports whether the assertion is here already. The same dot on
// another assertion is an error: a member says each thing once.
func (t *Tx) known(a *memory.Assertion) (bool, error) {
	key := keyOf(kindDot, dotKey(a.Dot))
	id, ok, err := t.get(key)
	if err != nil {
		return false, err
	}
	var nothing memory.ID
	if !ok || bytes.Equal(id, nothing[:]) { // never here, or no more than its number: see RaiseDot
		return t.knownCold(a)
	}
	if !bytes.Equal(id, a.Memory[:]) {
		return false, reusedDot(a.Dot)
	}
	r, ok, err := load[assertionRecord](t, assertionKey(a.Memory, a.Dot))
	if err != nil || !ok { // not ok: erased since
		return true, err
	}
	same, err := alike(r.Assertion, *a)
	if err == nil && !same {
		err = reusedDot(a.Dot)
	}
	return err == nil, err
}

func reusedDot(d memory.Dot) error {
	return fmt.Errorf("%w: dot %s:%d was given to another assertion", memory.ErrInvalid, d.Member, d.Seq)
}

// assertionsOf gives what was said of one memory, in order of dots.
func (t *Tx) assertionsOf(id memory.ID) ([]memory.Assertion, error) {
	var out []memory.Assertion
	for e, err := range t.scan(keyOf(kindAssertion, id[:]), nil, false) {
		if err != nil {
			return nil, err
		}
		r, err := decode[assertionRecord](e.key, e.plain)
		if err != nil {
			return nil, err
		}
		out = append(out, r.Assertion)
	}
	return out, nil
}

// groupOf is the group of a memory: that of its proposal with the least dot,
// so that replicas agree whatever the order of arrival; a worker's only where
// nobody else has proposed it, so that no worker moves what others said. Empty:
// none is there.
func groupOf(as []memory.Assertion) string {
	first := firstProposal(as)
	if first == nil {
		return ""
	}
	return first.Candidate.Group()
}

// firstProposal is the one that a memory is in its group by; nil: none is there.
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
