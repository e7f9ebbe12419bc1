package scene

import (
	"cmp"
	"slices"
)

// sameAt is when two pictures show one scene: the correlation of their aligned fine
// cells, plus that of the place with the lowest agreement after leaving out the worst
// fifth. Chosen on pictures drawn from three seeds that no benchmark uses: there 98.3 %
// of what is assigned to a scene belongs to it, and 98.3 % of what belongs to it is
// found.
const sameAt = 1.68

// Cheaper tests come first, chosen on the same pictures: the least
// correlation of one scene's coarse cells without and with alignment, and of
// middle ones. If the middle ones reach alignedAt, other starts are not
// better.
const (
	glance    = .2
	coarseAt  = .65
	middleAt  = .7
	alignedAt = .85
)

// looks is how many views are compared in detail: those whose coarse cells fit
// best.
const looks = 3

// looker compares one picture with views.
type looker struct {
	coarse, middle, fine *target
}

func newLooker(v *view) *looker {
	g := v.grid()
	return &looker{newTarget(v.coarse()), newTarget(middle(g)), newTarget(fine(g))}
}

// middle and fine prepare shades for being overlaid.
func middle(shades grid) grid { return shades.halved().even(3, 4) }
func fine(shades grid) grid   { return shades.even(5, 1) }

// find returns the index in views of the photo that shows the scene, the latest one if several
// are equally similar, and the likeness; or -1 and the greatest likeness. The likeness is 0 to
// 1.
func (l *looker) find(views []view) (int, float64) {
	type candidate struct {
		view   int
		coarse *surface
		at     affine
		r      float64
	}
	var list []candidate
	for i := len(views) - 1; i >= 0; i-- {
		g := views[i].coarse()
		if l.coarse.correlate(g) < glance {
			continue
		}
		seen := newSurface(g)
		at, r := l.coarse.align(seen, starts[0], 4)
		if r >= coarseAt {
			list = append(list, candidate{i, seen, at, r})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Compare(b.r, a.r)
	})
	best, most := -1, 0.
	for _, c := range list[:min(looks, len(list))] {
		if s := l.score(&views[c.view], c.coarse, c.at); s > most {
			best, most = c.view, s
			if s >= sameAt {
				break
			}
		}
	}
	like := max(0, min(2, most)) / 2
	if most < sameAt {
		return -1, like
	}
	return best, like
}

// score compares a view with the picture, starting where its coarse cells fit best.
func (l *looker) score(v *view, coarse *surface, at affine) float64 {
	g := v.grid()
	seen := newSurface(middle(g))
	best, most := at, -1.
	for i, from := range starts {
		if i > 0 {
			from, _ = l.coarse.align(coarse, from, 6)
		} else {
			from = at
		}
		if m, r := l.middle.align(seen, from, 6); r > most {
			best, most = m, r
		}
		if most >= alignedAt {
			break
		}
	}
	if most < middleAt {
		return max(0, most)
	}
	seen = newSurface(fine(g))
	best, whole := l.fine.align(seen, best, 4)
	if whole < 0 {
		return 0
	}
	return whole + l.fine.places(seen, &best)
}

// correlate compares cells without alignment.
func (t *target) correlate(seen grid) float64 {
	s := t.whole
	for i, b := range seen.v {
		s.b += int(b)
		s.bb += int(b) * int(b)
		s.ab += int(b) * int(t.cell[i].v)
	}
	return s.correlation()
}

// places is how well the picture and what is overlaid agree in the places with the lowest
// agreement, after leaving out the worst fifth: pages of one layout differ only in some words,
// rooms only in some things. A place has 8×8 cells; at least half of it must be covered, and one of
// the two pictures must have contrast there.
func (t *target) places(seen *surface, m *affine) float64 {
	const wide, high = 6, 6
	var at [wide * high]moments
	for y := range t.high {
		c := t.course(y, m)
		row := t.cell[y*t.wide:][:t.wide]
		for place := range wide {
			from, to := (place*t.wide+wide-1)/wide, ((place+1)*t.wide+wide-1)/wide
			s := &at[y*high/t.high*wide+place]
			for x := max(from, c.from); x < min(to, c.to); x++ {
				a, b := int(row[x].v), between(seen.pairs, seen.wide, c.x+x*c.dx, c.y+x*c.dy)
				s.n++
				s.a += a
				s.b += b
				s.aa += a * a
				s.bb += b * b
				s.ab += a * b
			}
		}
	}
	const visible = .39 * unit // standard deviation
	var r []float64
	for i := range at {
		s := &at[i]
		if s.n < t.wide*t.high/wide/high/2 {
			continue
		}
		// Overlaid values are in quarters.
		if a, b := s.spreads(); max(a, b/16) >= visible*visible*float64(s.n*s.n) {
			r = append(r, s.correlation())
		}
	}
	if len(r) == 0 {
		return 0
	}
	slices.Sort(r)
	return r[(len(r)-1)/5]
}
