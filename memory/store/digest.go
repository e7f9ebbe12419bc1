package store

import (
	"encoding/binary"
	"math/bits"
	"slices"
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
	version uint64 // of the record that has the sum; 0 if nothing was written yet
	sum     digest
	turn    uint8 // of that record; 0 if the bucket has a record of its own
}

// Each transaction writes the sums of the buckets that it touches into one record. These
// records take turns: a transaction replaces the one of 64 transactions before, and takes
// over what nothing has touched since. Before format 4, each bucket had its own record.
const turns = 64

func turnKey(turn uint8) []byte { return []byte{byte(kindHead), 't', turn} }

// bucketKey names a bucket. Before format 4 it was the key of its record.
func bucketKey(n int) []byte { return []byte{byte(kindHead), byte(n)} }

type buckets [bucketCount]bucket

// merge takes over the sums in a record, unless later ones are known. The value of a turn
// is, for each of its buckets, a byte for the number and the sum.
func (b *buckets) merge(key []byte, version uint64, plain []byte) error {
	turn, size := uint8(0), 1+digestSize
	switch {
	case len(key) == 2 && len(plain) == digestSize:
		plain = append([]byte{key[1]}, plain...)
	case len(key) == 3 && len(plain)%size == 0:
		turn = key[2]
	default:
		return damaged(key, "is of another size")
	}
	for one := range slices.Chunk(plain, size) {
		if n := one[0]; b[n].version < version {
			b[n] = bucket{version, digestOf([digestSize]byte(one[1:])), turn}
		}
	}
	return nil
}

// guardKey returns the key of a record's guard. Its second byte is the bucket.
func (s *secrets) guardKey(key []byte) []byte {
	m := s.macs.MAC("guard", key)
	return append([]byte{byte(kindGuard), m[macSize]}, m[:macSize]...)
}
