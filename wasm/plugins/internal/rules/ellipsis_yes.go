package rules

import (
	"slices"
	"strings"
)

// Answers to questions that ask for yes or no: "yes, to Lena", "not any more", "no, York", "two, Pickle and Marge".

// yesOrNo makes a statement of a question that asks for no word.
func (q *inquiry) yesOrNo(a *reply, head, tail sentence, rest string) (string, string) {
	still := slices.Contains(lowered(q.rest), "still")
	if len(head.toks) == 0 {
		if s := q.gaveUp(tail, a, still); s != "" {
			return s, ""
		}
	}
	switch {
	case !a.echoes(q) || a.yes && len(head.toks) == 0 && slices.Contains(q.rest, "or") || a.accepts || q.denies && !a.no || q.plain && len(head.toks) == 0 && !a.yes && !a.no:
		return "", ""
	case a.yes && len(head.toks) == 0:
		if n := len(tail.toks); n > 0 && n < 4 && auxiliary(tail.at(n-1)) && !subjectPronoun(tail.at(0)) {
			return "", "" // "yes, Mum is"
		}
		if q.asksForAny() {
			return "", "" // "do you play any instruments?", "yeah": which?
		}
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
	case a.no && placing(head.at(0)) && !a.just && head.toks[len(head.toks)-1].cap:
		if k := slices.IndexFunc(q.rest, func(w string) bool { return w == head.at(0) }); k >= 0 && k == len(q.rest)-2 && head.fills() {
			return q.says(false, append(slices.Clone(q.rest[:k]), words(head)...)), rest // "no, in Hull"
		}
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
	timed := oftenSaid[head.at(0)] || (numeral(head.at(0)) && (head.at(1) == "times" || head.at(2) == "a" && head.toks[1].kind != 'p'))
	timed = timed && (head.at(0) == "since" || q.aux == "do" || q.aux == "does" || q.aux == "have" || q.aux == "has")
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
	case a.yes && !q.asksForAny():
		return q.says(false, some), rest
	}
	return "", ""
}

// asksForAny reports a question to which "yes" alone says too little.
func (q *inquiry) asksForAny() bool {
	return slices.ContainsFunc(lowered(q.rest), func(w string) bool { return anyWords[w] })
}

var anyWords = set("any anything anyone anybody anywhere other another else more anymore")

// oftenSaid begin how often or since when something is so.
var oftenSaid = set("every since twice once most")

// placed reports whether words say where something is already.
func (q *inquiry) placed(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return placing(strings.ToLower(w)) })
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
	if (verb == "gave" || verb == "given") && s.at(i+1) == "it" && s.at(i+2) == "up" {
		n = 3
	} else if (verb == "gave" || verb == "given") && s.at(i+1) == "up" || verb == "used" && s.at(i+1) == "to" {
		n = 2
	}
	after := i + n
	if w := s.at(after); after < len(s.toks) && s.toks[after].kind != 'p' && !placing(w) && w != "last" && w != "when" && w != "years" && w != "about" && w != "ages" && w != "two" && w != "a" && w != "after" && w != "yesterday" && w != "this" && !numeral(w) {
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
		_, _, doing := lemma(strings.ToLower(some[0])) // "is your dad still driving?"
		if q.aux != "do" && q.aux != "does" && !(still && doing) || (n > 1) != (verb == "gave" || verb == "given") || some[0] == "have" || some[0] == "live" || some[0] == "work" {
			return ""
		}
		if !doing {
			some[0] = gerund(strings.ToLower(some[0]))
		}
		return q.subj + " " + has + strings.Replace(s.text[s.toks[i].start:s.toks[after-1].end], " it ", " ", 1) + " " + strings.Join(some, " ") + tail
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

// denied is the denial of a question, after "no" and "not any more".
func (q *inquiry) denied(a *reply, still bool) string {
	some := slices.DeleteFunc(slices.Clone(q.rest), func(w string) bool { return strings.EqualFold(w, "still") || strings.EqualFold(w, "not") })
	if k := slices.IndexFunc(some, func(w string) bool { return strings.EqualFold(w, "ever") }); k >= 0 {
		some[k] = "never"
		return q.says(false, some)
	}
	if len(some) == 0 || q.aux == "did" || slices.ContainsFunc(some, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), "any") }) && q.aux != "do" && q.aux != "does" {
		return ""
	}
	if a.not || still {
		if q.aux == "do" || q.aux == "does" {
			return q.says(true, append(some, "any", "more"))
		}
		if at := some[0]; at == "at" && len(some) > 1 && capitalised(some[1]) {
			if q.aux = "does"; q.subj == "I" {
				q.aux = "do"
			}
			return q.says(true, append(append([]string{"work"}, some...), "any", "more"))
		}
		return q.says(false, append([]string{"no", "longer"}, some...))
	}
	return q.says(true, some)
}

// indefinite fills an answer in for "anything", "any pets" or "a cat".
func (q *inquiry) indefinite(head sentence) string {
	w := lowered(q.rest)
	fill := words(head)
	count := numeral(head.at(0)) && head.at(0) != "a" && head.at(0) != "an" && (len(head.toks) == 1 || head.toks[1].kind == 'p')
	first, end := -1, len(w)
	for i := range w {
		switch {
		case w[i] == "anything" || w[i] == "anyone" || w[i] == "anybody" || w[i] == "anywhere":
			first, end = i, i+1
		case w[i] == "any":
			first = i
		case (w[i] == "a" || w[i] == "an") && (count || determiner(head.at(0)) || numeral(head.at(0))) && owning(w):
			first = i
		case i > 0 && i == len(w)-1 && first < 0 && owning(w[:i]) && strings.HasSuffix(w[i], "s") || w[i] == "children":
			if first < 0 {
				first = i
			}
		default:
			continue
		}
		break
	}
	if first < 0 || preposition(head.at(0)) && w[first] != "anywhere" || head.at(0) == "at" || !head.fills() {
		return ""
	}
	for k := first + 1; k < end; k++ {
		if preposition(w[k]) && w[k] != "of" {
			end = k
		}
	}
	noun := trimS(w[end-1])
	if openNouns[w[end-1]] || openNouns[noun] || w[first] == "any" && end-first > 1 && openNouns[trimS(w[first+1])] {
		return ""
	}
	asked := strings.Join(w[first:end], " ")
	switch {
	case strings.Contains(asked, "allerg") || strings.Contains(asked, "dietary"):
		aux := "is"
		if q.subj == "I" || q.aux == "have" || q.aux == "do" {
			aux = "are"
		}
		if personStates[head.at(0)] {
			q.aux = aux
			return q.says(false, fill)
		}
		if head.at(0) == "a" || head.at(0) == "no" {
			return ""
		}
		if strings.Contains(asked, "allerg") && (q.aux == "did" || !head.allergen() && !strings.Contains(strings.ToLower(head.raw()), "fever")) {
			return ""
		}
		if strings.Contains(asked, "allerg") && !strings.Contains(strings.ToLower(head.raw()), "fever") && !strings.Contains(strings.ToLower(head.raw()), "asthma") && !strings.Contains(strings.ToLower(head.raw()), "eczema") {
			q.aux = aux
			return q.says(false, append([]string{"allergic", "to"}, uncapital(fill)...))
		}
		if !strings.Contains(asked, "allerg") {
			return ""
		}
	case count && w[first] != "anything":
		if w[first] == "anyone" || strings.Contains(asked, " or ") {
			return ""
		}
		n, _ := number(head.at(0))
		nouns := q.rest[first:end]
		if w[first] == "any" || w[first] == "a" || w[first] == "an" {
			nouns = nouns[1:]
		}
		nouns = slices.Clone(nouns)
		if len(nouns) == 0 {
			return ""
		}
		if at := len(nouns) - 1; n == 1 {
			nouns[at] = noun
		} else if !strings.HasSuffix(nouns[at], "s") && nouns[at] != "children" {
			nouns[at] += "s"
		}
		number := strings.TrimRight(fill[0], ",")
		more := fill[1:]
		fill = append([]string{number}, nouns...)
		if len(more) > 0 {
			fill[len(fill)-1] += ","
			fill = append(fill, more...)
		}
	case count:
		return ""
	}
	if (w[first] == "anything" || slices.Contains(w, "medication") || slices.ContainsFunc(w[:first], func(v string) bool { return v == "play" || v == "take" || v == "eat" || v == "drink" || v == "like" })) && !slices.Contains(w, "speak") {
		fill = uncapital(fill)
	}
	return q.says(false, q.with(first, end, fill))
}

// owning reports words with "have" or "got" before what somebody has.
func owning(w []string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return s == "have" || s == "got" || s == "keep" || s == "own" })
}

// instead puts a name in the place of the last one: "do you live in Leeds?", "no, York".
func (q *inquiry) instead(head sentence) string {
	n := len(q.rest)
	for len(head.toks) > 1 && (adverb(head.at(len(head.toks)-1)) || head.at(len(head.toks)-1) == "now") {
		head = head.sub(0, len(head.toks)-1)
	}
	k := n
	for k > 0 && capitalised(q.rest[k-1]) {
		k--
	}
	if k == n || k == 0 || !placing(strings.ToLower(q.rest[k-1])) && strings.ToLower(q.rest[k-1]) != "from" && strings.ToLower(q.rest[k-1]) != "to" || slices.ContainsFunc(head.toks, func(t token) bool {
		return !t.cap || sexOf("", t.s) != 0
	}) {
		return ""
	}
	day := func(w string) bool {
		return weekdayOf(strings.ToLower(w), false) >= 0 || monthOf(strings.ToLower(w)) > 0
	}
	if day(head.at(0)) != day(q.rest[k]) {
		return "" // "do you work at Siemens?", "no, Friday"
	}
	return q.says(false, append(slices.Clone(q.rest[:k]), words(head)...))
}
