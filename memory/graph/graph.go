// Package graph knows the people and things that documents name, and how they
// are connected. With it, a question about "my sister's husband" finds what was
// said about Tom.
//
// The words:
//
//   - A node is an entity: a person, place or thing, by its folded name. It
//     exists while a document names it.
//   - A relation is a typed edge, as a semantic memory states it: subject,
//     predicate, object, and the time in which it holds. It can be followed from
//     both ends.
//   - Two nodes that one document names are beside each other; those that are
//     named in one window, a session, are near.
//   - A [Graph.Spread] is personalised PageRank: the probability of where a
//     walker is who starts at the seeds, follows edges in proportion to their
//     strength, and now and then starts again.
//
// Everything is counted in whole numbers, so that the graph of a set of documents is the same in
// any order, whatever was added and removed meanwhile. Nothing is stored: the owner of the
// documents adds them again. A Graph is not safe for concurrent use while it is changed.
package graph

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory/names"
)

// Doc is a document's number, which the caller chooses.
type Doc uint32

// Node is an entity's number. It is valid until the graph is next changed.
type Node uint32

// Says is what one document adds to the graph.
type Says struct {
	Window    string   // the session that it belongs to; empty: none
	Speaker   string   // who says it; beside what the document names, and near nothing
	Names     []string // names of people, places and things; at most MaxNames count
	Relations []Relation
}

// Relation is a typed edge. A zero time means without bound.
type Relation struct {
	Subject   string
	Predicate string
	Object    string
	From, To  time.Time
}

// Holds reports whether a relation is true at a time; the zero time is any.
func (r Relation) Holds(at time.Time) bool {
	return at.IsZero() || (r.From.IsZero() || !at.Before(r.From)) && (r.To.IsZero() || at.Before(r.To))
}

// MaxNames is how many names of a document count: a page that names more says little about any two
// of them.
const MaxNames = 12

// Graph is the entities of a set of documents. The zero value is empty and
// ready.
type Graph struct {
	byName  map[string]Node
	byKey   map[string][]Node // ascending; also windows, under windowMark
	byPart  map[string][]Node // first and last words of longer names
	nodes   []node
	free    []Node
	docs    map[Doc]said
	related map[Doc][]Relation // folded
}

type node struct {
	name    string
	named   uint32 // number of documents that name it; 0: free
	window  bool
	edges   []edge // by node, ascending
	sum     uint64 // sum of the edges' counts
	related []link
}

// edge counts how often two nodes are beside each other.
type edge struct {
	to Node
	n  uint32
}

// link is one end of a relation.
type link struct {
	to    Node
	doc   Doc
	nth   uint16 // index among the document's relations
	alias bool   // it says that the two are the same
	apart bool   // it says that they are not the same
}

// said is what is kept of a document, so that it can be removed again.
type said struct {
	nodes   []Node // distinct nodes that it names; ascending
	speaker bool   // the last of them is the speaker, who is near nothing
	window  Node
	windows bool
}

const windowMark = "\x00"

// Len returns the number of entities.
func (g *Graph) Len() int {
	n := 0
	for i := range g.nodes {
		if g.nodes[i].named > 0 && !g.nodes[i].window {
			n++
		}
	}
	return n
}

// Add adds what a document says, and replaces what it said before.
func (g *Graph) Add(d Doc, s Says) {
	g.Remove(d)
	if g.byName == nil {
		g.byName, g.byKey, g.byPart = map[string]Node{}, map[string][]Node{}, map[string][]Node{}
		g.docs, g.related = map[Doc]said{}, map[Doc][]Relation{}
	}
	var all []string
	take := func(name string) {
		if f := names.Fold(name); f != "" && len(all) < MaxNames && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	var relations []Relation
	for _, r := range s.Relations {
		r.Subject, r.Predicate, r.Object = names.Fold(r.Subject), strings.ToLower(strings.TrimSpace(r.Predicate)), names.Fold(r.Object)
		if r.Subject == "" || r.Predicate == "" || r.Object == "" || r.Subject == r.Object || len(relations) == MaxNames {
			continue
		}
		take(r.Subject)
		take(r.Object)
		if slices.Contains(all, r.Subject) && slices.Contains(all, r.Object) {
			relations = append(relations, r)
		}
	}
	for _, n := range s.Names {
		take(n)
	}
	if len(all) == 0 {
		return
	}
	var k said
	for _, n := range all {
		k.nodes = append(k.nodes, g.name(n, false))
	}
	slices.Sort(k.nodes)
	if who := names.Fold(s.Speaker); who != "" && !slices.Contains(all, who) {
		k.nodes, k.speaker = append(k.nodes, g.name(who, false)), true
	}
	if s.Window != "" {
		k.window, k.windows = g.name(windowMark+s.Window, true), true
	}
	g.count(&k, 1)
	g.docs[d] = k
	if len(relations) > 0 {
		g.related[d] = relations
		for i, r := range relations {
			a, b := g.byName[r.Subject], g.byName[r.Object]
			alias, apart := slices.Contains(aliases, r.Predicate), r.Predicate == Apart
			g.nodes[a].related = append(g.nodes[a].related, link{b, d, uint16(i), alias, apart})
			g.nodes[b].related = append(g.nodes[b].related, link{a, d, uint16(i), alias, apart})
		}
	}
}

// Remove removes a document; it ignores an unknown one.
func (g *Graph) Remove(d Doc) {
	k, ok := g.docs[d]
	if !ok {
		return
	}
	for range g.related[d] { // the links of one document are at both ends
		for _, n := range k.nodes {
			g.nodes[n].related = slices.DeleteFunc(g.nodes[n].related, func(l link) bool { return l.doc == d })
		}
	}
	delete(g.related, d)
	delete(g.docs, d)
	g.count(&k, -1)
	for _, n := range k.nodes {
		g.drop(n)
	}
	if k.windows {
		g.drop(k.window)
	}
}

// count adds or removes the edges of a document.
func (g *Graph) count(k *said, by int) {
	for i, a := range k.nodes {
		for _, b := range k.nodes[i+1:] {
			g.edge(a, b, by)
		}
		if k.windows && !(k.speaker && i == len(k.nodes)-1) {
			g.edge(a, k.window, by)
		}
	}
}

func (g *Graph) edge(a, b Node, by int) {
	g.half(a, b, by)
	g.half(b, a, by)
}

func (g *Graph) half(from, to Node, by int) {
	n := &g.nodes[from]
	i, ok := slices.BinarySearchFunc(n.edges, to, func(e edge, t Node) int { return int(e.to) - int(t) })
	if !ok {
		n.edges = slices.Insert(n.edges, i, edge{to: to})
	}
	e := &n.edges[i]
	e.n = uint32(int(e.n) + by)
	n.sum = uint64(int64(n.sum) + int64(by))
	if e.n == 0 {
		n.edges = slices.Delete(n.edges, i, i+1)
	}
}

// name returns the node of a folded name, new or known, and counts one more document that names it.
func (g *Graph) name(name string, window bool) Node {
	if n, ok := g.byName[name]; ok {
		g.nodes[n].named++
		return n
	}
	var n Node
	if last := len(g.free) - 1; last >= 0 {
		n, g.free = g.free[last], g.free[:last]
	} else {
		n = Node(len(g.nodes))
		g.nodes = append(g.nodes, node{})
	}
	name = strings.Clone(name)
	g.nodes[n] = node{name: name, named: 1, window: window}
	g.byName[name] = n
	if window {
		return n
	}
	for _, k := range names.Keys(name) {
		g.byKey[k] = with(g.byKey[k], n)
	}
	for _, p := range parts(name) {
		g.byPart[p] = with(g.byPart[p], n)
	}
	return n
}

// drop counts one document less that names a node, and frees the node if none is left.
func (g *Graph) drop(n Node) {
	x := &g.nodes[n]
	if x.named--; x.named > 0 {
		return
	}
	delete(g.byName, x.name)
	if !x.window {
		for _, k := range names.Keys(x.name) {
			without(g.byKey, k, n)
		}
		for _, p := range parts(x.name) {
			without(g.byPart, p, n)
		}
	}
	*x = node{}
	g.free = append(g.free, n)
}

// parts returns the first and last word of a longer name.
func parts(name string) []string {
	w := strings.Fields(name)
	if len(w) < 2 {
		return nil
	}
	if w[0] == w[len(w)-1] {
		return w[:1]
	}
	return []string{w[0], w[len(w)-1]}
}

func with(list []Node, n Node) []Node {
	if i, ok := slices.BinarySearch(list, n); !ok {
		return slices.Insert(list, i, n)
	}
	return list
}

func without(m map[string][]Node, k string, n Node) {
	l := m[k]
	if i, ok := slices.BinarySearch(l, n); ok {
		l = slices.Delete(l, i, i+1)
	}
	if len(l) == 0 {
		delete(m, k)
	} else {
		m[k] = l
	}
}
