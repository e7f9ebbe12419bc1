package seal

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
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

// Zero ends all keys.
func (e Epochs) Zero() {
	for _, k := range e {
		k.Zero()
	}
}

// SealEpochs seals the keys of a space's epochs to r. Who sealed them is the
// membership log's to say, which is signed.
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
