package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
)

// Bounds of the search for communities. On graphs of one person's life, the search ends after three
// or four levels of under ten passes.
const (
	maxLevels = 12
	maxPasses = 30
	often     = 1024 // nodes that are visited between checks of a context
)

// Communities groups the nodes by the Louvain method (Blondel, Guillaume, Lambiotte and Lefebvre,
// 2008): each node moves to where modularity gains most, groups become nodes, and this repeats.
// This method can leave a group that is not connected; such a group is split at the end, as Leiden
// does (Traag, Waltman and van Eck, 2019). The result is the same for the same documents: nodes are
// visited in the order of their names, and weights are whole numbers; a relation without an end
// weighs as much as in a walk. Nodes in without are left out. Groups of one are not returned; the
// others are ordered by their first names, and each group by its names.
func (g *Graph) Communities(without ...Node) [][]Node {
	out, err := g.CommunitiesIn(context.Background(), without...)
	if err != nil {
		panic(err) // that context never ends
	}
	return out
}

// CommunitiesIn is [Graph.Communities] with a context; when ctx is done, it returns ctx's error.
func (g *Graph) CommunitiesIn(ctx context.Context, without ...Node) ([][]Node, error) {
	var order []Node
	place := make([]int32, len(g.nodes))
	for i := range g.nodes {
		place[i] = -1
		if n := Node(i); g.nodes[n].named > 0 && !g.nodes[n].window && !slices.Contains(without, n) {
			order = append(order, n)
		}
	}
	slices.SortFunc(order, g.order)
	for i, n := range order {
		place[n] = int32(i)
	}
	first := make(mesh, len(order))
	for i, n := range order {
		if i%often == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x := &g.nodes[n]
		for _, e := range x.edges {
			if p := place[e.to]; p >= 0 {
				first[i] = append(first[i], tie{p, strengthBeside * int64(e.n)})
			}
		}
		for _, l := range x.related {
			if p := place[l.to]; p >= 0 && !l.apart && g.related[l.doc][l.nth].To.IsZero() {
				first[i] = append(first[i], tie{p, strengthRelation})
			}
		}
	}
	found, err := first.louvain(ctx)
	if err != nil {
		return nil, err
	}
	group := first.parted(found)
	by := map[int32][]Node{}
	for i, n := range order {
		by[group[i]] = append(by[group[i]], n)
	}
	out := make([][]Node, 0, len(by))
	for _, l := range by {
		if len(l) > 1 {
			out = append(out, l)
		}
	}
	sorting.Sort(out, func(a, b []Node) int { return strings.Compare(g.nodes[a[0]].name, g.nodes[b[0]].name) })
	return out, nil
}

// mesh is a weighted graph: the edges of each node, every one stored at both ends. An edge of a
// node to itself has twice the weight.
type mesh [][]tie

type tie struct {
	to     int32
	weight int64
}

// louvain returns the group of each node.
func (m mesh) louvain(ctx context.Context) ([]int32, error) {
	group := make([]int32, len(m))
	for i := range group {
		group[i] = int32(i)
	}
	at := m
	for range maxLevels {
		moved, count, changed := at.move(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !changed {
			break
		}
		for i := range group {
			group[i] = moved[group[i]]
		}
		at = at.merged(moved, count)
	}
	return group, nil
}

// move moves each node into the neighbouring group where modularity gains most, until no move
// gains. Groups are numbered from 0, in the order of their first nodes. Once ctx is done, the
// result is useless.
func (m mesh) move(ctx context.Context) (group []int32, count int, changed bool) {
	degree, total := make([]int64, len(m)), make([]int64, len(m))
	var whole int64 // twice the weight of all edges
	group = make([]int32, len(m))
	for i, ties := range m {
		group[i] = int32(i)
		for _, t := range ties {
			degree[i] += t.weight
		}
		total[i] = degree[i]
		whole += degree[i]
	}
	weight := make([]int64, len(m)) // weight of the edges to a group, while a node is visited
	var touched []int32
	for range maxPasses {
		again := false
		for i, ties := range m {
			if i%often == 0 && ctx.Err() != nil {
				return group, 0, false
			}
			own := group[i]
			touched = append(touched[:0], own)
			for _, t := range ties {
				if int(t.to) == i {
					continue
				}
				c := group[t.to]
				if weight[c] == 0 && c != own {
					touched = append(touched, c)
				}
				weight[c] += t.weight
			}
			total[own] -= degree[i]
			// The gain, multiplied by the whole weight, so that there are no fractions and no
			// rounding.
			gain := func(c int32) int64 { return weight[c]*whole - degree[i]*total[c] }
			best := own
			for _, c := range touched {
				if d := gain(c) - gain(best); d > 0 || d == 0 && c < best && best != own {
					best = c
				}
			}
			for _, c := range touched {
				weight[c] = 0
			}
			total[best] += degree[i]
			if best != own {
				group[i], again, changed = best, true, true
			}
		}
		if !again {
			break
		}
	}
	number := map[int32]int32{}
	for i, c := range group {
		n, ok := number[c]
		if !ok {
			n = int32(len(number))
			number[c] = n
		}
		group[i] = n
	}
	return group, len(number), changed
}

// merged returns the mesh whose nodes are the groups.
func (m mesh) merged(group []int32, count int) mesh {
	members := make([][]int32, count)
	for i, c := range group {
		members[c] = append(members[c], int32(i))
	}
	out := make(mesh, count)
	weight := make([]int64, count)
	for c, list := range members {
		var touched []int32
		for _, i := range list {
			for _, t := range m[i] {
				to := group[t.to]
				if weight[to] == 0 {
					touched = append(touched, to)
				}
				weight[to] += t.weight
			}
		}
		slices.Sort(touched)
		for _, to := range touched {
			out[c] = append(out[c], tie{to, weight[to]})
			weight[to] = 0
		}
	}
	return out
}

// parted splits each group into its connected parts.
func (m mesh) parted(group []int32) []int32 {
	out := make([]int32, len(m))
	for i := range out {
		out[i] = -1
	}
	var stack []int32
	for i := range m {
		if out[i] >= 0 {
			continue
		}
		out[i] = int32(i)
		stack = append(stack[:0], int32(i))
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, t := range m[n] {
				if out[t.to] < 0 && group[t.to] == group[i] {
					out[t.to] = int32(i)
					stack = append(stack, t.to)
				}
			}
		}
	}
	return out
}

// Node returns the node of a folded name.
func (g *Graph) Node(folded string) (Node, bool) {
	n, ok := g.byName[folded]
	return n, ok && !strings.HasPrefix(folded, windowMark)
}
