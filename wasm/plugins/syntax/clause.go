package syntax

import (
	"slices"
	"strings"
)

// Clause is one predicate with what belongs to it, as indices of the
// sentence's tokens; -1 stands for none.
type Clause struct {
	Predicate int // a verb, or what stands with a copula: "is a doctor"
	Copula    int
	Subject   int
	Inherited bool // the subject is that of the clause that this one depends on or follows
	Object    int
	Indirect  int // whom something is given to
	Obliques  []Oblique
	Negated   bool
	Modal     string // lemma of what makes it possible, wanted or supposed: "can", "might", "想"; "" if it is said to be so
	Mark      string // "if", "because", 如果: what a dependent clause begins with
	Passive   bool
	Tense     Tense
	Aspect    Aspect
	Question  bool
	Quoted    bool   // between quotation marks
	Reported  int    // predicate of who says, thinks or hears it; -1 if the speaker says it
	Relation  string // the predicate's label
	Parent    int    // index of the clause that it depends on, -1 if on none
}

// Oblique is what else takes part, with the word that says how: at, since, 在.
type Oblique struct {
	Case string // lemma; "" if there is none
	Head int
}

// Tense of a clause. Chinese verbs have none.
type Tense uint8

// The tenses.
const (
	NoTense Tense = iota
	Past
	Present
	Future
)

// Aspect of a clause.
type Aspect uint8

// The aspects.
const (
	NoAspect    Aspect = iota
	Perfect            // "has done", 了, 过
	Progressive        // "is doing", 在, 着
)

// Children lists the tokens that depend on token i and have one of the labels,
// or all without any; a label without a subtype stands for all of its own.
func (s *Sentence) Children(i int, labels ...string) []int {
	var list []int
	for k := range s.Tokens {
		if s.Tokens[k].Head != i {
			continue
		}
		bare, _, _ := strings.Cut(s.Tokens[k].Label, ":")
		if len(labels) == 0 || slices.Contains(labels, s.Tokens[k].Label) || slices.Contains(labels, bare) {
			list = append(list, k)
		}
	}
	return list
}

// Child is the first of Children, -1 if there is none.
func (s *Sentence) Child(i int, labels ...string) int {
	if list := s.Children(i, labels...); len(list) > 0 {
		return list[0]
	}
	return -1
}

// Under says whether token i depends on token head, at any distance.
func (s *Sentence) Under(i, head int) bool {
	for i >= 0 {
		if i = s.Tokens[i].Head; i == head {
			return head >= 0
		}
	}
	return false
}

// Phrase is the span of the text that token i and all under it take, but what
// is coordinated with it, says more of it in another clause, or closes the sentence.
func (s *Sentence) Phrase(i int) (start, end int) {
	start, end = s.Tokens[i].Start, s.Tokens[i].End
	for k, t := range s.Tokens {
		at := k
		for at >= 0 && at != i {
			up := s.Tokens[at].Head
			if up == i {
				switch bare, _, _ := strings.Cut(s.Tokens[at].Label, ":"); bare {
				case "conj", "cc", "punct", "parataxis", "discourse", "acl", "advcl", "appos", "vocative", "case", "mark", "cop":
					up = -1
				}
			}
			at = up
		}
		if at == i {
			start, end = min(start, t.Start), max(end, t.End)
		}
	}
	return start, end
}

var clausal = []string{"root", "ccomp", "xcomp", "advcl", "acl", "conj", "parataxis", "csubj"}

// isPredicate says whether token i is the head of a clause.
func (s *Sentence) isPredicate(i int) bool {
	t := &s.Tokens[i]
	bare, _, _ := strings.Cut(t.Label, ":")
	if !slices.Contains(clausal, bare) {
		return false
	}
	if t.UPOS == "VERB" || s.Child(i, "nsubj", "csubj", "cop") >= 0 {
		return true
	}
	return t.UPOS == "AUX" && t.Label == "root" || t.UPOS == "ADJ" && bare != "conj" && (bare != "root" || s.Lang == "zh")
}

// Clauses lists the clauses of a sentence in the order of their predicates.
func (s *Sentence) Clauses() []Clause {
	var list []Clause
	of := map[int]int{} // clause by predicate
	for i := range s.Tokens {
		if s.isPredicate(i) {
			of[i] = len(list)
			list = append(list, s.clause(i))
		}
	}
	quoted := s.quoted()
	for k := range list {
		c := &list[k]
		c.Parent = -1
		for up := s.Tokens[c.Predicate].Head; up >= 0; up = s.Tokens[up].Head {
			if p, ok := of[up]; ok {
				c.Parent = p
				break
			}
		}
		c.Quoted = quoted[c.Predicate]
		c.Reported = s.reported(c.Predicate)
	}
	for k := range list {
		s.inherit(list, k, 0)
	}
	return list
}

func (s *Sentence) clause(i int) Clause {
	t := &s.Tokens[i]
	c := Clause{Predicate: i, Copula: s.Child(i, "cop"), Subject: s.Child(i, "nsubj", "csubj"), Object: s.Child(i, "obj"),
		Indirect: s.Child(i, "iobj"), Relation: t.Label}
	finite := t
	for _, k := range s.Children(i) {
		w := &s.Tokens[k]
		bare, _, _ := strings.Cut(w.Label, ":")
		switch bare {
		case "obl":
			o := Oblique{Head: k}
			if m := s.Child(k, "case"); m >= 0 {
				o.Case = s.Tokens[m].Lemma
			}
			c.Obliques = append(c.Obliques, o)
		case "advmod", "aux", "cop", "det", "dep":
			if w.Label == "aux:pass" {
				c.Passive = true
			}
			if isNegation(w) {
				c.Negated = true
			} else if m := modal(s.Lang, w); m != "" && c.Modal == "" {
				c.Modal = m
			}
			if w.Fine == "MD" && (w.Lemma == "will" || w.Lemma == "'ll" || w.Lemma == "shall") || w.Lemma == "将" || w.Lemma == "将要" {
				c.Tense = Future
			}
			if bare == "aux" || bare == "cop" {
				finite = first(s, finite, w)
				switch w.Lemma {
				case "have", "了", "过":
					c.Aspect = Perfect
				}
			}
			if s.Lang == "zh" && (w.Lemma == "在" || w.Lemma == "正在" || w.Lemma == "着") {
				c.Aspect = Progressive
			}
		case "discourse":
			if s.Lang == "zh" && (w.Lemma == "吗" || w.Lemma == "呢") {
				c.Question = true
			}
			if w.Lemma == "了" {
				c.Aspect = Perfect
			}
		case "mark":
			if c.Mark == "" {
				c.Mark = w.Lemma
			}
		}
		if w.Label == "nsubj:pass" {
			c.Passive = true
		}
	}
	if t.Fine == "VBG" && s.Child(i, "aux") >= 0 {
		c.Aspect = Progressive
	}
	if c.Tense == NoTense {
		switch finite.Fine {
		case "VBD":
			c.Tense = Past
		case "VBZ", "VBP", "MD":
			c.Tense = Present
		case "VBN":
			if finite == t && c.Aspect == NoAspect {
				c.Tense = Past
			}
		}
	}
	if last := s.Tokens[len(s.Tokens)-1].Text; t.Label == "root" && (last == "?" || last == "？") {
		c.Question = true
	}
	return c
}

// first is whichever stands first: the finite verb of a group.
func first(s *Sentence, a, b *Token) *Token {
	if b.Start < a.Start {
		return b
	}
	return a
}

var negations = []string{"not", "n't", "nt", "never", "no", "不", "没", "没有", "未", "别", "不再", "从不", "并不", "并非"}

func isNegation(t *Token) bool {
	return slices.Contains(negations, t.Lemma) && (t.UPOS != "INTJ") || slices.Contains(negations, strings.ToLower(t.Text)) && t.Label == "advmod"
}

var unreal = map[string][]string{
	"en": {"can", "could", "may", "might", "must", "should", "would", "almost", "nearly", "maybe", "perhaps", "probably", "ca", "wo"},
	"zh": {"能", "可以", "可能", "应该", "想", "要", "会", "得", "必须", "差点", "差点儿", "也许", "大概", "好像"},
}

func modal(lang string, t *Token) string {
	if slices.Contains(unreal[lang], t.Lemma) && t.UPOS != "VERB" && t.Lemma != "wo" {
		return t.Lemma
	}
	return ""
}

// quoted tells which tokens stand between quotation marks.
func (s *Sentence) quoted() []bool {
	in := make([]bool, len(s.Tokens))
	open := -1
	for i := range s.Tokens {
		switch s.Tokens[i].Text {
		case "“", "「", "『", "‘":
			open = i
		case "”", "」", "』":
			for k := open + 1; open >= 0 && k < i; k++ {
				in[k] = true
			}
			open = -1
		case "\"", "''", "``":
			if open < 0 {
				open = i
				continue
			}
			for k := open + 1; k < i; k++ {
				in[k] = true
			}
			open = -1
		}
	}
	return in
}

// sayings are verbs after which a clause is somebody's word or thought.
var sayings = wordSet(`say tell ask claim think believe hear hope wish suppose guess promise suggest write text mention explain announce swear insist know feel figure imagine dream pretend shout
说 告诉 问 听说 觉得 认为 以为 希望 想 相信 猜 答应 表示 提到 建议 写 怀疑 梦见 说道 回答 感觉 打算`)

// reported is the predicate of whoever says or thinks clause i, -1 if nobody does.
func (s *Sentence) reported(i int) int {
	for at := i; at >= 0; at = s.Tokens[at].Head {
		bare, _, _ := strings.Cut(s.Tokens[at].Label, ":")
		up := s.Tokens[at].Head
		if up >= 0 && (bare == "ccomp" || bare == "parataxis") && sayings[s.Tokens[up].Lemma] {
			return up
		}
		// "I live in Oslo", said Tom.
		if bare == "root" || bare == "conj" {
			for _, k := range s.Children(at, "parataxis") {
				if sayings[s.Tokens[k].Lemma] && k != i && s.Child(k, "nsubj") >= 0 {
					return k
				}
			}
		}
		if bare == "acl" || bare == "advcl" {
			return -1
		}
	}
	return -1
}

// inherit gives a clause without a subject the one of the clause that governs
// or precedes it.
func (s *Sentence) inherit(list []Clause, k, depth int) int {
	c := &list[k]
	if c.Subject >= 0 || depth > len(list) {
		return c.Subject
	}
	bare, _, _ := strings.Cut(c.Relation, ":")
	from := c.Parent
	if bare == "acl" {
		// Who does it is what it says more of.
		if h := s.Tokens[c.Predicate].Head; h >= 0 {
			c.Subject, c.Inherited = h, true
		}
		return c.Subject
	}
	if s.Lang == "zh" && (from < 0 || bare == "parataxis" || bare == "root") && k > 0 {
		from = k - 1 // a clause goes on about whom the last was about
		for from > 0 && list[from].Relation == "acl:relcl" {
			from--
		}
		if from == c.Parent || list[from].Parent == k && list[from].Subject < 0 {
			from = c.Parent
		}
	}
	if from < 0 {
		return -1
	}
	p := &list[from]
	if bare == "xcomp" && p.Object >= 0 {
		c.Subject, c.Inherited = p.Object, true
		return c.Subject
	}
	if bare == "ccomp" && s.Lang == "en" || bare == "parataxis" && s.Lang == "en" {
		return -1
	}
	if subject := s.inherit(list, from, depth+1); subject >= 0 {
		c.Subject, c.Inherited = subject, true
	}
	return c.Subject
}
