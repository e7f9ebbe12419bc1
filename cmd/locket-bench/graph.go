package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/graph"
)

// The graph suite builds the graph of package memory/graph from relations, and queries it. Entities
// are drawn by a power law, like acquaintances, and most relations stay within a circle of fifty.
// Retrieval by triplets is measured on an atlas with a tenth of the relations, because nobody draws
// more at once.

func runGraph(ctx context.Context, f *frame) error {
	g := graphBench{suite: "graph"}
	f.IntVar(&g.edges, "edges", 1_000_000, "relations")
	f.IntVar(&g.queries, "queries", 500, "of each kind")
	if !f.parsed() || f.NArg() > 0 || g.edges < 100 || g.queries < 1 {
		return f.usage("--edges takes 100 or more, --queries 1 or more")
	}
	return f.print(g.run(ctx))
}

type graphBench struct {
	suite          string
	edges, queries int
	rand           *rand.Rand
	entities       int
}

// name returns an entity's name. Lower numbers are better known.
func (g *graphBench) name(n int) string { return fmt.Sprintf("Person %c%d", 'A'+n%26, n) }

// somebody draws an entity by a power law: a tenth of all entities is drawn in half of the cases.
func (g *graphBench) somebody() int {
	return min(int(math.Pow(g.rand.Float64(), 3.3)*float64(g.entities)), g.entities-1)
}

// relation returns the next relation: four in five are within the circle of the first entity.
func (g *graphBench) relation() graph.Relation {
	a := g.somebody()
	b := g.somebody()
	if g.rand.IntN(5) > 0 {
		b = a/50*50 + g.rand.IntN(50)
	}
	if b == a || b >= g.entities {
		b = (a + 1) % g.entities
	}
	predicates := [...]string{"friend of", "works with", "knows", "sister of", "likes", "neighbour of"}
	return graph.Relation{Subject: g.name(a), Predicate: predicates[g.rand.IntN(len(predicates))], Object: g.name(b)}
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// begin is the time before the first relation.
func (g *graphBench) begin() { g.rand, g.entities = rand.New(rand.NewPCG(1, 7)), max(50, g.edges/5) }

// build makes the graph, and returns how many edges per second it added.
func (g *graphBench) build(ctx context.Context) (*graph.Graph, float64, error) {
	g.begin()
	var made graph.Graph
	began := time.Now()
	for i := range g.edges {
		if i%100_000 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		made.Add(graph.Doc(i), graph.Says{Relations: []graph.Relation{g.relation()}})
	}
	return &made, float64(g.edges) / time.Since(began).Seconds(), nil
}

// edgesPerSecond is the one case in the suite cloud.
func (g *graphBench) edgesPerSecond(ctx context.Context) (result, error) {
	_, rate, err := g.build(ctx)
	return result{Suite: g.suite, Case: "graph_edges_per_s", N: g.edges, Value: round(rate), Unit: "1/s", Note: "relations taken into the graph, by one thread"}, err
}

func (g *graphBench) run(ctx context.Context) (out []result, err error) {
	add := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "graph", Case: name, N: n, Value: round(value), Unit: unit, Note: note})
	}
	before := heap()
	made, rate, err := g.build(ctx)
	if err != nil {
		return nil, err
	}
	add("graph_edges_per_s", g.edges, rate, "1/s", "by one thread")
	add("graph_bytes_per_edge", g.edges, (heap()-before)*(1<<20)/float64(g.edges), "B", fmt.Sprintf("%d entities", made.Len()))
	spread := func(walk graph.Walk) (took []float64, came string) {
		met := 0
		for range g.queries {
			name := g.name(g.somebody())
			began := time.Now()
			var seeds []graph.Weight
			for _, n := range made.Resolve(name) {
				seeds = append(seeds, graph.Weight{Node: n, Value: 1})
			}
			met += len(made.Spread(seeds, walk))
			took = append(took, float64(time.Since(began).Microseconds())/1000)
		}
		return took, fmt.Sprintf("%.1f entities met", float64(met)/float64(g.queries))
	}
	took, came := spread(graph.Walk{})
	add("pagerank_p50", g.queries, percentile(took, 50), "ms", "personalised, as recall walks: 3 steps, 2,000 edges looked at; "+came)
	add("pagerank_p95", g.queries, percentile(took, 95), "ms", "")
	took, came = spread(graph.Walk{Work: 200_000, Least: 1e-5})
	add("pagerank_wide_p95", g.queries, percentile(took, 95), "ms", "as a view is drawn: 200,000 edges looked at; "+came)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	began := time.Now()
	groups := made.Communities()
	add("communities", len(groups), time.Since(began).Seconds(), "s", fmt.Sprintf("Louvain over %d relations", g.edges))
	made = nil
	more, err := g.drawn(ctx)
	return append(out, more...), err
}

// drawn measures an atlas: entity-centred retrieval, and by triplets.
func (g *graphBench) drawn(ctx context.Context) (out []result, err error) {
	n := max(50, g.edges/10)
	ms := make([]memory.Memory, n)
	for i := range ms {
		r := g.relation()
		m := &ms[i]
		m.ID, m.State, m.Type = memory.DeriveID([]byte("bench"), memory.EventID{Device: "bench", Seq: uint64(i) + 1}, "bench", ""), memory.Active, memory.Semantic
		m.Text = r.Subject + " " + r.Predicate + " " + r.Object
		m.Fields.Semantic = &memory.SemanticFields{Subject: r.Subject, Predicate: r.Predicate, Object: r.Object}
	}
	began := time.Now()
	a, err := atlas.Draw(ctx, ms, atlas.Options{})
	if err != nil {
		return nil, err
	}
	out = append(out, result{Suite: "graph", Case: "atlas_drawn", N: n, Value: round(time.Since(began).Seconds()), Unit: "s", Note: "from memories"})
	a.Communities() // once, and not a view's
	ask := func(name string, q func() atlas.Query) {
		var took []float64
		n := min(g.queries, 100)
		for range n {
			query := q()
			began := time.Now()
			a.View(query)
			took = append(took, float64(time.Since(began).Microseconds())/1000)
		}
		out = append(out, result{Suite: "graph", Case: name, N: n, Value: round(percentile(took, 95)), Unit: "ms"})
	}
	ask("entity_p95", func() atlas.Query { return atlas.Query{Entity: g.name(g.somebody()), Limit: 50} })
	ask("triplet_p95", func() atlas.Query {
		return atlas.Query{Text: "who is a neighbour of " + g.name(g.somebody()), Limit: 50}
	})
	return out, ctx.Err()
}
