package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func groups(g *Graph, without ...Node) string {
	var out []string
	for _, c := range g.Communities(without...) {
		out = append(out, strings.Join(texts(g, c), " "))
	}
	return strings.Join(out, " | ")
}

// Rings of friends, of which each knows one of the next ring, form as many communities as rings, in
// any order of the documents.
func TestCommunities(t *testing.T) {
	const rings, size = 8, 6
	var says []Says
	for r := range rings {
		for i := range size {
			for j := range i {
				says = append(says, Says{Relations: []Relation{{Subject: fmt.Sprintf("r%dp%d", r, i), Predicate: "friend of", Object: fmt.Sprintf("r%dp%d", r, j)}}})
			}
		}
		says = append(says, Says{Names: []string{fmt.Sprintf("r%dp0", r), fmt.Sprintf("r%dp1", (r+1)%rings)}})
	}
	for n := range rings * size {
		says = append(says, Says{Names: []string{"me", fmt.Sprintf("r%dp%d", n/size, n%size)}})
	}
	want := ""
	for seed := range uint64(10) {
		var g Graph
		for i, at := range rand.New(rand.NewPCG(seed, 3)).Perm(len(says)) {
			g.Add(Doc(i), says[at])
		}
		me, ok := g.Node("me")
		if !ok {
			t.Fatal("the graph has no node for the wearer")
		}
		got := groups(&g, me)
		if want == "" {
			want = got
		}
		if got != want || strings.Count(got, "|") != rings-1 || strings.Contains(got, "me") || !strings.HasPrefix(got, "r0p0 r0p1 r0p2 r0p3 r0p4 r0p5 |") {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}

// Every group is connected, no node is in two, and the grouping has at least the modularity of no
// grouping.
func TestCommunityInvariants(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		var g Graph
		for d := range 60 {
			g.Add(Doc(d), Says{Names: []string{fmt.Sprint("n", r.IntN(30)), fmt.Sprint("n", r.IntN(30))}})
		}
		seen := map[Node]bool{}
		for _, c := range g.Communities() {
			if len(c) < 2 {
				t.Fatalf("seed %d: a group of %d", seed, len(c))
			}
			reached := []Node{c[0]}
			for i := 0; i < len(reached); i++ {
				for n := range g.Neighbours(reached[i]) {
					if slices.Contains(c, n) && !slices.Contains(reached, n) {
						reached = append(reached, n)
					}
				}
			}
			if len(reached) != len(c) {
				t.Fatalf("seed %d: %v is not connected", seed, texts(&g, c))
			}
			for _, n := range c {
				if seen[n] {
					t.Fatalf("seed %d: %s is in two groups", seed, g.Name(n))
				}
				seen[n] = true
			}
		}
	}
}

// A name that is stated not to be the same is not meant, and no walk follows such a relation.
func TestNamesStatedToDiffer(t *testing.T) {
	var g Graph
	g.Add(1, Says{Names: []string{"张伟", "Ben"}})
	g.Add(2, Says{Names: []string{"Zhang Wei"}})
	if got := len(g.Resolve("Zhang Wei")); got != 2 {
		t.Fatalf("the name resolves to %d nodes before anything is stated, want 2", got)
	}
	g.Add(3, Says{Relations: []Relation{{Subject: "Zhang Wei", Predicate: Apart, Object: "张伟"}}})
	if got := texts(&g, g.Resolve("zhang wei")); !slices.Equal(got, []string{"zhang wei"}) {
		t.Errorf("%q", got)
	}
	if got := texts(&g, g.Resolve("张伟")); !slices.Equal(got, []string{"张伟"}) {
		t.Errorf("%q", got)
	}
}
