// Package lockedmem keeps small secrets in memory that the system neither writes to
// swap nor to a dump, as far as the platform allows.
//
// The words:
//
//   - A slot is room for one secret of 32 bytes.
//   - A page is what the system is asked for: slots of one kind of memory, which
//     Go's collector knows nothing of. It is never given back.
//   - What is held is in a slot; what the system refused is in a page like any
//     other, and [State] says why.
package lockedmem

import "sync"

// Size of a secret, in bytes.
const Size = 32

// pageSlots is how many one page has: 4 KB.
const pageSlots = 128

var all struct {
	sync.Mutex
	free  []*[Size]byte
	slots int
	why   error // of the last page that the system refused to hold
}

// Get returns a slot of zeros. It stays the caller's until [Put].
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
	s := all.free[0] // the one that was given back the longest ago
	all.free = all.free[1:]
	return s
}

// Put overwrites a slot, and gives it back. Nothing of the caller's may point to
// it any more.
func Put(s *[Size]byte) {
	clear(s[:])
	all.Lock()
	defer all.Unlock()
	all.free = append(all.free, s)
}

// State is how many secrets are held now, and why the system does not keep some
// of them from swap or dumps: nil where it does, or where there are none.
func State() (secrets int, err error) {
	all.Lock()
	defer all.Unlock()
	return all.slots - len(all.free), all.why
}
