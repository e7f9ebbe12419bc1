package store

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// hints tell in which pack a cold memory or group may be, by the first eight
// bytes of its id or MAC. The page says whether it is: an entry outlives the
// return of a memory, so that a reader of an older state finds it too.
type hints struct {
	mu sync.RWMutex
	at map[uint64]uint32
}

func (h *hints) any() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.at) > 0
}

func (h *hints) find(hint uint64) (pack uint64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n, ok := h.at[hint]
	return uint64(n), ok
}

func (h *hints) add(pack uint64, p *coldPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[uint64]uint32{}
	}
	for i := range p.Units {
		u := &p.Units[i]
		h.at[binary.BigEndian.Uint64(u.Group)] = uint32(pack)
		for j := range u.Members {
			h.at[binary.BigEndian.Uint64(u.Members[j].ID)] = uint32(pack)
		}
	}
}

// loadHints reads the pages, once.
func (s *Store) loadHints() error {
	t := &Tx{store: s, txn: s.db.NewTransaction(false)}
	defer t.txn.Discard()
	for e, err := range t.scan(keyOf(kindCold), nil, false) {
		if err != nil {
			return err
		}
		p, err := decode[coldPage](e.key, e.plain)
		if err == nil && !p.sound() {
			err = damaged(e.key, "says what can't be")
		}
		if err != nil {
			return err
		}
		s.cold.add(seqOf(e.key), &p)
	}
	return nil
}

// dots are sequence numbers of one member as pairs, from and to, rising: those
// of assertions that turned cold, which have no record of their own any more.
type dots []uint64

func coldDotsKey(member memory.MemberID) []byte { return keyOf(kindColdDots, member[:]) }

func (t *Tx) coldDots(member memory.MemberID) (dots, error) {
	if t.state.head.Format < coldFormat {
		return nil, nil
	}
	d, _, err := load[dots](t, coldDotsKey(member))
	return d, err
}

func (d dots) last() uint64 {
	if len(d) == 0 {
		return 0
	}
	return d[len(d)-1]
}

// upTo gives the greatest that is not over n, 0 where there is none.
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

// maxDotRuns is how many runs a member's cold dots may have before gaps that
// hold hot dots only are taken in: what is hot is known as well.
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

// knownCold reports whether an assertion is one of which the dot has no record
// of its own: it is cold, was cold once, or was erased as such.
func (t *Tx) knownCold(a *memory.Assertion) (bool, error) {
	d, err := t.coldDots(a.Dot.Member)
	if err != nil || !d.has(a.Dot.Seq) {
		return false, err
	}
	r, here, err := load[assertionRecord](t, assertionKey(a.Memory, a.Dot))
	if err != nil || !here {
		return true, err
	}
	same, err := alike(r.Assertion, *a)
	if err == nil && !same {
		err = reusedDot(a.Dot)
	}
	return err == nil, err
}
