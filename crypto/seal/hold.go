package seal

import "github.com/locket-dev/locket/internal/lockedmem"

// Hold moves the secret to memory that the system neither swaps nor dumps, as
// far as the platform allows, for keys that live as long as what they open is
// open. It gives the key itself. It stays there until Zero: who holds a key has
// to end it. Like Zero it must not run beside another method.
func (k *Key) Hold() *Key {
	if k.s.held {
		return k
	}
	at := (*[KeySize]byte)(lockedmem.Get())
	copy(at[:], k.use())
	clear(k.s.b[:])
	k.s.b, k.s.held = at, true
	return k
}
