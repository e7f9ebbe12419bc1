package rules

import (
	"slices"
	"strings"
)

// A question has its verb before its subject, and the words of whoever asks: "where does your brother live". Here it
// is taken apart.

// parse takes the question apart: the first part between its commas that asks.
func (q *inquiry) parse() bool {
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
		for len(part) > 0 && lead(strings.ToLower(part[0])) {
			part = part[1:]
		}
		if q.inverted(part) || q.inOrder(part) {
			return q.sound()
		}
		words = words[min(len(words), end+1):]
	}
	return false
}

// calls reports that the question has somebody else's name between its commas: "where do you live, Clara?".
func (q *inquiry) calls(words []string) bool {
	alone := true
	for i, w := range words {
		ends := i+1 == len(words) || words[i+1] == ","
		if alone && ends && capitalised(w) && nameWord(strings.ToLower(w)) && !strings.EqualFold(w, q.of.name) {
			return true
		}
		alone = w == "," || alone && lead(strings.ToLower(w))
	}
	return false
}

// words are those of the question, with contractions taken apart.
func (q *inquiry) words() (words []string, ok bool) {
	for i, tok := range q.toks {
		raw := q.text[tok.start:tok.end]
		base, rest := contraction(tok.s)
		switch {
		case tok.s == ",":
			words = append(words, ",")
		case tok.kind == 'p':
			return nil, false
		case rest == "is" && !subjectPronoun(base) && !asksFor[base] && base != "that" && base != "there" && !(i > 0 && askedFor[base]), rest == "":
			words = append(words, raw)
		default:
			if base != "" { // "n't" alone
				words = append(words, written(raw, base))
			}
			words = append(words, rest)
		}
	}
	return words, len(words) > 0
}

// asksFor are the words that ask for something of a statement. "Why" and "whose" ask for more than one.
var asksFor = set("what where when who how which")

// inverted reads "where does your brother live", "are you allergic to anything", "any pets".
func (q *inquiry) inverted(words []string) bool {
	w := lowered(words)
	i := 0
	q.word, q.noun, q.nouns = "", "", ""
	if len(w) > 1 && asksFor[w[0]] {
		q.word, i = w[0], 1
		for k := 1; k < min(len(w)-1, 5) && q.word != "where" && q.word != "when" && q.word != "who" && !asking[w[k]]; k++ {
			q.noun, i = w[k], k+1
		}
		if q.word == "how" && (q.noun == "many" || i > 2 && w[1] == "many") {
			q.noun, q.nouns = "many", strings.Join(words[2:i], " ")
		}
		if q.word == "which" || q.noun == "time" || q.noun == "day" || q.noun == "date" {
			q.word = "what"
		}
		if q.word == "what" && (q.noun == "time" || q.noun == "day" || q.noun == "date" || q.noun == "year" || q.noun == "month") {
			q.word = "when"
		}
	} else if len(w) > 1 && len(w) < 5 && w[0] == "any" {
		q.aux, q.subj, q.rest = "do", "I", append([]string{"have"}, words...)
		return true
	}
	if i >= len(w) || !asking[w[i]] && w[i] != "am" && w[i] != "had" {
		return false
	}
	q.aux = w[i]
	if i++; i < len(w) && w[i] == "not" {
		i++
	}
	n := q.subjectAt(words[i:])
	if n == 0 || n < 0 && q.word != "who" {
		return false
	}
	q.subj = q.asSaid(words[i:i+max(n, 0)], true)
	q.rest = words[i+max(n, 0):]
	return true
}

// subjectAt counts the words of the subject that words begin with. It is negative if "who" is the subject, 0 if
// nobody can say what the answer would be about.
func (q *inquiry) subjectAt(words []string) int {
	w := lowered(words)
	if len(w) == 0 {
		return 0
	}
	if q.word == "who" && q.aux != "did" && q.aux != "do" && q.aux != "does" {
		if _, _, ing := lemma(w[0]); ing || w[0] == "got" || modals[q.aux] && lemmaSet[w[0]] {
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
	case determiner(w[0]):
		first = 2
	case calledSo[w[0]] || capitalised(words[0]) && nameWord(w[0]):
		first = 1
		for first < len(w) && capitalised(words[first]) && nameWord(w[first]) {
			first++
		}
		if strings.HasSuffix(w[first-1], "'s") {
			first++
		}
	case q.aux == "is" || q.aux == "are" || q.aux == "do" || q.aux == "does":
		if _, event := eventNoun(w[0]); event {
			return 1
		}
		return 0
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
		if q.endsSubject(w, k) {
			return k
		}
	}
	if q.word == "" {
		return 0
	}
	return len(w)
}

// endsSubject reports whether what is asked of the subject begins at word k.
func (q *inquiry) endsSubject(w []string, k int) bool {
	l, past, ing := lemma(w[k])
	if adverb(w[k]) {
		return true
	}
	switch q.aux {
	case "do", "does", "did":
		_, event := eventNoun(w[k])
		return w[k] == "do" || l == w[k] && !past && !ing && !(event && k+1 < len(w) && lemmaSet[w[k+1]])
	case "have", "has", "had":
		return past || pastForm(w[k]) || w[k] == "got"
	}
	if modals[q.aux] {
		return l == w[k] && !past || w[k] == "be"
	}
	if asksState[w[k]] || personStates[w[k]] || ing || past || pastForm(w[k]) || determiner(w[k]) || numeral(w[k]) {
		return true
	}
	return preposition(w[k]) && (q.word == "" || w[k] == "from" && q.word == "where") || weekdayOf(w[k], false) >= 0 || w[k] == "tomorrow" || w[k] == "today" || w[k] == "tonight" || w[k] == "next"
}

// numeral reports a number, in words or in digits.
func numeral(w string) bool { _, ok := number(w); return ok }

// inOrder reads "you've got a cat", "you live in Leeds": what whoever asks takes to be so.
func (q *inquiry) inOrder(words []string) bool {
	w := lowered(words)
	n := 0
	switch {
	case len(w) < 3 || q.ends != "?":
		return false
	case w[0] == "you":
		n = 1
	case w[0] == "your" && kin(w[1]):
		n = 2
	case capitalised(words[0]) && nameWord(w[0]):
		n = 1
	default:
		return false
	}
	q.word, q.noun, q.plain = "", "", true
	q.subj = q.asSaid(words[:n], true)
	for adverb(w[n]) && n+1 < len(w) {
		n++
	}
	l, past, ing := lemma(w[n])
	switch {
	case slices.Contains(w, "or"):
		return false
	case n+2 < len(w) && w[n+1] == "not":
		q.aux, q.rest, q.denies = w[n], words[n+2:], true
		return asking[q.aux] || q.aux == "am"
	case asking[w[n]] && w[n] != "do" && w[n] != "does" && w[n] != "did":
		if q.aux, q.rest = w[n], words[n+1:]; w[n] != "have" && w[n] != "has" || len(w) > n+1 && w[n+1] == "got" {
			return true
		}
		q.rest = append([]string{"have"}, q.rest...)
		if q.aux = "do"; w[n] == "has" {
			q.aux = "does"
		}
		return true
	case l == "" || past || ing:
		return false
	}
	q.aux, q.rest = "do", append([]string{l}, words[n+1:]...)
	if w[n] != l {
		q.aux = "does"
	}
	return true
}

// lowered are words in lower case.
func lowered(words []string) []string {
	all := make([]string, len(words))
	for i := range words {
		all[i] = strings.ToLower(strings.ReplaceAll(words[i], "’", "'"))
	}
	return all
}

// asSaid joins words as whoever answers would say them: "your brother" is "my brother". It is empty if there is
// no saying whom a word means.
func (q *inquiry) asSaid(words []string, subject bool) string {
	var b strings.Builder
	named := q.by.name != "" && capitalised(q.by.name) && !strings.Contains(q.by.name, " ")
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
			if raw = q.by.name; w == "my" {
				raw = possessive(raw)
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

// sound leaves out what only rounds a question off, and puts the rest into the words of whoever answers. It reports
// whether all of it can be understood.
func (q *inquiry) sound() bool {
	w := lowered(q.rest)
	for _, tail := range [...]string{"for a living", "for work", "at home", "these days", "at the moment", "right now", "by the way", "at all", "in particular", "now", "exactly", "originally", "currently", "nowadays", "anyway", "else", "then", "yet", "again", "too", "as well", "do you know", "actually", "for it", "for that", "with it"} {
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
