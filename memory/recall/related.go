package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory/graph"

	"github.com/locket-dev/locket/internal/sorting"
)

// says tells the graph what a document names, according to its terms.
func (c *core) says(d uint32) {
	var s graph.Says
	for t := range c.terms(d) {
		switch b := c.dict.bytes(t); b[0] {
		case entityMark[0], mentionMark[0]:
			s.Names = append(s.Names, string(b[1:]))
		case relationMark[0]:
			if r, ok := relationOf(string(b)); ok {
				s.Relations = append(s.Relations, r)
			}
		}
	}
	if len(s.Names) == 0 && len(s.Relations) == 0 {
		return
	}
	slices.Sort(s.Names) // terms are numbered in the order in which they came
	sorting.Sort(s.Relations, func(a, b graph.Relation) int { return strings.Compare(relationTerm(a), relationTerm(b)) })
	s.Speaker, s.Window = c.names.text(c.docs[d].speaker), c.names.text(c.docs[d].session)
	c.graph.Add(graph.Doc(d), s)
}

// Limits and weights of the graph's part in a question: how many related nodes count; how far named
// relations are followed; how much more a named relation counts than another one; the greatest
// weight of nodes found by a walk, relative to those that are meant; the value of the walk at which
// they get it; and the value below which they don't count.
const (
	relatedMost   = 8
	relatedHops   = 3
	relatedFavour = 8
	relatedWay    = .4 // of a node on the way to the person who is meant
	relatedWalk   = .5
	relatedWhole  = .1
	relatedLeast  = .005
)

// meant is a node that the question names, with the indexes in question.worth of the words that
// name it.
type meant struct {
	node  graph.Node
	words []int
	other bool // the question does not have the name in this form
}

// relatedGroups adds the names that are related to those in the question: other names of the people
// who are named, the people who are meant by named relations, and the people whom a walk reaches.
// at has the indexes of the question's terms in out.worth.
func (c *core) relatedGroups(out *question, q *Query, words []word, at map[string]int, now time.Time) {
	if c.graph.Len() == 0 {
		return
	}
	named := c.meant(q, words, at)
	if len(named) == 0 {
		return
	}
	var seeds []graph.Node
	for _, n := range named {
		seeds = append(seeds, n.node)
		if terms := c.named(c.graph.Name(n.node)); n.other && len(n.words) > 0 && len(terms) > 0 {
			out.groups = append(out.groups, group{signal: sigMatch, idf: c.idf(c.dfOf(terms)), weight: 1, terms: terms, words: n.words, share: 1})
		}
	}
	m := matcher{text: q.Text, at: at, known: map[string][]int{}, roles: map[string][]int{}}
	taken := slices.Clone(seeds)
	add := func(n graph.Node, weight float64, stands []int) {
		if len(taken) == relatedMost+len(seeds) || slices.Contains(taken, n) {
			return
		}
		taken = append(taken, n)
		if terms := c.named(c.graph.Name(n)); len(terms) > 0 {
			out.groups = append(out.groups, group{signal: sigGraph, idf: c.idf(c.dfOf(terms)), weight: weight, terms: terms, words: stands, share: shareRelated})
		}
	}
	for _, w := range c.follow(seeds, &m, now) {
		weight := 1.0
		if !w.last {
			weight = relatedWay
		}
		add(w.node, weight, w.words)
		out.led = true
	}
	if c.shown != nil {
		return // a walk uses counts, which don't tell which documents are shown
	}
	var weights []graph.Weight
	for _, n := range seeds { // a speaker is next to everything that they say
		if c.speaks(c.graph.Name(n)) == none {
			weights = append(weights, graph.Weight{Node: n, Value: 1})
		}
	}
	favour := func(predicate string) float64 {
		if len(m.match(predicate)) > 0 {
			return relatedFavour
		}
		return 1
	}
	for i, w := range c.graph.Spread(weights, graph.Walk{At: now, Favour: favour}) {
		if i == 2*relatedMost || w.Value < relatedLeast {
			break
		}
		add(w.Node, relatedWalk*min(1, w.Value/relatedWhole), nil)
	}
}

// meant returns the nodes that the question names: each run of its words that is a name, the
// longest first, and the wearer if it says I.
func (c *core) meant(q *Query, words []word, at map[string]int) []meant {
	var out []meant
	take := func(list []graph.Node, name string, words []int) bool {
		for _, n := range list {
			if !slices.ContainsFunc(out, func(m meant) bool { return m.node == n }) && len(out) < relatedMost {
				out = append(out, meant{n, words, c.graph.Name(n) != name})
			}
		}
		return len(list) > 0
	}
	sight := c.sight()
	var flat []word
	for _, w := range words {
		if !w.han || len(w.text) <= len("字") {
			flat = append(flat, w)
		}
		if w.text == "i" || w.text == "my" || w.text == "me" || w.text == "我" {
			take(sight.Resolve(q.Wearer), "", nil)
			take(sight.Resolve("user"), "", nil)
		}
	}
	for i := 0; i < len(flat); i++ {
		for n := min(4, len(flat)-i); n > 0; n-- {
			if n == 1 && (flat[i].stop || flat[i].han) {
				continue
			}
			var name []byte
			var places []int
			for j, w := range flat[i : i+n] {
				if j > 0 && !w.han {
					name = append(name, ' ')
				}
				name = append(name, w.text...)
				if p, ok := at[w.term]; ok {
					places = append(places, p)
				}
				if j > 0 && w.han {
					if p, ok := at[flat[i+j-1].text+w.text]; ok {
						places = append(places, p)
					}
				}
			}
			if take(sight.Resolve(string(name)), string(name), places) {
				i += n - 1
				break
			}
		}
	}
	return out
}

// way is a node that relations lead to, and the indexes of the words that name these.
type way struct {
	node  graph.Node
	words []int
	last  bool // no named relation leads further
}

// follow goes from the seeds along relations that the question names, using each of its words once
// on a way.
func (c *core) follow(seeds []graph.Node, m *matcher, now time.Time) []way {
	sight := c.sight()
	var out, at []way
	for _, n := range seeds {
		at = append(at, way{node: n})
	}
	for range relatedHops {
		var next []way
		for i := range at {
			w := &at[i]
			w.last = true
			wanted := func(predicate string) bool {
				led := m.lead(predicate)
				return len(led) > 0 && !slices.ContainsFunc(led, func(i int) bool { return slices.Contains(w.words, i) })
			}
			for _, e := range sight.Follow(w.node, now, wanted) {
				if len(next) < relatedMost && !slices.Contains(seeds, e.Node) {
					next = append(next, way{node: e.Node, words: slices.Concat(w.words, m.match(e.Predicate))})
					w.last = false
				}
			}
			if len(w.words) > 0 {
				out = append(out, *w)
			}
		}
		at = next
	}
	for _, w := range at {
		w.last = true
		out = append(out, w)
	}
	sorting.Stable(out, func(a, b way) int { return cmp.Compare(len(b.words), len(a.words)) })
	return out
}

// named returns the terms that a name has in documents.
func (c *core) named(name string) []weighted {
	out := append(c.found(entityMark+name, 1), c.found(mentionMark+name, 1)...)
	words := split(name)
	switch {
	case len(words) == 1 && words[0].term != "":
		out = append(out, c.found(words[0].term, 1)...)
	case len(words) > 1 && words[0].han:
		out = append(out, c.chinese(name)...)
	}
	return out
}

// family are words for relatives and friends, those that stand in the names of predicates.
const family = `mother father parent son daughter child brother sister sibling twin husband wife partner
grandmother grandfather aunt uncle cousin nephew niece friend neighbor neighbour
母亲 父亲 妈妈 爸爸 儿子 女儿 孩子 哥哥 弟弟 姐姐 妹妹 丈夫 妻子 老公 老婆 奶奶 爷爷 外婆 外公 姑姑 阿姨 叔叔 舅舅 表哥 表姐 表弟 表妹 朋友 邻居`

// roles are words of predicates that lead to a person and can then stand for that person: "my
// sister". What somebody likes, or where somebody works, is an answer and not a way to one.
var roles = roleWords(family + ` spouse fiance fiancee boyfriend girlfriend grandparent grandson granddaughter grandchild
family relative roommate flatmate colleague coworker boss manager supervisor assistant mentor coach
trainer tutor teacher student doctor dentist therapist nurse lawyer accountant landlord tenant barber hairdresser mechanic
plumber electrician babysitter nanny vet pet dog cat owner author founder leader captain member client customer
男友 女友 男朋友 女朋友 堂哥 堂弟 室友 同事 同学 老板 上司 经理 助理 教练 老师 学生 医生 牙医 护士 律师 会计 房东 房客 保姆 宠物 狗 猫 主人`)

func roleWords(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[lemma(w)] = true
	}
	return m
}

// role reports whether a predicate leads to a person.
func role(predicate string) bool {
	if roles[predicate] {
		return true
	}
	for _, w := range split(strings.ReplaceAll(predicate, "_", " ")) {
		if roles[w.term] {
			return true
		}
	}
	return false
}

// matcher finds which words of the question a predicate stands for.
type matcher struct {
	text  string
	at    map[string]int // index of a term
	known map[string][]int
	roles map[string][]int // indexes for predicates that lead to a person
}

// lead is match for predicates that lead to a person, and returns nothing for others.
func (m *matcher) lead(predicate string) []int {
	out, ok := m.roles[predicate]
	if !ok {
		if role(predicate) {
			out = m.match(predicate)
		}
		m.roles[predicate] = out
	}
	return out
}

func (m *matcher) match(predicate string) []int {
	if out, ok := m.known[predicate]; ok {
		return out
	}
	var out []int
	take := func(term string) {
		if i, ok := m.at[term]; ok && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	zh := func(word string) {
		if strings.Contains(m.text, word) {
			for _, w := range split(word) {
				take(w.term)
			}
		}
	}
	l := theLexicon()
	zh(predicate)
	for _, en := range l.pairs.inEnglish(predicate) {
		take(en)
	}
	for _, w := range split(strings.ReplaceAll(predicate, "_", " ")) {
		if w.han || w.term == "" {
			continue
		}
		take(w.term)
		for _, word := range l.pairs.inChinese(w.term) {
			zh(word)
		}
	}
	m.known[predicate] = out
	return out
}
