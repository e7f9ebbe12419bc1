package scene

import (
	"cmp"
	"slices"
)

// When two pictures show one scene: the correlation of their fine cells, laid
// over each other, plus that of the place in which they agree least but for a
// fifth of all places. Chosen on pictures drawn from three seeds that no bench
// uses: there 98.3 % of what is under one scene's name is of it, and 98.3 % of
// what is of it is found.
const sameAt = 1.68

// Before that comes what costs less, on the same pictures: the least that coarse
// cells of one scene correlate as they lie, and when they have been aligned,
// and middle ones. Where middle ones are as alike as aligned, no other start
// does better.
const (
	glance    = .2
	coarseAt  = .65
	middleAt  = .7
	alignedAt = .85
)

// looks is how many views are laid over the picture, of those that lie best by
// coarse cells.
const looks = 3

// looker compares one picture with views.
type looker struct {
	coarse, middle, fine *target
}

func newLooker(v *view) *looker {
	g := v.grid()
	return &looker{newTarget(v.coarse()), newTarget(middle(g)), newTarget(fine(g))}
}

// middle and fine are what shades are made of to be laid over others.
func middle(shades grid) grid { return shades.halved().even(3, 4) }
func fine(shades grid) grid   { return shades.even(5, 1) }

// find gives the place in views of the photo that shows the scene, the latest
// of those that are as like, and their likeness; or -1 and the likeness to the
// one that is most like. The likeness is 0 to 1.
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

// score lays a view over the picture, from where its coarse cells lie best.
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

// correlate compares cells as they lie.
func (t *target) correlate(seen grid) float64 {
	s := t.whole
	for i, b := range seen.v {
		s.b += int(b)
		s.bb += int(b) * int(b)
		s.ab += int(b) * int(t.cell[i].v)
	}
	return s.correlation()
}

// places is how well the picture and what is laid over it agree in the places
// where they agree least, but for a fifth of all: pages of one layout are
// alike but for some words, rooms but for some things. Places of 8×8 cells, of
// which half is covered and one of both has something to see, are looked at.
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
		// What is laid over counts in quarters.
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
