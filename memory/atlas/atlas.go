// Package atlas makes the graph of a space from its memories: the people and
// things that they name, and how these are related at which times. It is pure
// and stores nothing: everything known about entities is in memories, and is
// synced, undone and forgotten with them.
//
// The words:
//
//   - An [Entry] is a person, place or thing with all its names.
//   - A [Relation] is a semantic memory that connects two entities. It has four
//     times: from when to when it was true, and from when to when it was
//     believed.
//   - A decision is a memory which says that two names mean the same, or that
//     they do not. The latest decision of the highest rank counts.
//   - A [Community] is a set of entities that are more closely connected with
//     each other than with the rest. A memory with the tag [TagCommunity] that
//     names them summarises it.
//   - A [View] is the part of the atlas that was requested.
package atlas

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/names"
)

// TagCommunity marks a memory that summarises a community.
const TagCommunity = "community"

// Entry is an entity of the graph.
type Entry struct {
	ID        string   `json:"id"`   // its folded name, which is unique in a space
	Name      string   `json:"name"` // the most frequent spelling
	Kind      string   `json:"kind,omitempty"`
	Aliases   []string `json:"aliases"`             // the other names, as written
	Memories  int      `json:"memories"`            // number of memories that name it
	Rank      float64  `json:"rank,omitempty"`      // in a view around entities: how often a walk from these reaches it, 0 to 1
	Community string   `json:"community,omitempty"` // id of its community
}

// Relation connects two entities.
type Relation struct {
	Memory     memory.ID    `json:"memory"`
	Subject    string       `json:"subject"` // entity id
	Predicate  string       `json:"predicate"`
	Object     string       `json:"object"` // entity id
	Text       string       `json:"text"`
	TrueFrom   time.Time    `json:"true_from,omitzero"`
	TrueTo     time.Time    `json:"true_to,omitzero"`
	Learnt     time.Time    `json:"learnt,omitzero"`
	Unlearnt   time.Time    `json:"unlearnt,omitzero"`
	State      memory.State `json:"state"`
	Confidence float64      `json:"confidence"`
	Score      float64      `json:"score,omitempty"` // in a view by triplets: how well it answers the query
}

// Holds reports whether a relation was true at one time and believed at
// another. A zero time means any time.
func (r *Relation) Holds(at, known time.Time) bool {
	if !at.IsZero() && (r.TrueFrom.After(at) || !r.TrueTo.IsZero() && !r.TrueTo.After(at)) {
		return false
	}
	return known.IsZero() || !r.Learnt.After(known) && (r.Unlearnt.IsZero() || r.Unlearnt.After(known))
}

// Beside says how many memories name two entities together.
type Beside struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Count int    `json:"count"` // memories that name both
}

// Community is a set of closely connected entities.
type Community struct {
	ID      string    `json:"id"`      // the id of the entity that most memories name
	Members []string  `json:"members"` // entity ids, those that most memories name first
	Title   string    `json:"title,omitempty"`
	Summary string    `json:"summary,omitempty"`
	Memory  memory.ID `json:"memory,omitzero"` // the memory that summarises it
}

// Options of an atlas.
type Options struct {
	Wearer string                     // the name that "user" stands for
	Said   map[memory.ID]memory.Clock // when decisions were made: see [ClocksOf]; without it, decisions of the same millisecond are ordered by their ids
}

// Atlas is the graph of some memories. It is safe for concurrent use.
type Atlas struct {
	entities  []Entry
	byID      map[string]int // index in entities
	byName    map[string]int // index in entities
	relations []Relation
	of        map[string][]int // indexes in relations, by entity id
	words     map[string][]int // indexes in relations, by word
	graph     graph.Graph
	nodes     []graph.Node // by index in entities
	at        map[graph.Node]int
	summaries []memory.Memory
	decisions []Decision
	wearer    string // entity id; empty: no memory names the wearer

	grouping    sync.Mutex
	grouped     bool
	communities []Community
}

// often is how many steps are taken between checks of a context.
const often = 256

// Draw makes the atlas of memories that are active or superseded, and neither secret nor in the
// vault. When ctx is done, it returns ctx's error.
func Draw(ctx context.Context, ms []memory.Memory, o Options) (*Atlas, error) {
	a := &Atlas{byID: map[string]int{}, byName: map[string]int{}, of: map[string][]int{}, words: map[string][]int{}, at: map[graph.Node]int{}}
	ms = slices.DeleteFunc(slices.Clone(ms), func(m memory.Memory) bool {
		if m.Repeats { // a repeated decision counts as made now
			if _, ok := decisionOf(&m); !ok {
				return true
			}
		}
		return m.State != memory.Active && m.State != memory.Superseded || m.Negates || m.Type == memory.Vault || m.Sensitivity >= memory.Secret
	})
	sorting.Sort(ms, func(x, y memory.Memory) int { return slices.Compare(x.ID[:], y.ID[:]) })
	r := resolver{wearer: names.Fold(o.Wearer), seen: map[string]*name{}}
	kept := ms[:0]
	for i, m := range ms {
		if i%often == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch d, ok := decisionOf(&m); {
		case slices.Contains(m.Tags, TagCommunity):
			if m.State == memory.Active {
				a.summaries = append(a.summaries, m)
			}
		case ok:
			if m.State == memory.Active || m.Repeats {
				d.said = o.Said[m.ID]
				a.decisions = append(a.decisions, d)
			}
		default:
			r.addMemory(&m)
			kept = append(kept, m)
		}
	}
	sorting.Sort(a.decisions, func(x, y Decision) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), x.Learnt.Compare(y.Learnt), x.said.Compare(y.said), slices.Compare(x.Memory[:], y.Memory[:]))
	})
	a.draw(r.resolve(a.decisions))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if i, ok := a.byName[r.fold("user")]; ok {
		a.wearer = a.entities[i].ID
	}
	for i := range kept {
		if i%often == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.add(graph.Doc(i), &kept[i], &r)
	}
	a.number()
	return a, nil
}

// draw makes an entity from each group of names.
func (a *Atlas) draw(groups [][]*name) {
	for _, g := range groups {
		e := Entry{ID: g[0].folded, Name: g[0].written(), Aliases: []string{}}
		for _, n := range g {
			e.Kind = cmp.Or(e.Kind, n.kind)
			a.byName[n.folded] = len(a.entities)
			for _, w := range n.all() {
				if w != e.Name {
					e.Aliases = append(e.Aliases, w)
				}
			}
		}
		slices.Sort(e.Aliases)
		a.byID[e.ID] = len(a.entities)
		a.entities = append(a.entities, e)
	}
}

// add adds the entities and relations of a memory.
func (a *Atlas) add(d graph.Doc, m *memory.Memory, r *resolver) {
	var says graph.Says
	var named []int
	take := func(written string) (int, bool) {
		i, ok := a.byName[r.fold(written)]
		if ok && !slices.Contains(named, i) {
			named = append(named, i)
			says.Names = append(says.Names, a.entities[i].ID)
		}
		return i, ok
	}
	for _, e := range m.Entities {
		take(e.Name)
	}
	if f := m.Fields.Semantic; f.Relation() {
		s, ok1 := take(f.Subject)
		o, ok2 := take(f.Object)
		if ok1 && ok2 && s != o {
			rel := Relation{Memory: m.ID, Subject: a.entities[s].ID, Predicate: f.Predicate, Object: a.entities[o].ID, Text: m.Text,
				TrueFrom: m.TrueFrom, TrueTo: m.TrueTo, Learnt: m.Learnt, Unlearnt: m.Unlearnt, State: m.State, Confidence: m.Confidence}
			at := len(a.relations)
			a.relations = append(a.relations, rel)
			a.of[rel.Subject] = append(a.of[rel.Subject], at)
			a.of[rel.Object] = append(a.of[rel.Object], at)
			for w := range wordsOf(&rel, a) {
				a.words[w] = append(a.words[w], at)
			}
			if m.State == memory.Active {
				says.Relations = append(says.Relations, graph.Relation{Subject: rel.Subject, Predicate: rel.Predicate, Object: rel.Object, From: m.TrueFrom, To: m.TrueTo})
			}
		}
	}
	for _, i := range named {
		a.entities[i].Memories++
	}
	if m.State == memory.Active {
		a.graph.Add(d, says)
	}
}

// number assigns the graph's nodes to the entities.
func (a *Atlas) number() {
	a.nodes = make([]graph.Node, len(a.entities))
	for i, e := range a.entities {
		n, ok := a.graph.Node(e.ID)
		if !ok {
			n = none
		} else {
			a.at[n] = i
		}
		a.nodes[i] = n
	}
}

// none is the node of an entity that no active memory names.
const none = ^graph.Node(0)

// byMemories returns the indexes of all entities, those that most memories name
// first.
func (a *Atlas) byMemories() []int {
	places := make([]int, len(a.entities))
	for i := range places {
		places[i] = i
	}
	sorting.Stable(places, func(x, y int) int { return cmp.Compare(a.entities[y].Memories, a.entities[x].Memories) })
	return places
}
