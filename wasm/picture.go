package wasm

import (
	"encoding/binary"

	"github.com/locket-dev/locket/wasm/abi"
)

// MinSide is the smallest size to which a manifest may have pictures scaled, in pixels of the
// longer side.
const MinSide = 32

// Scale reduces the picture of ev to at most side pixels, by averaging. It replaces the slices and
// does not write into them, because other plugins see them, too.
func Scale(ev *abi.Event, side int) {
	w, h := ev.Width, ev.Height
	if side == 0 || max(w, h) <= side || min(w, h) < 1 {
		return
	}
	nw, nh := side, max(1, h*side/w)
	if h > w {
		nw, nh = max(1, w*side/h), side
	}
	if len(ev.Gray) == w*h {
		ev.Gray = average(ev.Gray, w, h, nw, nh, 1)
	}
	if len(ev.RGB) == 3*w*h {
		ev.RGB = average(ev.RGB, w, h, nw, nh, 3)
	}
	ev.Width, ev.Height = nw, nh
}

// average scales down a picture with the given bytes per pixel: each pixel becomes the rounded mean
// of those that it covers.
func average(pix []byte, w, h, nw, nh, bytes int) []byte {
	if bytes == 1 && w == 2*nw && h == 2*nh && w%8 == 0 {
		return halve(pix, w, h)
	}
	out := make([]byte, 0, nw*nh*bytes)
	columns := make([]uint32, w*bytes)
	for y := range nh {
		clear(columns)
		y0, y1 := y*h/nh, (y+1)*h/nh
		for sy := y0; sy < y1; sy++ {
			for i, p := range pix[sy*w*bytes:][:len(columns)] {
				columns[i] += uint32(p)
			}
		}
		from := 0
		for x := range nw {
			to := (x + 1) * w / nw
			n := uint32((y1 - y0) * (to - from))
			for c := range bytes {
				var sum uint32
				for i := from*bytes + c; i < to*bytes; i += bytes {
					sum += columns[i]
				}
				out = append(out, byte((sum+n/2)/n))
			}
			from = to
		}
	}
	return out
}

// halve averages each 2×2 pixels of a picture with one byte per pixel, whose width is a multiple of
// 8 and whose height is even. It does what average does, for eight pixels of two rows at a time;
// each pair has 16 bits for its sum.
func halve(pix []byte, w, h int) []byte {
	const low, two = 0x00ff00ff00ff00ff, 0x0002000200020002
	out := make([]byte, w*h/4)
	to := out
	for ; len(pix) >= 2*w; pix = pix[2*w:] {
		upper, lower := pix[:w], pix[w:][:w]
		for len(upper) >= 8 && len(lower) >= 8 && len(to) >= 4 {
			a, b := binary.LittleEndian.Uint64(upper), binary.LittleEndian.Uint64(lower)
			s := (a&low + a>>8&low + b&low + b>>8&low + two) >> 2 & low
			s |= s >> 8
			binary.LittleEndian.PutUint32(to, uint32(s&0xffff|s>>16&0xffff0000))
			upper, lower, to = upper[8:], lower[8:], to[4:]
		}
	}
	return out
}
