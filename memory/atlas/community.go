package atlas

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/names"
)

// Communities returns the communities of at least two entities, the largest
// first. The wearer is in none, because a community with the wearer would
// contain everything.
func (a *Atlas) Communities() []Community {
	if err := a.Group(context.Background()); err != nil {
		panic(err) // the context never ends
	}
	a.grouping.Lock()
	defer a.grouping.Unlock()
	return a.communities
}

// Group finds the communities, which [Atlas.Communities] then returns. When ctx
// is done, it returns ctx's error.
func (a *Atlas) Group(ctx context.Context) error {
	a.grouping.Lock()
	defer a.grouping.Unlock()
	if a.grouped {
		return nil
	}
	found, err := a.group(ctx)
	if err == nil {
		a.communities, a.grouped = found, true
	}
	return err
}

func (a *Atlas) group(ctx context.Context) ([]Community, error) {
	var without []graph.Node
	if a.wearer != "" {
		if n := a.nodes[a.byID[a.wearer]]; n != none {
			without = append(without, n)
		}
	}
	groups, err := a.graph.CommunitiesIn(ctx, without...)
	if err != nil {
		return nil, err
	}
	var out []Community
	for _, nodes := range groups {
		var c Community
		for _, n := range nodes {
			if i, ok := a.at[n]; ok {
				c.Members = append(c.Members, a.entities[i].ID)
			}
		}
		if len(c.Members) < 2 {
			continue
		}
		sorting.Sort(c.Members, func(x, y string) int {
			return cmp.Or(cmp.Compare(a.entities[a.byID[y]].Memories, a.entities[a.byID[x]].Memories), cmp.Compare(x, y))
		})
		c.ID = c.Members[0]
		a.summed(&c)
		out = append(out, c)
	}
	sorting.Sort(out, func(x, y Community) int {
		return cmp.Or(cmp.Compare(len(y.Members), len(x.Members)), cmp.Compare(x.ID, y.ID))
	})
	return out, nil
}

// summed finds the summary of a community: the one that names most of its
// members. Communities change, so it is enough if the summary names at least
// two members and half of all. A summary of a large community names only the
// foremost members; then half of those that it names must be members.
func (a *Atlas) summed(c *Community) {
	best := 0
	for i := range a.summaries {
		m := &a.summaries[i]
		named := map[string]bool{}
		for _, e := range m.Entities {
			if at, ok := a.byName[names.Fold(e.Name)]; ok {
				named[a.entities[at].ID] = true
			}
		}
		n := 0
		for _, id := range c.Members {
			if named[id] {
				n++
			}
		}
		if n > best && n > 1 && 2*n >= min(len(c.Members), len(m.Entities)) {
			best = n
			c.Memory, c.Summary = m.ID, m.Text
			if f := m.Fields.Semantic; f != nil {
				c.Title = f.Name
			}
		}
	}
}

// Facts returns the relations within a community that are true now, those with the greatest
// confidence first.
func (a *Atlas) Facts(c *Community) []Relation {
	in := map[string]bool{}
	for _, m := range c.Members {
		in[m] = true
	}
	var out []Relation
	for _, r := range a.relations {
		if r.State == memory.Active && in[r.Subject] && in[r.Object] {
			out = append(out, r)
		}
	}
	sorting.Sort(out, func(x, y Relation) int {
		return cmp.Or(cmp.Compare(y.Confidence, x.Confidence), slices.Compare(x.Memory[:], y.Memory[:]))
	})
	return out
}

// Name returns the spelling of an entity's name.
func (a *Atlas) Name(id string) string {
	if i, ok := a.byID[id]; ok {
		return a.entities[i].Name
	}
	return ""
}

// Sentence describes a community by nothing but its names and facts.
func (a *Atlas) Sentence(c *Community) string {
	var members []string
	for _, m := range c.Members[:min(8, len(c.Members))] {
		members = append(members, a.Name(m))
	}
	s := strings.Join(members, ", ")
	if n := len(c.Members) - len(members); n > 0 {
		s += " and others"
	}
	var facts []string
	for _, r := range a.Facts(c) {
		if len(facts) == 5 {
			break
		}
		facts = append(facts, strings.TrimRight(r.Text, ".")+".")
	}
	return s + ": " + strings.Join(facts, " ")
}
