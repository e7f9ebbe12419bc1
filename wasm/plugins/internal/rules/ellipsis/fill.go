package ellipsis

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Answers to questions with a question word: a place, a person, a job, a number.

// filled makes a statement from a question: the answer replaces the question word.
func (q *Inquiry) filled(head syntax.Sentence) string {
	fill, w := words(head), lowered(q.Rest)
	if timed, _ := q.timed(head); timed && q.Word != "when" && q.Word != "how" {
		return ""
	}
	said := strings.ToLower(head.Raw())
	switch q.Word {
	case "where":
		return q.filledPlace(head, fill, w)
	case "when":
		return q.filledTime(head, w)
	case "who":
		return q.filledWho(head, fill, w)
	case "how":
		return q.filledHow(head, fill, w)
	}
	if len(w) == 0 && q.Subj == "my job" || len(w) == 1 && w[0] == "do" && q.Noun == "" {
		return q.filledJob(head, said, false)
	}
	switch {
	case (q.Noun == "shoes" || q.Noun == "shoe") && q.Subj == "I" && syntax.Numeric(head.At(0)) && len(head.Toks) < 5 && strings.Contains(strings.ToLower(q.Raw()), " size "):
		return "My shoe size is " + strings.Join(fill, " ")
	case q.Noun != "" && len(w) == 0:
		if q.Subj == "I" && (q.Noun == "group" || q.Noun == "type") && strings.Contains(strings.ToLower(q.Raw()), " blood ") {
			return "My blood type is " + head.Raw()
		}
		return ""
	case len(w) == 0 && (syntax.Kin(discourse.Last(strings.ToLower(q.Subj))) || syntax.Preposition(head.At(0)) || q.Aux != "is" && q.Aux != "are"), len(w) > 0 && syntax.Preposition(head.At(0)):
		return ""
	case len(w) == 0 && strings.HasSuffix(q.Subj, "name") && !namesOne(head):
		return ""
	case len(w) == 0 && (strings.HasSuffix(q.Subj, "blood group") || strings.HasSuffix(q.Subj, "blood type")):
		return q.Says(false, []string{head.Raw()}) // "A positive"
	case len(w) == 0:
		return q.Says(false, fill)
	case w[0] == "doing" || w[0] == "up" && len(w) > 1 && w[1] == "to":
		return q.filledDoing(head, w)
	case w[0] == "do":
		return ""
	case w[0] == "called" || w[0] == "named":
		animal := strings.TrimPrefix(q.Subj, "my ")
		switch {
		case !namesOne(head):
			return ""
		case syntax.Pet(animal) && animal != q.Subj:
			return "I have a " + animal + " called " + strings.Join(fill, " ")
		}
		return q.Says(false, append([]string{"called"}, fill...))
	}
	if w[0] != "speak" && w[0] != "support" && w[0] != "drive" && w[0] != "read" && w[0] != "watch" && !syntax.Preposition(w[len(w)-1]) || w[0] == "allergic" {
		fill = uncapital(fill)
	}
	if Numeral(strings.TrimRight(head.At(0), ",")) && len(fill) == 1 || w[0] == "allergic" && !allergen(head) {
		return ""
	}
	return q.Says(false, q.with(q.gap(w), q.gap(w), fill))
}

// allergen reports whether words can be an allergen, and are not a person, state or occasion.
func allergen(s syntax.Sentence) bool {
	for i := range s.Toks {
		w, rest := syntax.Contraction(s.At(i))
		_, event := syntax.EventNoun(w)
		if event || syntax.Kin(w) || syntax.SexOf("", w) != 0 || rest != "" || discourse.PersonStates[w] || discourse.Feelings[w] || noAllergens[w] {
			return false
		}
	}
	return true
}

var noAllergens = syntax.Set("allergic allergy allergies work table dinner lunch breakfast room school home my your me")

// namesOne reports whether an answer begins with a name.
func namesOne(s syntax.Sentence) bool {
	w := s.At(0)
	return s.Toks[0].Cap && syntax.NameWord(w) && !Numeral(w) && !syntax.Determiner(w) && !discourse.ThingWord(w) && !english.Possession[w] && !noAllergens[w] && !Numeral(s.At(1))
}

// gap returns where the object of a statement belongs: after its verb, or after the preposition at
// its end.
func (q *Inquiry) gap(w []string) int {
	if n := len(w); syntax.Preposition(w[n-1]) || w[0] == "allergic" || w[0] == "afraid" {
		return n
	}
	k := 0
	for k < len(w) && (syntax.Adverb(w[k]) || w[k] == "going" || w[k] == "to" || w[k] == "been") {
		k++
	}
	return min(len(w), k+1)
}

// fields are fields of work.
var fields = syntax.Set("insurance finance it hr tech logistics construction retail sales security education healthcare tourism software law medicine journalism hospitality admin pr publishing")

// idle are words that people say about what they do, but that are not jobs.
var idle = syntax.Set("bit mum mom dad mother father parent student pensioner retired lot mess housewife")

// filledJob makes "I work as a conveyancer" from "a conveyancer", and "I work in insurance" from
// "insurance".
func (q *Inquiry) filledJob(head syntax.Sentence, said string, sure bool) string {
	if q.Subj == "my job" {
		q.Subj, q.Aux = "I", "do"
	}
	q.Rest = []string{"work"}
	i := 0
	article := head.At(0) == "a" || head.At(0) == "an"
	for i < len(head.Toks) && head.Toks[i].Kind != 'p' && !syntax.Preposition(head.At(i)) && head.At(i) != "and" {
		i++
	}
	if i == 0 || i > 5 {
		return ""
	}
	noun := head.At(i - 1)
	works := syntax.Profession(noun) || discourse.Trade(noun) || article && syntax.EndsWithAny(noun, []string{"er", "or", "ist", "ian", "man", "woman"})
	if _, event := syntax.EventNoun(noun); event || syntax.MonthOf(noun) > 0 || head.At(0) == "the" {
		return ""
	}
	if idle[noun] || idle[head.At(0)] || idle[head.At(1)] || discourse.Feelings[noun] || syntax.PastForm(noun) || head.At(1) == "little" {
		return ""
	}
	switch {
	case article && len(noun) > 2 && (sure || works):
		return q.Says(false, append([]string{"work", "as"}, strings.Fields(said[:head.Toks[0].End-head.Start]+head.Text[head.Toks[0].End:head.End])...))
	case works && i < 3:
		a := "a"
		if strings.ContainsAny(said[:1], "aeiou") {
			a = "an"
		}
		return q.Says(false, []string{"work", "as", a, LowerFirst(head.Raw())})
	case i == 1 && (fields[noun] || strings.HasSuffix(noun, "ing") && len(noun) > 6):
		return q.Says(false, []string{"work", "in", head.Raw()})
	}
	return ""
}

// copied reads an answer with its own subject whose pronoun the question explains: "I'm a
// conveyancer", "he's in insurance" after "what does he do?".
func (q *Inquiry) copied(tail syntax.Sentence) string {
	if q.Word != "what" || q.Noun != "" || len(q.Rest) != 1 || !strings.EqualFold(q.Rest[0], "do") || q.Aux != "do" && q.Aux != "does" {
		return ""
	}
	base, rest := syntax.Contraction(tail.At(0))
	i := 1
	if rest == "" {
		if be := tail.At(1); be != "am" && be != "is" && be != "are" {
			return ""
		}
		i = 2
	} else if rest != "am" && rest != "is" && rest != "are" {
		return ""
	}
	if (base == "i") != (q.Subj == "I") || base != "i" && base != "he" && base != "she" || i >= len(tail.Toks) {
		return ""
	}
	head := tail.Sub(i, len(tail.Toks))
	said := head.Raw()
	switch w := head.At(0); {
	case (w == "a" || w == "an") && len(head.Toks) > 1:
		return q.filledJob(head, strings.ToLower(said), true)
	case w == "in" && len(head.Toks) == 2 && !head.Toks[1].Cap && fields[head.At(1)]:
		return q.Says(false, []string{"work", said})
	}
	return ""
}

// filledPlace puts a place in the position of "where".
func (q *Inquiry) filledPlace(head syntax.Sentence, fill, w []string) string {
	at := head.At(0)
	_, _, doing := syntax.Lemma(at)
	placed := syntax.Placing(at) || noted.Nearness[at] || at == "from" || at == "by" && syntax.Determiner(head.At(1)) || at == "to"
	verb := ""
	if len(w) > 0 {
		k := 0
		for k < len(w)-1 && syntax.Adverb(w[k]) {
			k++
		}
		if verb, _, _ = syntax.Lemma(w[k]); verb == "" {
			verb = w[k]
		}
	}
	if len(head.Toks) > 10 || doing || Numeral(at) && at != "a" || !placed && syntax.Preposition(at) || at == "for" || at == "about" || at == "of" || !placed && at != "the" && at != "my" && at != "a" && !head.Toks[0].Cap {
		return ""
	}
	if k := slices.Index(w, "to"); k > 0 && (k+1 == len(w) || syntax.Preposition(w[k+1]) || periods[w[k+1]] || w[k+1] == "next" || w[k+1] == "tomorrow") {
		q.Rest = slices.Delete(slices.Clone(q.Rest), k, k+1) // "where are you flying to on Friday?"
		w = lowered(q.Rest)
	}
	from := len(w) > 0 && w[len(w)-1] == "from" || verb == "come"
	switch {
	case from && at == "from":
		fill = fill[1:]
	case from || placed:
	case strings.HasSuffix(at, "'s") && len(head.Toks) == 1:
		fill = append([]string{"at"}, fill...)
	case at == "a" && verb != "work" && verb != "study":
		return ""
	case verb == "go" || verb == "fly" || verb == "travel" || verb == "move":
		fill = append([]string{"to"}, fill...)
	case verb == "work" || verb == "study" || verb == "bank" || slices.Contains(w, "school") || at == "the" && (verb == "meet" || verb == "stay"):
		fill = append([]string{"at"}, fill...)
	case head.Toks[0].Cap && at != "the" && at != "my" && at != "a" && (verb == "live" || verb == "grow" || verb == "born" || verb == "stay" || verb == "base" || verb == "based" || verb == "meet" || len(w) == 0):
		fill = append([]string{"in"}, fill...)
	default:
		return ""
	}
	if verb == "come" && w[len(w)-1] != "from" || at == "from" && !from {
		return ""
	}
	if (verb == "go" || verb == "fly" || verb == "travel" || verb == "move") && (placed || fill[0] == "to") && len(q.Rest) > 1 && q.Rest[1] != "to" {
		return q.Says(false, slices.Insert(slices.Clone(q.Rest), 1, fill...))
	}
	return q.Says(false, append(slices.Clone(q.Rest), fill...))
}

// filledDoing takes what somebody does at a time that the question names: "dinner with Priya", "taking the kids out".
func (q *Inquiry) filledDoing(head syntax.Sentence, w []string) string {
	after := q.Rest[1:]
	if w[0] == "up" {
		after = q.Rest[2:]
	}
	day := false
	for _, d := range lowered(after) {
		day = day || syntax.WeekdayOf(d, false) >= 0 || d == "tomorrow" || d == "yesterday" || d == "tonight" || d == "weekend" || d == "week" || syntax.MonthOf(d) > 0
	}
	if !day || len(head.Toks) < 2 {
		return ""
	}
	if _, _, ing := syntax.Lemma(head.At(0)); ing {
		return q.Says(false, append(words(head), after...))
	}
	for i := range min(len(head.Toks), 4) {
		if !q.be() {
			break
		}
		if _, event := syntax.EventNoun(head.At(i)); event {
			if q.Aux = "has"; q.Subj == "I" || q.Subj == "we" {
				q.Aux = "have"
			}
			return q.Says(false, append(words(head), after...))
		}
	}
	return ""
}

// filledWho puts a person in the position of "who".
func (q *Inquiry) filledWho(head syntax.Sentence, fill, w []string) string {
	at := head.At(0)
	own := at == "my" || at == "our"
	if !own && at != "me" && at != "the" && !(syntax.Profession(at) && head.Toks[0].Cap) && !(head.Toks[0].Cap && syntax.NameWord(at)) && !syntax.Kin(discourse.Last(strings.ToLower(head.Raw()))) || len(head.Toks) > 6 {
		return ""
	}
	switch {
	case q.Subj == "":
		aux := q.Aux
		if at == "me" && len(head.Toks) == 1 {
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
		return strings.Join(fill, " ") + " " + aux + " " + strings.Join(q.Rest, " ")
	case at == "me" || at == "the":
		return ""
	case len(w) == 0 && own && discourse.Capitalised(q.Subj) && q.Subj != "I" && q.Aux == "is":
		return q.Subj + " is " + strings.Join(fill, " ")
	case len(w) == 0 && (own || q.Aux != "is" || q.Subj == "I"):
		return ""
	case len(w) == 0:
		return q.Says(false, fill)
	}
	return q.Says(false, q.with(q.gap(w), q.gap(w), fill))
}

// asksSum are verbs after which "how much" asks for a sum of money.
var asksSum = syntax.Set("pay cost charge want earn owe")

// bySelf makes "I am picking Leo up, at quarter past three" of "who's picking Leo up?" and "I am, at quarter
// past three".
func (q *Inquiry) bySelf(a *noted.Reply) (statement, rest string) {
	aux := q.Aux
	switch aux {
	case "is":
		aux = "am"
	case "has":
		aux = "have"
	}
	statement = "I " + aux + " " + strings.Join(q.Rest, " ")
	k := a.From
	for k < len(a.Toks) && a.Toks[k].Kind == 'p' {
		k++
	}
	if k >= len(a.Toks) {
		return statement, ""
	}
	tail := a.Sub(k, len(a.Toks))
	if syntax.Preposition(tail.At(0)) {
		return statement + ", " + tail.Raw(), ""
	}
	return statement, tail.Raw()
}

// filledHow puts an age, a number or a length of time in the position of "how old", "how many" or
// "how long".
func (q *Inquiry) filledHow(head syntax.Sentence, fill, w []string) string {
	number := Numeral(head.At(0)) || syntax.Numeric(head.At(0))
	switch q.Noun {
	case "tall":
		if !number || len(w) > 0 || len(head.Toks) > 4 || !q.be() || q.Subj != "I" {
			return ""
		}
		return "My height is " + strings.Join(fill, " ")
	case "old":
		if !number || len(w) > 0 || len(head.Toks) > 4 && !slices.Contains(lowered(fill), "and") || slices.ContainsFunc(fill, func(f string) bool { return syntax.Preposition(strings.ToLower(f)) }) {
			return ""
		}
		return q.Says(false, fill)
	case "many":
		if !number || len(w) == 0 || len(head.Toks) > 1 && head.Toks[1].Kind != 'p' && !slices.Contains(strings.Fields(strings.ToLower(q.nouns)), head.At(1)) || head.At(0) == "a" {
			return ""
		}
		count := strings.TrimRight(fill[0], ",")
		nouns := q.nouns
		if count == "one" {
			nouns = syntax.Singular(nouns)
		}
		k := q.gap(w)
		all := slices.Insert(slices.Clone(q.Rest), k, count, nouns)
		said := q.Says(false, all)
		if rest := strings.TrimLeft(strings.Join(fill[1:], " "), ", "); rest != "" && len(head.Toks) > 1 && head.Toks[1].Kind == 'p' {
			said += ", " + rest
		}
		return said
	case "much":
		if number && len(w) == 1 && w[0] == "weigh" && q.Subj == "I" && len(head.Toks) < 3 {
			return "My weight is " + strings.Join(fill, " ")
		}
		if !number || !q.be() && q.Aux != "was" && q.Aux != "were" && !slices.ContainsFunc(w, func(verb string) bool { return asksSum[verb] }) && !(slices.Contains(w, "for") && (slices.Contains(w, "get") || slices.Contains(w, "go"))) {
			return ""
		}
		if len(w) > 0 && syntax.Preposition(w[0]) && !slices.Contains(w, "pay") { // "how much is the rent on the flat?"
			q.Subj += " " + strings.Join(q.Rest, " ")
			q.Rest, w = nil, nil
		}
		if len(w) == 0 {
			return q.Says(false, fill)
		}
		return q.Says(false, q.with(q.gap(w), q.gap(w), fill))
	case "long":
		if !number && head.At(0) != "for" && head.At(0) != "since" && head.At(0) != "until" && head.At(0) != "till" || len(w) == 0 || w[0] == "take" {
			return ""
		}
		if number {
			fill = append([]string{"for"}, fill...)
		}
		return q.Says(false, append(slices.Clone(q.Rest), fill...))
	case "often":
		if !oftenSaid[head.At(0)] && !number && syntax.WeekdayOf(strings.TrimSuffix(head.At(0), "s"), false) < 0 || len(w) == 0 {
			return ""
		}
		return q.Says(false, append(slices.Clone(q.Rest), fill...))
	case "":
		if head.At(0) == "by" || head.At(0) == "on" && head.At(1) == "foot" {
			return q.Says(false, append(slices.Clone(q.Rest), fill...))
		}
	}
	return ""
}
