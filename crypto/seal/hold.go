package seal

import "github.com/locket-dev/locket/internal/lockedmem"

// LockMemory moves the secret to memory that the system neither swaps nor includes in
// core dumps, as far as the platform allows. It is for keys that are needed as
// long as a store is open. It returns the key itself. The memory is used until
// Zero, so the caller must call Zero. Like Zero, it must not run at the same
// time as another method.
func (k *Key) LockMemory() *Key {
	if k.s.held {
		return k
	}
	at := (*[KeySize]byte)(lockedmem.Get())
	copy(at[:], k.use())
	clear(k.s.b[:])
	k.s.b, k.s.held = at, true
	return k
}
