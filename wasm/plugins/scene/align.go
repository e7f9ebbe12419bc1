package scene

import "math"

// affine maps a cell of one picture to its place in another. Both are measured from their
// middles in widths of the picture: x' = m[0]·x + m[1]·y + m[2], y' = m[3]·x + m[4]·y +
// m[5].
type affine [6]float64

// What a moved hand, a crop or a rotation does to a picture: alignment begins from each of
// these.
var starts = [...]affine{{0: 1, 4: 1}, {0: 1.1, 4: 1.1}, {0: .9, 4: .9}}

// after returns the composition: n, then m.
func (m *affine) after(n *affine) affine {
	return affine{
		m[0]*n[0] + m[1]*n[3], m[0]*n[1] + m[1]*n[4], m[0]*n[2] + m[1]*n[5] + m[2],
		m[3]*n[0] + m[4]*n[3], m[3]*n[1] + m[4]*n[4], m[3]*n[2] + m[4]*n[5] + m[5],
	}
}

// back returns the inverse, if there is one.
func (m *affine) back() (affine, bool) {
	d := m[0]*m[4] - m[1]*m[3]
	if d < .2 && d > -.2 {
		return affine{}, false
	}
	a, b, c, e := m[4]/d, -m[1]/d, -m[3]/d, m[0]/d
	return affine{a, b, -a*m[2] - b*m[5], c, e, -c*m[2] - e*m[5]}, true
}

// near reports whether the two pictures may show one scene: a third larger or smaller, ten degrees
// rotated, moved by a fifth of the width.
func (m *affine) near() bool {
	within := func(v, most float64) bool { return v < most && v > -most }
	return m[0] > .7 && m[0] < 1.4 && m[4] > .7 && m[4] < 1.4 &&
		within(m[1], .2) && within(m[3], .2) && within(m[2], .2) && within(m[5], .2)
}

// apart is how far from each other, at most, the two put the corners of a picture that is three
// quarters as high as wide, in widths.
func (m *affine) apart(n *affine) float64 {
	dx := math.Abs(m[0]-n[0])/2 + math.Abs(m[1]-n[1])*.375 + math.Abs(m[2]-n[2])
	dy := math.Abs(m[3]-n[3])/2 + math.Abs(m[4]-n[4])*.375 + math.Abs(m[5]-n[5])
	return max(dx, dy)
}

// target is a grid on which others are overlaid.
type target struct {
	wide, high int
	cell       []slope
	whole      moments // of all cells, with nothing overlaid
	bend       bend
}

// slope is a cell and the increase of the grid there along x and y, over two cells; zero at the
// edge.
type slope struct{ v, x, y int16 }

func newTarget(g grid) *target {
	t := &target{wide: g.wide, high: g.high, cell: make([]slope, len(g.v))}
	for i, v := range g.v {
		t.cell[i].v = int16(v)
	}
	for y := 1; y < g.high-1; y++ {
		up, row, low := g.v[(y-1)*g.wide:][:g.wide], g.v[y*g.wide:][:g.wide], g.v[(y+1)*g.wide:][:g.wide]
		to := t.cell[y*g.wide:][:g.wide]
		for x := 1; x < len(row)-1; x++ {
			to[x].x, to[x].y = int16(row[x+1]-row[x-1]), int16(low[x]-up[x])
		}
	}
	for y := range g.high {
		t.whole.add(t.cell[y*g.wide:][:g.wide], 0, g.wide, 2*y+1-g.high, 1)
	}
	t.bend = newBend(t)
	return t
}

// moments are sums over the cells that both pictures have: of the target (a), of what is overlaid
// (b), and of both multiplied by the change of a cell with each of an affine's six numbers (rise),
// in the units of scale.
type moments struct {
	n, a, aa, b, bb, ab int
	rise, riseA, riseB  [6]int
}

// add adds, or subtracts with sign -1, cells from to to of a row that lies y half cells below the
// middle and has nothing overlaid.
func (s *moments) add(row []slope, from, to, y, sign int) {
	var n, a, aa, gx, gxx, gy, gyx, ax, axx, ay, ayx int
	for x := from; x < to; x++ {
		c := &row[x]
		v, dx, dy, at := int(c.v), int(c.x), int(c.y), 2*x+1-len(row)
		n++
		a += v
		aa += v * v
		gx += dx
		gxx += dx * at
		gy += dy
		gyx += dy * at
		ax += dx * v
		axx += dx * at * v
		ay += dy * v
		ayx += dy * at * v
	}
	s.n += sign * n
	s.a += sign * a
	s.aa += sign * aa
	for i, v := range [6]int{gxx, gx * y, gx, gyx, gy * y, gy} {
		s.rise[i] += sign * v
	}
	for i, v := range [6]int{axx, ax * y, ax, ayx, ay * y, ay} {
		s.riseA[i] += sign * v
	}
}

// scale is the unit of each of the six sums over rises: there, places are in
// half cells, here in widths of a picture of wide cells; a rise is over two
// cells.
func scale(i, wide int) float64 {
	if i%3 == 2 {
		return float64(wide) / 2
	}
	return .25
}

// spreads are both variances, times n².
func (s *moments) spreads() (a, b float64) {
	return float64(s.n*s.aa - s.a*s.a), float64(s.n*s.bb - s.b*s.b)
}

// correlation is -1 to 1, and 0 if one of the two is flat.
func (s *moments) correlation() float64 {
	a, b := s.spreads()
	if a <= 0 || b <= 0 {
		return 0
	}
	return float64(s.n*s.ab-s.a*s.b) / math.Sqrt(a*b)
}

// course is the path through seen along a row of t: the position of the row's first cell, in parts
// of a cell, the step from cell to cell, and which cells, from from up to but not including to, lie
// within seen.
type course struct{ x, y, dx, dy, from, to int }

func (t *target) course(row int, m *affine) course {
	w, h := float64(t.wide), float64(t.high)
	cx, cy := .5/w-.5, (float64(row)+.5-h/2)/w
	c := course{
		x:  int(((m[0]*cx+m[1]*cy+m[2])*w + w/2 - .5) * one),
		y:  int(((m[3]*cx+m[4]*cy+m[5])*w + h/2 - .5) * one),
		dx: int(m[0] * one), dy: int(m[3] * one), to: t.wide,
	}
	c.within(c.x, c.dx, (t.wide-1)*one)
	c.within(c.y, c.dy, (t.high-1)*one)
	return c
}

// within limits the cells to those whose position, at first and then further by step each, is 0 to
// last.
func (c *course) within(at, step, last int) {
	if step < 0 { // as seen from the other side
		at, step = last-at, -step
	}
	if at > last || step == 0 && at < 0 {
		c.from = c.to
		return
	}
	if at < 0 {
		c.from = max(c.from, (step-1-at)/step)
	}
	if step > 0 {
		c.to = min(c.to, (last-at)/step+1)
	}
	c.from = min(c.from, c.to)
}

// lay returns the sums over t and the part of seen that lies on each of its cells.
func (t *target) lay(seen *surface, m *affine) *moments {
	all, pairs, wide := t.whole, seen.pairs, seen.wide
	for y := range t.high {
		row := t.cell[y*t.wide:][:t.wide]
		at := 2*y + 1 - t.high
		c := t.course(y, m)
		if c.from > 0 {
			all.add(row, 0, c.from, at, -1)
		}
		if c.to < t.wide {
			all.add(row, c.to, t.wide, at, -1)
		}
		var b, bb, ab, bx, bxx, by, byx int
		px, py := c.x+c.from*c.dx, c.y+c.from*c.dy
		over := row[c.from:c.to]
		for x := range over {
			v := between(pairs, wide, px, py)
			px += c.dx
			py += c.dy
			o := &over[x]
			b += v
			bb += v * v
			ab += v * int(o.v)
			rx, ry := v*int(o.x), v*int(o.y)
			bx += rx
			bxx += rx * x
			by += ry
			byx += ry * x
		}
		all.b += b
		all.bb += bb
		all.ab += ab
		first := 2*c.from + 1 - t.wide
		for i, v := range [6]int{2*bxx + first*bx, bx * at, bx, 2*byx + first*by, by * at, by} {
			all.riseB[i] += v
		}
	}
	return &all
}

// overlap is the share of t that a picture must cover to be compared.
const overlap = .6

// align moves m so that seen fits t as well as possible, in at most steps steps of Gauss and
// Newton (Baker and Matthews, 2004, inverse variant, with brightness and contrast of the covered
// part normalised). It returns the best position and its correlation, -1 if too little is
// covered.
func (t *target) align(seen *surface, m affine, steps int) (best affine, at float64) {
	const still = .05 // of a cell: smaller steps are not worthwhile
	best, at = m, -1
	for step := 0; ; step++ {
		s := t.lay(seen, &m)
		if float64(s.n) < overlap*float64(len(t.cell)) {
			return best, at
		}
		r, last := s.correlation(), at
		if r > at {
			best, at = m, r
		}
		if step == steps || r < last-.02 {
			return best, at
		}
		d, ok := t.step(s)
		if !ok {
			return best, at
		}
		back, ok := d.back()
		if m = m.after(&back); !ok || !m.near() || m.apart(&best) < still/float64(t.wide) {
			return best, at
		}
	}
}

// step solves for the move that brings t closest to what is overlaid, whose mean and contrast are
// normalised.
func (t *target) step(s *moments) (affine, bool) {
	a, b := s.spreads()
	if a <= 0 || b <= 0 {
		return affine{}, false
	}
	gain, n := math.Sqrt(a/b), float64(s.n)
	ma, mb := float64(s.a)/n, float64(s.b)/n
	var g [6]float64
	for i := range g {
		rise := float64(s.rise[i])
		g[i] = (gain*(float64(s.riseB[i])-mb*rise) - (float64(s.riseA[i]) - ma*rise)) * scale(i, t.wide)
	}
	d, ok := t.bend.solve(g)
	d[0]++
	d[4]++
	return d, ok
}

// bend is the sum of the products of rises: Gauss and Newton's Hessian.
type bend [6][6]float64

func newBend(t *target) (h bend) {
	for y := range t.high {
		var sums [3][3]int // rises along x, along both, along y; multiplied by places to the power of 0, 1, 2
		for x, c := range t.cell[y*t.wide:][:t.wide] {
			at := 2*x + 1 - t.wide
			for i, v := range [3]int{int(c.x) * int(c.x), int(c.x) * int(c.y), int(c.y) * int(c.y)} {
				sums[i][0] += v
				sums[i][1] += v * at
				sums[i][2] += v * at * at
			}
		}
		cy := float64(2*y + 1 - t.high)
		for i := range 3 {
			v, vx, vxx := float64(sums[i][0]), float64(sums[i][1]), float64(sums[i][2])
			block := [3][3]float64{{vxx, vx * cy, vx}, {vx * cy, v * cy * cy, v * cy}, {vx, v * cy, v}}
			for p := range 3 {
				for q := range 3 {
					h[p+i/2*3][q+(i+1)/2*3] += block[p][q]
				}
			}
		}
	}
	for p := range h {
		for q := range h {
			if p >= 3 && q < 3 {
				h[p][q] = h[q][p]
			} else {
				h[p][q] *= scale(p, t.wide) * scale(q, t.wide)
			}
		}
	}
	return h
}

// solve is Gauss's elimination. The value added to the diagonal prevents long moves along the
// stripes of a picture, about which it says nothing.
func (h *bend) solve(g [6]float64) (affine, bool) {
	a := *h
	for i := range a {
		a[i][i] *= 1.01
	}
	for i := range a {
		if a[i][i] < 1 {
			return affine{}, false
		}
		for k := i + 1; k < 6; k++ {
			f := a[k][i] / a[i][i]
			for q := i; q < 6; q++ {
				a[k][q] -= f * a[i][q]
			}
			g[k] -= f * g[i]
		}
	}
	for i := 5; i >= 0; i-- {
		for q := i + 1; q < 6; q++ {
			g[i] -= a[i][q] * g[q]
		}
		g[i] /= a[i][i]
	}
	return affine(g), true
}
