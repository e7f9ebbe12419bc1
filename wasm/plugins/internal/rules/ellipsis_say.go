package rules

import (
	"slices"
	"strings"
)

// pasts are the irregular verbs that one asks for with "did".
var pasts = func() map[string]string {
	m := map[string]string{}
	for f := range strings.FieldsSeq("go=went have=had get=got grow=grew buy=bought meet=met see=saw eat=ate leave=left come=came drive=drove fly=flew take=took give=gave sell=sold lose=lost put=put teach=taught send=sent make=made " +
		"find=found spend=spent tell=told win=won break=broke fall=fell build=built pay=paid begin=began hold=held sleep=slept choose=chose lend=lent cut=cut hurt=hurt wear=wore drink=drank swim=swam ride=rode run=ran keep=kept write=wrote quit=quit become=became read=read stand=stood speak=spoke sit=sat do=did hide=hid") {
		base, past, _ := strings.Cut(f, "=")
		m[base] = past
	}
	return m
}()

// pastOf is a verb in the past; "" where nobody can say.
func pastOf(verb string) string {
	if p := pasts[verb]; p != "" {
		return p
	}
	n := len(verb)
	switch {
	case !lemmaSet[verb]:
		return ""
	case doubles(verb):
		return verb + verb[n-1:] + "ed"
	case n > 1 && verb[n-1] == 'y' && !strings.ContainsAny(verb[n-2:n-1], "aeiou"):
		return verb[:n-1] + "ied"
	case verb[n-1] == 'e':
		return verb + "d"
	}
	return verb + "ed"
}

// sound leaves out what only rounds a question off, and puts the rest into the words of whoever answers. It reports
// whether all of it can be understood.
func (q *inquiry) sound() bool {
	w := lowered(q.rest)
	for _, tail := range [...]string{"for a living", "for work", "these days", "at the moment", "right now", "by the way", "at all", "in particular", "now", "exactly", "originally", "currently", "nowadays", "anyway", "else", "then", "yet", "again", "too", "as well", "do you know", "actually", "for it", "for that", "with it"} {
		if n := strings.Count(tail, " ") + 1; len(w) >= n && strings.Join(w[len(w)-n:], " ") == tail && !(len(w) == n && q.aux == "is") {
			w, q.rest = w[:len(w)-n], q.rest[:len(w)-n]
		}
	}
	for i := range w {
		if w[i] == "you" && i > 0 && (i+1 < len(w) && auxiliary(w[i+1]) || joins[w[i-1]] || w[i-1] == "when" || w[i-1] == "before" || w[i-1] == "after" || w[i-1] == "since" || w[i-1] == "until" || w[i-1] == "do" || w[i-1] == "did") {
			return false // "while you're away"
		}
		if pronounsMeant[w[i]] && !(w[i] == "this" && i+1 < len(w) && periods[w[i+1]]) || w[i] == "or" && q.word == "" && !slices.Contains(w, "any") {
			return false
		}
	}
	q.rest = slices.Clone(q.rest)
	for i := range q.rest {
		if q.rest[i] = q.asSaid(q.rest[i:i+1], false); q.rest[i] == "" {
			return false
		}
	}
	return q.subj != "" || q.word == "who"
}

// pronounsMeant stand for what is not in the question.
var pronounsMeant = set("it that this these those them him they he she if whether because")

// periods are times after "this".
var periods = set("weekend week month year summer winter spring autumn morning afternoon evening term christmas easter monday tuesday wednesday thursday friday saturday sunday")

// minds are verbs whose questions are about no more than the talk, or ask for something.
var minds = set("know think mean mind fancy remember see hear understand feel guess say believe agree hope care wonder suppose realise realize recognise need want find look sound happen manage sleep tell notice enjoy like_to mention try help wait")

// passingStates are how somebody is just now.
var passingStates = set("free available busy ok okay alright sure ready serious hungry thirsty tired cold hot kidding joking done there right home in out up around off back awake asleep happy sad angry fine well better worried nervous excited interested able about lost late early cross upset going_to")

// be reports a question with "is" or "are".
func (q *inquiry) be() bool { return q.aux == "is" || q.aux == "are" || q.aux == "am" }

// passing reports a question whose answer is not worth a statement: it is about this moment, about the talk, or secret.
func (q *inquiry) passing() bool {
	w := lowered(q.rest)
	k := 0
	for k < len(w) && (adverb(w[k]) || w[k] == "not") {
		k++
	}
	first := ""
	if k < len(w) {
		first = w[k]
	}
	l, _, ing := lemma(first)
	subject := strings.ToLower(q.subj)
	noun := last(subject)
	person := q.subj == "I" || subject == "we" || subjectPronoun(subject) || kin(noun) || calledSo[noun] || q.subj != "" && !strings.Contains(q.subj, " ") && q.subj[0] >= 'A' && q.subj[0] <= 'Z'
	switch {
	case q.aux == "should" || q.aux == "shall" || q.aux == "would" && q.subj != "I" || subject == "they" || subject == "it":
		return true
	case minds[l] || passingStates[first] && !(first == "up" && q.word == "what") && (q.aux == "is" || q.aux == "are" || q.aux == "was" || q.aux == "were" || q.aux == "am"):
		return true
	case q.aux == "have" && (q.word == "" && first == "got" || first == "have") && len(w) > k+2 && moments[w[len(w)-1]] || l == "have" && len(w) > 0 && moments[w[len(w)-1]]:
		return true
	case (q.word == "where" || q.word == "what") && person && len(w) == k && q.aux != "have":
		return true // "where are you?"
	case q.word == "how" && q.noun == "" && (l != "get" && l != "travel" && l != "commute"), q.word == "why":
		return true
	case q.word == "what" && len(w) == k && openNouns[noun], q.word == "what" && (first == "like" || first == "for" || first == "wrong" || ing && l != "do" && l != "take" && l != "study" && l != "train"):
		return true
	case q.word == "what" && (q.aux == "did") && (l == "do" || l == "have" || l == "get" || l == "eat" || l == "make"):
		return true
	}
	for _, s := range [...]string{subject, strings.Join(w, " ")} {
		if containsAny(s, "password", "passcode", "code", "pin", "card number", "account", "sort code", "security") {
			return true
		}
	}
	return false
}

// moments are what one is asked for and gives at once.
var moments = set("minute moment second time idea question light pen lighter problem fun clue")

// openNouns are what one asks for and no answer is worth keeping.
var openNouns = set("plan plans point matter problem idea deal story news time weather opinion take thoughts excuse question matter rush catch secret next occasion score tip advice luck chance objection volunteer dessert cash change word answer date day hurry difference hobby matter damage situation verdict mood")

// says is the statement, or its denial, with some words after its subject.
func (q *inquiry) says(neg bool, rest []string) string {
	k := 0
	for k < len(rest) && adverb(strings.ToLower(rest[k])) && k+1 < len(rest) {
		k++
	}
	subj, aux, not := q.subj, q.aux, ""
	self := subj == "I"
	if subj == q.by.name && !q.plain { // "am I", "do I"
		switch aux {
		case "am":
			aux = "is"
		case "do":
			aux = "does"
		case "have":
			aux = "has"
		}
	}
	if neg {
		not = " not"
	}
	said := slices.Clone(rest)
	if (aux == "have" || aux == "has") && k < len(said) && strings.EqualFold(said[k], "got") {
		if said[k] = "have"; aux == "have" {
			aux = "do"
		} else {
			aux = "does"
		}
	}
	switch {
	case self && aux == "are":
		aux = "am"
	case self && aux == "were":
		aux = "was"
	case aux == "do" && !neg:
		aux = ""
	case aux == "does" && !neg:
		if k >= len(said) {
			return ""
		}
		aux, said[k] = "", third(strings.ToLower(said[k]))
	case aux == "did" && !neg:
		if k >= len(said) {
			return ""
		}
		if aux, said[k] = "", pastOf(strings.ToLower(said[k])); said[k] == "" {
			return ""
		}
	}
	if neg && (aux == "do" || aux == "does" || aux == "did") {
		aux, not = aux+"n't", ""
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(subj+" "+aux+not+" "+strings.Join(said, " ")), " ")
}

// someOf are the words after the subject, without "any" and "ever".
func (q *inquiry) someOf() []string {
	return slices.DeleteFunc(slices.Clone(q.rest), func(w string) bool {
		w = strings.ToLower(w)
		return w == "any" || w == "ever" || w == "not"
	})
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
		if at := some[0]; at == "at" && len(some) > 1 && some[1][0] >= 'A' && some[1][0] <= 'Z' {
			if q.aux = "does"; q.subj == "I" {
				q.aux = "do"
			}
			return q.says(true, append(append([]string{"work"}, some...), "any", "more"))
		}
		return q.says(false, append([]string{"no", "longer"}, some...))
	}
	return q.says(true, some)
}

// promised is what somebody is asked to do and plainly accepts to do at a time.
func (q *inquiry) promised(a *reply, head sentence) string {
	if q.subj != "I" || a.no || !a.yes && !a.accepts || q.aux == "shall" || q.aux == "should" || len(q.rest) < 2 {
		return ""
	}
	all := slices.Clone(q.rest)
	if strings.EqualFold(all[0], "please") {
		all = all[1:]
	}
	switch strings.ToLower(all[0]) {
	case "make", "come", "do", "be", "have", "like", "let", "pass", "swim", "eat", "get":
		return ""
	}
	if len(head.toks) > 0 {
		if !placing(head.at(0)) && weekdayOf(head.at(0), false) < 0 && head.at(0) != "tomorrow" && head.at(0) != "tonight" {
			return ""
		}
		all = append(all, words(head)...)
	}
	q.aux = "will"
	said := q.says(false, all)
	for _, w := range lowered(all) {
		if weekdayOf(w, false) >= 0 || w == "tomorrow" || w == "tonight" {
			return said
		}
	}
	return ""
}

// indefinite fills an answer in for "anything", "any pets" or "a cat".
func (q *inquiry) indefinite(head sentence) string {
	w := lowered(q.rest)
	fill := words(head)
	count := number2(head.at(0)) && head.at(0) != "a" && head.at(0) != "an" && (len(head.toks) == 1 || head.toks[1].kind == 'p')
	first, end := -1, len(w)
	for i := range w {
		switch {
		case w[i] == "anything" || w[i] == "anyone" || w[i] == "anybody" || w[i] == "anywhere":
			first, end = i, i+1
		case w[i] == "any":
			first = i
		case (w[i] == "a" || w[i] == "an") && (count || determiner(head.at(0)) || number2(head.at(0))) && owning(w):
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
	return q.says(false, slices.Concat(q.rest[:first], fill, q.rest[end:]))
}

// owning reports words with "have" or "got" before what somebody has.
func owning(w []string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return s == "have" || s == "got" || s == "keep" || s == "own" })
}

// uncapital is an answer whose first word is no name.
func uncapital(words []string) []string {
	if len(words) > 0 && !(len(words) > 1 && !strings.HasSuffix(words[0], ",") && words[1][0] >= 'A' && words[1][0] <= 'Z') {
		words = slices.Clone(words)
		words[0] = strings.ToLower(words[0][:1]) + words[0][1:]
	}
	return words
}

// instead puts a name in the place of the last one: "do you live in Leeds?", "no, York".
func (q *inquiry) instead(head sentence) string {
	n := len(q.rest)
	for len(head.toks) > 1 && (adverb(head.at(len(head.toks)-1)) || head.at(len(head.toks)-1) == "now") {
		head = head.sub(0, len(head.toks)-1)
	}
	k := n
	for k > 0 && q.rest[k-1][0] >= 'A' && q.rest[k-1][0] <= 'Z' {
		k--
	}
	if k == n || k == 0 || !placing(strings.ToLower(q.rest[k-1])) && strings.ToLower(q.rest[k-1]) != "from" && strings.ToLower(q.rest[k-1]) != "to" || slices.ContainsFunc(head.toks, func(t token) bool { return !t.cap }) {
		return ""
	}
	return q.says(false, append(slices.Clone(q.rest[:k]), words(head)...))
}
