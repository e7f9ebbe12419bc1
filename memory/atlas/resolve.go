package atlas

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/names"
)

// The predicates of decisions, and the tag of a person's decisions.
const (
	SameAs      = "also known as"
	NotSameAs   = graph.Apart
	TagDecision = "entity"
)

// Decision says that two names mean the same entity, or that they do not.
type Decision struct {
	Memory memory.ID   `json:"memory"`
	A      string      `json:"a"`
	B      string      `json:"b"`
	Same   bool        `json:"same"`
	Rank   memory.Rank `json:"rank"` // 1 a worker, 2 a device, 3 a person
	Learnt time.Time   `json:"learnt,omitzero"`
	Source string      `json:"source,omitempty"` // the plugin, or person

	said memory.Clock // orders decisions of the same millisecond
}

// decisionOf converts a memory to a decision, if it is one.
func decisionOf(m *memory.Memory) (d Decision, ok bool) {
	f := m.Fields.Semantic
	if !f.Relation() {
		return d, false
	}
	same := graph.IsAlias(f.Predicate)
	if !same && !strings.EqualFold(f.Predicate, NotSameAs) {
		return d, false
	}
	return Decision{Memory: m.ID, A: f.Subject, B: f.Object, Same: same, Rank: m.Rank, Learnt: m.Learnt, Source: m.Source.Plugin}, true
}

// ClocksOf returns when each decision among some memories was made, for [Options.Said]. of returns
// the assertions about a memory.
func ClocksOf(ms []memory.Memory, of func(memory.ID) ([]memory.Assertion, error)) (map[memory.ID]memory.Clock, error) {
	out := map[memory.ID]memory.Clock{}
	for i := range ms {
		if _, ok := decisionOf(&ms[i]); !ok {
			continue
		}
		as, err := of(ms[i].ID)
		if err != nil {
			return nil, err
		}
		for _, a := range as {
			if first, ok := out[a.Memory]; a.Act == memory.ActPropose && (!ok || a.Clock.Compare(first) < 0) {
				out[a.Memory] = a.Clock
			}
		}
	}
	return out, nil
}

// Decide returns the text and fields of the memory that says that two names are the same, or are
// not.
func Decide(a, b string, same bool) (text string, f *memory.SemanticFields) {
	if same {
		return a + " is also known as " + b, &memory.SemanticFields{Subject: a, Predicate: SameAs, Object: b}
	}
	return a + " is not the same as " + b, &memory.SemanticFields{Subject: a, Predicate: NotSameAs, Object: b}
}

// name is one folded name, and how it was written.
type name struct {
	folded string
	forms  map[string]int
	kinds  map[string]int
	kind   string
	count  int
	group  int // index in the union
}

// written returns the most frequent spelling of a name; of equally frequent ones the first in
// order.
func (n *name) written() string {
	best := ""
	for _, w := range slices.Sorted(maps.Keys(n.forms)) {
		if best == "" || n.forms[w] > n.forms[best] {
			best = w
		}
	}
	return best
}

func (n *name) all() []string { return slices.Sorted(maps.Keys(n.forms)) }

// resolver finds the names of the same entity.
type resolver struct {
	wearer string // folded; empty: not known
	seen   map[string]*name
}

// fold folds a name. "user" means the wearer.
func (r *resolver) fold(written string) string {
	f := names.Fold(written)
	if f == "user" && r.wearer != "" {
		return r.wearer
	}
	return f
}

func (r *resolver) addMemory(m *memory.Memory) {
	for _, e := range m.Entities {
		r.name(e.Name, e.Kind)
	}
	if f := m.Fields.Semantic; f.Relation() {
		r.name(f.Subject, "")
		r.name(f.Object, "")
	}
}

// name counts a spelling of a name, and the kind that was stated for it, if any.
func (r *resolver) name(written, kind string) {
	f := r.fold(written)
	if f == "" {
		return
	}
	n := r.seen[f]
	if n == nil {
		n = &name{folded: f, forms: map[string]int{}, kinds: map[string]int{}}
		r.seen[f] = n
	}
	if names.Fold(written) == f { // not "user"
		n.forms[written]++
	} else {
		n.forms[f] += 0
	}
	n.count++
	if kind != "" {
		n.kinds[kind]++
	}
}

// resolve groups names of the same entity: names that a decision joins, and
// names with the same key, if in each script only one name has it. If a
// decision keeps two names apart, no decision of the same or a lower rank joins
// them, not even by way of a third name. A decision of a higher rank that joins
// them wins. The name that was used most often is the first of its group.
func (r *resolver) resolve(decisions []Decision) [][]*name {
	for _, d := range decisions {
		r.name(d.A, "")
		r.name(d.B, "")
	}
	all := make([]*name, 0, len(r.seen))
	for _, f := range slices.Sorted(maps.Keys(r.seen)) {
		n := r.seen[f]
		for _, k := range slices.Sorted(maps.Keys(n.kinds)) {
			if n.kind == "" || n.kinds[k] > n.kinds[n.kind] {
				n.kind = k
			}
		}
		all = append(all, n)
	}
	u := newUnion(all)
	// The last decision about a pair counts. Here the decisions of the highest
	// rank come first.
	known := map[[2]string]bool{}
	var hold []Decision
	for _, d := range slices.Backward(decisions) {
		p := pair(r.fold(d.A), r.fold(d.B))
		if p[0] == "" || p[0] == p[1] || known[p] {
			continue
		}
		known[p] = true
		hold = append(hold, d)
	}
	of := func(d *Decision) (a, b *name) { return r.seen[r.fold(d.A)], r.seen[r.fold(d.B)] }
	for len(hold) > 0 { // for each rank, first the decisions that keep apart, then those that join
		n := slices.IndexFunc(hold, func(d Decision) bool { return d.Rank != hold[0].Rank })
		if n < 0 {
			n = len(hold)
		}
		for i := range hold[:n] {
			if a, b := of(&hold[i]); !hold[i].Same && a.group != b.group {
				u.separate(a, b)
			}
		}
		for i := range hold[:n] {
			if a, b := of(&hold[i]); hold[i].Same {
				u.join(a, b)
			}
		}
		hold = hold[n:]
	}
	r.byKeys(all, u)
	return u.groups()
}

// byKeys joins names that share a key: the same words in another order, or a Chinese name and its
// pinyin. It does so only if one such name is known: 张伟 and 张威 share zhangwei, and Zhang Wei is
// then neither.
func (r *resolver) byKeys(all []*name, u *union) {
	byKey := map[string][]*name{}
	for _, n := range all {
		for _, k := range names.Keys(n.folded) {
			byKey[k] = append(byKey[k], n)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		var han, other []*name
		for _, n := range byKey[k] {
			if isHan(n.folded) {
				han = append(han, n)
			} else {
				other = append(other, n)
			}
		}
		if len(han) > 1 {
			han = nil
		}
		for _, list := range [][]*name{han, other} {
			for _, n := range list {
				u.join(cmp.Or(first(other), first(han)), n)
			}
		}
	}
}

func first(list []*name) *name {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// union is a set of groups of names. Some groups must not be joined.
type union struct {
	of    [][]*name      // members by group
	enemy []map[int]bool // groups that a group may not be joined with
}

func newUnion(all []*name) *union {
	u := &union{of: make([][]*name, len(all)), enemy: make([]map[int]bool, len(all))}
	for i, n := range all {
		n.group, u.of[i] = i, []*name{n}
	}
	return u
}

func (u *union) separate(a, b *name) {
	for _, p := range [][2]int{{a.group, b.group}, {b.group, a.group}} {
		if u.enemy[p[0]] == nil {
			u.enemy[p[0]] = map[int]bool{}
		}
		u.enemy[p[0]][p[1]] = true
	}
}

// join joins two groups, unless they have names that must stay apart.
func (u *union) join(a, b *name) {
	x, y := a.group, b.group
	if x == y || u.enemy[x][y] {
		return
	}
	if len(u.of[x]) < len(u.of[y]) {
		x, y = y, x
	}
	for _, n := range u.of[y] {
		n.group = x
	}
	u.of[x], u.of[y] = append(u.of[x], u.of[y]...), nil
	for e := range u.enemy[y] {
		if u.enemy[x] == nil {
			u.enemy[x] = map[int]bool{}
		}
		u.enemy[x][e] = true
		delete(u.enemy[e], y)
		u.enemy[e][x] = true
	}
	u.enemy[y] = nil
}

// groups returns the groups, each beginning with its most frequent name, and ordered by these
// names.
func (u *union) groups() (out [][]*name) {
	for _, g := range u.of {
		if len(g) == 0 {
			continue
		}
		sorting.Sort(g, func(a, b *name) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.folded, b.folded)) })
		out = append(out, g)
	}
	sorting.Sort(out, func(a, b []*name) int { return cmp.Compare(a[0].folded, b[0].folded) })
	return out
}
