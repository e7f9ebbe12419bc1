package rules

import (
	"slices"
	"strings"
)

// reply is an answer to a question. It may begin with "yes", "no" or "I do".
type reply struct {
	sentence
	from             int // the token at which it says more
	yes, no, mixed   bool
	accepts          bool // "sure", which is a yes to a request
	just, never, not bool // "no, just hay fever", "never", "not any more"
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
	a.from = k - 1
	return true
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

// answeredBy makes a statement of the question and an answer, and gives what the answer says beside it.
func (q *inquiry) answeredBy(a *reply) (statement, rest string) {
	head, tail := a.parts()
	if s := q.tasted(a); s != "" {
		return s, ""
	}
	if head.stated() {
		if !a.yes || len(head.toks) > 5 || head.at(0) != "always" && head.at(0) != "have" && head.at(0) != "has" {
			return "", ""
		}
		head = sentence{} // "yes, always have been"
	}
	if len(tail.toks) > 0 {
		rest = q.ofSubject(tail)
	}
	switch {
	case q.word == "" && q.aux == "have" && len(q.rest) > 1 && q.rest[0] == "seen" && len(tail.toks) == 0 && !a.no && placing(head.at(0)):
		q.subj, q.aux = strings.Join(q.rest[1:], " "), "is" // "have you seen my keys?", "on the table"
		if strings.HasSuffix(q.subj, "s") {
			q.aux = "are"
		}
		return q.says(false, words(head)), ""
	case q.passing():
		return "", ""
	case q.word == "" && modals[q.aux] && q.aux != "will":
		return q.promised(a, head), rest
	case q.word == "":
		return q.yesOrNo(a, head, tail, rest)
	case a.yes || a.no || a.accepts:
		return "", ""
	case len(head.toks) == 0:
		return q.copied(tail), ""
	case !head.fills():
		return "", ""
	}
	return q.filled(head), rest
}

// stated reports whether words that should need the question have a verb of their own.
func (s sentence) stated() bool {
	for i := range s.toks {
		base, rest := contraction(s.at(i))
		if rest != "" && base != "o" && (rest != "is" || subjectPronoun(base) || s.verbish(i+1)) || auxiliary(base) && base != "not" && base != "can" && base != "may" || base == "who" || base == "which" {
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

// unsaid are words that tell nothing of what a question asks for.
var unsaid = set("nice good fine lovely great sorry thanks thank not loads lots everything stuff well same right wow here there it that this them him these those everywhere anything anywhere anyone anybody all both either neither none never always soon later now " +
	"bad terrible awful brilliant perfect close similar different ages forever let hang wait if when where never probably too very so pretty quite plenty enough most more less other another usual oops god")

// fills reports words that can stand for what a question asks for.
func (s sentence) fills() bool {
	if len(s.toks) == 0 || len(s.toks) > 16 {
		return false
	}
	w := s.at(0)
	if unsaid[w] || w == "the" && unsaid[s.at(1)] || w == "a" && (s.at(1) == "few" || s.at(1) == "lot" || s.at(1) == "bit" || s.at(1) == "while") {
		return false
	}
	if len(s.toks) > 1 && s.at(1) == "me" || w == "me" && len(s.toks) > 1 {
		return false
	}
	l, past, ing := lemma(w)
	_, event := eventNoun(w)
	return l == "" || ing || event || past && s.toks[0].cap && len(s.toks) == 1 || l == w && !past && len(s.toks) == 1
}

// ofSubject is a clause that follows in an answer, with the subject of the question for "he" and "she".
func (q *inquiry) ofSubject(s sentence) string {
	base, rest := contraction(s.at(0))
	raw := s.raw()
	if base != "he" && base != "she" || q.subj == "" || q.subj == "I" || q.subj == "we" || q.of.name == q.subj {
		return raw
	}
	if sex := sexOf(last(strings.ToLower(q.subj)), q.subj); base == "he" && sex == female || base == "she" && sex == male {
		return raw
	}
	after := s.text[s.toks[0].end:s.end]
	switch rest {
	case "is":
		if _, past, _ := lemma(s.at(1)); s.at(1) == "been" || past && s.at(1) != "born" {
			return q.subj + " has" + after
		}
		return q.subj + " is" + after
	case "":
		return q.subj + after
	}
	return q.subj + " " + rest + after
}

// yesOrNo makes a statement of a question that asks for no word.
func (q *inquiry) yesOrNo(a *reply, head, tail sentence, rest string) (string, string) {
	still := slices.Contains(lowered(q.rest), "still")
	if len(head.toks) == 0 {
		if s := q.gaveUp(tail, a, still); s != "" {
			return s, ""
		}
	}
	switch {
	case a.accepts || q.denies && !a.no || q.plain && len(head.toks) == 0 && !a.yes && !a.no:
		return "", ""
	case a.yes && len(head.toks) == 0:
		return q.says(false, q.someOf()), rest
	case a.no && (len(head.toks) == 0 || head.at(0) == "not" || a.not || a.never):
		return q.denied(a, still), rest
	case a.no && a.just, a.no && head.toks[0].cap && head.fills() && len(head.toks) < 4:
		if !a.just {
			return q.instead(head), rest
		}
		return q.indefinite(head), rest
	case !a.yes && !a.no && q.be() && personStates[head.at(0)]:
		q.rest = q.rest[:0]
		return q.says(false, words(head)), rest
	case q.be() && !a.yes && len(q.rest) > 1 && (q.rest[0] == "a" || q.rest[0] == "an") && (head.at(0) == "a" || head.at(0) == "an"):
		return q.says(false, words(head)), rest // "are you a doctor?", "no, a vet"
	case !a.yes && len(head.toks) < 6:
		if s := q.retimed(head); s != "" {
			return s, rest
		}
	}
	if a.no || !a.yes && !head.fills() {
		return "", ""
	}
	if s := q.indefinite(head); s != "" {
		return s, rest
	}
	if day := head.at(0); !a.no && strings.HasSuffix(day, "s") && weekdayOf(day[:len(day)-1], false) >= 0 && (q.aux == "do" || q.aux == "does") {
		return q.says(false, append(append(q.someOf(), "on"), words(head)...)), rest // "Mondays and Thursdays"
	}
	timed := oftenSaid[head.at(0)] || (number2(head.at(0)) && (head.at(1) == "times" || head.at(2) == "a"))
	for i := range head.toks {
		if _, clock := q.timed(head.sub(i, len(head.toks))); q.aux == "did" && clock {
			return "", "" // "did you call the dentist?", "yes, Tuesday at nine": when they come, and not when I called
		}
	}
	switch some := q.someOf(); {
	case a.yes && (timed || preposition(head.at(0)) && !preposition(last(strings.Join(some, " ")))), timed:
		if a.from > 0 && preposition(head.at(0)) && q.placed(some) {
			return q.says(false, some) + ", " + head.raw(), rest
		}
		return q.says(false, append(some, words(head)...)), rest
	case a.yes && head.fills() && !unsaid[head.at(0)]:
		return q.says(false, some) + ", " + head.raw(), rest
	case a.yes:
		return q.says(false, some), rest
	}
	return "", ""
}

// oftenSaid begin how often or since when something is so.
var oftenSaid = set("every since twice once most")

// placed reports whether words say where something is already.
func (q *inquiry) placed(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return placing(strings.ToLower(w)) })
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
		if w := s.at(i); i == 0 && (determiner(w) || preposition(w) || number2(w) || placing(w) || nearness[w] || w == "next" || w == "last" || w == "tomorrow" || !next && lowers(w)) {
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

// gaveUp reads "I gave up two years ago", "I left in May" and "used to", whose object is in the question.
func (q *inquiry) gaveUp(s sentence, a *reply, still bool) string {
	if len(s.toks) < 2 || a.yes {
		return ""
	}
	base, rest := contraction(s.at(0))
	if !subjectPronoun(base) || (base == "i") != (q.subj == "I") || base == "it" || base == "we" {
		return ""
	}
	i := 1
	has := ""
	if rest == "have" || rest == "is" && s.at(i) != "left" {
		has = "have "
	} else if rest != "" {
		return ""
	} else if s.at(1) == "have" || s.at(1) == "has" {
		has, i = "have ", 2
	}
	if has != "" && base != "i" {
		has = "has "
	}
	verb, n := s.at(i), 1
	if (verb == "gave" || verb == "given") && s.at(i+1) == "up" || verb == "used" && s.at(i+1) == "to" {
		n = 2
	}
	after := i + n
	if w := s.at(after); after < len(s.toks) && s.toks[after].kind != 'p' && !placing(w) && w != "last" && w != "when" && w != "years" && w != "about" && w != "ages" && w != "two" && w != "a" && w != "after" && w != "yesterday" && w != "this" && !number2(w) {
		return ""
	}
	tail := ""
	if after < len(s.toks) {
		tail = s.text[s.toks[after-1].end:s.end]
	}
	some := q.someOf()
	doing := slices.IndexFunc(some, func(w string) bool { return !adverb(strings.ToLower(w)) })
	if doing < 0 {
		return ""
	}
	switch some = some[doing:]; verb {
	case "gave", "given", "stopped", "quit":
		if q.aux != "do" && q.aux != "does" || (n == 2) != (verb == "gave" || verb == "given") || some[0] == "have" || some[0] == "live" || some[0] == "work" {
			return ""
		}
		some[0] = gerund(strings.ToLower(some[0]))
		return q.subj + " " + has + s.text[s.toks[i].start:s.toks[after-1].end] + " " + strings.Join(some, " ") + tail
	case "used":
		if n != 2 || q.aux != "do" && q.aux != "does" || has != "" || some[0] == "have" {
			return ""
		}
		return q.subj + " used to " + strings.Join(some, " ") + tail
	case "left":
		for k, w := range some {
			if (w == "at" || w == "with" || w == "for") && k+1 < len(some) && still {
				return q.subj + " " + has + "left " + strings.Join(some[k+1:], " ") + tail
			}
		}
	}
	return ""
}

// doubles reports a short verb whose last letter stands twice in its other forms: "stop".
func doubles(s string) bool {
	n := len(s)
	vowel := func(i int) bool { return strings.IndexByte("aeiou", s[i]) >= 0 }
	return n > 2 && n < 6 && !vowel(n-1) && vowel(n-2) && !vowel(n-3) && !strings.ContainsAny(s[n-1:], "wxy") && (n < 5 || !vowel(0) && !vowel(1) && !vowel(2)) && s != "visit" && s != "open"
}

// gerund is the form of a verb in "-ing".
func gerund(s string) string {
	n := len(s)
	switch {
	case strings.HasSuffix(s, "ie"):
		return s[:n-2] + "ying"
	case strings.HasSuffix(s, "e") && !strings.HasSuffix(s, "ee") && s != "be":
		return s[:n-1] + "ing"
	case doubles(s):
		return s + s[n-1:] + "ing"
	}
	return s + "ing"
}

// tasted reads "love them" and "can't stand it" after "do you like olives?".
func (q *inquiry) tasted(a *reply) string {
	if q.word != "" || q.subj != "I" || q.aux != "do" || len(q.rest) < 2 || a.yes && a.no {
		return ""
	}
	switch strings.ToLower(q.rest[0]) {
	case "like", "love", "eat", "drink", "enjoy":
	default:
		return ""
	}
	i := a.from
	if a.at(i) == "i" {
		i++
	}
	first := i
	for adverb(a.at(i)) {
		i++
	}
	switch w, next := a.at(i), a.at(i+1); {
	case (w == "can't" || w == "cannot") && next == "stand", w == "don't" && (next == "like" || next == "eat" || next == "drink"):
		i += 2
	case w == "love" || w == "hate" || w == "adore" || w == "loathe" || w == "detest":
		i++
	default:
		return ""
	}
	if a.at(i) != "it" && a.at(i) != "them" || i+1 < len(a.toks) && a.toks[i+1].kind != 'p' {
		return ""
	}
	return "I " + strings.ToLower(a.text[a.toks[first].start:a.toks[i-1].end]) + " " + strings.Join(q.someOf()[1:], " ")
}
