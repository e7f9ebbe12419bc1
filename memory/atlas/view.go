package atlas

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/names"
	"github.com/locket-dev/locket/memory/recall"
)

// Query selects a part of the atlas. At most one of Entity and Text may be set.
// If neither is set, the entities that most memories name are selected.
type Query struct {
	Entity string    // around all entities that this name may mean: entity-centred retrieval
	Text   string    // the relations whose words match best: retrieval by triplets
	At     time.Time // relations that were true then; zero: that are true now
	Known  time.Time // relations that were believed then
	Past   bool      // also relations that are no longer true; ignored with At
	Limit  int       // number of entities; 0 and below: DefaultLimit, at most MaxLimit
	Now    time.Time // the time at which something is true; zero: according to its state
}

// Values of Query.Limit.
const (
	DefaultLimit = 100
	MaxLimit     = 10_000
)

// View is the result of a query.
type View struct {
	Meant       []string    `json:"meant"` // entities that the query's name may mean
	Entities    []Entry     `json:"entities"`
	Relations   []Relation  `json:"relations"`
	Beside      []Beside    `json:"beside"`
	Communities []Community `json:"communities"`
	More        bool        `json:"more,omitempty"` // there are more entities than the limit
}

// View returns the part that q selects.
func (a *Atlas) View(q Query) View {
	limit := DefaultLimit
	if q.Limit > 0 {
		limit = min(q.Limit, MaxLimit)
	}
	v := View{Meant: []string{}, Entities: []Entry{}, Relations: []Relation{}, Beside: []Beside{}, Communities: []Community{}}
	holds := func(r *Relation) bool {
		if q.At.IsZero() && q.Known.IsZero() && !q.Past && (r.State != memory.Active || !r.TrueTo.IsZero() && !q.Now.IsZero() && r.TrueTo.Before(q.Now)) {
			return false
		}
		return r.Holds(q.At, q.Known)
	}
	chosen := map[string]float64{} // rank by entity
	score := map[int]float64{}     // by index in relations; nil: all count
	switch {
	case q.Entity != "":
		v.Meant = a.Resolve(q.Entity)
		v.More = a.around(v.Meant, q.At, limit, chosen, holds)
		score = nil
	case q.Text != "":
		v.More = a.triplets(q.Text, limit, chosen, score, holds)
	default:
		v.More = a.most(limit, chosen)
		score = nil
	}
	for i := range a.relations {
		r := a.relations[i]
		if !holds(&r) {
			continue
		}
		if score != nil {
			if score[i] == 0 {
				continue
			}
			r.Score = score[i]
		}
		_, s := chosen[r.Subject]
		_, o := chosen[r.Object]
		if s && o {
			v.Relations = append(v.Relations, r)
		}
	}
	if q.Text != "" {
		sorting.Stable(v.Relations, func(x, y Relation) int { return cmp.Compare(y.Score, x.Score) })
	}
	a.fill(&v, chosen)
	return v
}

// fill adds the chosen entities, which of them are named together, and their communities.
func (a *Atlas) fill(v *View, chosen map[string]float64) {
	all := a.Communities()
	of := map[string]int{}
	for i, c := range all {
		for _, m := range c.Members {
			of[m] = i
		}
	}
	shown := map[int]bool{}
	for _, id := range slices.Sorted(maps.Keys(chosen)) {
		e := a.entities[a.byID[id]]
		e.Rank = chosen[id]
		if c, ok := of[id]; ok {
			e.Community, shown[c] = all[c].ID, true
		}
		v.Entities = append(v.Entities, e)
	}
	sorting.Stable(v.Entities, func(x, y Entry) int { return cmp.Or(cmp.Compare(y.Rank, x.Rank), cmp.Compare(y.Memories, x.Memories)) })
	for i, c := range all {
		if shown[i] {
			v.Communities = append(v.Communities, c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(chosen)) {
		n := a.nodes[a.byID[id]]
		if n == none {
			continue
		}
		for m, count := range a.graph.Neighbours(n) {
			if i, ok := a.at[m]; ok && a.entities[i].ID > id {
				if _, ok := chosen[a.entities[i].ID]; ok {
					v.Beside = append(v.Beside, Beside{id, a.entities[i].ID, count})
				}
			}
		}
	}
}

// Resolve returns the entities that a name may mean: that of the name itself, or those whose names
// contain it.
func (a *Atlas) Resolve(name string) []string {
	f := names.Fold(name)
	if f == "user" || f == "me" {
		if a.wearer != "" {
			return []string{a.wearer}
		}
	}
	if i, ok := a.byName[f]; ok {
		return []string{a.entities[i].ID}
	}
	out := []string{}
	for _, n := range a.graph.Resolve(name) {
		if i, ok := a.at[n]; ok && !slices.Contains(out, a.entities[i].ID) {
			out = append(out, a.entities[i].ID)
		}
	}
	return out
}

// walkWork is how many edges a walk for a view may read: a hundred times as many as for a question
// in recall.
const walkWork = 200_000

// around chooses the entities that a walk from some entities reaches, best first.
func (a *Atlas) around(from []string, at time.Time, limit int, chosen map[string]float64, holds func(*Relation) bool) (more bool) {
	var seeds []graph.Weight
	for _, id := range from {
		if len(chosen) == limit {
			return true
		}
		chosen[id] = 1
		if n := a.nodes[a.byID[id]]; n != none {
			seeds = append(seeds, graph.Weight{Node: n, Value: 1})
		}
	}
	for _, w := range a.graph.Spread(seeds, graph.Walk{At: at, Work: walkWork, Least: 1e-5}) {
		i, ok := a.at[w.Node]
		if !ok {
			continue
		}
		if len(chosen) >= limit {
			return true
		}
		chosen[a.entities[i].ID] = w.Value
	}
	for _, id := range from { // ends of relations that are no longer true, if the query asks for them
		for _, i := range a.of[id] {
			r := &a.relations[i]
			for _, end := range []string{r.Subject, r.Object} {
				if _, ok := chosen[end]; ok || !holds(r) {
					continue
				}
				if len(chosen) >= limit {
					return true
				}
				chosen[end] = 0
			}
		}
	}
	return false
}

// many is the number of relations above which a word is too common to select relations if there are
// rarer words.
const many = 1000

// triplets chooses the relations whose words match a text best, and the entities at their ends.
// Rarer words count more.
func (a *Atlas) triplets(text string, limit int, chosen map[string]float64, score map[int]float64, holds func(*Relation) bool) (more bool) {
	asked := map[string]bool{}
	for _, w := range recall.ContentWords(text) {
		asked[w.Term] = true
	}
	terms := sorting.Sorted(maps.Keys(asked), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(a.words[x]), len(a.words[y])), cmp.Compare(x, y))
	})
	// The rarer words select relations; a word that is in a tenth of all relations, and in many,
	// only adds weight to these.
	sum := map[int]float64{}
	for _, w := range terms {
		list := a.words[w]
		idf := math.Log(1 + float64(len(a.relations))/float64(1+len(list)))
		if len(sum) > 0 && len(list) > many && 10*len(list) > len(a.relations) {
			for i := range sum {
				if _, ok := slices.BinarySearch(list, i); ok {
					sum[i] += idf
				}
			}
			continue
		}
		for _, i := range list {
			sum[i] += idf
		}
	}
	places := slices.Collect(maps.Keys(sum))
	sorting.Sort(places, func(x, y int) int { return cmp.Or(cmp.Compare(sum[y], sum[x]), cmp.Compare(x, y)) })
	for _, i := range places {
		r := &a.relations[i]
		if !holds(r) {
			continue
		}
		fresh := 0
		for _, end := range []string{r.Subject, r.Object} {
			if _, ok := chosen[end]; !ok {
				fresh++
			}
		}
		if len(chosen)+fresh > limit {
			return true
		}
		score[i] = sum[i]
		for _, end := range []string{r.Subject, r.Object} {
			chosen[end] = max(chosen[end], sum[i])
		}
	}
	return false
}

// most chooses the entities that most memories name.
func (a *Atlas) most(limit int, chosen map[string]float64) (more bool) {
	places := a.byMemories()
	for _, i := range places[:min(limit, len(places))] {
		chosen[a.entities[i].ID] = 0
	}
	return len(places) > limit
}

// wordsOf returns the words by which a relation is found.
func wordsOf(r *Relation, a *Atlas) map[string]bool {
	out := map[string]bool{}
	e, o := &a.entities[a.byID[r.Subject]], &a.entities[a.byID[r.Object]]
	texts := []string{r.Text, r.Predicate, e.Name, o.Name}
	texts = append(append(texts, e.Aliases...), o.Aliases...)
	for _, t := range texts {
		for _, w := range recall.ContentWords(t) {
			out[w.Term] = true
		}
	}
	return out
}
