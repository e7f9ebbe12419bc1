package recall

import (
	"math"
	"slices"
	"strings"
	"time"
)

// signal is one of the ways in which a document can match.
type signal uint8

const (
	sigMatch signal = iota
	sigString
	sigLexicon
	sigTime
	sigEntity
	sigGraph
	sigCode
	sigNumber // it finds no documents
	signals
)

// group is a set of terms that count as one, such as the spellings of a word.
type group struct {
	signal signal
	idf    float64
	weight float64 // weight of the group within its signal
	terms  []weighted
	words  []int   // indexes in question.worth of the words that the group stands for
	share  float32 // how much of these words' worth a match counts for confidence
}

type weighted struct {
	term   uint32
	weight float64
}

// question is a query after it was analysed.
type question struct {
	shape       Shape
	worth       []float64 // of each word asked for: its idf, even if no document has it
	asks        float64   // their sum
	groups      []group
	speaker     uint32   // the only speaker that is named; 0: none or several
	stranger    bool     // it is about somebody or something that no document knows
	coded       bool     // it holds a code that some document has
	time        int      // the index in worth of the time that is asked for, -1 if none is
	led         bool     // the relations that it names lead to somebody
	quotes      []phrase // the phrases in quotation marks
	amount      bool     // see asksAmount
	length      bool     // see asksLength
	bare        bool     // see asksBare
	han         bool     // it has Chinese words
	dated       bool     // it asks for nothing but a time
	several     bool     // see asksSeveral
	whether     []int    // of a yes-or-no question, see core.whether
	relative    int      // see thingOf
	thing       []int    // see thingOf
	owned       bool     // it asks about somebody's thing, see Query.Owner
	owner       []int    // the groups that stand for the owner
	ownerSpeaks []uint32 // the speakers with the owner's name
	strict      bool     // the question is nothing but quotes, so only a document that contains them is a hit
}

// Weights of Chinese terms. A single character says less than a pair, unless it
// is a word by itself. A pair that no document has may straddle two words.
const (
	weightCharacter   = .3
	weightGrammar     = .5 // a pair with a grammar character: 京都, but also 了京
	weightWord        = .6
	weightUnknownPair = .3
)

// Worth of words that no document has. Such a word counts more for confidence than its idf alone
// would give. A name counts even more, because a missing name is the surest sign that nobody spoke
// of the matter.
const (
	worthUnknown     = 1.25
	worthUnknownName = 2
)

// understand analyses a query, using the content of the index.
func (c *core) understand(q Query, s *scratch, w *Weights) question {
	var out question
	words := asksTrade(split(haveOrNot.Replace(q.Text)))
	mends := c.correctTypos(words)
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	now = local(now, q.Zone)
	f := findTimes(words, now)
	for _, d := range q.Days {
		f.spans = append(f.spans, span{from: dayOf(local(d[0], q.Zone)), to: dayOf(local(d[1], q.Zone)) - 1})
	}
	parts := f.partsIn(words)
	out.shape = shapeOf(q.Text, words)
	lower := strings.ToLower(q.Text)
	out.amount, out.length = asksAmount(lower, out.shape), asksLength(lower)
	out.speaker = c.namedSpeaker(words, q.Wearer)

	at := map[string]int{} // index in out.worth by term
	var touched []matter
	between := c.betweenWords(words)
	for i, x := range words {
		if _, twice := at[x.term]; x.term == "" || f.consumed[i] || twice || onlyAsks(words, i) {
			continue
		}
		n := len(out.worth)
		at[x.term] = n
		c.askWord(&out, words, i, mends[i], &f, s)
		if parts[i] || between[i] {
			out.worth[n] = 0
		}
		touched = append(touched, matter{x.term, n})
	}
	c.fellowsOfEnglish(&out, words, at)
	c.compounds(&out, words, at)
	touched = c.translated(&out, words, at, touched)
	c.namesInChinese(&out, words, at)
	out.han = slices.ContainsFunc(words, func(x word) bool { return x.han })
	out.bare = asksBare(words, out.worth)
	c.matters(&out, touched, w.Without)
	out.dated = len(f.spans) > 0 && !slices.ContainsFunc(out.worth, func(v float64) bool { return v > 0 })
	out.several = !out.dated && asksSeveral(words)
	if out.dated && (out.shape == Where || slices.ContainsFunc(words, func(x word) bool { return goings[x.term] })) {
		c.arrivals(&out)
	}
	if q.Own != "" && len(q.Own) < len(q.Text) && strings.HasPrefix(q.Text, q.Own) {
		c.weighLentWords(&out, words, len(split(q.Own)), at, w)
	}
	out.relative, out.thing = out.thingOf(words, at)
	c.timeGroups(&out, f)
	if t := c.dict.find(numberMark); (out.amount || out.length) && c.has(t) {
		out.groups = append(out.groups, group{signal: sigNumber, terms: []weighted{{t, 1}}})
	}
	for _, v := range out.worth {
		out.asks += v
	}
	if out.asks == 0 && !out.dated {
		c.asksForSomebody(&out, words, at, foldName(q.Wearer))
	}
	c.entityGroups(&out, words)
	c.relatedGroups(&out, &q, words, at, now)
	c.codeGroups(&out, q.Text, words, &f, at)
	out.whether = c.whether(words, at, out.worth)
	out.stranger = out.strange(q.Text, words, at)
	if q.Owner != "" && q.TellsOfPerson != nil {
		c.owned(&out, q.Owner, at)
	}
	c.quotes(&out, q.Text)
	return out
}

// howWords ask for a number or a time after "how", and say nothing of the matter.
var howWords = set("many much long often")

// happenTerm is the term of "what happened to my phone".
var happenTerm = lemma("happened")

// askWord adds the groups of the word at index i of a question, and its worth. slip is the
// correction of its spelling, if there is one.
func (c *core) askWord(out *question, words []word, i int, slip slipped, f *found, s *scratch) {
	x, n := words[i], len(out.worth)
	own := c.found(x.term, 1)
	g := group{sigMatch, c.idf(c.dfOf(own)), 1, own, []int{n}, 1}
	if slip.was != "" {
		if len(slip.all) > 0 {
			g.terms = slip.all
		}
		g.share = shareMended
		c.spelt(out, slip.was, n, s)
	}
	if x.han && len([]rune(x.text)) == 1 {
		g.weight = weightCharacter
	} else if x.stop && !hanWord(x.text) {
		g.weight = weightGrammar
	}
	same := c.sameAs(words, i, out.shape)
	if len(own) == 0 && len(same) > 0 {
		g.idf = c.idf(c.dfOf(same))
	}
	worth := c.worthOf(x, i, g.weight*g.idf, len(own) > 0 || len(same) > 0)
	if len(f.spans) > 0 && (ofAnyDay[x.term] || f.named[i]) {
		g.weight *= weightOfAnyDay
		worth = 0
	}
	if x.term == happenTerm && i > 0 && words[i-1].text == "what" {
		worth = 0 // whatever happened is told in its own words
	}
	if howWords[x.text] && i > 0 && words[i-1].text == "how" {
		worth = 0 // "how many" asks, as 多少 does
	}
	out.worth = append(out.worth, worth)
	g.terms = append(g.terms, c.inOther(x.term)...)
	if t := c.dict.find(pledgeMark); pledgeWords[x.term] && c.has(t) {
		g.terms = append(g.terms, weighted{t, sharePledge})
	}
	if out.shape == Where && homeWords[x.term] {
		g.terms = append(g.terms, append(c.found(lemma("address"), 1), c.found("地址", 1)...)...)
	}
	g.terms = append(g.terms, same...)
	if len(g.terms) > 0 {
		out.groups = append(out.groups, g)
	}
	c.spelt(out, x.term, n, s)
}

// asksForSomebody makes the names of a question count if it has no other word to look for: "who is
// Paula", "where is Paula from". The wearer's own name is in nearly every memory, and does not
// count.
func (c *core) asksForSomebody(out *question, words []word, at map[string]int, wearer string) {
	for _, x := range words {
		if n, ok := at[x.term]; ok && c.isName(x) && foldName(x.text) != wearer && out.worth[n] == 0 {
			out.worth[n] = 1
			out.asks++
		}
	}
}

// weighLentWords multiplies the weight of the words from index n on by w.Lent, and that of names by
// w.LentName, because "his" and "there" stand for them. If they counted in full, the allergy would
// answer "who is his sister" after "who is allergic to hazelnuts": its line has all lent words, and
// none of the question's own.
func (c *core) weighLentWords(out *question, words []word, n int, at map[string]int, w *Weights) {
	n = min(n, len(words))
	lent := map[int]float64{} // by index in out.worth
	for _, x := range words[n:] {
		i, asked := at[x.term]
		if _, twice := lent[i]; !asked || twice || slices.ContainsFunc(words[:n], func(o word) bool { return o.term == x.term }) {
			continue
		}
		lent[i] = w.Lent
		if x.capital || c.isName(x) {
			lent[i] = w.LentName
		}
		out.worth[i] *= lent[i]
	}
	for i := range out.groups {
		g := &out.groups[i]
		share, own := 0.0, len(g.words) == 0
		for _, i := range g.words {
			s, is := lent[i]
			share, own = max(share, s), own || !is
		}
		if !own {
			g.weight *= share
		}
	}
}

// isName reports whether a word is a name that some document has. A single Chinese character is not
// a name because of its pinyin: 没 is not Mei.
func (c *core) isName(x word) bool {
	return c.knows(x.text) || x.han && len([]rune(x.text)) > 1 && c.knows(foldName(x.text))
}

// anybody are words for any person or thing, in questions such as "is mum allergic to anything".
var anybody = set("anyone anybody anything someone somebody everyone everybody everything nobody nothing")

// worthOf returns how much the word at index i of a question says about a document that has it; 0:
// nothing. base is its weight times its rarity. known reports whether a document has it.
func (c *core) worthOf(x word, i int, base float64, known bool) float64 {
	worth, single := base, x.han && len([]rune(x.text)) == 1
	if !known {
		switch {
		case single:
			worth = 0
		case x.han && !c.unseen(x.text):
			worth *= weightUnknownPair
		default:
			worth *= worthUnknown
			if !x.han && x.capital && i > 0 {
				worth *= worthUnknownName
			}
		}
	}
	if generalWords()[x.term] {
		if known {
			worth *= shareGeneral
		} else {
			worth *= shareGeneralUnknown
		}
	}
	switch {
	case x.han && !single && x.stop && !hanWord(x.text): // 在哪 and 我现 ask for nothing
		return 0
	case anybody[x.text]:
		return 0
	case c.isName(x): // names are in many turns that answer nothing
		return 0
	}
	return worth
}

// namesInChinese adds groups for the Chinese names whose pinyin the question has.
func (c *core) namesInChinese(out *question, words []word, at map[string]int) {
	for _, o := range c.inChinese(words) {
		g := group{signal: sigMatch, idf: c.idf(c.dfOf(o.terms)), weight: 1, terms: o.terms, share: 1}
		for _, i := range o.words {
			if n, ok := at[words[i].term]; ok {
				g.words = append(g.words, n)
				if o.speaker != 0 {
					out.worth[n] = 0
				}
			}
		}
		out.groups = append(out.groups, g)
		if out.speaker == 0 {
			out.speaker = o.speaker
		}
	}
}

// unseen reports whether a Chinese pair has a character that no document has. Such a pair does not
// merely straddle two words: nobody spoke of the matter.
func (c *core) unseen(pair string) bool {
	for _, r := range pair {
		if len(c.found(string(r), 1)) == 0 {
			return true
		}
	}
	return false
}

// found returns the term if some document has it, and nothing otherwise.
func (c *core) found(term string, weight float64) []weighted {
	if t := c.dict.find(term); c.has(t) {
		return []weighted{{t, weight}}
	}
	return nil
}

// addGroup adds a group to the question if it has terms.
func (c *core) addGroup(out *question, g group) {
	if len(g.terms) > 0 {
		g.idf = c.idf(c.dfOf(g.terms))
		out.groups = append(out.groups, g)
	}
}

// idf returns BM25's inverse document frequency. It is never negative.
func (c *core) idf(df float64) float64 {
	n := math.Max(float64(c.counted), df)
	return math.Log(1 + (n-df+.5)/(df+.5))
}

// dfOf returns the greatest number of documents that can have one of the terms.
func (c *core) dfOf(terms []weighted) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(c.lists[t.term].df)
	}
	return math.Min(sum, .9*float64(c.counted))
}

// entityGroups adds the entities whose whole name is in the question.
func (c *core) entityGroups(out *question, words []word) {
	var flat []string
	for _, w := range words {
		if !w.han || len([]rune(w.text)) == 1 {
			flat = append(flat, w.text)
		}
	}
	seen := map[string]bool{}
	for i := range flat {
		for n := min(4, len(flat)-i); n > 0; n-- {
			name := strings.Join(flat[i:i+n], " ")
			terms := c.found(entityMark+name, 1)
			if len(terms) > 0 && !seen[name] {
				seen[name] = true
				out.groups = append(out.groups, group{signal: sigEntity, idf: c.idf(c.dfOf(terms)), weight: 1, terms: terms})
			}
		}
	}
}
