package rules

import (
	"strings"
)

// An answer begins with "yes", "no" or "I do", or with what a question asked for, and may say more in a clause of its
// own.

// reply is an answer to a question. It may begin with "yes", "no" or "I do".
type reply struct {
	sentence
	from             int // the token at which it says more
	yes, no, mixed   bool
	accepts          bool   // "sure", which is a yes to a request
	who, aux         string // of "I do"
	just, never, not bool   // "no, just hay fever", "never", "not any more"
}

var (
	yesWords = set("yes yeah yep yup aye absolutely definitely indeed")
	noWords  = set("no nope nah")
	// hedges tell that somebody does not say for sure.
	hedges = set("think guess maybe perhaps probably possibly might dunno depends depend unsure suppose hopefully reckon idea know remember say sometimes whatever whenever wherever somewhere something someone somebody nothing nowhere nobody " +
		"kidding joking really sort kind ish wish hope ask would could should unless why what who whose how secret")
)

// hedged reports an answer that does not say for sure, or asks back.
func hedged(s sentence) bool {
	for i := range s.toks {
		w, rest := contraction(s.at(i))
		if hedges[w] || w == "not" && (s.at(i+1) == "sure" || s.at(i+1) == "yet") || w == "hard" && s.at(i+1) == "to" || rest == "would" || s.at(i) == `"` || w == "you" || w == "your" {
			return true
		}
		if i > 0 && s.at(i-1) != "," && i < 6 && s.at(i) == "if" {
			return true
		}
	}
	return false
}

// opens reads the words with which an answer begins: "well, yes", "no, just", "I do".
func (a *reply) opens() {
	for a.from < len(a.toks) {
		w, next := a.at(a.from), a.at(a.from+1)
		base, rest := contraction(w)
		switch {
		case a.toks[a.from].kind == 'p':
			if strings.Contains(`"(“`, w) {
				a.mixed = true
			}
		case yesWords[w] || w == "of" && next == "course":
			a.yes = true
			if w == "of" {
				a.from++
			}
		case (w == "sure" || w == "ok" || w == "okay") && (next == "" || next == "," || next == "thing" || next == "will"), w == "no" && (next == "problem" || next == "worries"), w == "will" && next == "do":
			a.accepts = true
			if next == "thing" || next == "problem" || next == "worries" || next == "do" {
				a.from++
			}
		case noWords[w] && (a.from+1 >= len(a.toks) || a.toks[a.from+1].kind == 'p' || next == "not" || next == "just" || next == "only" || next == "never" || subjectPronoun(first(contraction(next)))):
			a.no = true
		case w == "not" && (next == "any" && (a.at(a.from+2) == "more" || a.at(a.from+2) == "longer") || next == "anymore" || next == "since"):
			a.no, a.not = true, true
			if next == "anymore" {
				a.from++
			} else if next == "any" {
				a.from += 2
			}
		case w == "never" && (a.from+1 >= len(a.toks) || a.toks[a.from+1].kind == 'p'):
			a.no, a.never = true, true
		case (w == "just" || w == "only") && !a.yes && !nearness[next]:
			a.just = true
		case lead(w) && w != "no" && w != "still" && w != "recently" && w != "just" && !((a.yes || a.no) && joins[w]):
		case subjectPronoun(base) && a.echo(base, rest):
		default:
			a.mixed = a.mixed || a.yes && a.no || a.accepts && a.no
			return
		}
		a.from++
	}
	a.mixed = a.mixed || a.yes && a.no || a.accepts && a.no
}

// joins begin what somebody adds to a "yes".
var joins = set("but because though although while and")

// echo takes "I do", "he hasn't", "I'm not": the verb of the question alone.
func (a *reply) echo(base, rest string) bool {
	k, aux := a.from+1, rest
	if rest == "" {
		aux, _ = contraction(a.at(k))
		if aux != "am" && !asking[aux] {
			return false
		}
		k++
	} else if rest == "would" {
		return false
	}
	not := rest != "" && a.at(k) == "not" || rest == "" && (strings.HasSuffix(a.at(k-1), "n't") || a.at(k) == "not")
	if a.at(k) == "not" {
		k++
	}
	if rest != "" && !not || base == "it" {
		return false // "I'm a vegan"
	}
	switch w := a.at(k); {
	case w == "" || w == "but" || w == "yes" || w == "yeah" || w == "since" || w == "until" || w == "though" || a.toks[k].kind == 'p':
	default:
		return false
	}
	a.yes, a.no = a.yes || !not, a.no || not
	a.who, a.aux = base, aux
	a.from = k - 1
	return true
}

// echoes reports whether "I do" has the subject and the verb of the question. "I can't" goes with any verb.
func (a *reply) echoes(q *inquiry) bool {
	if a.who == "" || a.who == "we" {
		return true
	}
	if (a.who == "i") != (q.subj == "I") {
		return false
	}
	kind := func(aux string) string {
		base, _, _ := lemma(aux)
		return base
	}
	return modals[a.aux] || modals[q.aux] || kind(a.aux) == kind(q.aux) || a.aux == "am" && q.be() || q.aux == "did" && a.aux == "did"
}

// onlyYesOrNo reports "Yes." and "Oh, no.": the next sentence may say more.
func (s sentence) onlyYesOrNo() bool {
	if len(s.toks) > 4 || s.chinese() || s.ends == "?" {
		return false
	}
	a := reply{sentence: s}
	a.opens()
	return a.from >= len(s.toks) && (a.yes != a.no) && !a.mixed && !a.accepts
}

// ownClause reports a subject and its verb at token i, which need no question.
func (s sentence) ownClause(i int) bool {
	for lead(s.at(i)) || s.at(i) == "," {
		i++
	}
	base, rest := contraction(s.at(i))
	return subjectPronoun(base) || base == "there" || base == "that" || rest != "" && base != "" && s.verbish(i+1) || (s.at(i) == "my" || s.at(i) == "our" || s.at(i) == "the") && s.verbWithin(i+1, 6) || i < len(s.toks) && s.toks[i].cap && s.verbish(i+1) ||
		lemmaSet[s.at(i)] && (s.at(i+1) == "it" || s.at(i+1) == "them")
}

// verbish reports a verb at token i that has a subject before it.
func (s sentence) verbish(i int) bool {
	w := s.at(i)
	l, past, ing := lemma(w)
	_, event := eventNoun(trimS(w))
	return auxiliary(w) && w != "not" || l != "" && !ing && !event && (past || l != w)
}

// parts cuts what an answer says more into the part that needs the question and the one that does not.
func (a *reply) parts() (head, tail sentence) {
	if a.from >= len(a.toks) {
		return
	}
	k := a.from
	if a.ownClause(k) {
		return head, a.sub(k, len(a.toks))
	}
	for i := k; i < len(a.toks); i++ {
		w := a.at(i)
		own := a.toks[i].kind == 'p' || w == "and" || w == "but" || w == "because" || w == "so"
		dash := w == "-" || w == "–" || w == "—" || w == "("
		if w == "and" && subjectPronoun(a.at(i+1)) && i > k && i-k < 3 && a.verbWithin(i+2, 2) {
			return head, a.sub(k, len(a.toks)) // "Buddy and I go for walks"
		}
		if i+1 < len(a.toks) && own && (a.ownClause(i+1) || dash) && i > k {
			tail = a.sub(i+1, len(a.toks))
			for len(tail.toks) > 1 && (tail.at(0) == "and" || tail.at(0) == "but" || tail.at(0) == "so" || tail.at(0) == ",") {
				tail = tail.sub(1, len(tail.toks))
			}
			return a.sub(k, i), tail
		}
	}
	return a.sub(k, len(a.toks)), tail
}

// stated reports whether words that should need the question have a verb of their own.
func (s sentence) stated() bool {
	for i := range s.toks {
		base, rest := contraction(s.at(i))
		if l, past, _ := lemma(base); i > 1 && l != "" && past && !s.toks[i].cap && base != "called" && base != "named" {
			return true // "a friend of mine adopted last year"
		}
		if rest != "" && base != "o" && (rest != "is" || subjectPronoun(base) || s.verbish(i+1) || linked(s.at(i+1))) || auxiliary(base) && base != "not" && base != "can" && base != "may" || base == "who" || base == "which" {
			return true
		}
		if base == "since" || base == "until" || base == "when" {
			return false
		}
		if l, past, ing := lemma(base); i > 0 && l != "" && !past && !ing && l != base && subjectPronoun(s.at(i-1)) {
			return true
		}
	}
	return false
}

// linked reports a word before which 's is "is", and no possessive: "Thanksgiving's always special".
func linked(next string) bool {
	return asksState[next] || personStates[next] || adverb(next) || preposition(next) || determiner(next) || next == "so" || next == "small" || next == "big" || next == "great" || next == "good" || next == "mostly"
}

// unsaid are words that tell nothing of what a question asks for.
var unsaid = set("nice good fine lovely great sorry thanks thank not loads lots everything stuff well same right wow here there it that this them him these those everywhere anything anywhere anyone anybody all both either neither none never always soon later now " +
	"bad terrible awful brilliant perfect close similar different ages forever let hang wait if when where never probably too very so pretty quite plenty enough most more less other another usual oops god")

// fills reports words that can stand for what a question asks for.
func (s sentence) fills() bool {
	if len(s.toks) == 0 || len(s.toks) > 16 {
		return false
	}
	w := s.at(0)
	if unsaid[w] || adverb(w) && !numeral(w) && w != "once" && w != "twice" || w == "recently" || w == "mostly" || w == "besides" || w == "during" || w == "the" && unsaid[s.at(1)] || w == "a" && (s.at(1) == "few" || s.at(1) == "lot" || s.at(1) == "bit" || s.at(1) == "while") {
		return false
	}
	if len(s.toks) > 1 && s.at(1) == "me" || w == "me" && len(s.toks) > 1 {
		return false
	}
	l, past, ing := lemma(w)
	_, event := eventNoun(w)
	return l == "" || ing || event || past && s.toks[0].cap && len(s.toks) == 1 || !past && len(s.toks) == 1
}

// words are those of a part of an answer, as they fit into a statement.
func words(s sentence) (all []string) {
	for i := range s.toks {
		raw := s.text[s.toks[i].start:s.toks[i].end]
		if s.toks[i].kind == 'p' && len(all) > 0 {
			all[len(all)-1] += raw
			continue
		}
		next := i+1 < len(s.toks) && s.toks[i+1].cap
		if w := s.at(i); i == 0 && (determiner(w) || preposition(w) || numeral(w) || oftenSaid[w] || placing(w) || nearness[w] || w == "next" || w == "last" || w == "tomorrow" || !next && lowers(w)) {
			raw = w
		}
		all = append(all, raw)
	}
	return all
}

// lowers reports a word that is no name, though it may begin an answer.
func lowers(w string) bool {
	_, event := eventNoun(w)
	_, _, ing := lemma(w)
	return event || ing || adverb(w) || oftenSaid[w] || lemmaSet[w] || personStates[w]
}
