package rules

import "strings"

// Recognisers write questions without their mark: "is Jonas a vegetarian", "when does the train
// leave". What tells them from statements is the order of their words: an auxiliary, a whole
// subject, and then what is asked of it. A sentence that left its subject out has no subject
// there ("Does the job", "Have a dentist appointment on Friday") and stays what it is, as does
// whatever could be either ("Was my birthday on Sunday").

// unmarked reports a question of one clause that begins at token i and ends in no mark of one.
func (t *talk) unmarked(s sentence, i int) bool {
	if s.ends == "?" || len(clauses(s)) > 1 || i < len(s.toks) && i > 0 && s.toks[i].cap {
		return false // "When Will came home"
	}
	q := unmarkedQuestion{s, t.plain}
	base, rest := contraction(s.at(i))
	switch base {
	case "when", "where", "who", "why", "how", "what", "whose":
		return q.asksWith(base, rest, i+1)
	}
	return q.inverted(i)
}

// unmarkedQuestion is a sentence that is looked at as a question; plain says that its text has no
// capitals.
type unmarkedQuestion struct {
	sentence
	plain bool
}

// asksWith reads what follows a question word: "when does the train leave", "what time is it".
func (q *unmarkedQuestion) asksWith(word, rest string, i int) bool {
	switch {
	case word == "how" && degrees[q.at(i)] || word == "what" && askedFor[q.at(i)]:
		for k := i + 1; k < min(len(q.toks), i+4); k++ {
			if asking[q.at(k)] {
				return true
			}
		}
		return false
	case rest == "":
		if !asking[first(contraction(q.at(i)))] || i < len(q.toks) && q.toks[i].cap {
			return false
		}
		i++
	case rest != "is" && rest != "are" && rest != "will":
		return false
	}
	switch {
	case word == "when":
		aux, _ := contraction(q.at(i - 1))
		if modals[aux] {
			return q.inverted(i - 1)
		}
		return rest != "" || aux == "do" || aux == "does" || aux == "did" || q.subject(i) > 0 || len(q.toks)-i <= 2
	case word == "what":
		idiom := q.at(i) == "you" && q.at(i+1) == "know" || q.at(i) == "i" && q.at(i+1) == "say" // "What can I say, …"
		for k := i; k < len(q.toks); k++ {
			if w := q.at(k); w == "is" || w == "was" || w == "are" || w == "were" {
				return false // "What is important is that …"
			}
		}
		return !idiom
	}
	return true
}

// inverted reads an auxiliary at token i, a subject, and the rest of a question.
func (q *unmarkedQuestion) inverted(i int) bool {
	aux, _ := contraction(q.at(i))
	if aux == "have" || aux == "had" {
		return aux == "have" && (q.at(i+1) == "you" || q.at(i+1) == "we" || q.at(i+1) == "they") && q.participle(i+2)
	}
	if !asking[aux] {
		return false
	}
	first := i + 1
	if impersonal[q.at(first)] && aux != "do" {
		return first+1 < len(q.toks)
	}
	if next := q.names(first); next > first {
		return q.askedOf(aux, first, next)
	}
	switch w := q.at(first); {
	case w == "a" || w == "an" || w == "some" || w == "any" || w == "no":
		return false // "Is a nurse in Graz"
	case determiner(w):
		return q.askedOfThe(aux, first)
	}
	return q.plain && q.askedOfPlain(aux, first)
}

// names is the token after one or two names that begin at token i; i where there is none.
func (q *unmarkedQuestion) names(i int) int {
	k := i
	for k < len(q.toks) && k < i+2 && q.named(k) {
		k++
	}
	if k > i && q.at(k) == "and" && q.named(k+1) {
		return k + 2
	}
	return k
}

func (q *unmarkedQuestion) named(k int) bool {
	if calledSo[q.at(k)] {
		return true // "is mum at home"
	}
	if k >= len(q.toks) || !q.toks[k].cap || q.toks[k].kind != 'w' || !nameWord(q.at(k)) {
		return false
	}
	_, rest := contraction(q.at(k))
	return rest == ""
}

// subject is the token after a subject that begins at token i; 0 where there is none.
func (q *unmarkedQuestion) subject(i int) int {
	switch w := q.at(i); {
	case subjectPronoun(w) || impersonal[w] || determiner(w):
		return i + 1
	}
	if next := q.names(i); next > i {
		return next
	}
	return 0
}

// askedOf reports whether what follows names, at token k, is asked of them.
func (q *unmarkedQuestion) askedOf(aux string, i, k int) bool {
	known := sexOf("", q.at(i)) != 0 || calledSo[q.at(i)]
	switch {
	case k >= len(q.toks) || q.toks[k].kind == 'p':
		return false
	case aux == "do" || aux == "does" || aux == "did":
		return q.verb(k) && (known || mainVerbs[q.at(k)])
	case modals[aux]:
		return q.verb(k) || q.at(k) == "be"
	case aux == "has":
		return q.participle(k)
	case determiner(q.at(k)) || q.doing(k) || asksState[q.at(k)]:
		return true
	}
	return known && (placing(q.at(k)) || q.at(k) == "from" || q.at(k) == "with" || k == len(q.toks)-1 && !adverb(q.at(k)))
}

// askedOfThe reads a subject with a determiner at token i, of one noun or two, and what is asked of it.
func (q *unmarkedQuestion) askedOfThe(aux string, i int) bool {
	own := q.at(i) == "my" || q.at(i) == "our"
	for k := i + 1; k < min(len(q.toks)-1, i+4); k++ {
		w, next := q.at(k), q.at(k+1)
		if q.toks[k].kind != 'w' || superlatives[w] || strings.HasSuffix(w, "est") || preposition(w) || auxiliary(w) || w == "and" {
			return false
		}
		switch {
		case aux == "do" || aux == "does" || aux == "did":
			if mainVerbs[next] {
				return true
			}
		case modals[aux]:
			if q.verb(k+1) || next == "be" {
				return true
			}
		case aux == "has":
			if happened[next] {
				return true
			}
		case kin(w):
			if determiner(next) || q.doing(k+1) || asksState[next] || sexOf(w, "") != 0 && (placing(next) || next == "from") {
				return true
			}
		case days[w] || (aux == "was" || aux == "were") && own:
			return false // "[It] was my birthday on Sunday"
		case q.doing(k+1) || asksState[next] || placing(next) && aux != "was" && aux != "were":
			return true
		}
	}
	return false
}

// askedOfPlain reads one word that may be a name, in a text without capitals: "is jonas a vegetarian".
func (q *unmarkedQuestion) askedOfPlain(aux string, i int) bool {
	w, next := q.at(i), q.at(i+1)
	if i+2 >= len(q.toks) || q.toks[i].kind != 'w' || commonWord(w) || adverb(w) || preposition(w) || placing(w) || superlatives[w] || strings.HasSuffix(w, "ly") || notNames[w] || verbish(w) {
		return false
	}
	switch aux {
	case "is":
		return next == "a" || next == "an"
	case "does", "did":
		return mainVerbs[next]
	}
	return false
}

// verb reports a verb in its base form at token k.
func (q *unmarkedQuestion) verb(k int) bool {
	l, past, ing := lemma(q.at(k))
	return l != "" && l == q.at(k) && !past && !ing
}

// doing reports what somebody is doing at token k: "coming".
func (q *unmarkedQuestion) doing(k int) bool {
	_, _, ing := lemma(q.at(k))
	return ing
}

// participle reports what has been done at token k: "called", "ever been".
func (q *unmarkedQuestion) participle(k int) bool {
	for adverb(q.at(k)) || q.at(k) == "not" || q.at(k) == "yet" {
		k++
	}
	_, past, _ := lemma(q.at(k))
	return past || pastForm(q.at(k)) || q.at(k) == "come" || q.at(k) == "become"
}

var (
	asking     = set("do does did is are was were has have can could will would should shall")
	modals     = set("can could will would should shall")
	impersonal = set("there this that these those anyone anybody anything someone somebody something everyone everybody everything")
	degrees    = set("many much long far old often big tall late early soon")
	// askedFor are what one asks for after "what".
	askedFor = set("time day date year colour color size number room platform floor street kind sort train bus flight")
	// mainVerbs are verbs that are no noun after another noun: "did the school run" has none.
	mainVerbs = set("leave arrive go come say tell eat buy bring get have take live like know want need lose give send forget remember sell pay write speak lend become begin happen " +
		"open close start end finish cost stop belong teach learn understand think believe hear see meet keep own prefer hate contain include ask accept arrive depart reach")
	// happened is what a thing has done by itself: "Has the flat cleaned on Fridays" is no question.
	happened = set("arrived come been gone left started finished happened called turned returned ended become begun moved stopped")
	// asksState is what something can be, in a question.
	asksState = set("open closed late ready free full on off still already out back here there available cancelled canceled due done gone broken sold paid allergic home over okay ok fine safe married vegetarian vegan pregnant sick ill better retired asleep awake alive dead empty finished")
	// superlatives begin what something is, and no subject of a question: "Is the best place in Graz".
	superlatives = set("best worst first second third last only same most least favourite favorite next whole right wrong very usual main new")
	// days are said of a day as a whole: "Is my birthday on Friday".
	days = set("birthday anniversary turn day time")
	// notNames stand before "a" and are no name.
	notNames = set("such quite rather half what like as more less also maybe perhaps still already now then not never always just only even half often sometimes")
)
