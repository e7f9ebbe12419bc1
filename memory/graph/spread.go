package graph

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
)

// Weight is a node and how much it counts.
type Weight struct {
	Node  Node
	Value float64
}

// Walk has the parameters of a spread. The zero value is right for a question without words of its
// own.
type Walk struct {
	// Steps is the length of the walk; 0: 3. A friend of a friend of a friend is mostly a stranger.
	Steps int
	// Restart is the share that starts again at each step; 0: .3.
	Restart float64
	// At leaves out relations that did not hold then; zero: none are left out.
	At time.Time
	// Favour returns the factor for the strength of a relation, by predicate; nil: 1. A relation
	// that a question names leads further than others.
	Favour func(predicate string) float64
	// Least is the share below which the walk is not followed further and does not count; 0: .001.
	Least float64
	// Work is how many edges may be read; 0: 2,000.
	Work int
}

// Weights of edges: a relation was stated; being beside each other may be chance; being near mostly
// is.
const (
	strengthRelation = 8
	strengthBeside   = 2
	strengthNear     = .5
)

// widest is from how many nodes, those with the greatest weights, each step continues.
const widest = 64

// Spread returns the nodes that a walk from the seeds reaches, without the seeds, the best first,
// and equal ones by name. Values are at most 1 and sum to less than 1. Nodes with more edges than
// the work that is left are skipped, because the wearer is beside everything.
func (g *Graph) Spread(seeds []Weight, w Walk) []Weight {
	least := cmp.Or(w.Least, .001)
	steps, restart, work := cmp.Or(w.Steps, 3), cmp.Or(w.Restart, .3), cmp.Or(w.Work, 2_000)
	total := 0.0
	for _, s := range seeds {
		total += max(0, s.Value)
	}
	if total == 0 {
		return nil
	}
	at := map[Node]float64{}   // where the walk is
	rank := map[Node]float64{} // where it has been, discounted
	for _, s := range seeds {
		if s.Value > 0 {
			at[s.Node] += s.Value / total
		}
	}
	for range steps {
		from := make([]Weight, 0, len(at))
		for n, v := range at {
			if v >= least {
				from = append(from, Weight{n, v})
			}
		}
		g.sort(from)
		from = from[:min(len(from), widest)]
		next := map[Node]float64{}
		for _, f := range from {
			n := &g.nodes[f.Node]
			if len(n.edges)+len(n.related) > work {
				continue
			}
			work -= len(n.edges) + len(n.related)
			g.step(n, f.Value*(1-restart), &w, next)
		}
		for n, v := range next {
			rank[n] += v
		}
		at = next
	}
	out := make([]Weight, 0, len(rank))
	for n, v := range rank {
		if v >= least && !g.nodes[n].window && !slices.ContainsFunc(seeds, func(s Weight) bool { return s.Node == n }) {
			out = append(out, Weight{n, v * restart})
		}
	}
	g.sort(out)
	return out
}

// step distributes the weight at a node along its edges.
func (g *Graph) step(n *node, have float64, w *Walk, next map[Node]float64) {
	relation := make([]float64, len(n.related))
	sum := 0.0
	for i, l := range n.related {
		r := g.related[l.doc][l.nth]
		if l.apart || !r.Holds(w.At) {
			continue
		}
		relation[i] = strengthRelation
		if w.Favour != nil {
			relation[i] *= w.Favour(r.Predicate)
		}
		sum += relation[i]
	}
	strength := func(e edge) float64 {
		if n.window || g.nodes[e.to].window {
			return strengthNear * float64(e.n)
		}
		return strengthBeside * float64(e.n)
	}
	for _, e := range n.edges {
		sum += strength(e)
	}
	if sum <= 0 {
		return
	}
	have /= sum
	for i, l := range n.related {
		if relation[i] > 0 {
			next[l.to] += exact(have * relation[i])
		}
	}
	for _, e := range n.edges {
		next[e.to] += exact(have * strength(e))
	}
}

// exact rounds so that sums are the same in any order.
func exact(v float64) float64 { return math.Round(v*(1<<40)) / (1 << 40) }

// sort puts the greatest first.
func (g *Graph) sort(list []Weight) {
	sorting.Sort(list, func(a, b Weight) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(g.nodes[a.Node].name, g.nodes[b.Node].name))
	})
}

// End is where a relation leads.
type End struct {
	Node      Node
	Predicate string
}

// maxEnds is how many ends a node's relations may lead to: if there are more ("everything that I
// like"), they lead nowhere in particular.
const maxEnds = 32
