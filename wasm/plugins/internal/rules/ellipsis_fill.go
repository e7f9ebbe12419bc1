package rules

import (
	"slices"
	"strings"
)

// Answers to questions with a word for what they ask: a place, a person, a job, a number.

// filled makes a statement of a question: the answer takes the place of the question word.
func (q *inquiry) filled(head sentence) string {
	fill, w := words(head), lowered(q.rest)
	if timed, _ := q.timed(head); timed && q.word != "when" && q.word != "how" {
		return ""
	}
	said := strings.ToLower(head.raw())
	switch q.word {
	case "where":
		return q.filledPlace(head, fill, w)
	case "when":
		return q.filledTime(head, w)
	case "who":
		return q.filledWho(head, fill, w)
	case "how":
		return q.filledHow(head, fill, w)
	}
	if len(w) == 0 && q.subj == "my job" || len(w) == 1 && w[0] == "do" && q.noun == "" {
		return q.filledJob(head, said, false)
	}
	switch {
	case q.noun != "" && len(w) == 0:
		if q.subj == "I" && (q.noun == "group" || q.noun == "type") && strings.Contains(strings.ToLower(q.raw()), " blood ") {
			return "My blood type is " + head.raw()
		}
		return ""
	case len(w) == 0 && (kin(last(strings.ToLower(q.subj))) || preposition(head.at(0)) || q.aux != "is" && q.aux != "are"), len(w) > 0 && preposition(head.at(0)):
		return ""
	case len(w) == 0 && strings.HasSuffix(q.subj, "name") && !head.namesOne():
		return ""
	case len(w) == 0:
		return q.says(false, fill)
	case w[0] == "doing" || w[0] == "up" && len(w) > 1 && w[1] == "to":
		return q.filledDoing(head, w)
	case w[0] == "do":
		return ""
	case w[0] == "called" || w[0] == "named":
		animal := strings.TrimPrefix(q.subj, "my ")
		switch {
		case !head.namesOne():
			return ""
		case pet(animal) && animal != q.subj:
			return "I have a " + animal + " called " + strings.Join(fill, " ")
		}
		return q.says(false, append([]string{"called"}, fill...))
	}
	if w[0] != "speak" && w[0] != "support" && w[0] != "drive" && w[0] != "read" && w[0] != "watch" && !preposition(w[len(w)-1]) || w[0] == "allergic" {
		fill = uncapital(fill)
	}
	if numeral(strings.TrimRight(head.at(0), ",")) && len(fill) == 1 || w[0] == "allergic" && !head.allergen() {
		return ""
	}
	return q.says(false, q.with(q.gap(w), q.gap(w), fill))
}

// allergen reports words that can be what somebody is allergic to, and are no person, state or occasion.
func (s sentence) allergen() bool {
	for i := range s.toks {
		w, rest := contraction(s.at(i))
		_, event := eventNoun(w)
		if event || kin(w) || sexOf("", w) != 0 || rest != "" || personStates[w] || feelings[w] || noAllergens[w] {
			return false
		}
	}
	return true
}

var noAllergens = set("allergic allergy allergies work table dinner lunch breakfast room school home my your me")

// namesOne reports an answer that begins with a name.
func (s sentence) namesOne() bool {
	w := s.at(0)
	return s.toks[0].cap && nameWord(w) && !numeral(w) && !determiner(w) && !thingWord(w) && !possession[w] && !noAllergens[w] && !numeral(s.at(1))
}

// gap is where the object of a statement stands: after its verb, or after the preposition that stands last.
func (q *inquiry) gap(w []string) int {
	if n := len(w); preposition(w[n-1]) || w[0] == "allergic" || w[0] == "afraid" {
		return n
	}
	k := 0
	for k < len(w) && (adverb(w[k]) || w[k] == "going" || w[k] == "to" || w[k] == "been") {
		k++
	}
	return min(len(w), k+1)
}

// fields are what people work in.
var fields = set("insurance finance it hr tech logistics construction retail sales security education healthcare tourism software law medicine journalism hospitality admin pr publishing")

// idle are no work, though one says them of what one does.
var idle = set("bit mum mom dad mother father parent student pensioner retired lot mess housewife")

// filledJob makes "I work as a conveyancer" of "a conveyancer", and "I work in insurance" of "insurance".
func (q *inquiry) filledJob(head sentence, said string, sure bool) string {
	if q.subj == "my job" {
		q.subj, q.aux = "I", "do"
	}
	q.rest = []string{"work"}
	i := 0
	article := head.at(0) == "a" || head.at(0) == "an"
	for i < len(head.toks) && head.toks[i].kind != 'p' && !preposition(head.at(i)) && head.at(i) != "and" {
		i++
	}
	if i == 0 || i > 5 {
		return ""
	}
	noun := head.at(i - 1)
	works := profession(noun) || trade(noun) || article && endsWithAny(noun, []string{"er", "or", "ist", "ian", "man", "woman"})
	if _, event := eventNoun(noun); event || monthOf(noun) > 0 || head.at(0) == "the" {
		return ""
	}
	if idle[noun] || idle[head.at(0)] || idle[head.at(1)] || feelings[noun] || pastForm(noun) || head.at(1) == "little" {
		return ""
	}
	switch {
	case article && len(noun) > 2 && (sure || works):
		return q.says(false, append([]string{"work", "as"}, strings.Fields(said[:head.toks[0].end-head.start]+head.text[head.toks[0].end:head.end])...))
	case works && i < 3:
		a := "a"
		if strings.ContainsAny(said[:1], "aeiou") {
			a = "an"
		}
		return q.says(false, []string{"work", "as", a, lowerFirst(head.raw())})
	case i == 1 && (fields[noun] || strings.HasSuffix(noun, "ing") && len(noun) > 6):
		return q.says(false, []string{"work", "in", head.raw()})
	}
	return ""
}

// copied reads an answer with a subject of its own whose word the question makes clear: "I'm a conveyancer", "he's in
// insurance" after "what does he do?".
func (q *inquiry) copied(tail sentence) string {
	if q.word != "what" || q.noun != "" || len(q.rest) != 1 || !strings.EqualFold(q.rest[0], "do") || q.aux != "do" && q.aux != "does" {
		return ""
	}
	base, rest := contraction(tail.at(0))
	i := 1
	if rest == "" {
		if be := tail.at(1); be != "am" && be != "is" && be != "are" {
			return ""
		}
		i = 2
	} else if rest != "am" && rest != "is" && rest != "are" {
		return ""
	}
	if (base == "i") != (q.subj == "I") || base != "i" && base != "he" && base != "she" || i >= len(tail.toks) {
		return ""
	}
	head := tail.sub(i, len(tail.toks))
	said := head.raw()
	switch w := head.at(0); {
	case (w == "a" || w == "an") && len(head.toks) > 1:
		return q.filledJob(head, strings.ToLower(said), true)
	case w == "in" && len(head.toks) == 2 && !head.toks[1].cap && fields[head.at(1)]:
		return q.says(false, []string{"work", said})
	}
	return ""
}

// filledPlace puts a place where the question has "where".
func (q *inquiry) filledPlace(head sentence, fill, w []string) string {
	at := head.at(0)
	_, _, doing := lemma(at)
	placed := placing(at) || nearness[at] || at == "from" || at == "by" && determiner(head.at(1)) || at == "to"
	verb := ""
	if len(w) > 0 {
		k := 0
		for k < len(w)-1 && adverb(w[k]) {
			k++
		}
		if verb, _, _ = lemma(w[k]); verb == "" {
			verb = w[k]
		}
	}
	if len(head.toks) > 10 || doing || numeral(at) && at != "a" || !placed && preposition(at) || at == "for" || at == "about" || at == "of" || !placed && at != "the" && at != "my" && at != "a" && !head.toks[0].cap {
		return ""
	}
	if k := slices.Index(w, "to"); k > 0 && (k+1 == len(w) || preposition(w[k+1]) || periods[w[k+1]] || w[k+1] == "next" || w[k+1] == "tomorrow") {
		q.rest = slices.Delete(slices.Clone(q.rest), k, k+1) // "where are you flying to on Friday?"
		w = lowered(q.rest)
	}
	from := len(w) > 0 && w[len(w)-1] == "from" || verb == "come"
	switch {
	case from && at == "from":
		fill = fill[1:]
	case from || placed:
	case strings.HasSuffix(at, "'s") && len(head.toks) == 1:
		fill = append([]string{"at"}, fill...)
	case at == "a" && verb != "work" && verb != "study":
		return ""
	case verb == "go" || verb == "fly" || verb == "travel" || verb == "move":
		fill = append([]string{"to"}, fill...)
	case verb == "work" || verb == "study" || verb == "bank" || slices.Contains(w, "school") || at == "the" && (verb == "meet" || verb == "stay"):
		fill = append([]string{"at"}, fill...)
	case head.toks[0].cap && at != "the" && at != "my" && at != "a" && (verb == "live" || verb == "grow" || verb == "born" || verb == "stay" || verb == "base" || verb == "based" || verb == "meet" || len(w) == 0):
		fill = append([]string{"in"}, fill...)
	default:
		return ""
	}
	if verb == "come" && w[len(w)-1] != "from" || at == "from" && !from {
		return ""
	}
	if (verb == "go" || verb == "fly" || verb == "travel" || verb == "move") && (placed || fill[0] == "to") && len(q.rest) > 1 && q.rest[1] != "to" {
		return q.says(false, slices.Insert(slices.Clone(q.rest), 1, fill...))
	}
	return q.says(false, append(slices.Clone(q.rest), fill...))
}

// nearness begins where something is, without a preposition.
var nearness = set("outside just not upstairs downstairs opposite between round around over out abroad nearby beside underneath above")

// filledDoing takes what somebody does at a time that the question names: "dinner with Priya", "taking the kids out".
func (q *inquiry) filledDoing(head sentence, w []string) string {
	after := q.rest[1:]
	if w[0] == "up" {
		after = q.rest[2:]
	}
	day := false
	for _, d := range lowered(after) {
		day = day || weekdayOf(d, false) >= 0 || d == "tomorrow" || d == "yesterday" || d == "tonight" || d == "weekend" || d == "week" || monthOf(d) > 0
	}
	if !day || len(head.toks) < 2 {
		return ""
	}
	if _, _, ing := lemma(head.at(0)); ing {
		return q.says(false, append(words(head), after...))
	}
	for i := range min(len(head.toks), 4) {
		if !q.be() {
			break
		}
		if _, event := eventNoun(head.at(i)); event {
			if q.aux = "has"; q.subj == "I" || q.subj == "we" {
				q.aux = "have"
			}
			return q.says(false, append(words(head), after...))
		}
	}
	return ""
}

// filledWho puts a person where the question has "who".
func (q *inquiry) filledWho(head sentence, fill, w []string) string {
	at := head.at(0)
	own := at == "my" || at == "our"
	if !own && at != "me" && at != "the" && !(profession(at) && head.toks[0].cap) && !(head.toks[0].cap && nameWord(at)) && !kin(last(strings.ToLower(head.raw()))) || len(head.toks) > 6 {
		return ""
	}
	switch {
	case q.subj == "":
		aux := q.aux
		if at == "me" && len(head.toks) == 1 {
			fill = []string{"I"}
			switch aux {
			case "is":
				aux = "am"
			case "has":
				aux = "have"
			}
		} else if slices.Contains(lowered(fill), "and") && aux == "is" {
			aux = "are"
		}
		return strings.Join(fill, " ") + " " + aux + " " + strings.Join(q.rest, " ")
	case at == "me" || at == "the":
		return ""
	case len(w) == 0 && own && capitalised(q.subj) && q.subj != "I" && q.aux == "is":
		return q.subj + " is " + strings.Join(fill, " ")
	case len(w) == 0 && (own || q.aux != "is" || q.subj == "I"):
		return ""
	case len(w) == 0:
		return q.says(false, fill)
	}
	return q.says(false, q.with(q.gap(w), q.gap(w), fill))
}

// filledHow puts an age, a number or a length of time where the question has "how old", "how many" or "how long".
func (q *inquiry) filledHow(head sentence, fill, w []string) string {
	number := numeral(head.at(0)) || numeric(head.at(0))
	switch q.noun {
	case "old":
		if !number || len(w) > 0 || len(head.toks) > 4 && !slices.Contains(lowered(fill), "and") || slices.ContainsFunc(fill, func(f string) bool { return preposition(strings.ToLower(f)) }) {
			return ""
		}
		return q.says(false, fill)
	case "many":
		if !number || len(w) == 0 || len(head.toks) > 1 && head.toks[1].kind != 'p' && !slices.Contains(strings.Fields(strings.ToLower(q.nouns)), head.at(1)) || head.at(0) == "a" {
			return ""
		}
		count := strings.TrimRight(fill[0], ",")
		nouns := q.nouns
		if count == "one" {
			nouns = trimS(nouns)
		}
		k := q.gap(w)
		all := slices.Insert(slices.Clone(q.rest), k, count, nouns)
		said := q.says(false, all)
		if rest := strings.TrimLeft(strings.Join(fill[1:], " "), ", "); rest != "" && len(head.toks) > 1 && head.toks[1].kind == 'p' {
			said += ", " + rest
		}
		return said
	case "much":
		if !number || !q.be() && q.aux != "was" && q.aux != "were" && !slices.Contains(w, "pay") && !slices.Contains(w, "cost") {
			return ""
		}
		if len(w) > 0 && preposition(w[0]) && !slices.Contains(w, "pay") { // "how much is the rent on the flat?"
			q.subj += " " + strings.Join(q.rest, " ")
			q.rest, w = nil, nil
		}
		if len(w) == 0 {
			return q.says(false, fill)
		}
		return q.says(false, q.with(q.gap(w), q.gap(w), fill))
	case "long":
		if !number && head.at(0) != "for" && head.at(0) != "since" && head.at(0) != "until" && head.at(0) != "till" || len(w) == 0 || w[0] == "take" {
			return ""
		}
		if number {
			fill = append([]string{"for"}, fill...)
		}
		return q.says(false, append(slices.Clone(q.rest), fill...))
	case "often":
		if !oftenSaid[head.at(0)] && !number && weekdayOf(strings.TrimSuffix(head.at(0), "s"), false) < 0 || len(w) == 0 {
			return ""
		}
		return q.says(false, append(slices.Clone(q.rest), fill...))
	case "":
		if head.at(0) == "by" || head.at(0) == "on" && head.at(1) == "foot" {
			return q.says(false, append(slices.Clone(q.rest), fill...))
		}
	}
	return ""
}
