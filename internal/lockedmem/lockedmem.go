// Package lockedmem keeps small secrets in memory that the system neither swaps
// nor includes in core dumps, as far as the platform allows.
//
// The words:
//
//   - A slot is room for one secret of 32 bytes.
//   - A page is memory from the system with slots of one kind. Go's garbage
//     collector does not know it, and it is never given back.
//   - A held secret is in a slot. If the system refused to lock a page, the
//     page is ordinary memory, and [State] says why.
package lockedmem

import "sync"

// Size of a secret, in bytes.
const Size = 32

// pageSlots is the number of slots of one page of 4 KB.
const pageSlots = 128

var all struct {
	sync.Mutex
	free  []*[Size]byte
	slots int
	why   error // of the last page that the system refused to lock
}

// Get returns a slot of zeros. It belongs to the caller until [Put].
func Get() *[Size]byte {
	all.Lock()
	defer all.Unlock()
	if len(all.free) == 0 {
		page, err := newPage(pageSlots * Size)
		if err != nil {
			all.why = err
		}
		for at := 0; at < len(page); at += Size {
			all.free = append(all.free, (*[Size]byte)(page[at:]))
		}
		all.slots += pageSlots
	}
	s := all.free[0] // the one that was returned the longest time ago
	all.free = all.free[1:]
	return s
}

// Put erases a slot and returns it. The caller must not have a pointer to it
// any more.
func Put(s *[Size]byte) {
	clear(s[:])
	all.Lock()
	defer all.Unlock()
	all.free = append(all.free, s)
}

// State returns how many secrets are held now, and the reason why the system
// does not keep some of them out of swap or dumps. The reason is nil if it
// does, or if there are none.
func State() (secrets int, err error) {
	all.Lock()
	defer all.Unlock()
	return all.slots - len(all.free), all.why
}
