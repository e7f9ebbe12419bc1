package scene

import (
	"math"
	"slices"
)

const (
	gridSize  = 32 // a picture is first averaged to this many cells a side
	thumbSize = 16
	hashSize  = 8 // frequencies a side
)

// grid is a picture averaged to 32×32 cells, 0 to 255.
type grid [gridSize * gridSize]float32

// thumb is a picture averaged to 16×16 cells.
type thumb [thumbSize * thumbSize]byte

// shrink averages a picture of at least 32×32 pixels.
func shrink(gray []byte, w, h int) grid {
	var sum [gridSize * gridSize]uint32
	var edge [gridSize + 1]int
	for i := range edge {
		edge[i] = i * w / gridSize
	}
	var rows [gridSize]uint32
	for y := range h {
		row := gray[y*w : y*w+w]
		cy := y * gridSize / h
		rows[cy]++
		for cx := range gridSize {
			var s uint32
			for _, p := range row[edge[cx]:edge[cx+1]] {
				s += uint32(p)
			}
			sum[cy*gridSize+cx] += s
		}
	}
	var g grid
	for cy := range gridSize {
		for cx := range gridSize {
			g[cy*gridSize+cx] = float32(sum[cy*gridSize+cx]) / float32(rows[cy]*uint32(edge[cx+1]-edge[cx]))
		}
	}
	return g
}

func (g *grid) mean() float64 {
	var s float32
	for _, v := range g {
		s += v
	}
	return float64(s) / float64(len(g))
}

func thumbnail(g *grid) thumb {
	var t thumb
	for y := range thumbSize {
		for x := range thumbSize {
			i := 2*y*gridSize + 2*x
			t[y*thumbSize+x] = byte((g[i] + g[i+1] + g[i+gridSize] + g[i+gridSize+1]) / 4)
		}
	}
	return t
}

func (t *thumb) deviation() float64 {
	var s, q float64
	for _, p := range t {
		s += float64(p)
		q += float64(p) * float64(p)
	}
	n := float64(len(t))
	return math.Sqrt(max(0, q/n-s/n*s/n))
}

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
type transform [hashSize + 1][gridSize]float32

func newTransform() transform {
	var t transform
	for u := range t {
		for x := range gridSize {
			t[u][x] = float32(math.Cos(math.Pi / gridSize * (float64(x) + 0.5) * float64(u)))
		}
	}
	return t
}

// hash is the perceptual hash after Zauner (2010): one bit for each of the 8×8
// lowest frequencies, set where it is over their median. The mean (frequency
// 0, 0) tells nothing but brightness, and gives its place to (8, 0).
func (t *transform) hash(g *grid) uint64 {
	var rows [gridSize][hashSize]float32
	for y := range gridSize {
		for u := range hashSize {
			var s float32
			for x := range gridSize {
				s += g[y*gridSize+x] * t[u][x]
			}
			rows[y][u] = s
		}
	}
	var c [hashSize * hashSize]float32
	for v := range hashSize {
		for u := range hashSize {
			f := v
			if u == 0 && v == 0 {
				f = hashSize
			}
			var s float32
			for y := range gridSize {
				s += rows[y][u] * t[f][y]
			}
			c[v*hashSize+u] = s
		}
	}
	sorted := c
	slices.Sort(sorted[:])
	median := (sorted[31] + sorted[32]) / 2
	var h uint64
	for i, v := range c {
		if v > median {
			h |= 1 << (63 - i)
		}
	}
	return h
}
