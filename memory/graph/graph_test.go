package graph

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	y2024 = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	y2025 = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

// family is a small life for tests.
func family() *Graph {
	var g Graph
	g.Add(1, Says{Window: "s1", Speaker: "Ana", Names: []string{"Ana"}, Relations: []Relation{{Subject: "Mia", Predicate: "sister of", Object: "Ana"}}})
	g.Add(2, Says{Window: "s1", Relations: []Relation{{Subject: "Tom Weaver", Predicate: "husband of", Object: "Mia", From: y2024}}})
	g.Add(3, Says{Window: "s2", Relations: []Relation{{Subject: "Karl", Predicate: "husband of", Object: "Mia", To: y2024}}})
	g.Add(4, Says{Window: "s2", Speaker: "Ana", Names: []string{"Porto", "Ben"}})
	g.Add(5, Says{Window: "s3", Names: []string{"张伟", "上海"}})
	return &g
}

func texts(g *Graph, list []Node) []string {
	var out []string
	for _, n := range list {
		out = append(out, g.Name(n))
	}
	return out
}

func ends(g *Graph, list []End) string {
	var out []string
	for _, e := range list {
		out = append(out, g.Name(e.Node))
	}
	return strings.Join(out, " ")
}

// A name with many aliases means the same nodes in any order in which they were said, and a bounded
// number of them.
func TestResolveManyAliases(t *testing.T) {
	var said []Relation
	for i := range 6 {
		said = append(said, Relation{Subject: "Bo", Predicate: "nickname", Object: fmt.Sprintf("Bear %d", i)})
		for j := range 6 {
			said = append(said, Relation{Subject: fmt.Sprintf("Bear %d", i), Predicate: "nickname", Object: fmt.Sprintf("Cub %d of %d", j, i)})
		}
	}
	want := ""
	for round := range 20 {
		var g Graph
		for i, at := range rand.New(rand.NewPCG(uint64(round), 1)).Perm(len(said)) {
			g.Add(Doc(i), Says{Relations: []Relation{said[at]}})
		}
		got := strings.Join(texts(&g, g.Resolve("Bo")), ", ")
		if round == 0 {
			want = got
		}
		if got != want {
			t.Fatalf("order %d: %s, before %s", round, got, want)
		}
	}
	var g Graph
	for i := range 500 {
		g.Add(Doc(i), Says{Relations: []Relation{{Subject: "Bo", Predicate: "nickname", Object: fmt.Sprintf("Name %d", i)}}})
	}
	if got := g.Resolve("Bo"); len(got) != maxAlike {
		t.Errorf("%d nodes of one name", len(got))
	}
}

func TestResolve(t *testing.T) {
	g := family()
	g.Add(6, Says{Relations: []Relation{{Subject: "Ben", Predicate: "nickname", Object: "Bunny"}}})
	for in, want := range map[string]string{
		"ana": "ana", "ANA": "ana", "Tom": "tom weaver", "weaver": "tom weaver", "Weaver Tom": "tom weaver", "Zhang Wei": "张伟", "wei zhang": "张伟",
		"张伟": "张伟", "Bunny": "ben bunny", "Ben": "ben bunny", "Pórto": "porto", "nobody": "", "": "", "Tom Sawyer": "",
	} {
		if got := strings.Join(texts(g, g.Resolve(in)), " "); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	for i := range maxMeant + 1 {
		g.Add(Doc(100+i), Says{Names: []string{fmt.Sprintf("Chris %c", 'a'+i)}})
	}
	if got := g.Resolve("Chris"); len(got) != 0 {
		t.Errorf("a first name of %d people stands for %d of them", maxMeant+1, len(got))
	}
}

func TestSpreadFollowsRelations(t *testing.T) {
	g := family()
	favour := func(p string) float64 {
		if strings.Contains(p, "sister") || strings.Contains(p, "husband") {
			return 8
		}
		return 1
	}
	first := func(at time.Time) string {
		var out []string
		for _, w := range g.Spread([]Weight{{g.Resolve("Ana")[0], 1}}, Walk{At: at, Favour: favour}) {
			out = append(out, g.Name(w.Node))
		}
		return strings.Join(out[:2], " ")
	}
	if got := first(y2025); got != "mia tom weaver" {
		t.Errorf("in 2025: %s", got)
	}
	if got := first(y2024.Add(-time.Hour)); got != "mia karl" {
		t.Errorf("in 2023: %s", got)
	}
	husband := func(p string) bool { return p == "husband of" }
	mia := g.Resolve("Mia")[0]
	if got := ends(g, Sight{Graph: g}.Follow(mia, y2025, husband)); got != "tom weaver" {
		t.Errorf("Mia's husband in 2025: %s", got)
	}
	if got := ends(g, Sight{Graph: g}.Follow(mia, time.Time{}, husband)); got != "karl tom weaver" {
		t.Errorf("Mia's husbands: %s", got)
	}
	for i := range maxEnds + 1 {
		g.Add(Doc(100+i), Says{Relations: []Relation{{Subject: "Mia", Predicate: "likes", Object: fmt.Sprint("thing ", i)}}})
		if got := len(Sight{Graph: g}.Follow(mia, y2025, func(p string) bool { return p == "likes" })); i < maxEnds && got != i+1 || i == maxEnds && got != 0 {
			t.Errorf("of %d things that Mia likes, %d are followed", i+1, got)
		}
	}
	for d, r := range relations(g, g.Resolve("Karl")[0]) {
		if d != 3 || r.Object != "mia" || r.Holds(y2025) || !r.Holds(y2024.Add(-1)) || !r.Holds(time.Time{}) {
			t.Errorf("%d: %+v", d, r)
		}
	}
}

func TestSpreadIsBounded(t *testing.T) {
	g := family()
	ana := []Weight{{g.Resolve("Ana")[0], 1}}
	if got := g.Spread(ana, Walk{Work: 1}); len(got) != 0 {
		t.Errorf("with work for one edge it came by %d nodes", len(got))
	}
	if g.Spread(nil, Walk{}) != nil || g.Spread([]Weight{{0, 0}}, Walk{}) != nil {
		t.Error("a walk from nowhere came somewhere")
	}
	var long []string
	for i := range 3 * MaxNames {
		long = append(long, fmt.Sprintf("thing %d", i))
	}
	g.Add(9, Says{Names: long})
	if got := len(maps.Collect(g.Neighbours(g.Resolve("thing 0")[0]))); got != MaxNames-1 {
		t.Errorf("a page of names has %d beside each other", got)
	}
}

// relations returns the relations of a node, with the documents that state them.
func relations(g *Graph, n Node) iter.Seq2[Doc, Relation] {
	return func(yield func(Doc, Relation) bool) {
		links := slices.Clone(g.nodes[n].related)
		slices.SortFunc(links, func(a, b link) int { return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.nth, b.nth)) })
		for _, l := range links {
			if !yield(l.doc, g.related[l.doc][l.nth]) {
				return
			}
		}
	}
}

// dump returns the whole graph as text.
func dump(g *Graph) string {
	var out []string
	for i := range g.nodes {
		n := Node(i)
		if g.nodes[n].named == 0 {
			continue
		}
		line := fmt.Sprintf("%q %d sum %d:", g.Name(n), g.nodes[n].named, g.nodes[n].sum)
		for m, k := range g.Neighbours(n) {
			line += fmt.Sprintf(" %s=%d", g.Name(m), k)
		}
		for d, r := range relations(g, n) {
			line += fmt.Sprintf(" [%d %s %s %s]", d, r.Subject, r.Predicate, r.Object)
		}
		line += " " + strings.Join(texts(g, g.Resolve(g.Name(n))), ",")
		for _, w := range g.Spread([]Weight{{n, 1}}, Walk{}) {
			line += fmt.Sprintf(" %s:%.9f", g.Name(w.Node), w.Value)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func someSays(r *rand.Rand) Says {
	people := []string{"Ana", "Ben", "Mia Weaver", "Tom Weaver", "张伟", "Zhang Wei", "Porto", "Acme", "ANA", "Mia", ""}
	one := func() string { return people[r.IntN(len(people))] }
	s := Says{Window: []string{"", "s1", "s2", "s3"}[r.IntN(4)], Speaker: []string{"", "Ana", "Ben"}[r.IntN(3)]}
	for range r.IntN(4) {
		s.Names = append(s.Names, one())
	}
	for range r.IntN(3) {
		s.Relations = append(s.Relations, Relation{Subject: one(), Predicate: []string{"sister of", "lives in", "nickname", " "}[r.IntN(4)], Object: one()})
	}
	return s
}

// In whatever order documents were added and removed, the graph is that of the present documents.
func TestGraphIsIndependentOfOrder(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		there := map[Doc]Says{}
		var g Graph
		for range 120 {
			d := Doc(r.IntN(25))
			if r.IntN(3) == 0 {
				g.Remove(d)
				delete(there, d)
				continue
			}
			there[d] = someSays(r)
			g.Add(d, there[d])
		}
		var fresh Graph
		order := slices.Sorted(maps.Keys(there))
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, d := range order {
			fresh.Add(d, there[d])
		}
		if a, b := dump(&g), dump(&fresh); a != b {
			t.Fatalf("seed %d: grown:\n%s\n\nfresh:\n%s", seed, a, b)
		}
		for d := range there {
			g.Remove(d)
		}
		if g.Len() != 0 || len(g.byName)+len(g.byKey)+len(g.byPart)+len(g.docs)+len(g.related) != 0 || len(g.free) != len(g.nodes) {
			t.Fatalf("seed %d: something is left of nothing: %d nodes", seed, g.Len())
		}
	}
}

// A long walk gives PageRank, which is computed here from its definition.
func TestSpreadIsPageRank(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		var g Graph
		for d := range 30 {
			g.Add(Doc(d), someSays(r))
		}
		start := g.Resolve("Ana")[0]
		const restart = .3
		n := len(g.nodes)
		p := make([]float64, n)
		p[start] = 1
		for range 300 {
			next := make([]float64, n)
			next[start] = restart
			for i := range g.nodes {
				out := map[Node]float64{}
				g.step(&g.nodes[i], p[i]*(1-restart), &Walk{}, out)
				for j, v := range out {
					next[j] += v
				}
			}
			p = next
		}
		got := map[Node]float64{}
		sum := 0.0
		for _, w := range g.Spread([]Weight{{start, 1}}, Walk{Steps: 60, Work: 1 << 30, Least: 1e-12}) {
			got[w.Node] = w.Value
			sum += w.Value
		}
		if sum >= 1 {
			t.Errorf("seed %d: sums to %f", seed, sum)
		}
		for i := range p {
			if x := Node(i); x != start && !g.nodes[x].window && math.Abs(got[x]-p[i]) > 1e-6 {
				t.Errorf("seed %d: %s is %.9f, want %.9f", seed, g.Name(x), got[x], p[i])
			}
		}
	}
}
