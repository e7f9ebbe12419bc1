package scene

// grid is the form in which pictures are aligned: cells of whole numbers from 0
// to 4096, row by row, so that sums over them are exact and the same
// everywhere.
type grid struct {
	wide, high int
	v          []int32
}

func newGrid(wide, high int) grid { return grid{wide, high, make([]int32, wide*high)} }

// halved adds up each 2×2 cells.
func (g grid) halved() grid {
	o := newGrid(g.wide/2, g.high/2)
	for y := range o.high {
		up, low := g.v[2*y*g.wide:][:g.wide], g.v[(2*y+1)*g.wide:][:g.wide]
		row := o.v[y*o.wide:][:o.wide]
		for x := range row {
			row[x] = up[0] + up[1] + low[0] + low[1]
			up, low = up[2:], low[2:]
		}
	}
	return o
}

// unit is one standard deviation in a normalised grid.
const unit = 1024

// even removes brightness and contrast: each cell becomes its distance from the mean of the cells
// around it, up to radius away, in their standard deviations, -2 to 2 as 0 to 4 units. Contrast no
// greater than noise stays small.
func (g grid) even(radius, noise int) grid {
	o := newGrid(g.wide, g.high)
	// Sums of columns over the rows around y slide down, those of rows along x. Before and after
	// them are empty columns.
	sum, squares := make([]int32, g.wide+2*radius+1), make([]int32, g.wide+2*radius+1)
	add := func(y int, sign int32) {
		sum, squares := sum[radius+1:], squares[radius+1:]
		for x, v := range g.v[y*g.wide:][:g.wide] {
			sum[x] += sign * v
			squares[x] += sign * v * v
		}
	}
	for y := range min(radius, g.high) {
		add(y, 1)
	}
	for y := range g.high {
		if y+radius < g.high {
			add(y+radius, 1)
		}
		if y-radius > 0 {
			add(y-radius-1, -1)
		}
		rows := min(g.high-1, y+radius) - max(0, y-radius) + 1
		var s, q int32
		for x := range 2 * radius {
			s, q = s+sum[x+1], q+squares[x+1]
		}
		row, out := g.v[y*g.wide:][:g.wide], o.v[y*g.wide:][:g.wide]
		sumIn, squaresIn := sum[2*radius+1:][:len(row)], squares[2*radius+1:][:len(row)]
		sumOut, squaresOut := sum[:len(row)], squares[:len(row)]
		for x, v := range row {
			s += sumIn[x] - sumOut[x]
			q += squaresIn[x] - squaresOut[x]
			n := rows * (min(g.wide-1, x+radius) - max(0, x-radius) + 1)
			// Multiplied by n, numerator and denominator.
			from := int(v)*n - int(s)
			spread := root(float32(int(q)*n-int(s)*int(s))) + float32(noise*n)
			out[x] = int32(max(0, min(4*unit, int(float32(from)/spread*unit+2*unit+.5))))
		}
	}
	return o
}

// surface is a grid for interpolation between cells: each cell has its right neighbour in the
// upper half, and there is one more row below. At the edge the last cell is its own
// neighbour.
type surface struct {
	wide, high int
	pairs      []uint64
}

func newSurface(g grid) *surface {
	s := &surface{g.wide, g.high, make([]uint64, g.wide*(g.high+1))}
	for y := range g.high {
		row, out := g.v[y*g.wide:][:g.wide], s.pairs[y*g.wide:][:g.wide]
		last := uint64(row[0])
		for x, v := range row[1:] {
			next := uint64(v)
			out[x] = last | next<<32
			last = next
		}
		out[len(out)-1] = last | last<<32
	}
	copy(s.pairs[g.high*g.wide:], s.pairs[(g.high-1)*g.wide:])
	return s
}

// one is a cell's width if a place is counted in parts of a cell.
const one = 1 << 16

// between interpolates at (x, y) in the pairs of a surface with wide a row, in parts of a cell from
// the middle of the first. It returns four times the value of a cell. The place must be within the
// middles of the outermost cells.
func between(pairs []uint64, wide, x, y int) int {
	// Weights of 12 bits: two cells at a time are weighed vertically, then one against the
	// other.
	fx, fy := uint64(x)>>4&0xfff, uint64(y)>>4&0xfff
	i := y>>16*wide + x>>16
	v := pairs[i]*(4096-fy) + pairs[i+wide]*fy
	return int((v&0xffffffff*(4096-fx) + v>>32*fx) >> 22)
}
