package seal

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// FORMAT of epoch keys on their way to a member, before [SealTo]
//
//	u8   version, 1
//	b16  space
//	then for each epoch, ascending
//	u32  big-endian number of the epoch, from 1
//	b32  its key

const (
	epochsVersion = 1
	epochsHead    = 1 + 16
	epochsEach    = 4 + KeySize
)

// Epochs are keys of one space by the number of their epoch.
type Epochs map[uint32]*Key

// Zero erases all keys.
func (e Epochs) Zero() {
	for _, k := range e {
		k.Zero()
	}
}

// HeldEpochs are epoch keys of one space in memory. The zero value has none. It is safe
// for concurrent use.
type HeldEpochs struct {
	mu sync.Mutex
	of Epochs
}

// Epoch returns the key of an epoch, and whether it is here.
func (h *HeldEpochs) Epoch(n uint32) (*Key, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, ok := h.of[n]
	return k, ok
}

// Add stores the keys that are new.
func (h *HeldEpochs) Add(got Epochs) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = Epochs{}
	}
	for n, k := range got {
		if h.of[n] == nil {
			h.of[n] = k
		}
	}
}

// Zero erases all keys.
func (h *HeldEpochs) Zero() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of.Zero()
}

// SealFirst seals the keys of epochs 1 to n to r. It fails if key has not all of them.
func SealFirst(r *Recipient, space [16]byte, n uint32, key func(uint32) (*Key, bool)) ([]byte, error) {
	e := Epochs{}
	for i := uint32(1); i <= n; i++ {
		k, ok := key(i)
		if !ok {
			return nil, fmt.Errorf("wrap epochs: the key of %d is not here", i)
		}
		e[i] = k
	}
	return SealEpochs(r, space, e)
}

// SealEpochs seals the keys of a space's epochs to r. The membership log, which is signed, says who
// sealed them.
func SealEpochs(r *Recipient, space [16]byte, e Epochs) ([]byte, error) {
	plain := append(make([]byte, 0, epochsHead+len(e)*epochsEach), epochsVersion)
	plain = append(plain, space[:]...)
	defer func() { clear(plain) }()
	for _, n := range slices.Sorted(maps.Keys(e)) {
		if n == 0 || !e[n].alive() {
			return nil, fmt.Errorf("seal epochs: epoch %d: %w", n, ErrZeroed)
		}
		plain = binary.BigEndian.AppendUint32(plain, n)
		plain = append(plain, e[n].use()...)
	}
	if len(e) == 0 {
		return nil, fmt.Errorf("seal epochs: none")
	}
	return SealTo(r, plain)
}

// OpenEpochs opens what [SealEpochs] sealed for the same space to i's
// recipient. Anything else is [ErrOpen].
func OpenEpochs(i *Identity, space [16]byte, sealed []byte) (Epochs, error) {
	plain, err := OpenWith(i, sealed)
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	if len(plain) <= epochsHead || (len(plain)-epochsHead)%epochsEach != 0 || plain[0] != epochsVersion || [16]byte(plain[1:epochsHead]) != space {
		return nil, fmt.Errorf("%w: epoch keys of another form or space", ErrOpen)
	}
	e := Epochs{}
	last := uint32(0)
	for b := plain[epochsHead:]; len(b) > 0; b = b[epochsEach:] {
		n := binary.BigEndian.Uint32(b)
		if n <= last {
			e.Zero()
			return nil, fmt.Errorf("%w: epoch %d out of order", ErrOpen, n)
		}
		last = n
		if e[n], err = KeyFromBytes(b[4:epochsEach]); err != nil {
			e.Zero()
			return nil, err
		}
	}
	return e, nil
}
