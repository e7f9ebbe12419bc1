package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Speech recognition writes questions without their mark: "is Jonas a vegetarian", "when does the
// train leave". The order of their words distinguishes them from statements: an auxiliary, a whole
// subject, and then what is asked about it. A sentence without its subject has no subject there
// ("Does the job", "Have a dentist appointment on Friday") and stays a statement, as does a
// sentence that could be either ("Was my birthday on Sunday").

// Unmarked reports whether a question of one clause begins at token i and ends without a question
// mark.
func Unmarked(t *discourse.Talk, s syntax.Sentence, i int) bool {
	if s.Ends == "?" || len(syntax.Clauses(s)) > 1 || i < len(s.Toks) && i > 0 && s.Toks[i].Cap {
		return false // "When Will came home"
	}
	q := unmarkedQuestion{s, t.Plain}
	base, rest := syntax.Contraction(s.At(i))
	switch base {
	case "when", "where", "who", "why", "how", "what", "whose":
		return q.asksWith(base, rest, i+1)
	}
	return q.inverted(i)
}

// unmarkedQuestion is a sentence that may be a question; plain says that its text has no capitals.
type unmarkedQuestion struct {
	syntax.Sentence
	plain bool
}

// asksWith reads what follows a question word: "when does the train leave", "what time is it".
func (q *unmarkedQuestion) asksWith(word, rest string, i int) bool {
	switch {
	case word == "how" && degrees[q.At(i)] || word == "what" && AskedFor[q.At(i)]:
		for k := i + 1; k < min(len(q.Toks), i+4); k++ {
			if discourse.Asking[q.At(k)] {
				return true
			}
		}
		return false
	case rest == "":
		if !discourse.Asking[syntax.FirstOf(syntax.Contraction(q.At(i)))] || i < len(q.Toks) && q.Toks[i].Cap {
			return false
		}
		i++
	case rest != "is" && rest != "are" && rest != "will":
		return false
	}
	switch {
	case word == "when":
		aux, _ := syntax.Contraction(q.At(i - 1))
		if Modals[aux] {
			return q.inverted(i - 1)
		}
		return rest != "" || aux == "do" || aux == "does" || aux == "did" || q.subject(i) > 0 || len(q.Toks)-i <= 2
	case word == "what":
		idiom := q.At(i) == "you" && q.At(i+1) == "know" || q.At(i) == "i" && q.At(i+1) == "say" // "What can I say, …"
		for k := i; k < len(q.Toks); k++ {
			if w := q.At(k); w == "is" || w == "was" || w == "are" || w == "were" {
				return false // "What is important is that …"
			}
		}
		return !idiom
	}
	return true
}

// inverted reads an auxiliary at token i, a subject, and the rest of a question.
func (q *unmarkedQuestion) inverted(i int) bool {
	aux, _ := syntax.Contraction(q.At(i))
	if aux == "have" || aux == "had" {
		return aux == "have" && (q.At(i+1) == "you" || q.At(i+1) == "we" || q.At(i+1) == "they") && q.participle(i+2)
	}
	if !discourse.Asking[aux] {
		return false
	}
	first := i + 1
	if impersonal[q.At(first)] && aux != "do" {
		return first+1 < len(q.Toks)
	}
	if next := q.names(first); next > first {
		return q.askedOf(aux, first, next)
	}
	switch w := q.At(first); {
	case w == "a" || w == "an" || w == "some" || w == "any" || w == "no":
		return false // "Is a nurse in Graz"
	case syntax.Determiner(w):
		return q.askedOfThe(aux, first)
	}
	return q.plain && q.askedOfPlain(aux, first)
}

// names returns the token after one or two names that begin at token i; i if there are none.
func (q *unmarkedQuestion) names(i int) int {
	k := i
	for k < len(q.Toks) && k < i+2 && q.named(k) {
		k++
	}
	if k > i && q.At(k) == "and" && q.named(k+1) {
		return k + 2
	}
	return k
}

func (q *unmarkedQuestion) named(k int) bool {
	if discourse.CalledSo[q.At(k)] {
		return true // "is mum at home"
	}
	if k >= len(q.Toks) || !q.Toks[k].Cap || q.Toks[k].Kind != 'w' || !syntax.NameWord(q.At(k)) {
		return false
	}
	_, rest := syntax.Contraction(q.At(k))
	return rest == ""
}

// subject returns the token after a subject that begins at token i; 0 if there is none.
func (q *unmarkedQuestion) subject(i int) int {
	switch w := q.At(i); {
	case syntax.SubjectPronoun(w) || impersonal[w] || syntax.Determiner(w):
		return i + 1
	}
	if next := q.names(i); next > i {
		return next
	}
	return 0
}

// askedOf reports whether what follows names, at token k, is asked about them.
func (q *unmarkedQuestion) askedOf(aux string, i, k int) bool {
	known := syntax.SexOf("", q.At(i)) != 0 || discourse.CalledSo[q.At(i)]
	switch {
	case k >= len(q.Toks) || q.Toks[k].Kind == 'p':
		return false
	case aux == "do" || aux == "does" || aux == "did":
		return q.verb(k) && (known || MainVerbs[q.At(k)])
	case Modals[aux]:
		return q.verb(k) || q.At(k) == "be"
	case aux == "has":
		return q.participle(k)
	case syntax.Determiner(q.At(k)) || q.doing(k) || AsksState[q.At(k)]:
		return true
	}
	return known && (syntax.Placing(q.At(k)) || q.At(k) == "from" || q.At(k) == "with" || k == len(q.Toks)-1 && !syntax.Adverb(q.At(k)))
}

// askedOfThe reads a subject with a determiner at token i, of one noun or two, and what is asked
// about it.
func (q *unmarkedQuestion) askedOfThe(aux string, i int) bool {
	own := q.At(i) == "my" || q.At(i) == "our"
	for k := i + 1; k < min(len(q.Toks)-1, i+4); k++ {
		w, next := q.At(k), q.At(k+1)
		if q.Toks[k].Kind != 'w' || superlatives[w] || strings.HasSuffix(w, "est") || syntax.Preposition(w) || syntax.Auxiliary(w) || w == "and" {
			return false
		}
		switch {
		case aux == "do" || aux == "does" || aux == "did":
			if MainVerbs[next] {
				return true
			}
		case Modals[aux]:
			if q.verb(k+1) || next == "be" {
				return true
			}
		case aux == "has":
			if Happened[next] {
				return true
			}
		case syntax.Kin(w):
			if syntax.Determiner(next) || q.doing(k+1) || AsksState[next] || syntax.SexOf(w, "") != 0 && (syntax.Placing(next) || next == "from") {
				return true
			}
		case days[w] || (aux == "was" || aux == "were") && own:
			return false // "[It] was my birthday on Sunday"
		case q.doing(k+1) || AsksState[next] || syntax.Placing(next) && aux != "was" && aux != "were":
			return true
		}
	}
	return false
}

// askedOfPlain reads one word that may be a name, in a text without capitals: "is jonas a vegetarian".
func (q *unmarkedQuestion) askedOfPlain(aux string, i int) bool {
	w, next := q.At(i), q.At(i+1)
	if i+2 >= len(q.Toks) || q.Toks[i].Kind != 'w' || syntax.CommonWord(w) || syntax.Adverb(w) || syntax.Preposition(w) || syntax.Placing(w) || superlatives[w] || strings.HasSuffix(w, "ly") || notNames[w] || syntax.Verbish(w) {
		return false
	}
	switch aux {
	case "is":
		return next == "a" || next == "an"
	case "does", "did":
		return MainVerbs[next]
	}
	return false
}

// verb reports whether a verb in its base form is at token k.
func (q *unmarkedQuestion) verb(k int) bool {
	l, past, ing := syntax.Lemma(q.At(k))
	return l != "" && l == q.At(k) && !past && !ing
}

// doing reports whether token k is what somebody is doing: "coming".
func (q *unmarkedQuestion) doing(k int) bool {
	_, _, ing := syntax.Lemma(q.At(k))
	return ing
}

// participle reports whether token k is what has been done: "called", "ever been".
func (q *unmarkedQuestion) participle(k int) bool {
	for syntax.Adverb(q.At(k)) || q.At(k) == "not" || q.At(k) == "yet" {
		k++
	}
	_, past, _ := syntax.Lemma(q.At(k))
	return past || syntax.PastForm(q.At(k)) || q.At(k) == "come" || q.At(k) == "become"
}

// Modals are modal verbs that begin a question.
var Modals = syntax.Set("can could will would should shall")

var impersonal = syntax.Set("there this that these those anyone anybody anything someone somebody something everyone everybody everything")

var degrees = syntax.Set("many much long far old often big tall late early soon")

// AskedFor are things that people ask for after "what".
var AskedFor = syntax.Set("time day date year colour color size number room platform floor street kind sort train bus flight")

// MainVerbs are verbs that are not nouns after another noun: "did the school run" has none.
var MainVerbs = syntax.Set("leave arrive go come say tell eat buy bring get have take live like know want need lose give send forget remember sell pay write speak lend become begin happen " +
	"open close start end finish cost stop belong teach learn understand think believe hear see meet keep own prefer hate contain include ask accept arrive depart reach")

// Happened are things that happen without an agent: "Has the flat cleaned on Fridays" is not a
// question.
var Happened = syntax.Set("arrived come been gone left started finished happened called turned returned ended become begun moved stopped")

// AsksState are states of something, in a question.
var AsksState = syntax.Set("open closed late ready free full on off still already out back here there available cancelled canceled due done gone broken sold paid allergic home over okay ok fine safe married vegetarian vegan pregnant sick ill better retired asleep awake alive dead empty finished")

// superlatives are beginnings of a description, and not of the subject of a question: "Is the best
// place in Graz".
var superlatives = syntax.Set("best worst first second third last only same most least favourite favorite next whole right wrong very usual main new")

// days are words for a day as a whole: "Is my birthday on Friday".
var days = syntax.Set("birthday anniversary turn day time")

// notNames are words before "a" that are not names.
var notNames = syntax.Set("such quite rather half what like as more less also maybe perhaps still already now then not never always just only even half often sometimes")
