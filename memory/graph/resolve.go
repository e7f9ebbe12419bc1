package graph

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
)

// aliases are the predicates that say that two names belong to one entity.
var aliases = []string{"alias", "also known as", "also_known_as", "known as", "nickname", "called", "name", "又名", "别名", "昵称", "外号", "小名"}

// Apart is the predicate that says that two names do not belong to one entity.
const Apart = "not the same as"

// IsAlias reports whether a predicate says that two names belong to one entity.
func IsAlias(predicate string) bool { return slices.Contains(aliases, strings.ToLower(predicate)) }

// maxMeant is how many nodes a name may stand for: a first name that more people share says too
// little about each.
const maxMeant = 8

// maxAlike is the greatest number of nodes that a name stands for, including all that are stated to
// be the same or have its key; if there are more, the first by name are used.
const maxAlike = 64

// Resolve is [Sight.Resolve] with the whole graph in sight.
func (g *Graph) Resolve(name string) []Node { return Sight{Graph: g}.Resolve(name) }

func (g *Graph) order(a, b Node) int { return cmp.Compare(g.nodes[a].name, g.nodes[b].name) }

// Name returns a node's folded name.
func (g *Graph) Name(n Node) string { return g.nodes[n].name }

// Neighbours returns the nodes that some document names together with this one, by name, and how
// many documents do.
func (g *Graph) Neighbours(n Node) iter.Seq2[Node, int] {
	return func(yield func(Node, int) bool) {
		var list []edge
		for _, e := range g.nodes[n].edges {
			if !g.nodes[e.to].window {
				list = append(list, e)
			}
		}
		sorting.Sort(list, func(a, b edge) int { return strings.Compare(g.nodes[a.to].name, g.nodes[b.to].name) })
		for _, e := range list {
			if !yield(e.to, int(e.n)) {
				return
			}
		}
	}
}
