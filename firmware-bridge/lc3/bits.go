package lc3

import "math/bits"

// A frame is read from both of its ends: the arithmetic coder's symbols from the front, and plain
// bits from the back, each byte from its lowest bit up. The two meet somewhere; if they have
// crossed, the frame is broken.

// reader reads one frame. Bits beyond an end are 0; broken reports afterwards that they were read.
type reader struct {
	frame []byte

	taken int // plain bits that were read

	front      int    // bytes that low has taken
	low, width uint32 // state of the arithmetic coder, 24 bits
	bad        bool   // the coder reached a state that no encoder makes
}

// model is the cumulative frequencies of 17 symbols, which add up to 1024.
type model [17]uint16

func newReader(frame []byte) *reader {
	r := &reader{frame: frame, width: 0xffffff}
	for range 3 {
		r.shift()
	}
	return r
}

// shift takes a byte from the front.
func (r *reader) shift() {
	r.low = r.low << 8 & 0xffffff
	if r.front < len(r.frame) {
		r.low |= uint32(r.frame[r.front])
	}
	r.front++
}

// bit reads one plain bit.
func (r *reader) bit() int {
	at := len(r.frame) - 1 - r.taken/8
	if at < 0 {
		r.taken++
		return 0
	}
	b := r.frame[at] >> (r.taken % 8) & 1
	r.taken++
	return int(b)
}

// uint reads n plain bits, the lowest first.
func (r *reader) uint(n int) (v int) {
	for i := range n {
		v |= r.bit() << i
	}
	return v
}

// symbol decodes a symbol, 0 to 16. In a broken frame it is 0.
func (r *reader) symbol(m *model) int {
	unit := r.width >> 10
	if r.bad || r.low >= unit<<10 {
		r.bad = true
		return 0
	}
	s, high := 0, len(m)
	for high-s > 1 {
		if mid := (s + high) / 2; r.low >= unit*uint32(m[mid]) {
			s = mid
		} else {
			high = mid
		}
	}
	end := uint32(1024)
	if s+1 < len(m) {
		end = uint32(m[s+1])
	}
	r.low -= unit * uint32(m[s])
	r.width = unit * (end - uint32(m[s]))
	for r.width < 1<<16 && r.width > 0 {
		r.width <<= 8
		r.shift()
	}
	return s
}

// left returns how many bits of the frame neither end has read. It is negative if they have
// crossed.
func (r *reader) left() int {
	coded := 8*(r.front-3) + 26 - bits.Len32(r.width)
	return 8*len(r.frame) - r.taken - coded
}

// broken reports that no encoder can have written what was read.
func (r *reader) broken() bool { return r.bad || r.left() < 0 }
