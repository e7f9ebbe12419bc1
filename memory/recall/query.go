package recall

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shape is what a question is after.
type Shape string

const (
	Who        Shape = "who"
	When       Shape = "when"
	Where      Shape = "where"
	HowTo      Shape = "how_to"
	HowMany    Shape = "how_many"
	Exact      Shape = "exact" // words in quotation marks
	Preference Shape = "preference"
	Plain      Shape = "plain"
)

// signal is one way to score.
type signal uint8

const (
	sigMatch signal = iota
	sigString
	sigLexicon
	sigTime
	sigEntity
	signals
)

// group is a set of terms that count as one.
type group struct {
	signal signal
	idf    float64
	weight float64 // of the group within its signal
	terms  []weighted
}

type weighted struct {
	term   uint32
	weight float64
}

// question is a query, understood.
type question struct {
	shape   Shape
	groups  []group
	list    bool     // asks for several of a matter: "which countries"
	speaker uint32   // the one speaker that is named; 0: none or several
	exact   []uint32 // terms that must all be in a hit
	never   bool     // exact names a term that no document has
	asks    float64  // sum of idf of the words asked for, unknown ones included
}

// understand reads a query against what the index holds.
func (c *core) understand(q Query, s *scratch) question {
	var out question
	words := split(q.Text)
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	now = local(now, q.Zone)
	f := findTimes(words, now)
	out.shape = shapeOf(q.Text, words)
	out.speaker = c.namedSpeaker(words, q.Wearer)

	known := map[string]bool{}
	var asked []string
	for i, x := range words {
		if x.term == "" || f.consumed[i] || known[x.term] {
			continue
		}
		known[x.term] = true
		asked = append(asked, x.term)
		out.list = out.list || plural(x) && len(theLexicon().heads[x.term]) > 0
		weight := 1.0
		if x.han && len([]rune(x.text)) == 1 {
			weight = .3
		}
		t := c.dict.find(x.term)
		if t == none || c.lists[t].df == 0 {
			out.asks += weight * c.idf(0)
			c.spelt(&out, x.term, s)
			continue
		}
		idf := c.idf(float64(c.lists[t].df))
		out.asks += weight * idf
		out.groups = append(out.groups, group{sigMatch, idf, weight, []weighted{{t, 1}}})
		c.spelt(&out, x.term, s)
	}
	c.matters(&out, asked)
	c.timeGroups(&out, f)
	c.entityGroups(&out, words)
	for _, phrase := range quoted(q.Text) {
		for _, x := range split(phrase) {
			if x.term == "" {
				continue
			}
			t := c.dict.find(x.term)
			if t == none {
				out.never = true
				continue
			}
			out.exact = append(out.exact, t)
		}
		out.shape = Exact
	}
	return out
}

// idf is BM25's, never negative.
func (c *core) idf(df float64) float64 {
	n := math.Max(float64(c.counted), df)
	return math.Log(1 + (n-df+.5)/(df+.5))
}

// dfOf is how many documents at most hold one of the terms.
func (c *core) dfOf(terms []weighted) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(c.lists[t.term].df)
	}
	return math.Min(sum, .9*float64(c.counted))
}

// Of spelling: terms are alike from this much on (Dice's coefficient over runs
// of four letters), this many are taken, and runs that more terms than this
// hold are passed over.
const (
	alikeLeast = .4
	alikeMost  = 8
	gramMost   = 1000
)

// spelt adds a group of the terms that are spelt like the term.
func (c *core) spelt(out *question, term string, s *scratch) {
	n := 0
	eachGram(term, func(g uint32) {
		n++
		l := c.grams.lists[g]
		if len(l) > gramMost {
			return
		}
		for _, t := range l {
			if s.shared[t] == 0 {
				s.alike = append(s.alike, t)
			}
			s.shared[t]++
		}
	})
	var terms []weighted
	for _, t := range s.alike {
		theirs := len(c.dict.bytes(t)) - 1
		like := 2 * float64(s.shared[t]) / float64(n+theirs)
		s.shared[t] = 0
		if like >= alikeLeast && c.lists[t].df > 0 {
			terms = append(terms, weighted{t, math.Min(like, 1)})
		}
	}
	s.alike = s.alike[:0]
	slices.SortFunc(terms, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), bytes.Compare(c.dict.bytes(a.term), c.dict.bytes(b.term)))
	})
	terms = terms[:min(len(terms), alikeMost)]
	if len(terms) > 0 {
		out.groups = append(out.groups, group{sigString, c.idf(c.dfOf(terms)), 1, terms})
	}
}

// timeGroups adds the times that the question names, as narrow as it names them.
func (c *core) timeGroups(out *question, f found) {
	add := func(weight float64, names ...string) {
		var terms []weighted
		for _, n := range names {
			if t := c.dict.find(timeMark + n); t != none && c.lists[t].df > 0 {
				terms = append(terms, weighted{t, 1})
			}
		}
		if len(terms) > 0 {
			out.groups = append(out.groups, group{sigTime, c.idf(c.dfOf(terms)), weight, terms})
		}
	}
	for _, s := range f.spans {
		switch days := s.to - s.from + 1; {
		case s.said && f.month != 0 && f.year == 0: // "in May": of any year, the last one most
		case days <= 10:
			var names []string
			for d := s.from; d <= s.to; d++ {
				names = append(names, "D"+strconv.Itoa(int(d)))
			}
			add(1, names...)
			m := dayTime((s.from + s.to) / 2)
			add(.5, monthTerm(m.Year(), int(m.Month()))[1:])
		case days <= 100:
			var names []string
			for t := dayTime(s.from); !t.After(dayTime(s.to)); t = t.AddDate(0, 1, 1-t.Day()) {
				names = append(names, monthTerm(t.Year(), int(t.Month()))[1:])
			}
			add(1, names...)
		default:
			add(1, yearTerm(dayTime(s.from).Year())[1:])
		}
	}
	if f.month != 0 && f.year == 0 {
		add(1, "m"+strconv.Itoa(f.month))
		if f.day != 0 {
			add(1, "d"+strconv.Itoa(f.month)+"-"+strconv.Itoa(f.day))
		}
	}
	if f.weekday != 0 && len(f.spans) == 0 {
		add(.5, "w"+strconv.Itoa(f.weekday))
	}
}

// entityGroups adds the entities whose whole name the question holds.
func (c *core) entityGroups(out *question, words []word) {
	seen := map[uint32]bool{}
	var flat []string
	for _, w := range words {
		if !w.han || len([]rune(w.text)) == 1 {
			flat = append(flat, w.text)
		}
	}
	for i := range flat {
		for n := min(4, len(flat)-i); n > 0; n-- {
			t := c.dict.find(entityMark + strings.Join(flat[i:i+n], " "))
			if t != none && c.lists[t].df > 0 && !seen[t] {
				seen[t] = true
				terms := []weighted{{t, 1}}
				out.groups = append(out.groups, group{sigEntity, c.idf(c.dfOf(terms)), 1, terms})
			}
		}
	}
}

// namedSpeaker is the one speaker whose name stands in the question; 0 where
// there are none or several. I and 我 are the wearer.
func (c *core) namedSpeaker(words []word, wearer string) uint32 {
	one := uint32(0)
	name := func(s string) bool {
		n := c.names.find(s)
		if n == none || c.spoken[n] == 0 || n == one {
			return true
		}
		if one != 0 {
			return false
		}
		one = n
		return true
	}
	me := foldName(wearer)
	for i, w := range words {
		if (w.text == "i" || w.text == "my" || w.text == "me" || w.text == "我") && me != "" && !name(me) {
			return 0
		}
		if !w.capital && !w.han || w.stop {
			continue
		}
		full := w.text
		if !name(full) {
			return 0
		}
		for j := i + 1; j < len(words) && j < i+4; j++ {
			if words[j].han != w.han || w.han && len([]rune(words[j].text)) > 1 {
				continue
			}
			full += " " + words[j].text
			if !name(full) {
				return 0
			}
		}
	}
	return one
}

func quoted(s string) []string {
	var out []string
	for _, q := range []string{`""`, "“”", "「」", "《》"} {
		r := []rune(q)
		rest := s
		for {
			_, after, ok := strings.Cut(rest, string(r[0]))
			if !ok {
				break
			}
			in, tail, ok := strings.Cut(after, string(r[1]))
			if !ok {
				break
			}
			if strings.TrimSpace(in) != "" {
				out = append(out, in)
			}
			rest = tail
		}
	}
	return out
}

func shapeOf(text string, words []word) Shape {
	has := func(list ...string) bool {
		for _, s := range list {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	lower := " " + strings.ToLower(text) + " "
	low := func(list ...string) bool {
		for _, s := range list {
			if strings.Contains(lower, s) {
				return true
			}
		}
		return false
	}
	first := ""
	for _, w := range words {
		if w.text != "and" && w.text != "so" {
			first = w.text
			break
		}
	}
	switch {
	case low(" how many ", " how much ", " how often ", " how old ") || has("多少", "几个", "几次"):
		return HowMany
	case first == "when" || low(" when did ", " when does ", " when is ", " when was ", " when will ", " what date ", " what day ", " which day ", " which year ", " what year ", " which month ", " what month ", " what time ", " how long ") || has("什么时候", "何时", "哪天", "几点", "几号", "哪年", "多久"):
		return When
	case first == "where" || low(" where did ", " where does ", " where is ", " where was ", " which city ", " which country ", " which place ") || has("哪里", "哪儿", "在哪", "什么地方"):
		return Where
	case low(" how to ", " how do i ", " how can i ", " how do you ", " steps to ") || has("怎么", "如何", "步骤"):
		return HowTo
	case first == "who" || first == "whose" || first == "whom" || low(" with whom ", " who did ", " who is ") || has("谁"):
		return Who
	case low(" favorite ", " favourite ", " prefer ", " like to ", " hobbies", " hobby", " enjoy ", " does not like", " like ") || has("喜欢", "爱好", "最爱"):
		return Preference
	}
	return Plain
}

func plural(w word) bool {
	return strings.HasSuffix(w.text, "s") && !strings.HasSuffix(w.text, "ss") || w.text == "children" || w.text == "people"
}
