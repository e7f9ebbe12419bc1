package store

import (
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/memory"
)

// The sequence numbers of a member's dots begin anew, at another place, each
// time that a store is opened: the upper bits are the life, the lower ones
// count within it. A store that was put back from a backup goes on otherwise
// than the one that was lost, and what both said after the backup has two dots.
// A life is the hour in which it began, so that dots are mostly in the order of
// time, and some bits by chance, for a clock that stands still. A number stays
// below 2^53, so that it is exact in any reader of JSON.
const (
	hourBits   = 20 // since 2026-01-01: 119 years
	chanceBits = 15
	countBits  = 18
	maxCount   = 1<<countBits - 1
)

var firstHour = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newLife gives a life that begins at a time.
func newLife(at time.Time) uint64 {
	hours := min(max(at.Sub(firstHour)/time.Hour, 0), 1<<hourBits-1)
	return uint64(hours)<<chanceBits | (1 + rand.Uint64N(1<<chanceBits-1))
}

// NextDot gives a member's next dot: those that it gave in this transaction
// count as used, those of a transaction that failed do not.
func (t *Tx) NextDot(member memory.MemberID) (memory.Dot, error) {
	if t.state == nil {
		return memory.Dot{}, errReadOnly
	}
	last := t.dots[member]
	if life, ok := t.store.lives[member]; last == 0 && ok {
		var err error
		if last, err = t.lastDot(member, life); err != nil {
			return memory.Dot{}, err
		}
	}
	for last == 0 || last&maxCount == maxCount {
		life := newLife(time.Now())
		used, err := t.lastDot(member, life)
		if err != nil {
			return memory.Dot{}, err
		}
		if used == life<<countBits {
			last, t.store.lives[member] = used, life
		}
	}
	t.dots[member] = last + 1
	return memory.Dot{Member: member, Seq: last + 1}, nil
}

// lastDot gives the greatest number of a life that is known here, and the one
// before its first where none is.
func (t *Tx) lastDot(member memory.MemberID, life uint64) (uint64, error) {
	end := life<<countBits | maxCount
	page, err := t.page(keyOf(kindDot, member[:]), keyOf(kindDot, dotKey(memory.Dot{Member: member, Seq: end})), nil, true, 1)
	if err != nil {
		return 0, err
	}
	last := life << countBits
	if len(page) > 0 {
		last = max(last, seqOf(page[0].key))
	}
	cold, err := t.coldDots(member)
	return max(last, cold.upTo(end)), err
}

// counted has NextDot go on after a dot of the life that it counts in.
func (t *Tx) counted(d memory.Dot) {
	if life, ok := t.store.lives[d.Member]; ok && d.Seq>>countBits == life {
		t.dots[d.Member] = max(t.dots[d.Member], d.Seq)
	}
}
