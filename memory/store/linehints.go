package store

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// lineHints tell in which second a packed utterance may lie, by a hash of its id
// or of its event. The page says whether it is there: an entry outlives what it
// names, so that a reader of an older state finds it too. 16 bytes an utterance.
//
// Ids come from outside, so the hash has a seed of this process.
type lineHints struct {
	seed maphash.Seed

	mu     sync.RWMutex
	ids    []uint64 // hash, then second; rising
	events []uint64
}

func newLineHints() lineHints { return lineHints{seed: maphash.MakeSeed()} }

func (h *lineHints) hash(b []byte) uint64 { return maphash.Bytes(h.seed, b) >> 32 << 32 }

func (h *lineHints) any() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.ids) > 0
}

// find gives the seconds of a hash.
func (h *lineHints) find(in *[]uint64, hash uint64) (seconds []uint32) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	i, _ := slices.BinarySearch(*in, hash)
	for ; i < len(*in) && (*in)[i]>>32 == hash>>32; i++ {
		seconds = append(seconds, uint32((*in)[i]))
	}
	return seconds
}

func (h *lineHints) ofID(id memory.ID) []uint32 { return h.find(&h.ids, h.hash(id[:])) }

func (h *lineHints) ofEvent(e [eventHint]byte) []uint32 { return h.find(&h.events, h.hash(e[:])) }

// add takes in what is to be packed.
func (h *lineHints) add(all []packedLine) {
	ids, events := make([]uint64, 0, len(all)), make([]uint64, 0, len(all))
	for i := range all {
		second, ok := secondOf(all[i].time)
		if !ok {
			continue
		}
		ids = append(ids, h.hash(all[i].id[:])|uint64(second))
		events = append(events, h.hash(all[i].event[:])|uint64(second))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids, h.events = merged(h.ids, ids), merged(h.events, events)
}

// merged gives both lists, rising, each number once. The first is so already.
func merged(a, b []uint64) []uint64 {
	slices.Sort(b)
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0] < a[0] {
			from = &b
		}
		if n := (*from)[0]; len(out) == 0 || out[len(out)-1] != n {
			out = append(out, n)
		}
		*from = (*from)[1:]
	}
	return out
}

// loadLines reads the rows of all pages, once.
func (s *Store) loadLines() error {
	t := &Tx{store: s, txn: s.db.NewTransaction(false)}
	defer t.txn.Discard()
	var all []packedLine
	for e, err := range t.scan(keyOf(kindLines), nil, false) {
		if err != nil {
			return err
		}
		p, err := decode[linePage](e.key, e.plain)
		if err == nil && len(p.Rows)%rowSize != 0 {
			err = damaged(e.key, "says what can't be")
		}
		if err != nil {
			return err
		}
		for row := range slices.Chunk(p.Rows, rowSize) {
			all = append(all, lineOfRow(row))
		}
	}
	s.lines.add(all)
	return nil
}
