package atlas

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory/names"

	"github.com/locket-dev/locket/internal/sorting"
)

// Suggestion is two entities that may be the same; a person or a model decides.
type Suggestion struct {
	A      string  `json:"a"` // names, as written
	B      string  `json:"b"`
	Reason string  `json:"reason"`
	Weight float64 `json:"weight"` // 0 to 1
}

// Limits of suggestions: how similar the embeddings of two names have to be, and how many
// names are compared by them.
const (
	alikeFrom   = .9
	maxCompared = 500
	maxAlike    = 32 // names that sound alike: if more do, no two are suggested
)

// Suggest returns pairs of names that may be the same: a name that is part of only one longer name,
// or that shares a key with several, or two names with similar embeddings. like returns the cosine
// of two names; nil means that there are no embeddings.
func (a *Atlas) Suggest(like func(a, b string) float64) []Suggestion {
	var out []Suggestion
	decided := map[[2]string]bool{}
	id := func(name string) string { // id of the entity to which the name belongs now
		f := names.Fold(name)
		if i, ok := a.byName[f]; ok {
			return a.entities[i].ID
		}
		if f == "user" && a.wearer != "" {
			return a.wearer
		}
		return f
	}
	for _, d := range a.decisions {
		decided[pair(id(d.A), id(d.B))] = true
	}
	said := map[[2]string]bool{}
	add := func(x, y *Entry, reason string, weight float64) {
		p := pair(x.ID, y.ID)
		if x.ID == y.ID || said[p] || decided[p] || whereabouts(x.ID) != whereabouts(y.ID) || x.Kind != "" && y.Kind != "" && x.Kind != y.Kind {
			return
		}
		said[p] = true
		out = append(out, Suggestion{x.Name, y.Name, reason, weight})
	}
	byKey, byPart := map[string][]int{}, map[string][]int{}
	for i := range a.entities {
		id := a.entities[i].ID
		for _, k := range names.Keys(id) {
			byKey[k] = append(byKey[k], i)
		}
		if w := strings.Fields(id); len(w) > 1 {
			byPart[w[0]] = append(byPart[w[0]], i)
			byPart[w[len(w)-1]] = append(byPart[w[len(w)-1]], i)
		}
	}
	for i := range a.entities {
		e := &a.entities[i]
		if l := byPart[e.ID]; len(l) == 1 {
			add(e, &a.entities[l[0]], "one name is part of the other, and of no other name", .7)
		}
		for _, k := range names.Keys(e.ID) {
			if len(byKey[k]) > maxAlike {
				continue
			}
			for _, j := range byKey[k] {
				if isHan(e.ID) && isHan(a.entities[j].ID) {
					continue // other characters mean another name
				}
				add(e, &a.entities[j], "the names sound alike, and others do too", .5)
			}
		}
	}
	if like != nil {
		places := a.foremost()
		for n, i := range places {
			for _, j := range places[:n] {
				if v := like(a.entities[i].Name, a.entities[j].Name); v >= alikeFrom {
					add(&a.entities[j], &a.entities[i], "their embeddings are alike", min(v, 1))
				}
			}
		}
	}
	sorting.Stable(out, func(x, y Suggestion) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
	})
	return out
}

// whereabouts reports whether a folded name says where something is, such as "with nora": that is
// not another name of Nora.
func whereabouts(id string) bool {
	first, rest, _ := strings.Cut(id, " ")
	switch first {
	case "with", "at", "in", "on", "under", "behind", "beside", "near", "inside", "outside", "next", "from", "by":
		return rest != ""
	}
	return false
}

// foremost returns the indexes of the entities that most memories name.
func (a *Atlas) foremost() []int {
	places := a.byMemories()
	return places[:min(maxCompared, len(places))]
}

// Names returns the names that [Atlas.Suggest] compares by their embeddings.
func (a *Atlas) Names() []string {
	var out []string
	for _, i := range a.foremost() {
		out = append(out, a.entities[i].Name)
	}
	return out
}

// Decisions returns all decisions, in the order of their authority: the last one about a pair
// counts.
func (a *Atlas) Decisions() []Decision { return slices.Clone(a.decisions) }

func pair(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}
