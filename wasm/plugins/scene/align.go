package scene

// affine says where a cell of one picture lies in another. Both are counted
// from their middles in widths of the picture:
// x' = m[0]·x + m[1]·y + m[2], y' = m[3]·x + m[4]·y + m[5].
type affine [6]float32

// What a hand that moved, a crop or a turn does to a picture: alignment begins
// from each of these.
var starts = [...]affine{{0: 1, 4: 1}, {0: 1.1, 4: 1.1}, {0: .9, 4: .9}}

// after is n, then m.
func (m *affine) after(n *affine) affine {
	return affine{
		m[0]*n[0] + m[1]*n[3], m[0]*n[1] + m[1]*n[4], m[0]*n[2] + m[1]*n[5] + m[2],
		m[3]*n[0] + m[4]*n[3], m[3]*n[1] + m[4]*n[4], m[3]*n[2] + m[4]*n[5] + m[5],
	}
}

// back is the way back, where there is one.
func (m *affine) back() (affine, bool) {
	d := m[0]*m[4] - m[1]*m[3]
	if d < .2 && d > -.2 {
		return affine{}, false
	}
	a, b, c, e := m[4]/d, -m[1]/d, -m[3]/d, m[0]/d
	return affine{a, b, -a*m[2] - b*m[5], c, e, -c*m[2] - e*m[5]}, true
}

// near reports whether the two pictures may show one scene: a third larger or
// smaller, ten degrees turned, a fifth of the width moved.
func (m *affine) near() bool {
	within := func(v, most float32) bool { return v < most && v > -most }
	return m[0] > .7 && m[0] < 1.4 && m[4] > .7 && m[4] < 1.4 &&
		within(m[1], .2) && within(m[3], .2) && within(m[2], .2) && within(m[5], .2)
}

// target is cells that others are laid over: with how much each cell changes
// by each of the six numbers of an affine, times its deviation.
type target struct {
	cells
	slope []affine
	bend  bend
}

// newTarget works out the slopes; those at the rim are nothing.
func newTarget(c cells) target {
	t := target{cells: c, slope: make([]affine, len(c.v))}
	w := float32(c.wide)
	for y := 1; y < c.high-1; y++ {
		cy := (float32(y) + .5 - float32(c.high)/2) / w
		for x := 1; x < c.wide-1; x++ {
			i := y*c.wide + x
			gx, gy := (c.v[i+1]-c.v[i-1])/2*w, (c.v[i+c.wide]-c.v[i-c.wide])/2*w
			cx := (float32(x)+.5)/w - .5
			j := affine{gx * cx, gx * cy, gx, gy * cx, gy * cy, gy}
			t.slope[i] = j
			for p, v := range j {
				for q := p; q < len(j); q++ {
					t.bend[p][q] += v * j[q]
				}
			}
		}
	}
	for p := range t.bend {
		for q := range p {
			t.bend[p][q] = t.bend[q][p]
		}
	}
	return t
}

// outside marks a cell that the other picture doesn't cover. No cell's value
// is as low.
const outside = -1e9

// lay writes into over what of seen lies at each cell of t.
func (t *target) lay(seen *cells, m *affine, over []float32) {
	w, h := t.wide, t.high
	fw, fh := float32(w), float32(h)
	for y := range h {
		cy := (float32(y) + .5 - fh/2) / fw
		// in cells of seen, and by how much they go along x
		bx := (m[1]*cy+m[2]-m[0]*(.5-.5/fw))*fw + fw/2 - .5
		by := (m[4]*cy+m[5]-m[3]*(.5-.5/fw))*fw + fh/2 - .5
		row := over[y*w:][:w]
		for x := range row {
			if bx < 0 || by < 0 || bx > fw-1 || by > fh-1 {
				row[x] = outside
			} else {
				ix, iy := min(int(bx), w-2), min(int(by), h-2)
				fx, fy := bx-float32(ix), by-float32(iy)
				up, low := seen.v[iy*w+ix:][:2], seen.v[(iy+1)*w+ix:][:2]
				a := up[0] + (up[1]-up[0])*fx
				b := low[0] + (low[1]-low[0])*fx
				row[x] = a + (b-a)*fy
			}
			bx += m[0]
			by += m[3]
		}
	}
}

// moments are sums over cells that both pictures have.
type moments struct{ n, a, b, aa, bb, ab float32 }

func (s *moments) add(a, b float32) {
	s.n++
	s.a += a
	s.b += b
	s.aa += a * a
	s.bb += b * b
	s.ab += a * b
}

// spread are both standard deviations.
func (s *moments) spread() (a, b float32) {
	return root(max(0, s.aa/s.n-s.a/s.n*s.a/s.n)), root(max(0, s.bb/s.n-s.b/s.n*s.b/s.n))
}

// correlation is -1 to 1, and 0 where one of both is flat.
func (s *moments) correlation() float32 {
	a, b := s.spread()
	if s.n == 0 || a == 0 || b == 0 {
		return 0
	}
	return (s.ab/s.n - s.a/s.n*s.b/s.n) / (a * b)
}

// overlap is how much of t a picture must cover to be compared.
const overlap = .6

// align moves m so that seen lies over t as well as it can, in at most so many
// steps of Gauss and Newton (Baker and Matthews, 2004, the inverse way, with
// light and contrast of what is covered evened out), and gives the best place
// and the correlation there, -1 where too little is covered.
func (t *target) align(seen *cells, m affine, steps int, over []float32) (best affine, at float32) {
	best, at = m, -1
	for step := 0; ; step++ {
		t.lay(seen, &m, over)
		var s moments
		for i, b := range over[:len(t.v)] {
			if b != outside {
				s.add(t.v[i], b)
			}
		}
		if s.n < overlap*float32(len(t.v)) {
			return best, at
		}
		r := s.correlation()
		if r > at {
			best, at = m, r
		}
		sa, sb := s.spread()
		if step == steps || sa == 0 || sb == 0 || r < at-.02 {
			return best, at
		}
		d, ok := t.step(over, s.a/s.n, s.b/s.n, sa/sb)
		if !ok {
			return best, at
		}
		d[0]++
		d[4]++
		back, ok := d.back()
		if m = m.after(&back); !ok || !m.near() {
			return best, at
		}
	}
}

// step solves for the move that takes t closest to over, whose mean is mb and
// whose contrast is evened by gain.
func (t *target) step(over []float32, ma, mb, gain float32) (affine, bool) {
	var g affine
	for i := range t.slope {
		j, b := &t.slope[i], over[i]
		if b == outside {
			continue
		}
		e := (b-mb)*gain - (t.v[i] - ma)
		g[0] += j[0] * e
		g[1] += j[1] * e
		g[2] += j[2] * e
		g[3] += j[3] * e
		g[4] += j[4] * e
		g[5] += j[5] * e
	}
	return t.bend.solve(g)
}

// bend is the sum of the products of slopes: Gauss and Newton's Hessian.
type bend [6][6]float32

// solve is Gauss's elimination. What is added to the diagonal keeps a picture
// of stripes, which says nothing of a move along them, from making long ones.
func (h *bend) solve(g affine) (affine, bool) {
	a := *h
	for i := range a {
		a[i][i] *= 1.01
	}
	for i := range a {
		if a[i][i] < 1e-6 {
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
	return g, true
}
