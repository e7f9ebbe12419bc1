package store

import (
	"encoding/binary"
	"math/bits"
)

// digest of a set is the sum, modulo 2^256, of the MACs of its members. A
// member can be added or removed without looking at the others (MSet-Add-Hash
// of Clarke et al., 2003). The MACs are keyed, so nobody without the key can
// look for other members with the same sum.
type digest [4]uint64 // least significant first

const digestSize = 32

func digestOf(mac [digestSize]byte) (d digest) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(mac[8*i:])
	}
	return d
}

func (d *digest) add(o digest) {
	var carry uint64
	for i := range d {
		d[i], carry = bits.Add64(d[i], o[i], carry)
	}
}

func (d *digest) sub(o digest) {
	var borrow uint64
	for i := range d {
		d[i], borrow = bits.Sub64(d[i], o[i], borrow)
	}
}

func (d digest) bytes() []byte {
	var b []byte
	for _, w := range d {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// member returns what a record adds to the digest of its bucket.
func (s *secrets) member(key []byte, version uint64, tag []byte) digest {
	return digestOf(s.macs.MAC("member", key, u64(version), tag))
}

// bucket returns what a bucket adds to the head's sum.
func (s *secrets) bucket(n int, b bucket) digest {
	return digestOf(s.macs.MAC("bucket", []byte{byte(n)}, u64(b.version), b.sum.bytes()))
}

// bucket holds the digest of the records whose keys fall into it.
type bucket struct {
	version uint64 // of its head record; 0 if nothing was written yet
	sum     digest
}

func bucketKey(n int) []byte { return []byte{byte(kindHead), byte(n)} }

// guardKey returns the key of a record's guard. Its second byte is the bucket.
func (s *secrets) guardKey(key []byte) []byte {
	m := s.macs.MAC("guard", key)
	return append([]byte{byte(kindGuard), m[macSize]}, m[:macSize]...)
}
