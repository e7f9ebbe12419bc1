package store

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// A dot is in doubt where the record of cold dots says that it is known, and
// what it said may be lost all the same: a page was lost in a salvage, or a pack
// at the shelf. What has such a dot is taken when it comes again, unless it is
// here, or its memory has a stub whose pack was not given up, or was erased.
//
// Only such: a dot in doubt can't be told from one that its author gave twice,
// which is refused else.

// givenUp names the record of packs that the shelf does not have any more.
const givenUp = "packs given up"

func doubtName(member memory.MemberID) string {
	return "cold dots in doubt/" + hex.EncodeToString(member[:])
}

// doubt puts every dot that is in the record of cold dots by now in doubt.
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

// lostCold reports whether an assertion that has no record, and of which the dot
// was cold once, is lost: it is in doubt, and nothing has it.
func (t *Tx) lostCold(a *memory.Assertion) (bool, error) {
	var d dots
	if ok, err := t.Meta(doubtName(a.Dot.Member), &d); err != nil || !ok || !d.has(a.Dot.Seq) {
		return false, err
	}
	if erased, err := t.Erased(a.Memory); err != nil || erased {
		return false, err
	}
	pack, _, i, err := t.unitOf(a.Memory)
	if err != nil || i < 0 {
		return err == nil, err
	}
	up, err := t.GivenUp()
	return slices.Contains(up, pack), err
}

// GiveUp says that packs are not at the shelf any more. What was said of their
// memories is taken when it comes again; their stubs stay until then, and what
// opens the bodies, should the shelf have them after all.
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

// GivenUp gives the packs of GiveUp some of whose memories are not back.
func (t *Tx) GivenUp() (packs []uint64, err error) {
	_, err = t.Meta(givenUp, &packs)
	return packs, err
}

// Regain takes the stubs of a pack that was given up of groups all of whose
// memories were said again, and gives those of the others.
func (t *Tx) Regain(pack uint64) (left []Stub, err error) {
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
		back, err := t.unitBack(u)
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

// unitBack reports whether each memory of a unit has been proposed again, and
// puts the notes of one of which that is so back.
func (t *Tx) unitBack(u *coldUnit) (bool, error) {
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

// without takes a number out.
func (d dots) without(n uint64) dots {
	if !d.has(n) {
		return d
	}
	i, _ := slices.BinarySearch(d, n)
	i -= i % 2 // of the pair
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
