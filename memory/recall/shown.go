package recall

import (
	"github.com/locket-dev/locket/memory/graph"
)

// shown is the part of the index by which a question is read if the asker may not know of every
// document. A word, a name or a relation that only hidden documents have has no effect: it is not a
// name and not a correct spelling of another word, it leads nowhere, and for confidence it is a
// word that nobody used. How much a word counts still depends on all documents that have it, if one
// of them is shown.
type shown struct {
	is    func(About) bool
	docs  map[uint32]bool
	terms map[uint32]bool
}

// within returns the index for reading a question of an asker to whom only the documents for which
// is returns true are shown.
func (c *core) within(is func(About) bool) *core {
	v := *c
	v.shown = &shown{is, map[uint32]bool{}, map[uint32]bool{}}
	return &v
}

// shows reports whether the asker may know of a living document.
func (c *core) shows(d uint32) bool {
	if c.shown == nil {
		return true
	}
	is, asked := c.shown.docs[d]
	if !asked {
		is = c.shown.is(c.about(d))
		c.shown.docs[d] = is
	}
	return is
}

// has reports whether some document that is shown has a term; none is not a term.
func (c *core) has(t uint32) (is bool) {
	if t == none || c.lists[t].n == 0 {
		return false
	}
	if c.shown == nil {
		return true
	}
	is, asked := c.shown.terms[t]
	if asked {
		return is
	}
	d := uint32(0) // plus 1
	for b := c.lists[t].b; len(b) > 0 && !is; {
		v, k := uvarint32(b)
		if b = b[k:]; v&1 != 0 {
			_, k = uvarint32(b)
			b = b[k:]
		}
		d += v >> 1
		is = !c.docs[d-1].dead() && c.shows(d-1)
	}
	c.shown.terms[t] = is
	return is
}

// knows reports whether a folded name is that of a speaker or a session; if not all documents are
// shown, only of a speaker.
func (c *core) knows(name string) bool {
	n := c.names.find(name)
	return n != none && (c.shown == nil || c.has(c.dict.find(speakerMark+name)))
}

// speaks returns the number of a folded name of a speaker, or none.
func (c *core) speaks(name string) uint32 {
	if n := c.names.find(name); n != none && c.spoken[n] > 0 && c.knows(name) {
		return n
	}
	return none
}

// sight returns which part of the graph may be used for a question.
func (c *core) sight() graph.Sight {
	if c.shown == nil {
		return graph.Sight{Graph: &c.graph}
	}
	return graph.Sight{
		Graph: &c.graph,
		Doc:   func(d graph.Doc) bool { return c.shows(uint32(d)) },
		Name: func(name string) bool {
			return c.has(c.dict.find(entityMark+name)) || c.has(c.dict.find(mentionMark+name)) || c.has(c.dict.find(speakerMark+name))
		},
	}
}
