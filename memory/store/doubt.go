package store

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// A dot is in doubt if the record of cold dots says that it is known, while its
// assertion may be lost: a page was lost in a salvage, or a pack in the remote
// store. An assertion with such a dot is taken when it comes again, unless it
// is here, was erased, or its memory has a stub whose pack was not given up.
//
// Other dots must not be handled like this. For a dot in doubt, the store can't
// notice that its author has used the dot twice, which it refuses otherwise.

// givenUp is the name of the record of packs that the remote store has lost.
const givenUp = "packs given up"

func doubtName(member memory.MemberID) string {
	return "cold dots in doubt/" + hex.EncodeToString(member[:])
}

// doubt puts every dot that is in the record of cold dots now in doubt.
func (t *Tx) doubt() error {
	for e, err := range t.scan(keyOf(kindColdDots), nil, false) {
		var d dots
		if err == nil {
			d, err = decode[dots](e.key, e.plain)
		}
		if err == nil {
			err = t.PutMeta(doubtName(memory.MemberID(e.key[1:])), d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lostCold reports whether an assertion without a record, whose dot was cold,
// is lost: the dot is in doubt, and no pack has the assertion.
func (t *Tx) lostCold(a *memory.Assertion) (bool, error) {
	var d dots
	if ok, err := t.Meta(doubtName(a.Dot.Member), &d); err != nil || !ok || !d.has(a.Dot.Seq) {
		return false, err
	}
	pack, _, i, err := t.unitOf(a.Memory)
	if err != nil || i < 0 {
		return err == nil, err
	}
	up, err := t.GivenUp()
	return slices.Contains(up, pack), err
}

// GiveUp records that the remote store has lost packs. Assertions about their
// memories are taken when they come again. Until then the stubs stay, with the
// keys of the bodies, in case the remote store has the packs after all.
func (t *Tx) GiveUp(packs ...uint64) error {
	if t.state == nil {
		return errReadOnly
	}
	up, err := t.GivenUp()
	if err != nil {
		return err
	}
	for _, n := range packs {
		if _, ok, err := t.coldPage(n); err != nil {
			return err
		} else if !ok {
			return fmt.Errorf("store: pack %d: %w", n, memory.ErrNotFound)
		}
		up = append(up, n)
	}
	slices.Sort(up)
	if err := t.PutMeta(givenUp, slices.Compact(up)); err != nil {
		return err
	}
	return t.doubt()
}

// GivenUp returns the packs of GiveUp some of whose memories are not back.
func (t *Tx) GivenUp() (packs []uint64, err error) {
	_, err = t.Meta(givenUp, &packs)
	return packs, err
}

// DropReplacedStubs removes the stubs of those groups of a pack that was given up whose
// memories all came again. It returns the stubs of the others.
func (t *Tx) DropReplacedStubs(pack uint64) (left []Stub, err error) {
	if t.state == nil {
		return nil, errReadOnly
	}
	p, ok, err := t.coldPage(pack)
	if err != nil {
		return nil, err
	}
	var stay []coldUnit
	for i := range p.Units {
		u := &p.Units[i]
		back, err := t.isUnitBack(u)
		if err != nil {
			return nil, err
		}
		if !back {
			stay = append(stay, *u)
			for j := range u.Members {
				left = append(left, u.Members[j].stub(pack))
			}
			continue
		}
		t.state.head.Seq.Cold -= len(u.Members)
		if err := t.del(keyOf(kindWanted, u.Group)); err != nil {
			return nil, err
		}
	}
	if ok && len(stay) < len(p.Units) {
		p.Units = stay
		if err := t.save(coldKey(pack), p); err != nil {
			return nil, err
		}
	}
	if len(left) > 0 {
		return left, nil
	}
	up, err := t.GivenUp()
	if err != nil {
		return nil, err
	}
	return nil, t.PutMeta(givenUp, slices.DeleteFunc(up, func(n uint64) bool { return n == pack }))
}

// isUnitBack reports whether each memory of a unit was proposed again. If so, it
// also restores the unit's notes.
func (t *Tx) isUnitBack(u *coldUnit) (bool, error) {
	for i := range u.Members {
		as, err := t.assertionsOf(memory.ID(u.Members[i].ID))
		if err != nil || groupOf(as) == "" {
			return false, err
		}
	}
	for i := range u.Members {
		for _, note := range u.Members[i].Notes {
			if err := t.putNote(note); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// without removes a number.
func (d dots) without(n uint64) dots {
	if !d.has(n) {
		return d
	}
	i, _ := slices.BinarySearch(d, n)
	i -= i % 2 // the first number of the pair
	from, to := d[i], d[i+1]
	var put dots
	if from < n {
		put = append(put, from, n-1)
	}
	if n < to {
		put = append(put, n+1, to)
	}
	return slices.Replace(d, i, i+2, put...)
}
