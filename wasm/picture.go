package wasm

import "github.com/locket-dev/locket/wasm/abi"

// MinSide is the least that a manifest may ask pictures to be scaled to, in
// pixels of the longer side.
const MinSide = 32

// Scale makes the picture of ev no longer than side pixels, by averaging. What
// it has is replaced, never written over: other plugins see it too.
func Scale(ev *abi.Event, side int) {
	w, h := ev.Width, ev.Height
	if side == 0 || max(w, h) <= side {
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

// average scales a picture of so many bytes a pixel down: each pixel becomes
// the mean of those that it covers.
func average(pix []byte, w, h, nw, nh, bytes int) []byte {
	out := make([]byte, nw*nh*bytes)
	sum := make([]uint32, nw*bytes)
	for y := range nh {
		clear(sum)
		y0, y1 := y*h/nh, (y+1)*h/nh
		for sy := y0; sy < y1; sy++ {
			row := pix[sy*w*bytes:][:w*bytes]
			for x := range nw {
				for sx := x * w / nw * bytes; sx < (x+1)*w/nw*bytes; sx += bytes {
					for c := range bytes {
						sum[x*bytes+c] += uint32(row[sx+c])
					}
				}
			}
		}
		for x := range nw {
			n := uint32(y1-y0) * uint32((x+1)*w/nw-x*w/nw)
			for c := range bytes {
				out[(y*nw+x)*bytes+c] = byte((sum[x*bytes+c] + n/2) / n)
			}
		}
	}
	return out
}
