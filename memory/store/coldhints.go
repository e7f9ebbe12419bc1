package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"
)

// hints say in which pack a cold memory or group may be, by the first eight
// bytes of its id or MAC. The page itself tells whether it is there: a hint
// stays after a memory came back, so that a transaction that reads an older
// state finds the memory, too.
//
// 100,000 cold memories have 200,000 hints. Most hints are in two sorted lists,
// 12 bytes each; newer ones are in a map.
type hints struct {
	mu    sync.RWMutex
	keys  []uint64 // ascending
	packs []uint32 // the pack of each key
	fresh map[uint64]uint32
}

func (h *hints) any() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.keys) > 0 || len(h.fresh) > 0
}

func (h *hints) find(hint uint64) (pack uint64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if n, ok := h.fresh[hint]; ok {
		return uint64(n), true
	}
	i, ok := slices.BinarySearch(h.keys, hint)
	if !ok {
		return 0, false
	}
	return uint64(h.packs[i]), true
}

func (h *hints) add(pack uint64, p *coldPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range p.Units {
		u := &p.Units[i]
		h.put(binary.BigEndian.Uint64(u.Group), uint32(pack))
		for j := range u.Members {
			h.put(binary.BigEndian.Uint64(u.Members[j].ID), uint32(pack))
		}
	}
}

// put adds a hint. The caller holds mu.
func (h *hints) put(hint uint64, pack uint32) {
	if h.fresh == nil {
		h.fresh = map[uint64]uint32{}
	}
	h.fresh[hint] = pack
	if len(h.fresh) > 1024+len(h.keys)/8 {
		h.settle()
	}
}

// settle moves the map's content into the lists. The caller holds mu.
func (h *hints) settle() {
	rest := slices.Sorted(maps.Keys(h.fresh))
	keys, packs := make([]uint64, 0, len(h.keys)+len(rest)), make([]uint32, 0, len(h.keys)+len(rest))
	for i, k := range h.keys {
		for len(rest) > 0 && rest[0] < k {
			keys, packs, rest = append(keys, rest[0]), append(packs, h.fresh[rest[0]]), rest[1:]
		}
		pack := h.packs[i]
		if len(rest) > 0 && rest[0] == k {
			pack, rest = h.fresh[k], rest[1:]
		}
		keys, packs = append(keys, k), append(packs, pack)
	}
	for _, k := range rest {
		keys, packs = append(keys, k), append(packs, h.fresh[k])
	}
	h.keys, h.packs, h.fresh = keys, packs, nil
}

// loadHints reads the pages, once.
func (s *Store) loadHints() error {
	t := &Tx{store: s, txn: s.db.NewTransaction(false)}
	defer t.txn.Discard()
	for e, err := range t.scan(keyOf(kindCold), nil, false) {
		if err != nil {
			return err
		}
		p, err := soundPage(e)
		if err != nil {
			return err
		}
		s.cold.add(seqOf(e.key), &p)
	}
	s.cold.mu.Lock()
	defer s.cold.mu.Unlock()
	s.cold.settle()
	return nil
}
