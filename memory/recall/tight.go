package recall

import "slices"

// tighten lays all posting lists into one piece of memory without room to grow,
// and lets go of the room that the other tables have. What grows afterwards is
// copied out, list by list. The caller has the index to itself.
func (c *core) tighten() {
	size := 0
	for i := range c.lists {
		size += len(c.lists[i].b)
	}
	arena := make([]byte, 0, size)
	for i := range c.lists {
		from := len(arena)
		arena = append(arena, c.lists[i].b...)
		c.lists[i].b = arena[from:len(arena):len(arena)]
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

// loose reports whether so much came since the last time that tightening is
// worth its while: it keeps searches waiting for some milliseconds.
func (c *core) loose() bool { return len(c.docs) > c.tight+c.tight/4+8192 }

// tighten is core.tighten for the lists of grams.
func (g *gramTable) tighten() {
	size := 0
	for _, l := range g.lists {
		size += len(l)
	}
	arena := make([]uint32, 0, size)
	for gram, l := range g.lists {
		from := len(arena)
		arena = append(arena, l...)
		g.lists[gram] = arena[from:len(arena):len(arena)]
	}
}

// tight is a slice without more than a sixteenth of room to grow.
func tight[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return slices.Clip(append(make([]T, 0, len(s)), s...))
}
