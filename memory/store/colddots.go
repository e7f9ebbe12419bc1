package store

import (
	"slices"

	"github.com/locket-dev/locket/memory"
)

// dots are sequence numbers of one member, as pairs (from, to) in ascending
// order. They are the numbers of assertions that turned cold and no longer have
// records of their own.
type dots []uint64

func coldDotsKey(member memory.MemberID) []byte { return keyOf(kindColdDots, member[:]) }

func (t *Tx) coldDots(member memory.MemberID) (dots, error) {
	d, _, err := load[dots](t, coldDotsKey(member))
	return d, err
}

func (d dots) last() uint64 {
	if len(d) == 0 {
		return 0
	}
	return d[len(d)-1]
}

// upTo returns the greatest number that is at most n, or 0 if there is none.
func (d dots) upTo(n uint64) uint64 {
	i, ok := slices.BinarySearch(d, n)
	switch {
	case ok || i%2 == 1:
		return n
	case i == 0:
		return 0
	}
	return d[i-1]
}

func (d dots) has(n uint64) bool {
	i, ok := slices.BinarySearch(d, n)
	return ok || i%2 == 1
}

// with adds a number.
func (d dots) with(n uint64) dots {
	if d.has(n) {
		return d
	}
	i, _ := slices.BinarySearch(d, n) // even: between two pairs
	before, after := i > 0 && d[i-1] == n-1, i < len(d) && d[i] == n+1
	switch {
	case before && after:
		return slices.Delete(d, i-1, i+1)
	case before:
		d[i-1] = n
		return d
	case after:
		d[i] = n
		return d
	}
	return slices.Insert(d, i, n, n)
}

// maxDotRuns is how many pairs a member's cold dots may have. Beyond that, gaps
// are closed that contain only the dots of hot assertions, which are known as
// well.
const maxDotRuns = 512

// fill closes the gaps in which every dot is known.
func (t *Tx) fill(member memory.MemberID, d dots) (dots, error) {
	if len(d) < 2*maxDotRuns {
		return d, nil
	}
	out := dots{d[0], d[1]}
	for i := 2; i < len(d); i += 2 {
		from, to := out[len(out)-1]+1, d[i]-1
		whole := to-from < 4*maxDotRuns
		for n := from; whole && n <= to; n++ {
			_, known, err := t.get(keyOf(kindDot, dotKey(memory.Dot{Member: member, Seq: n})))
			if err != nil {
				return nil, err
			}
			whole = known
		}
		if whole {
			out[len(out)-1] = d[i+1]
		} else {
			out = append(out, d[i], d[i+1])
		}
	}
	return out, nil
}

// knownCold reports whether an assertion has no record of its own because it is
// cold, because it was cold once, or because it was erased while it was cold.
func (t *Tx) knownCold(a *memory.Assertion) (bool, error) {
	d, err := t.coldDots(a.Dot.Member)
	if err != nil || !d.has(a.Dot.Seq) {
		return false, err
	}
	r, here, err := load[assertionRecord](t, assertionKey(a.Memory, a.Dot))
	if err != nil {
		return true, err
	}
	if !here {
		lost, err := t.lostCold(a)
		return !lost, err
	}
	same, err := alike(r.Assertion, *a)
	if err == nil && !same {
		err = reusedDot(a.Dot)
	}
	return err == nil, err
}
