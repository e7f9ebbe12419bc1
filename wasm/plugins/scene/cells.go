package scene

import (
	"encoding/binary"
	"math"
)

// A picture is averaged to cells of three sizes: the fine ones distinguish printed words, the
// others are for finding the position of one picture on another.
const (
	fineWide, fineHigh     = 64, 48
	middleWide, middleHigh = fineWide / 2, fineHigh / 2
	coarseWide, coarseHigh = fineWide / 4, fineHigh / 4
)

// cells are the fine cells of a photo, 0 to 255, row by row.
type cells [fineWide * fineHigh]float32

// shrink averages a picture of at least 32×32 pixels. If there are fewer pixels than cells,
// neighbours share them.
func shrink(gray []byte, w, h int) *cells {
	var c cells
	var from, to [fineWide]int
	for x := range fineWide {
		from[x], to[x] = span(x, w, fineWide)
	}
	columns := newColumns(w)
	before := columns.before
	for cy := range fineHigh {
		y0, y1 := span(cy, h, fineHigh)
		columns.sum(gray[y0*w:y1*w], w)
		out := c[cy*fineWide:][:fineWide]
		for cx := range out {
			a, b := from[cx], to[cx]
			out[cx] = float32(int(before[b]-before[a])) / float32((y1-y0)*(b-a))
		}
	}
	return &c
}

// span returns the pixels of size that cell i of n covers: at least one.
func span(i, size, n int) (from, to int) {
	from = i * size / n
	return from, max(from+1, (i+1)*size/n)
}

// columns adds up rows of pixels.
type columns struct {
	eights []columnSums
	before []uint32 // sums of all pixels of the rows to the left of each column, and of all pixels at the end
}

// columnSums are those of eight columns, in 16 bits each: 0, 2, 4 and 6, and 1, 3, 5 and
// 7.
type columnSums struct{ even, odd uint64 }

func newColumns(w int) *columns {
	return &columns{make([]columnSums, w/8), make([]uint32, w+1)}
}

// sum takes rows of w pixels, in place of the earlier ones.
func (c *columns) sum(rows []byte, w int) {
	const low, most = 0x00ff00ff00ff00ff, 257 // rows of 255 in 16 bits
	eights, before := c.eights, c.before
	clear(before)
	for len(rows) > 0 {
		part := rows[:min(len(rows), most*w)]
		rows = rows[len(part):]
		clear(eights)
		for ; len(part) >= w; part = part[w:] {
			row := part[:w]
			for i := 0; i < len(eights) && len(row) >= 8; i++ {
				v, s := binary.LittleEndian.Uint64(row), &eights[i]
				s.even += v & low
				s.odd += v >> 8 & low
				row = row[8:]
			}
			for i, p := range row {
				before[1+w-len(row)+i] += uint32(p)
			}
		}
		to := before[1:]
		for i := 0; i < len(eights) && len(to) >= 8; i++ {
			e, o := eights[i].even, eights[i].odd
			to[0] += uint32(e & 0xffff)
			to[1] += uint32(o & 0xffff)
			to[2] += uint32(e >> 16 & 0xffff)
			to[3] += uint32(o >> 16 & 0xffff)
			to[4] += uint32(e >> 32 & 0xffff)
			to[5] += uint32(o >> 32 & 0xffff)
			to[6] += uint32(e >> 48)
			to[7] += uint32(o >> 48)
			to = to[8:]
		}
	}
	var all uint32
	for x, v := range before {
		all += v
		before[x] = all
	}
}

func (c *cells) mean() float32 {
	var s float32
	for _, v := range c {
		s += v
	}
	return s / float32(len(c))
}

// deviation is the standard deviation, in grey levels.
func (c *cells) deviation() float32 {
	m := c.mean()
	var q float32
	for _, v := range c {
		q += (v - m) * (v - m)
	}
	return root(q / float32(len(c)))
}

func root(v float32) float32 { return float32(math.Sqrt(float64(v))) }
