package ellipsis

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A question has its verb before its subject, and the words of the one who asks: "where does your
// brother live". This file parses it.

// parse parses the question: the first part between its commas that asks.
func (q *Inquiry) parse() bool {
	words, ok := q.words()
	if !ok {
		return false
	}
	if q.calls(words) {
		return false
	}
	for len(words) > 0 {
		end := slices.Index(words, ",")
		if end < 0 {
			end = len(words)
		}
		part := words[:end]
		for len(part) > 0 && syntax.Lead(strings.ToLower(part[0])) {
			part = part[1:]
		}
		if q.inverted(part) || q.inOrder(part) {
			return q.sound()
		}
		words = words[min(len(words), end+1):]
	}
	return false
}

// calls reports whether the question has another person's name between its commas: "where do you
// live, Clara?".
func (q *Inquiry) calls(words []string) bool {
	alone := true
	for i, w := range words {
		ends := i+1 == len(words) || words[i+1] == ","
		if alone && ends && discourse.Capitalised(w) && syntax.NameWord(strings.ToLower(w)) && !strings.EqualFold(w, q.Of.Name) {
			return true
		}
		alone = w == "," || alone && syntax.Lead(strings.ToLower(w))
	}
	return false
}

// words returns the words of the question, with contractions split.
func (q *Inquiry) words() (words []string, ok bool) {
	for i, tok := range q.Toks {
		raw := q.Text[tok.Start:tok.End]
		base, rest := syntax.Contraction(tok.S)
		switch {
		case tok.S == ",":
			words = append(words, ",")
		case (tok.S == "'" || tok.S == "’") && len(words) > 0 && strings.HasSuffix(words[len(words)-1], "s"):
			words[len(words)-1] += raw // the parents' evening
		case tok.Kind == 'p':
			return nil, false
		case rest == "is" && !syntax.SubjectPronoun(base) && !asksFor[base] && base != "that" && base != "there" && !(i > 0 && refuse.AskedFor[base]), rest == "":
			words = append(words, raw)
		default:
			if base != "" { // "n't" alone
				words = append(words, discourse.Written(raw, base))
			}
			words = append(words, rest)
		}
	}
	return words, len(words) > 0
}

// asksFor are the words that ask for a part of a statement. "Why" and "whose" ask for more than a
// part.
var asksFor = syntax.Set("what where when who how which")

// inverted reads "where does your brother live", "are you allergic to anything", "any pets".
func (q *Inquiry) inverted(words []string) bool {
	w := lowered(words)
	i := 0
	q.Word, q.Noun, q.nouns, q.not = "", "", "", false
	if len(w) > 1 && asksFor[w[0]] {
		q.Word, i = w[0], 1
		for k := 1; k < min(len(w)-1, 5) && q.Word != "where" && q.Word != "when" && q.Word != "who" && !discourse.Asking[w[k]]; k++ {
			q.Noun, i = w[k], k+1
		}
		if q.Word == "how" && (q.Noun == "many" || i > 2 && w[1] == "many") {
			q.Noun, q.nouns = "many", strings.Join(words[2:i], " ")
		}
		if q.Word == "which" || q.Noun == "time" || q.Noun == "day" || q.Noun == "date" {
			q.Word = "what"
		}
		if q.Word == "what" && (q.Noun == "time" || q.Noun == "day" || q.Noun == "date" || q.Noun == "year" || q.Noun == "month") {
			q.Word = "when"
		}
	} else if len(w) > 1 && len(w) < 5 && w[0] == "any" {
		q.Aux, q.Subj, q.Rest = "do", "I", append([]string{"have"}, words...)
		return true
	}
	if i >= len(w) || !discourse.Asking[w[i]] && w[i] != "am" && w[i] != "had" {
		return false
	}
	q.Aux = w[i]
	if i++; i < len(w) && w[i] == "not" {
		q.not = q.Word != ""
		i++
	}
	n := q.subjectAt(words[i:])
	if n == 0 || n < 0 && q.Word != "who" {
		return false
	}
	q.Subj = q.AsSaid(words[i:i+max(n, 0)], true)
	q.Rest = words[i+max(n, 0):]
	return true
}

// subjectAt returns the number of words of the subject with which words begin. It is negative if
// "who" is the subject, and 0 if it is not known what the answer would be about.
func (q *Inquiry) subjectAt(words []string) int {
	w := lowered(words)
	if len(w) == 0 {
		return 0
	}
	if q.Word == "who" && q.Aux != "did" && q.Aux != "do" && q.Aux != "does" {
		if _, _, ing := syntax.Lemma(w[0]); ing || w[0] == "got" || refuse.Modals[q.Aux] && syntax.LemmaSet[w[0]] {
			return -1
		}
	}
	switch w[0] {
	case "you", "we", "he", "she", "they", "i":
		if len(w) > 1 && (w[1] == "and" || w[1] == "two" || w[1] == "both" || w[1] == "guys" || w[1] == "all") {
			return 0 // "are you and Lena married?"
		}
		return 1
	case "it", "that", "this", "these", "those", "there", "a", "an", "some", "any", "no":
		return 0
	}
	first := 0
	switch {
	case syntax.Determiner(w[0]):
		first = 2
	case discourse.CalledSo[w[0]] || discourse.Capitalised(words[0]) && syntax.NameWord(w[0]):
		first = 1
		for first < len(w) && discourse.Capitalised(words[first]) && syntax.NameWord(w[first]) {
			first++
		}
		if strings.HasSuffix(w[first-1], "'s") {
			first++
		}
	case q.Aux == "is" || q.Aux == "are" || q.Aux == "do" || q.Aux == "does":
		if _, event := syntax.EventNoun(w[0]); event {
			return 1
		}
		if q.Word == "when" && len(w) > 1 && occasions[w[1]] {
			return 2 // "when's sports day?"
		}
		return syntax.BoolInt(q.Word == "when" && begun[w[0]])
	default:
		return 0
	}
	if first > len(w) {
		return 0
	}
	for k := first; k < len(w); k++ {
		if strings.HasSuffix(w[k-1], "'s") {
			continue
		}
		if what := w[k-1]; (what == "flight" || what == "train" || what == "bus" || what == "ferry") && (w[k] == "back" || w[k] == "home" || w[k] == "out") {
			continue // "when's your flight back?"
		}
		if q.endsSubject(w, k) {
			return k
		}
	}
	if q.Word == "" {
		return 0
	}
	return len(w)
}

// occasions are ends of names for school days and the like, and begun is what begins and ends on a day.
var (
	occasions = syntax.Set("day evening night term sale play")
	begun     = syntax.Set("school nursery kindergarten college uni term practice swimming football choir")
)

// endsSubject reports whether the part of the question after the subject begins at word k.
func (q *Inquiry) endsSubject(w []string, k int) bool {
	l, past, ing := syntax.Lemma(w[k])
	if syntax.Adverb(w[k]) {
		return true
	}
	switch q.Aux {
	case "do", "does", "did":
		_, event := syntax.EventNoun(w[k])
		return w[k] == "do" || l == w[k] && !past && !ing && !(event && k+1 < len(w) && syntax.LemmaSet[w[k+1]])
	case "have", "has", "had":
		return past || syntax.PastForm(w[k]) || w[k] == "got"
	}
	if refuse.Modals[q.Aux] {
		return l == w[k] && !past || w[k] == "be"
	}
	if refuse.AsksState[w[k]] || discourse.PersonStates[w[k]] || ing || past || syntax.PastForm(w[k]) || syntax.Determiner(w[k]) || Numeral(w[k]) {
		return true
	}
	return syntax.Preposition(w[k]) && (q.Word == "" || w[k] == "from" && q.Word == "where") || syntax.WeekdayOf(w[k], false) >= 0 || w[k] == "tomorrow" || w[k] == "today" || w[k] == "tonight" || w[k] == "next"
}

// Numeral reports whether w is a number, in words or in digits.
func Numeral(w string) bool { _, ok := syntax.Number(w); return ok }

// inOrder reads "you've got a cat", "you live in Leeds": what the one who asks assumes to be true.
func (q *Inquiry) inOrder(words []string) bool {
	w := lowered(words)
	n := 0
	switch {
	case len(w) < 3 || q.Ends != "?":
		return false
	case w[0] == "you":
		n = 1
	case w[0] == "your" && syntax.Kin(w[1]):
		n = 2
	case discourse.Capitalised(words[0]) && syntax.NameWord(w[0]):
		n = 1
	default:
		return false
	}
	q.Word, q.Noun, q.plain = "", "", true
	q.Subj = q.AsSaid(words[:n], true)
	for syntax.Adverb(w[n]) && n+1 < len(w) {
		n++
	}
	l, past, ing := syntax.Lemma(w[n])
	switch {
	case slices.Contains(w, "or"):
		return false
	case n+2 < len(w) && w[n+1] == "not":
		q.Aux, q.Rest, q.denies = w[n], words[n+2:], true
		return discourse.Asking[q.Aux] || q.Aux == "am"
	case discourse.Asking[w[n]] && w[n] != "do" && w[n] != "does" && w[n] != "did":
		if q.Aux, q.Rest = w[n], words[n+1:]; w[n] != "have" && w[n] != "has" || len(w) > n+1 && w[n+1] == "got" {
			return true
		}
		q.Rest = append([]string{"have"}, q.Rest...)
		if q.Aux = "do"; w[n] == "has" {
			q.Aux = "does"
		}
		return true
	case l == "" || past || ing:
		return false
	}
	q.Aux, q.Rest = "do", append([]string{l}, words[n+1:]...)
	if w[n] != l {
		q.Aux = "does"
	}
	return true
}

// lowered returns words in lower case.
func lowered(words []string) []string {
	all := make([]string, len(words))
	for i := range words {
		all[i] = strings.ToLower(strings.ReplaceAll(words[i], "’", "'"))
	}
	return all
}

// AsSaid joins words as the one who answers would say them: "your brother" is "my brother". It
// returns "" if it is not clear whom a word means.
func (q *Inquiry) AsSaid(words []string, subject bool) string {
	var b strings.Builder
	named := q.By.Name != "" && discourse.Capitalised(q.By.Name) && !strings.Contains(q.By.Name, " ")
	for i, raw := range words {
		w := strings.ToLower(raw)
		switch w {
		case "you":
			if raw = "me"; subject {
				raw = "I"
			}
		case "your":
			raw = "my"
		case "yours":
			raw = "mine"
		case "yourself":
			raw = "myself"
		case "i", "me", "my":
			if !named || w == "my" && i+1 < len(words) && strings.HasSuffix(words[i+1], "ing") {
				return "" // "Tom's driving licence" reads as "Tom is driving"
			}
			if raw = q.By.Name; w == "my" {
				raw = discourse.Possessive(raw)
			}
		case "mine", "myself", "'s":
			return ""
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(raw)
	}
	return b.String()
}

// sound removes words that only round a question off, and puts the rest into the words of the one
// who answers. It reports whether all of it can be understood.
func (q *Inquiry) sound() bool {
	w := lowered(q.Rest)
	for _, tail := range [...]string{"for a living", "for work", "at home", "these days", "at the moment", "right now", "by the way", "at all", "in particular", "now", "exactly", "originally", "currently", "nowadays", "anyway", "else", "then", "yet", "again", "too", "as well", "do you know", "actually", "for it", "for that", "with it"} {
		if n := strings.Count(tail, " ") + 1; len(w) >= n && strings.Join(w[len(w)-n:], " ") == tail && !(len(w) == n && q.Aux == "is") {
			w, q.Rest = w[:len(w)-n], q.Rest[:len(w)-n]
		}
	}
	for i := range w {
		if w[i] == "you" && i > 0 && (i+1 < len(w) && syntax.Auxiliary(w[i+1]) || syntax.Joins[w[i-1]] || w[i-1] == "when" || w[i-1] == "before" || w[i-1] == "after" || w[i-1] == "since" || w[i-1] == "until" || w[i-1] == "do" || w[i-1] == "did") {
			return false // "while you're away"
		}
		if i > 0 && i+2 == len(w) && demonstratives[w[i]] && q.Word == "" && !syntax.Function(w[i+1]) && !syntax.Adverb(w[i+1]) && !syntax.Preposition(w[i+1]) && !nearTimes[w[i+1]] && syntax.WeekdayOf(w[i+1], false) < 0 {
			continue // "have you sent that form?"
		}
		if PronounsMeant[w[i]] && !(w[i] == "this" && i+1 < len(w) && periods[w[i+1]]) || w[i] == "or" && q.Word == "" && !slices.Contains(w, "any") {
			return false
		}
	}
	q.Rest = slices.Clone(q.Rest)
	for i := range q.Rest {
		if q.Rest[i] = q.AsSaid(q.Rest[i:i+1], false); q.Rest[i] == "" {
			return false
		}
	}
	return q.Subj != "" || q.Word == "who"
}

// demonstratives are pronouns that also stand before a noun, and nearTimes are words after them that are none.
var demonstratives, nearTimes = syntax.Set("this that these those"), syntax.Set("yesterday today tomorrow tonight now before already on off up down out in myself yourself alone week year month morning evening afternoon night weekend time")

// PronounsMeant are words for something that is not in the question.
var PronounsMeant = syntax.Set("it that this these those them him they he she if whether because")

// periods are times after "this".
var periods = syntax.Set("weekend week month year summer winter spring autumn morning afternoon evening term christmas easter monday tuesday wednesday thursday friday saturday sunday")
