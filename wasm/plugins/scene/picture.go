package scene

import (
	"math"
	"slices"
)

const hashSize = 8 // frequencies a side

// sharpness is the variance of the 4-neighbour Laplacian, in squared grey
// levels: 0 for a flat picture, some tens for a blurred one, hundreds upwards
// for a sharp one.
func sharpness(gray []byte, w, h int) float64 {
	var sum, squares int64
	for y := 1; y < h-1; y++ {
		up, row, down := gray[(y-1)*w:y*w], gray[y*w:(y+1)*w], gray[(y+1)*w:(y+2)*w]
		var s, q int32 // a row of 640 cannot overflow 2³¹: 640·1020² is 6.7·10⁸
		for x := 1; x < w-1; x++ {
			l := int32(up[x]) + int32(down[x]) + int32(row[x-1]) + int32(row[x+1]) - 4*int32(row[x])
			s += l
			q += l * l
			if x&511 == 0 {
				sum, squares, s, q = sum+int64(s), squares+int64(q), 0, 0
			}
		}
		sum += int64(s)
		squares += int64(q)
	}
	n := float64((w - 2) * (h - 2))
	mean := float64(sum) / n
	return float64(squares)/n - mean*mean
}

// transform holds the cosines of the DCT-II: [frequency][cell].
type transform struct {
	along [hashSize + 1][fineWide]float32
	down  [hashSize + 1][fineHigh]float32
}

func newTransform() *transform {
	var t transform
	for u := range hashSize + 1 {
		for x := range t.along[u] {
			t.along[u][x] = float32(math.Cos(math.Pi / fineWide * (float64(x) + 0.5) * float64(u)))
		}
		for y := range t.down[u] {
			t.down[u][y] = float32(math.Cos(math.Pi / fineHigh * (float64(y) + 0.5) * float64(u)))
		}
	}
	return &t
}

// hash is the perceptual hash after Zauner (2010): one bit for each of the 8×8
// lowest frequencies, set where it is over their median. The mean (frequency
// 0, 0) tells nothing but brightness, and gives its place to (8, 0).
func (t *transform) hash(c cells) uint64 {
	var rows [fineHigh][hashSize]float32
	for y := range rows {
		row := c.v[y*fineWide:][:fineWide]
		for u := range hashSize {
			var s float32
			for x, v := range row {
				s += v * t.along[u][x]
			}
			rows[y][u] = s
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
