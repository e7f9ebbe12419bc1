package store

import (
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Each time a store is opened, the sequence numbers of a member's dots continue
// at another place. The upper bits of a number are the life, the lower bits
// count within it. If a store is restored from a backup, it has another life
// than the store that was lost, so assertions that both made after the backup
// have different dots. A life is the hour in which it began, so that dots are
// mostly in the order of time, and some random bits, in case the clock stands
// still. A number is below 2^53, so that every JSON parser reads it exactly.
const (
	hourBits   = 20 // since 2026-01-01: 119 years
	chanceBits = 15
	countBits  = 18
	maxCount   = 1<<countBits - 1
)

var firstHour = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newLife returns a life that begins at a time.
func newLife(at time.Time) uint64 {
	hours := min(max(at.Sub(firstHour)/time.Hour, 0), 1<<hourBits-1)
	return uint64(hours)<<chanceBits | (1 + rand.Uint64N(1<<chanceBits-1))
}

// NextDot returns a member's next dot. Dots that it returned before in this
// transaction count as used. Dots of a failed transaction do not.
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

// lastDot returns the greatest known number of a life, or the number before its
// first one if none is known.
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

// counted makes NextDot continue after a dot of its life.
func (t *Tx) counted(d memory.Dot) {
	if life, ok := t.store.lives[d.Member]; ok && d.Seq>>countBits == life {
		t.dots[d.Member] = max(t.dots[d.Member], d.Seq)
	}
}
