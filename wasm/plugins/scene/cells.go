package scene

import "math"

// A picture is averaged to cells of three sizes: the fine ones tell words of
// print apart, the others are for finding how one picture lies over another.
const (
	fineWide, fineHigh     = 64, 48
	middleWide, middleHigh = fineWide / 2, fineHigh / 2
	coarseWide, coarseHigh = fineWide / 4, fineHigh / 4
)

// cells is a picture of wide cells a row.
type cells struct {
	wide, high int
	v          []float32
}

func newCells(wide, high int) cells { return cells{wide, high, make([]float32, wide*high)} }

// shrink averages a picture of at least 32×32 pixels to fine cells, 0 to 255.
// Where there are fewer pixels than cells, neighbours share them.
func shrink(gray []byte, w, h int) cells {
	c := newCells(fineWide, fineHigh)
	var from, to [fineWide]int
	for x := range fineWide {
		from[x], to[x] = span(x, w, fineWide)
	}
	for cy := range fineHigh {
		var sum [fineWide]uint32
		y0, y1 := span(cy, h, fineHigh)
		for y := y0; y < y1; y++ {
			row := gray[y*w : y*w+w]
			for cx := range sum {
				var s uint32
				for _, p := range row[from[cx]:to[cx]] {
					s += uint32(p)
				}
				sum[cx] += s
			}
		}
		out := c.v[cy*fineWide:][:fineWide]
		for cx := range out {
			out[cx] = float32(sum[cx]) / float32((y1-y0)*(to[cx]-from[cx]))
		}
	}
	return c
}

// span is what cell i of n covers of size pixels: one at least.
func span(i, size, n int) (from, to int) {
	from = i * size / n
	return from, max(from+1, (i+1)*size/n)
}

// halved averages each 2×2 cells.
func (c cells) halved() cells {
	o := newCells(c.wide/2, c.high/2)
	for y := range o.high {
		up, low := c.v[2*y*c.wide:][:c.wide], c.v[(2*y+1)*c.wide:][:c.wide]
		row := o.v[y*o.wide:][:o.wide]
		for x := range row {
			row[x] = (up[2*x] + up[2*x+1] + low[2*x] + low[2*x+1]) / 4
		}
	}
	return o
}

func (c cells) mean() float32 {
	var s float32
	for _, v := range c.v {
		s += v
	}
	return s / float32(len(c.v))
}

// deviation is the standard deviation, in grey levels.
func (c cells) deviation() float32 {
	m := c.mean()
	var q float32
	for _, v := range c.v {
		q += (v - m) * (v - m)
	}
	return root(q / float32(len(c.v)))
}

// even takes light and contrast out: each cell becomes how far it is from the
// mean of the cells around it, up to radius away, in their standard deviations,
// -2 to 2. Contrast of a few grey levels is noise, and stays small.
func (c cells) even(radius int) cells {
	const noise = 4 // grey levels
	o := newCells(c.wide, c.high)
	// Sums of columns over the rows about y slide down, those of rows along x.
	sum, squares := make([]float32, c.wide), make([]float32, c.wide)
	add := func(y int, sign float32) {
		for x, v := range c.v[y*c.wide:][:c.wide] {
			sum[x] += sign * v
			squares[x] += sign * v * v
		}
	}
	for y := range min(radius, c.high) {
		add(y, 1)
	}
	for y := range c.high {
		if y+radius < c.high {
			add(y+radius, 1)
		}
		if y-radius > 0 {
			add(y-radius-1, -1)
		}
		rows := min(c.high-1, y+radius) - max(0, y-radius) + 1
		var s, q float32
		for x := range min(radius, c.wide) {
			s, q = s+sum[x], q+squares[x]
		}
		for x := range c.wide {
			if x+radius < c.wide {
				s, q = s+sum[x+radius], q+squares[x+radius]
			}
			if x-radius > 0 {
				s, q = s-sum[x-radius-1], q-squares[x-radius-1]
			}
			n := float32(rows * (min(c.wide-1, x+radius) - max(0, x-radius) + 1))
			m := s / n
			i := y*c.wide + x
			o.v[i] = max(-2, min(2, (c.v[i]-m)/(root(max(0, q/n-m*m))+noise)))
		}
	}
	return o
}

func root(v float32) float32 { return float32(math.Sqrt(float64(v))) }
