package scene

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 3))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256)) | byte(r.IntN(2))*255
	}
	return b
}

// TestShrink compares each cell with the mean of its pixels.
func TestShrink(t *testing.T) {
	for _, size := range [][2]int{{320, 240}, {240, 320}, {64, 48}, {33, 32}, {321, 47}, {40, 20_000}} {
		w, h := size[0], size[1]
		gray := random(w*h, 1)
		if h == 20_000 { // more rows per cell than fit into 16 bits
			for i := range gray {
				gray[i] = 255
			}
		}
		c := shrink(gray, w, h)
		for i, got := range c {
			x0, x1 := span(i%fineWide, w, fineWide)
			y0, y1 := span(i/fineWide, h, fineHigh)
			sum := 0
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					sum += int(gray[y*w+x])
				}
			}
			if want := float32(sum) / float32((x1-x0)*(y1-y0)); got != want {
				t.Fatalf("%d×%d: cell %d is %f, want %f", w, h, i, got, want)
			}
		}
	}
}

// TestSharpnessIsTheVariance compares the result with the definition.
func TestSharpnessIsTheVariance(t *testing.T) {
	for _, size := range [][2]int{{320, 240}, {33, 32}, {41, 35}, {640, 480}} {
		w, h := size[0], size[1]
		gray := random(w*h, 2)
		var sum, squares, n float64
		for y := 1; y < h-1; y += 3 {
			for x := 1; x < w-1; x++ {
				at := func(i int) float64 { return float64(gray[y*w+x+i]) }
				l := at(-w) + at(w) + at(-1) + at(1) - 4*at(0)
				sum, squares, n = sum+l, squares+l*l, n+1
			}
		}
		want := squares/n - sum/n*sum/n
		if got := sharpness(gray, w, h); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d×%d: %f, want %f", w, h, got, want)
		}
	}
}

// TestPackedShadesRoundTrip: a view's cells can be read back, and its coarse cells are their sums.
func TestPackedShadesRoundTrip(t *testing.T) {
	var c cells
	for i, p := range random(len(c), 3) {
		c[i] = float32(p)
	}
	c[0], c[1] = 0, 255
	v := newView("glasses/1/1", 7, &c)
	g, coarse := v.grid(), v.coarse()
	var sums [coarseWide * coarseHigh]int32
	for i, s := range g.v {
		if want := int32(c[i]*63/255 + .5); s < want-1 || s > want+1 || s > 63 {
			t.Fatalf("cell %d: shade %d, want %d", i, s, want)
		}
		sums[i/fineWide/4*coarseWide+i%fineWide/4] += s
	}
	for i, s := range coarse.v {
		if s != sums[i] {
			t.Fatalf("coarse cell %d: %d, want %d", i, s, sums[i])
		}
	}
}

// TestOverlaidGrids compares the sums over the common part of two grids, overlaid in many ways, with the
// definition in fractions.
func TestOverlaidGrids(t *testing.T) {
	shades := func(seed uint64) grid {
		g := newGrid(fineWide, fineHigh)
		for i, p := range random(len(g.v), seed) {
			g.v[i] = int32(p / 4)
		}
		return middle(g)
	}
	a, b := shades(4), shades(5)
	target, seen := newTarget(a), newSurface(b)
	r := rand.New(rand.NewPCG(6, 1))
	for round := range 50 {
		m := affine{1, 0, 0, 0, 1, 0}
		if round > 0 {
			for i := range m {
				m[i] += (r.Float64() - .5) * .38
			}
		}
		var want moments
		var all, bb, ab float64
		var rise [6]float64
		w, h := float64(a.wide), float64(a.high)
		for i := range a.v {
			x, y := float64(i%a.wide)+.5-w/2, float64(i/a.wide)+.5-h/2
			px, py := m[0]*x+m[1]*y+m[2]*w+w/2-.5, m[3]*x+m[4]*y+m[5]*w+h/2-.5
			if px < 0 || py < 0 || px > w-1 || py > h-1 {
				continue
			}
			ix, iy := min(int(px), a.wide-2), min(int(py), a.high-2)
			fx, fy := px-float64(ix), py-float64(iy)
			at := func(dx, dy int) float64 { return float64(b.v[(iy+dy)*b.wide+ix+dx]) }
			v := 4 * ((at(0, 0)*(1-fx)+at(1, 0)*fx)*(1-fy) + (at(0, 1)*(1-fx)+at(1, 1)*fx)*fy)
			want.n++
			want.a += int(a.v[i])
			want.aa += int(a.v[i]) * int(a.v[i])
			all, bb, ab = all+v, bb+v*v, ab+v*float64(a.v[i])
			if cx, cy := i%a.wide, i/a.wide; cx > 0 && cy > 0 && cx < a.wide-1 && cy < a.high-1 {
				rx, ry := float64(a.v[i+1]-a.v[i-1]), float64(a.v[i+a.wide]-a.v[i-a.wide])
				for k, s := range [6]float64{rx * 2 * x, rx * 2 * y, rx, ry * 2 * x, ry * 2 * y, ry} {
					rise[k] += s * v
				}
			}
		}
		got := target.lay(seen, &m)
		// A place at the very edge may fall on either side.
		if d := got.n - want.n; d < -8 || d > 8 || round == 0 && d != 0 {
			t.Fatalf("%v: %d cells, want %d", m, got.n, want.n)
		}
		if got.n != want.n {
			continue
		}
		if got.a != want.a || got.aa != want.aa {
			t.Errorf("%v: %d and %d, want %d and %d", m, got.a, got.aa, want.a, want.aa)
		}
		like := func(what string, got int, want, of float64) {
			if math.Abs(float64(got)-want) > .002*of {
				t.Errorf("%v: %s %d, want %f", m, what, got, want)
			}
		}
		like("what is laid over", got.b, all, all)
		like("its squares", got.bb, bb, bb)
		like("the products", got.ab, ab, ab)
		for k := range rise {
			like("rises", got.riseB[k], rise[k], all*1000)
		}
	}
}

// TestAlign: a moved grid is found.
func TestAlign(t *testing.T) {
	v := newView("", 0, shrink(load(t)["coffee"].Pix, load(t)["coffee"].Rect.Dx(), load(t)["coffee"].Rect.Dy()))
	shades := v.grid()
	moved := newGrid(fineWide, fineHigh)
	const dx, dy = 5, -3
	for i := range moved.v {
		x, y := i%fineWide+dx, i/fineWide+dy
		moved.v[i] = shades.v[max(0, min(fineHigh-1, y))*fineWide+max(0, min(fineWide-1, x))]
	}
	at, r := newTarget(fine(moved)).align(newSurface(fine(shades)), affine{0: 1, 2: 4. / fineWide, 4: 1, 5: -2. / fineWide}, 8)
	want := affine{0: 1, 2: dx / float64(fineWide), 4: 1, 5: dy / float64(fineWide)}
	if r < .97 || at.apart(&want) > .3/fineWide {
		t.Errorf("%v, correlation %.3f, want %v", at, r, want)
	}
}
