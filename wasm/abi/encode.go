package abi

import "math"

// CBOR major types (RFC 8949, 3.1).
const (
	majorUint = iota << 5
	majorNeg
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

const (
	simpleFalse = majorSimple | 20
	simpleTrue  = majorSimple | 21
	float16     = majorSimple | 25
	float32bits = majorSimple | 26
	float64bits = majorSimple | 27
)

// encoder writes deterministic CBOR: shortest heads, ascending keys, and no fields with their zero
// value. fields counts the fields of the open map.
type encoder struct {
	b      []byte
	fields int
}

func (e *encoder) head(major byte, n uint64) {
	size := 0
	switch {
	case n < 24:
		e.b = append(e.b, major|byte(n))
		return
	case n > math.MaxUint32:
		size = 3
	case n > math.MaxUint16:
		size = 2
	case n > math.MaxUint8:
		size = 1
	}
	e.b = append(e.b, major|24|byte(size))
	e.fixed(n, 1<<size)
}

// fixed writes the lowest size bytes of n, big-endian. It replaces encoding/binary, which would
// bring reflect into a guest.
func (e *encoder) fixed(n uint64, size int) {
	for i := size - 1; i >= 0; i-- {
		e.b = append(e.b, byte(n>>(8*i)))
	}
}

func (e *encoder) text(s string) {
	e.head(majorText, uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) number(v int64) {
	if v < 0 {
		e.head(majorNeg, uint64(^v))
	} else {
		e.head(majorUint, uint64(v))
	}
}

func (e *encoder) real(v float64) {
	e.b = append(e.b, float64bits)
	e.fixed(math.Float64bits(v), 8)
}

// openedMap is what close needs: the position of the head, and the count of the surrounding
// map.
type openedMap struct{ at, outer int }

// open leaves one byte for the head of a map whose fields are not counted yet.
func (e *encoder) open() openedMap {
	m := openedMap{len(e.b), e.fields}
	e.b = append(e.b, majorMap)
	e.fields = 0
	return m
}

// close fills the head in; over 23 fields it takes a second byte.
func (e *encoder) close(m openedMap) {
	n := e.fields
	e.fields = m.outer
	if n < 24 {
		e.b[m.at] = majorMap | byte(n)
		return
	}
	e.b = append(e.b, 0)
	copy(e.b[m.at+2:], e.b[m.at+1:])
	e.b[m.at], e.b[m.at+1] = majorMap|24, byte(n)
}

func (e *encoder) key(k uint64) {
	e.head(majorUint, k)
	e.fields++
}

// The methods below write one field with its key, or nothing if it is zero.

func (e *encoder) int(key uint64, v int64) {
	if v != 0 {
		e.key(key)
		e.number(v)
	}
}

func (e *encoder) bool(key uint64, v bool) {
	if v {
		e.key(key)
		e.b = append(e.b, simpleTrue)
	}
}

func (e *encoder) float(key uint64, v float64) {
	if v != 0 {
		e.key(key)
		e.real(v)
	}
}

func (e *encoder) str(key uint64, s string) {
	if s != "" {
		e.key(key)
		e.text(s)
	}
}

func (e *encoder) bytes(key uint64, p []byte) {
	if len(p) > 0 {
		e.key(key)
		e.head(majorBytes, uint64(len(p)))
		e.b = append(e.b, p...)
	}
}

// list writes key and array head, and reports whether there are elements.
func (e *encoder) list(key uint64, n int) bool {
	if n == 0 {
		return false
	}
	e.key(key)
	e.head(majorArray, uint64(n))
	return true
}

func (e *encoder) strs(key uint64, list []string) {
	if e.list(key, len(list)) {
		for _, s := range list {
			e.text(s)
		}
	}
}
