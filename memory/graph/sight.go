package graph

import (
	"cmp"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory/names"

	"github.com/locket-dev/locket/internal/sorting"
)

// Sight is the part of a graph that an asker may know of. For them, the rest does not exist.
type Sight struct {
	Graph *Graph
	Doc   func(Doc) bool           // whether they may know of a document; nil: of all
	Name  func(folded string) bool // whether such a document has the name; nil: each has
}

func (s Sight) doc(d Doc) bool { return s.Doc == nil || s.Doc(d) }

// names keeps the nodes whose names are in sight. It modifies the list.
func (s Sight) names(list []Node) []Node {
	if s.Name == nil {
		return list
	}
	return slices.DeleteFunc(list, func(n Node) bool {
		return !s.Name(s.Graph.nodes[n].name) && !slices.ContainsFunc(s.Graph.nodes[n].related, func(l link) bool { return s.doc(l.doc) })
	})
}

// Resolve returns the nodes that a name may stand for, in the order of their names. These are the
// nodes of the name itself, in either script and in either order of its words, or, if there are
// none, those of which it is the first or the last word. Nodes that a relation says are the same
// are included. Nodes that a relation says are not the same as the name itself are excluded.
func (s Sight) Resolve(name string) []Node {
	g := s.Graph
	f := names.Fold(name)
	var out []Node
	add := func(n Node) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, k := range names.Keys(f) {
		out = append(out, g.byKey[k]...)
	}
	slices.SortFunc(out, g.order)
	out = s.names(slices.Compact(out))
	out = out[:min(len(out), maxAlike)]
	if len(out) == 0 {
		if l := s.names(slices.Clone(g.byPart[f])); len(l) <= maxMeant {
			out = slices.SortedFunc(slices.Values(l), g.order)
		}
	}
	for i := 0; i < len(out) && len(out) <= maxMeant; i++ {
		var also []Node
		for _, l := range g.nodes[out[i]].related {
			if l.alias && s.doc(l.doc) {
				also = append(also, l.to)
			}
		}
		slices.SortFunc(also, g.order) // in the same order, whatever was said first
		for _, n := range slices.Compact(also) {
			if len(out) < maxAlike {
				add(n)
			}
		}
	}
	if n, ok := g.Node(f); ok {
		for _, l := range g.nodes[n].related {
			if l.apart && s.doc(l.doc) {
				out = slices.DeleteFunc(out, func(o Node) bool { return o == l.to })
			}
		}
	}
	slices.SortFunc(out, g.order)
	return out
}

// Follow returns the other ends of a node's relations that hold at a time and whose predicate is
// wanted, each once, by name and predicate. It returns none if there are more than 32.
func (s Sight) Follow(n Node, at time.Time, wanted func(predicate string) bool) []End {
	g := s.Graph
	var out []End
	for _, l := range g.nodes[n].related {
		r := &g.related[l.doc][l.nth]
		if e := (End{l.to, r.Predicate}); s.doc(l.doc) && wanted(r.Predicate) && r.Holds(at) && !slices.Contains(out, e) {
			if len(out) == maxEnds {
				return nil
			}
			out = append(out, e)
		}
	}
	sorting.Sort(out, func(a, b End) int { return cmp.Or(g.order(a.Node, b.Node), cmp.Compare(a.Predicate, b.Predicate)) })
	return out
}
