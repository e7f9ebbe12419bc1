package scene

import (
	"encoding/binary"
	"math"
	"slices"
)

const hashSize = 8 // frequencies a side

// sharpness is the variance of the 4-neighbour Laplacian, in squared grey levels, over every
// third row: 0 for a flat picture, some tens for a blurred one, hundreds and more for a sharp
// one.
func sharpness(gray []byte, w, h int) float64 {
	const step, bias = 3, 1020 // the least Laplacian is -1020
	const low, biases = 0x00ff00ff00ff00ff, bias * 0x0001000100010001
	var n, sum, squares int
	add := func(l int) {
		sum += l
		squares += l * l
	}
	for y := 1; y < h-1; y += step {
		up, row, down := gray[(y-1)*w:][:w], gray[y*w:][:w], gray[(y+1)*w:][:w]
		n += w - 2
		x := 1
		for ; x+9 <= w; x += 8 {
			// Eight pixels at once, every other one in 16 bits.
			u, d := binary.LittleEndian.Uint64(up[x:]), binary.LittleEndian.Uint64(down[x:])
			l, r := binary.LittleEndian.Uint64(row[x-1:]), binary.LittleEndian.Uint64(row[x+1:])
			m := binary.LittleEndian.Uint64(row[x:])
			even := u&low + d&low + l&low + r&low + biases - m&low<<2
			odd := u>>8&low + d>>8&low + l>>8&low + r>>8&low + biases - m>>8&low<<2
			add(int(even & 0xffff))
			add(int(even >> 16 & 0xffff))
			add(int(even >> 32 & 0xffff))
			add(int(even >> 48))
			add(int(odd & 0xffff))
			add(int(odd >> 16 & 0xffff))
			add(int(odd >> 32 & 0xffff))
			add(int(odd >> 48))
		}
		for ; x < w-1; x++ {
			add(int(up[x]) + int(down[x]) + int(row[x-1]) + int(row[x+1]) - 4*int(row[x]) + bias)
		}
	}
	mean := float64(sum) / float64(n)
	return float64(squares)/float64(n) - mean*mean
}

// transform holds the cosines of the DCT-II: [frequency][cell], along a row only up to its
// middle.
type transform struct {
	along [hashSize][fineWide / 2]float32
	down  [hashSize + 1][fineHigh]float32
}

func newTransform() *transform {
	var t transform
	for u := range t.along {
		for x := range t.along[u] {
			t.along[u][x] = float32(math.Cos(math.Pi / fineWide * (float64(x) + 0.5) * float64(u)))
		}
	}
	for u := range t.down {
		for y := range t.down[u] {
			t.down[u][y] = float32(math.Cos(math.Pi / fineHigh * (float64(y) + 0.5) * float64(u)))
		}
	}
	return &t
}

// hash is the perceptual hash after Zauner (2010): one bit for each of the 8×8 lowest frequencies,
// set if it is above their median. The mean (frequency 0, 0) only shows brightness, and is replaced
// by (8, 0).
func (t *transform) hash(c *cells) uint64 {
	var rows [fineHigh][hashSize]float32
	for y := range rows {
		// Cosines of even frequencies are equal on both sides of the middle, those of odd ones
		// opposite.
		var sums, differences [fineWide / 2]float32
		row := c[y*fineWide:][:fineWide]
		for x := range sums {
			a, b := row[x], row[fineWide-1-x]
			sums[x], differences[x] = a+b, a-b
		}
		for u := 0; u < hashSize; u += 2 {
			var even, odd float32
			a, b := &t.along[u], &t.along[u+1]
			for x := range sums {
				even += sums[x] * a[x]
				odd += differences[x] * b[x]
			}
			rows[y][u], rows[y][u+1] = even, odd
		}
	}
	var f [hashSize * hashSize]float32
	for v := range hashSize {
		for u := range hashSize {
			down := v
			if u == 0 && v == 0 {
				down = hashSize
			}
			var s float32
			for y := range rows {
				s += rows[y][u] * t.down[down][y]
			}
			f[v*hashSize+u] = s
		}
	}
	sorted := f
	slices.Sort(sorted[:])
	median := (sorted[31] + sorted[32]) / 2
	var h uint64
	for i, v := range f {
		if v > median {
			h |= 1 << (63 - i)
		}
	}
	return h
}
