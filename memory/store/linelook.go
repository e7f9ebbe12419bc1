package store

import (
	"bytes"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// found is an utterance that a search found: its id and, if it is packed, its
// content.
type found struct {
	id    memory.ID
	place []byte // time and id, for a search by time
	is    *memory.Utterance
}

// looseUtterances returns the utterances with records of their own that keys
// with a prefix name.
func (t *Tx) looseUtterances(prefix, start []byte, more func(key []byte) bool) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		for e, err := range t.scan(prefix, start, false) {
			var f found
			if err == nil {
				if !more(e.key) {
					return
				}
				f = found{id: memory.ID(e.key[len(e.key)-idSize:]), place: e.key[1:]}
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// foundUtterances returns the utterances that a search found. If one may have changed
// since, it is read again.
func (t *Tx) foundUtterances(look iter.Seq2[found, error]) iter.Seq2[*memory.Utterance, error] {
	return func(yield func(*memory.Utterance, error) bool) {
		for f, err := range look {
			u := f.is
			if err == nil && (u == nil || t.state != nil) {
				u, err = t.Utterance(f.id)
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

// eitherOf merges two searches that are both in order. If both found the same
// utterance, the result of the first is used.
func eitherOf(a, b iter.Seq2[found, error], order func(a, b found) int) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		x, errX, okX := nextA()
		y, errY, okY := nextB()
		for okX || okY {
			for _, err := range []error{errX, errY} {
				if err != nil {
					yield(found{}, err)
					return
				}
			}
			c := -1
			switch {
			case !okX:
				c = 1
			case okY:
				c = order(x, y)
			}
			f := x
			if c > 0 {
				f = y
			}
			if !yield(f, nil) {
				return
			}
			if c <= 0 {
				x, errX, okX = nextA()
			}
			if c >= 0 {
				y, errY, okY = nextB()
			}
		}
	}
}

// packedBetween returns the packed utterances from since (zero: the first)
// until before until (zero: no end), by place.
func (t *Tx) packedBetween(since, until time.Time) iter.Seq2[found, error] {
	first, last := keyOf(kindLines), append(keyOf(kindLines), bytes.Repeat([]byte{0xff}, timeSize+idSize)...)
	if !since.IsZero() {
		first = keyOf(kindLines, timeKey(since))
	}
	if !until.IsZero() {
		last = keyOf(kindLines, timeKey(until))
	}
	return func(yield func(found, error) bool) {
		err := t.linesFrom(first, last, func(g *lines) (more bool, err error) {
			for i := range g.count() {
				l := g.row(i)
				place := l.place()
				if bytes.Compare(place, first) < 0 {
					continue
				}
				if bytes.Compare(place, last) >= 0 {
					return false, nil
				}
				r, err := g.record(i)
				if err != nil || !yield(found{l.id, place[1:], &r.Utterance}, nil) {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil {
			yield(found{}, err)
		}
	}
}

// packedOfEvent returns the packed utterances of one event, by their ids.
func (t *Tx) packedOfEvent(e memory.EventID) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		ids, err := t.packedOf(e)
		if err != nil {
			yield(found{}, err)
			return
		}
		sorting.Sort(ids, func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
		for _, id := range slices.Compact(ids) {
			if !yield(found{id: id}, nil) {
				return
			}
		}
	}
}

// byIDAtOnce is how many packed utterances a search in the order of ids holds
// in memory. Pages are in another order, so all of them are read once for each
// batch of this size.
const byIDAtOnce = 16 << 10

// packedByID returns all packed utterances, by their ids.
func (t *Tx) packedByID() iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		var ids []memory.ID
		for e, err := range t.scan(keyOf(kindLines), nil, false) {
			var g *lines
			if err == nil {
				g, err = readLines(&t.store.inflate, e.key, e.plain)
			}
			if err != nil {
				yield(found{}, err)
				return
			}
			for i := range g.count() {
				ids = append(ids, g.row(i).id)
			}
		}
		sorting.Sort(ids, func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
		for some := range slices.Chunk(slices.Compact(ids), byIDAtOnce) {
			from, to := some[0], some[len(some)-1]
			var held []found
			for l, err := range t.eachPacked() {
				if err != nil {
					yield(found{}, err)
					return
				}
				if bytes.Compare(l.id[:], from[:]) < 0 || bytes.Compare(l.id[:], to[:]) > 0 {
					continue
				}
				r, err := l.record(l.place())
				if err != nil {
					yield(found{}, err)
					return
				}
				held = append(held, found{id: l.id, is: &r.Utterance})
			}
			sorting.Sort(held, func(a, b found) int { return bytes.Compare(a.id[:], b.id[:]) })
			for _, f := range held {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}
