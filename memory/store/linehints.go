package store

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// lineHints say in which second a packed utterance may lie, by a hash of its id
// or of its event. The page itself tells whether it is there: a hint stays
// after its utterance was removed, so that a transaction that reads an older
// state finds it, too. An utterance takes 16 bytes. lineHints also have the
// keys of all pages.
//
// Ids come from outside, so the hash has a random seed in each process.
type lineHints struct {
	seed maphash.Seed

	mu     sync.RWMutex
	ids    []uint64 // hash, then second; ascending
	events []uint64
	pages  []pageName // ascending
}

// pageName is the key of a page without the byte for its kind.
type pageName [timeSize + idSize]byte

func comparePages(a, b pageName) int { return bytes.Compare(a[:], b[:]) }

func newLineHints() lineHints { return lineHints{seed: maphash.MakeSeed()} }

func (h *lineHints) hash(b []byte) uint64 { return maphash.Bytes(h.seed, b) >> 32 << 32 }

func (h *lineHints) any() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.ids) > 0
}

// find returns the seconds for a hash.
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

// add adds utterances that are going to be packed.
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

// addPage adds a page that is going to be written.
func (h *lineHints) addPage(key []byte) {
	name := pageName(key[1:])
	h.mu.Lock()
	defer h.mu.Unlock()
	if i, known := slices.BinarySearchFunc(h.pages, name, comparePages); !known {
		h.pages = slices.Insert(h.pages, i, name)
	}
}

// pagesOf returns the keys of the pages that may have what lies between two
// places, according to the pages that were written last.
func (h *lineHints) pagesOf(first, last []byte) (keys [][]byte) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	i, _ := slices.BinarySearchFunc(h.pages, last[1:], func(p pageName, place []byte) int {
		if bytes.Compare(p[:], place) <= 0 {
			return -1
		}
		return 1
	})
	for i--; i >= 0; i-- {
		keys = append(keys, keyOf(kindLines, h.pages[i][:]))
		if bytes.Compare(h.pages[i][:], first[1:]) <= 0 {
			break
		}
	}
	return keys
}

// merged returns the union of two lists, ascending and without duplicates. The
// first list must be in that form already.
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
		g, err := readLines(&s.inflate, e.key, e.plain)
		if err != nil {
			return err
		}
		for i := range g.count() {
			all = append(all, g.row(i))
		}
		s.lines.addPage(e.key)
	}
	s.lines.add(all)
	return nil
}
