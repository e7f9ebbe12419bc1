package recall

import "slices"

// tighten copies all posting lists into memory without spare capacity, and releases the spare
// capacity of the other tables. A list that grows later is copied again. The caller must have
// exclusive access to the index.
func (c *core) tighten() {
	size := 0
	for i := range c.lists {
		size += len(c.lists[i].b)
	}
	to := pieces[byte]{left: size}
	for i := range c.lists {
		c.lists[i].b = to.lay(c.lists[i].b)
	}
	c.lists, c.docs, c.forward = tight(c.lists), tight(c.docs), tight(c.forward)
	for _, d := range []*dict{c.dict, c.names} {
		d.arena, d.ends = tight(d.arena), tight(d.ends)
	}
	c.sources = tight(c.sources)
	c.byID.resize(c.docs, len(c.docs)+len(c.docs)/16)
	c.grams.tighten()
	c.tight = len(c.docs)
}

// needsTightening reports whether enough documents came since the last time to make tightening worthwhile. It
// blocks searches for some milliseconds.
func (c *core) needsTightening() bool { return len(c.docs) > c.tight+c.tight/4+8192 }

// tighten is core.tighten for the lists of grams.
func (g *gramTable) tighten() {
	size := 0
	for _, l := range g.lists {
		size += len(l)
	}
	to := pieces[uint32]{left: size}
	for gram, l := range g.lists {
		g.lists[gram] = to.lay(l)
	}
}

// pieceSize is how many elements a piece has. With one piece for all lists, the old
// one and the new one would be in memory together. Old pieces can be collected as soon as all their
// lists have moved.
const pieceSize = 64 << 10

// pieces is memory for lists, one after the other.
type pieces[T any] struct {
	left int // elements that are still to be copied
	last []T
}

// lay copies a list. The copy has no spare capacity.
func (p *pieces[T]) lay(l []T) []T {
	if len(l) > cap(p.last)-len(p.last) {
		if len(l) > pieceSize/4 {
			p.left -= len(l)
			return slices.Clip(append(make([]T, 0, len(l)), l...))
		}
		p.last = make([]T, 0, min(p.left, pieceSize))
	}
	from := len(p.last)
	p.last = append(p.last, l...)
	p.left -= len(l)
	return p.last[from:len(p.last):len(p.last)]
}

// tight returns a slice whose spare capacity is at most a sixteenth.
func tight[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return slices.Clip(append(make([]T, 0, len(s)), s...))
}
