package ellipsis

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Answers to yes-or-no questions: "yes, to Lena", "not any more", "no, York", "two, Pickle and
// Marge".

// yesOrNo makes a statement from a question without a question word.
func (q *Inquiry) yesOrNo(a *noted.Reply, head, tail syntax.Sentence, rest string) (string, string) {
	still := slices.Contains(lowered(q.Rest), "still")
	if len(head.Toks) == 0 {
		if s := q.gaveUp(tail, a, still); s != "" {
			return s, ""
		}
	}
	switch {
	case !echoes(a, q) || a.Yes && len(head.Toks) == 0 && slices.Contains(q.Rest, "or") || a.Accepts || q.denies && !a.No || q.plain && len(head.Toks) == 0 && !a.Yes && !a.No:
		return "", ""
	case a.Yes && len(head.Toks) == 0:
		if n := len(tail.Toks); n > 0 && n < 4 && syntax.Auxiliary(tail.At(n-1)) && !syntax.SubjectPronoun(tail.At(0)) {
			return "", "" // "yes, Mum is"
		}
		if q.asksForAny() {
			return "", "" // "do you play any instruments?", "yeah": which?
		}
		return q.Says(false, q.someOf()), rest
	case a.No && (len(head.Toks) == 0 || head.At(0) == "not" || a.Not || a.Never):
		return q.denied(a, still), rest
	case a.No && a.Just, a.No && head.Toks[0].Cap && fills(head) && len(head.Toks) < 4:
		if !a.Just {
			return q.instead(head), rest
		}
		return q.indefinite(head), rest
	case !a.Yes && !a.No && q.be() && discourse.PersonStates[head.At(0)]:
		q.Rest = q.Rest[:0]
		return q.Says(false, words(head)), rest
	case q.be() && !a.Yes && len(q.Rest) > 1 && (q.Rest[0] == "a" || q.Rest[0] == "an") && (head.At(0) == "a" || head.At(0) == "an"):
		return q.Says(false, words(head)), rest // "are you a doctor?", "no, a vet"
	case a.No && syntax.Placing(head.At(0)) && !a.Just && head.Toks[len(head.Toks)-1].Cap:
		if k := slices.IndexFunc(q.Rest, func(w string) bool { return w == head.At(0) }); k >= 0 && k == len(q.Rest)-2 && fills(head) {
			return q.Says(false, append(slices.Clone(q.Rest[:k]), words(head)...)), rest // "no, in Hull"
		}
	case !a.Yes && len(head.Toks) < 6:
		if s := q.retimed(head); s != "" {
			return s, rest
		}
	}
	if a.No || !a.Yes && !fills(head) {
		return "", ""
	}
	if s := q.indefinite(head); s != "" {
		return s, rest
	}
	if day := head.At(0); !a.No && strings.HasSuffix(day, "s") && syntax.WeekdayOf(day[:len(day)-1], false) >= 0 && (q.Aux == "do" || q.Aux == "does") {
		return q.Says(false, append(append(q.someOf(), "on"), words(head)...)), rest // "Mondays and Thursdays"
	}
	timed := oftenSaid[head.At(0)] || (Numeral(head.At(0)) && (head.At(1) == "times" || head.At(2) == "a" && head.Toks[1].Kind != 'p'))
	timed = timed && (head.At(0) == "since" || q.Aux == "do" || q.Aux == "does" || q.Aux == "have" || q.Aux == "has")
	for i := range head.Toks {
		if _, clock := q.timed(head.Sub(i, len(head.Toks))); q.Aux == "did" && clock {
			return "", "" // "did you call the dentist?", "yes, Tuesday at nine": that is when they come, and not when I called
		}
	}
	switch some := q.someOf(); {
	case a.Yes && (timed || syntax.Preposition(head.At(0)) && !syntax.Preposition(discourse.Last(strings.Join(some, " ")))), timed:
		if a.From > 0 && syntax.Preposition(head.At(0)) && q.placed(some) {
			return q.Says(false, some) + ", " + head.Raw(), rest
		}
		return q.Says(false, append(some, words(head)...)), rest
	case a.Yes && fills(head) && !unsaid[head.At(0)]:
		return q.Says(false, some) + ", " + head.Raw(), rest
	case a.Yes && !q.asksForAny():
		return q.Says(false, some), rest
	}
	return "", ""
}

// asksForAny reports whether "yes" alone says too little as an answer.
func (q *Inquiry) asksForAny() bool {
	return slices.ContainsFunc(lowered(q.Rest), func(w string) bool { return anyWords[w] })
}

var anyWords = syntax.Set("any anything anyone anybody anywhere other another else more anymore")

// oftenSaid are beginnings of how often or since when something is true.
var oftenSaid = syntax.Set("every since twice once most")

// placed reports whether words already say where something is.
func (q *Inquiry) placed(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return syntax.Placing(strings.ToLower(w)) })
}

// gaveUp reads "I gave up two years ago", "I left in May" and "used to", whose object is in the
// question.
func (q *Inquiry) gaveUp(s syntax.Sentence, a *noted.Reply, still bool) string {
	if len(s.Toks) < 2 || a.Yes {
		return ""
	}
	base, rest := syntax.Contraction(s.At(0))
	if !syntax.SubjectPronoun(base) || (base == "i") != (q.Subj == "I") || base == "it" || base == "we" {
		return ""
	}
	i := 1
	has := ""
	if rest == "have" || rest == "is" && s.At(i) != "left" {
		has = "have "
	} else if rest != "" {
		return ""
	} else if s.At(1) == "have" || s.At(1) == "has" {
		has, i = "have ", 2
	}
	if has != "" && base != "i" {
		has = "has "
	}
	verb, n := s.At(i), 1
	if (verb == "gave" || verb == "given") && s.At(i+1) == "it" && s.At(i+2) == "up" {
		n = 3
	} else if (verb == "gave" || verb == "given") && s.At(i+1) == "up" || verb == "used" && s.At(i+1) == "to" {
		n = 2
	}
	after := i + n
	if w := s.At(after); after < len(s.Toks) && s.Toks[after].Kind != 'p' && !syntax.Placing(w) && w != "last" && w != "when" && w != "years" && w != "about" && w != "ages" && w != "two" && w != "a" && w != "after" && w != "yesterday" && w != "this" && !Numeral(w) {
		return ""
	}
	tail := ""
	if after < len(s.Toks) {
		tail = s.Text[s.Toks[after-1].End:s.End]
	}
	some := q.someOf()
	doing := slices.IndexFunc(some, func(w string) bool { return !syntax.Adverb(strings.ToLower(w)) })
	if doing < 0 {
		return ""
	}
	switch some = some[doing:]; verb {
	case "gave", "given", "stopped", "quit":
		_, _, doing := syntax.Lemma(strings.ToLower(some[0])) // "is your dad still driving?"
		if q.Aux != "do" && q.Aux != "does" && !(still && doing) || (n > 1) != (verb == "gave" || verb == "given") || some[0] == "have" || some[0] == "live" || some[0] == "work" {
			return ""
		}
		if !doing {
			some[0] = gerund(strings.ToLower(some[0]))
		}
		return q.Subj + " " + has + strings.Replace(s.Text[s.Toks[i].Start:s.Toks[after-1].End], " it ", " ", 1) + " " + strings.Join(some, " ") + tail
	case "used":
		if n != 2 || q.Aux != "do" && q.Aux != "does" || has != "" || some[0] == "have" {
			return ""
		}
		return q.Subj + " used to " + strings.Join(some, " ") + tail
	case "left":
		for k, w := range some {
			if (w == "at" || w == "with" || w == "for") && k+1 < len(some) && still {
				return q.Subj + " " + has + "left " + strings.Join(some[k+1:], " ") + tail
			}
		}
	}
	return ""
}

// tasted reads "love them" and "can't stand it" after "do you like olives?".
func (q *Inquiry) tasted(a *noted.Reply) string {
	if q.Word != "" || q.Subj != "I" || q.Aux != "do" || len(q.Rest) < 2 || a.Yes && a.No {
		return ""
	}
	switch strings.ToLower(q.Rest[0]) {
	case "like", "love", "eat", "drink", "enjoy":
	default:
		return ""
	}
	i := a.From
	if a.At(i) == "i" {
		i++
	}
	first := i
	for syntax.Adverb(a.At(i)) {
		i++
	}
	switch w, next := a.At(i), a.At(i+1); {
	case (w == "can't" || w == "cannot") && next == "stand", w == "don't" && (next == "like" || next == "eat" || next == "drink"):
		i += 2
	case w == "love" || w == "hate" || w == "adore" || w == "loathe" || w == "detest":
		i++
	default:
		return ""
	}
	if a.At(i) != "it" && a.At(i) != "them" || i+1 < len(a.Toks) && a.Toks[i+1].Kind != 'p' {
		return ""
	}
	return "I " + strings.ToLower(a.Text[a.Toks[first].Start:a.Toks[i-1].End]) + " " + strings.Join(q.someOf()[1:], " ")
}

// denied returns the denial of a question, after "no" and "not any more".
func (q *Inquiry) denied(a *noted.Reply, still bool) string {
	some := slices.DeleteFunc(slices.Clone(q.Rest), func(w string) bool { return strings.EqualFold(w, "still") || strings.EqualFold(w, "not") })
	if k := slices.IndexFunc(some, func(w string) bool { return strings.EqualFold(w, "ever") }); k >= 0 {
		some[k] = "never"
		return q.Says(false, some)
	}
	if len(some) == 0 || q.Aux == "did" || slices.ContainsFunc(some, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), "any") }) && q.Aux != "do" && q.Aux != "does" {
		return ""
	}
	if a.Not || still {
		if q.Aux == "do" || q.Aux == "does" {
			return q.Says(true, append(some, "any", "more"))
		}
		if at := some[0]; at == "at" && len(some) > 1 && discourse.Capitalised(some[1]) {
			if q.Aux = "does"; q.Subj == "I" {
				q.Aux = "do"
			}
			return q.Says(true, append(append([]string{"work"}, some...), "any", "more"))
		}
		return q.Says(false, append([]string{"no", "longer"}, some...))
	}
	return q.Says(true, some)
}

// indefinite replaces "anything", "any pets" or "a cat" by an answer.
func (q *Inquiry) indefinite(head syntax.Sentence) string {
	q.Rest = slices.DeleteFunc(slices.Clone(q.Rest), func(w string) bool { return strings.EqualFold(w, "ever") })
	w := lowered(q.Rest)
	if head.At(0) == "to" && len(head.Toks) > 1 && slices.ContainsFunc(w, func(s string) bool { return strings.HasPrefix(s, "allerg") }) {
		head = head.Sub(1, len(head.Toks)) // "only to penicillin"
	}
	fill := words(head)
	count := Numeral(head.At(0)) && head.At(0) != "a" && head.At(0) != "an" && (len(head.Toks) == 1 || head.Toks[1].Kind == 'p')
	first, end := -1, len(w)
	for i := range w {
		switch {
		case w[i] == "anything" || w[i] == "anyone" || w[i] == "anybody" || w[i] == "anywhere":
			first, end = i, i+1
		case w[i] == "any":
			first = i
		case (w[i] == "a" || w[i] == "an") && (count || syntax.Determiner(head.At(0)) || Numeral(head.At(0))) && owning(w):
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
	if first < 0 || syntax.Preposition(head.At(0)) && w[first] != "anywhere" || head.At(0) == "at" || !fills(head) {
		return ""
	}
	for k := first + 1; k < end; k++ {
		if syntax.Preposition(w[k]) && w[k] != "of" {
			end = k
		}
	}
	noun := syntax.Singular(w[end-1])
	if OpenNouns[w[end-1]] || OpenNouns[noun] || w[first] == "any" && end-first > 1 && OpenNouns[syntax.Singular(w[first+1])] {
		return ""
	}
	asked := strings.Join(w[first:end], " ")
	switch {
	case strings.Contains(asked, "allerg") || strings.Contains(asked, "dietary"):
		aux := "is"
		if q.Subj == "I" || q.Aux == "have" || q.Aux == "do" {
			aux = "are"
		}
		if discourse.PersonStates[head.At(0)] {
			q.Aux = aux
			return q.Says(false, fill)
		}
		if head.At(0) == "a" || head.At(0) == "no" {
			return ""
		}
		if strings.Contains(asked, "allerg") && (q.Aux == "did" || !allergen(head) && !strings.Contains(strings.ToLower(head.Raw()), "fever")) {
			return ""
		}
		if strings.Contains(asked, "allerg") && !strings.Contains(strings.ToLower(head.Raw()), "fever") && !strings.Contains(strings.ToLower(head.Raw()), "asthma") && !strings.Contains(strings.ToLower(head.Raw()), "eczema") {
			q.Aux = aux
			return q.Says(false, append([]string{"allergic", "to"}, uncapital(fill)...))
		}
		if !strings.Contains(asked, "allerg") {
			return ""
		}
	case count && w[first] != "anything":
		if w[first] == "anyone" || strings.Contains(asked, " or ") {
			return ""
		}
		n, _ := syntax.Number(head.At(0))
		nouns := q.Rest[first:end]
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
	return q.Says(false, q.with(first, end, fill))
}

// owning reports whether words have "have" or "got" before what somebody has.
func owning(w []string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return s == "have" || s == "got" || s == "keep" || s == "own" })
}

// instead replaces the last name by another one: "do you live in Leeds?", "no, York".
func (q *Inquiry) instead(head syntax.Sentence) string {
	n := len(q.Rest)
	for len(head.Toks) > 1 && (syntax.Adverb(head.At(len(head.Toks)-1)) || head.At(len(head.Toks)-1) == "now") {
		head = head.Sub(0, len(head.Toks)-1)
	}
	k := n
	for k > 0 && discourse.Capitalised(q.Rest[k-1]) {
		k--
	}
	if k == n || k == 0 || !syntax.Placing(strings.ToLower(q.Rest[k-1])) && strings.ToLower(q.Rest[k-1]) != "from" && strings.ToLower(q.Rest[k-1]) != "to" || slices.ContainsFunc(head.Toks, func(t syntax.Token) bool {
		return !t.Cap || syntax.SexOf("", t.S) != 0
	}) {
		return ""
	}
	day := func(w string) bool {
		return syntax.WeekdayOf(strings.ToLower(w), false) >= 0 || syntax.MonthOf(strings.ToLower(w)) > 0
	}
	if day(head.At(0)) != day(q.Rest[k]) {
		return "" // "do you work at Siemens?", "no, Friday"
	}
	return q.Says(false, append(slices.Clone(q.Rest[:k]), words(head)...))
}
