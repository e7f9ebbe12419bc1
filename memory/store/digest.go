package store

import (
	"encoding/binary"
	"math/bits"
)

// digest of a set is the sum, modulo 2^256, of the MACs of its members: one
// can be added or taken away without looking at the rest (MSet-Add-Hash of
// Clarke et al., 2003). The MACs are keyed, so that nobody without the key can
// look for members that add up to the same.
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

// member is what a record adds to the digest of its bucket.
func (s *secrets) member(key []byte, version uint64, tag []byte) digest {
	return digestOf(s.macs.MAC("member", key, u64(version), tag))
}

// bucket is what a bucket adds to the head's sum.
func (s *secrets) bucket(n int, b bucket) digest {
	return digestOf(s.macs.MAC("bucket", []byte{byte(n)}, u64(b.version), b.sum.bytes()))
}

// bucket holds the digest of the records whose keys fall in it.
type bucket struct {
	version uint64 // of its head record; 0 where nothing was written yet
	sum     digest
}

func bucketKey(n int) []byte { return []byte{byte(kindHead), byte(n)} }

// guardKey is where the guard of a record is; its second byte is the bucket.
func (s *secrets) guardKey(key []byte) []byte {
	m := s.macs.MAC("guard", key)
	return append([]byte{byte(kindGuard), m[macSize]}, m[:macSize]...)
}
