package store

import (
	"crypto/hmac"
	"encoding/binary"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
)

// FORMAT of a record's value:
//
//	offset  size  field
//	0       8     version, u64 big-endian: the store's write counter at the write;
//	              its highest bit is set if the plaintext is pressed (see press.go)
//	8       41+n  plaintext of n bytes, sealed (see package seal)
//
// The associated data is the whole key followed by the 8 bytes of the version, so that
// a value can be decrypted only under its own key and version.
//
// FORMAT of a bare value, which a guard has, and a record without plaintext. It says
// nothing that a key does not say, so that only Badger encrypts it. Before format 4, these
// values were sealed.
//
//	offset  size  field
//	0       8     version, without that bit
//	8       1     2; a sealed value has 1 there
//	9       n     plaintext
//	9+n     16    MAC of the key and all of the above

const (
	pressed     = 1 << 63
	bareForm    = 2
	versionSize = 8
	tagSize     = 16

	// maxValue is the largest plaintext of one record, in bytes: 256 KB of
	// content, such as the largest entry of a log, and its name. It is below
	// Badger's value threshold, so that the value log stays empty.
	maxValue = 257 << 10
)

// secrets are the store's keys, all derived from the master key.
type secrets struct {
	values *seal.Key // seals records
	macs   *seal.Key // key parts, digests
	anchor *seal.Key // seals the anchor
	disk   []byte    // Badger's encryption key, 32 bytes
}

func newSecrets(master *seal.Key) *secrets {
	disk := master.Derive("store badger")
	defer disk.Zero()
	return &secrets{
		values: master.Derive("store values").LockMemory(),
		macs:   master.Derive("store macs").LockMemory(),
		anchor: master.Derive("store anchor").LockMemory(),
		disk:   disk.Bytes(),
	}
}

func (s *secrets) zero() {
	s.values.Zero()
	s.macs.Zero()
	s.anchor.Zero()
	clear(s.disk)
}

// mac16 returns a MAC that takes the place of a text in a key, so that the text
// can't be read there.
func (s *secrets) mac16(label string, parts ...[]byte) []byte {
	m := s.macs.MAC(label, parts...)
	return m[:macSize:macSize]
}

func (s *secrets) seal(key []byte, version uint64, plain []byte) []byte {
	out := make([]byte, versionSize, versionSize+seal.Overhead+len(plain))
	switch k := kind(key[0]); {
	case k == kindGuard, len(plain) == 0:
		binary.BigEndian.PutUint64(out, version)
		out = append(append(out, bareForm), plain...)
		return append(out, s.mac16("bare value", key, out)...)
	case k != kindHead && k != kindLines: // an older program has to read the format in the head, and pages are deflated
		if short, ok := press(plain); ok {
			version, plain = version|pressed, short
		}
	}
	binary.BigEndian.PutUint64(out, version)
	return s.values.Seal(out, plain, boundTo(key, out))
}

// boundTo is the associated data of a value.
func boundTo(key, value []byte) []byte { return slices.Concat(key, value[:versionSize]) }

// open returns a value's version and plaintext.
func (s *secrets) open(key, value []byte) (version uint64, plain []byte, err error) {
	if len(value) < versionSize {
		return 0, nil, damaged(key, "is cut short")
	}
	version = binary.BigEndian.Uint64(value)
	if end := len(value) - macSize; end > versionSize && value[versionSize] == bareForm {
		if !hmac.Equal(value[end:], s.mac16("bare value", key, value[:end])) {
			err = seal.ErrOpen
		}
		plain = slices.Clone(value[versionSize+1 : end]) // Badger may overwrite it
	} else if plain, err = s.values.Open(nil, value[versionSize:], boundTo(key, value)); err == nil && version&pressed != 0 {
		if plain, err = unpress(plain); err != nil {
			return 0, nil, damaged(key, "can't be decompressed, though it is sealed as it was written: "+err.Error())
		}
	}
	if err != nil {
		return 0, nil, damaged(key, "was altered, or stands in another's place")
	}
	return version &^ pressed, plain, nil
}

// tagOf returns the end of a sealed value, which distinguishes two values of
// the same version.
func tagOf(value []byte) []byte { return value[len(value)-tagSize:] }

// openGuard returns the version, tag and key of the guarded record.
func (s *secrets) openGuard(gk, value []byte) (version uint64, tag, key []byte, err error) {
	version, plain, err := s.open(gk, value)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(plain) < tagSize {
		return 0, nil, nil, damaged(gk, "is cut short")
	}
	return version, plain[:tagSize], plain[tagSize:], nil
}
