package rules

import (
	"math"
	"strings"
	"unicode/utf8"
)

// What is worth noting is told by a sum of marks that anybody can read: whose it
// is, when, names, numbers, the kind of verb, what it is about. The weights in
// worth_en.go and worth_zh.go come from testdata/worth.txt and the other lines of
// our own, by TestWorth: each is what its mark adds to the logarithm of
// the odds.

// mark is one thing about a sentence that counts for or against keeping it.
type mark struct {
	name   string
	weight float64
	found  func(*view) float64 // how much of it there is, 0 to 1; of "content" up to 8
}

// view is a sentence as the marks see it.
type view struct {
	s       sentence
	whens   []when
	words   []string // English: in lower case, contractions taken apart
	caps    []bool
	raw     string // Chinese: without marks
	ahead   bool
	day     bool
	content int
}

// worthOf is how likely a sentence is to be worth keeping, 0 to 1.
func worthOf(v *view, marks []mark) float64 {
	sum := 0.0
	for i := range marks {
		sum += marks[i].weight * marks[i].found(v)
	}
	return 1 / (1 + math.Exp(-sum))
}

func (t *talk) view(s sentence) *view {
	v := &view{s: s, whens: findWhens(s, t.now)}
	for i := range v.whens {
		w := &v.whens[i]
		v.day = v.day || w.hasDay && !w.habit
		v.ahead = v.ahead || w.hasDay && !w.habit && w.day > t.now.day && !(w.assumed > 0 && s.wasBefore(w.first))
	}
	v.day = v.day || unreadAt(s, t.now) > 0 // nobody can read it, and it is worth as much
	if s.chinese() {
		v.raw = strings.Trim(s.raw(), " ，,。！!")
		return v
	}
	for i, tok := range s.toks {
		if tok.kind == 'p' {
			continue
		}
		base, rest := contraction(tok.s)
		v.words, v.caps = append(v.words, base), append(v.caps, tok.cap && (i > 0 || sexOf("", base) != 0 || nameWord(base) && !verbish(base) && (verbish(s.at(1)) || rest == "is" || pastForm(s.at(1)) || strings.HasSuffix(s.at(1), "s"))))
		if rest != "" {
			v.words, v.caps = append(v.words, rest), append(v.caps, false)
		}
		if utf8.RuneCountInString(base) > 3 && !function(base) && !preposition(base) && !adverb(base) && !auxiliary(base) && !determiner(base) && !lead(base) && !hosts[base] {
			v.content++
		}
	}
	return v
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// has counts the words of a set, up to two, as halves.
func (v *view) has(words map[string]bool) float64 {
	n := 0
	for _, w := range v.words {
		if words[w] || len(w) > 4 && (words[strings.TrimSuffix(w, "s")] || words[strings.TrimSuffix(w, "es")]) {
			n++
		}
	}
	return float64(min(n, 2)) / 2
}

func (v *view) at(i int) string {
	if i >= 0 && i < len(v.words) {
		return v.words[i]
	}
	return ""
}

// start is the first word that is no lead word.
func (v *view) start() int {
	i := 0
	for i < len(v.words)-1 && (lead(v.words[i]) || sounds[v.words[i]]) {
		i++
	}
	return i
}

func (v *view) any(f func(i int) bool) float64 {
	for i := range v.words {
		if f(i) {
			return 1
		}
	}
	return 0
}

// says counts Chinese words that stand in the sentence, up to two, as halves.
func (v *view) says(words []string) float64 { return saysZh(v.raw, words) }

// saysAlone does the same outside of compoundsZh.
func (v *view) saysAlone(words []string) float64 { return saysZh(compoundsZh.Replace(v.raw), words) }

func saysZh(raw string, words []string) float64 {
	n := 0
	for _, w := range words {
		if strings.Contains(raw, w) {
			n++
		}
	}
	return float64(min(n, 2)) / 2
}

func (v *view) timed(f func(w *when) bool) float64 {
	for i := range v.whens {
		if f(&v.whens[i]) {
			return 1
		}
	}
	return 0
}

func (v *view) number() float64 {
	for i, tok := range v.s.toks {
		in := false
		for k := range v.whens {
			in = in || i >= v.whens[k].first && i < v.whens[k].next
		}
		if !in && (tok.kind == 'n' || tok.kind == 'w' && counts(tok.s)) {
			return 1
		}
	}
	return 0
}
