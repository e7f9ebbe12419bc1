package rules

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/abi"
)

// person is someone whom a statement is about.
type person struct {
	name string // as shown: "Mei", "Mei's sister"
	key  string // slot subject: "user", "tom", "mei's sister"
}

// met is a person who was spoken of, and the byte of the text at which that was done; -1 where it was before the text.
type met struct {
	person
	at int
}

func speakerOf(ev *abi.Event, speaker string) person {
	if speaker == "" || strings.EqualFold(speaker, ev.Wearer) {
		name := ev.Wearer
		if name == "" {
			name = "The wearer"
		}
		return person{name, "user"}
	}
	return person{speaker, strings.ToLower(speaker)}
}

// named makes a person of a name: the wearer, where it is theirs.
func (t *talk) named(name string) person {
	if t.ev.Wearer != "" && strings.EqualFold(name, t.ev.Wearer) {
		return person{t.ev.Wearer, "user"}
	}
	return person{name, strings.ToLower(name)}
}

// calledUpon is whom a sentence calls by name: of those who spoke before, or whom it says "you"
// to and names at its end, "I'll send you the slides, Priya".
func (t *talk) calledUpon(s sentence) person {
	for i := range t.ev.Before {
		name := t.ev.Before[i].Speaker
		if p := speakerOf(t.ev, name); name != "" && p.key != t.self.key && (strings.HasSuffix(s.raw(), ", "+name) || strings.HasPrefix(s.raw(), name+", ")) {
			return p
		}
	}
	n := len(s.toks) - 1
	if n < 4 || s.at(n-1) != "," || !s.toks[n].cap || s.toks[n-2].cap && nameWord(s.at(n-2)) || !nameWord(s.at(n)) || s.chinese() {
		return person{}
	}
	for i := range n - 1 {
		if base, _ := contraction(s.at(i)); base == "you" || base == "your" {
			if p := t.named(s.text[s.toks[n].start:s.toks[n].end]); p.key != t.self.key {
				return p
			}
		}
	}
	return person{}
}

// addressee is whom "you" means: who is called by name, or whoever else spoke
// last, else the wearer.
func (t *talk) addressee() (person, bool) {
	if t.called.name != "" {
		return t.called, true
	}
	for i := len(t.ev.Before) - 1; i >= 0; i-- {
		if p := speakerOf(t.ev, t.ev.Before[i].Speaker); t.ev.Before[i].Speaker != "" && p.key != t.self.key {
			return p, true
		}
	}
	if t.self.key != "user" && t.ev.Wearer != "" {
		return person{t.ev.Wearer, "user"}, true
	}
	return person{}, false
}

// meet takes in who is named in a sentence, and whom "he" or "she" may mean.
func (t *talk) meet(toks []token, text string) {
	named := personsIn(toks, text)
	t.persons = append(t.persons, named...)
	p, ok := unnamed(toks)
	if !ok && len(named) == 0 {
		p, ok = relativeIn(toks)
	}
	if text != t.ev.Text {
		for i := len(t.persons) - len(named); i < len(t.persons); i++ {
			t.persons[i].at = -1
		}
		p.at = -1
	}
	if ok {
		// Beside a name, "she" may be either of the two. In another's words "my sister" is theirs, and a text
		// without capitals may have names that nobody sees.
		if len(named) > 0 || text != t.ev.Text || t.plain {
			p.key = strings.TrimPrefix(p.key, mine)
		}
		t.persons = append(t.persons, p)
	}
	for i := 1; i < len(toks); i++ {
		if !toks[i].cap || !nameWord(toks[i].s) {
			continue
		}
		before := toks[i-1].s
		if before == "," && i > 1 {
			before = toks[i-2].s
		}
		if sex := sexOf(before, ""); sex != 0 { // "my brother Tom", "that fellow, Anders"
			if t.sexes == nil {
				t.sexes = map[string]byte{}
			}
			t.sexes[toks[i].s] = sex
		}
	}
}

// sex of a person: 0 where it is not known.
func (t *talk) sex(p person) byte {
	if s := t.sexes[p.key]; s != 0 {
		return s
	}
	if p.name == "" {
		return sexOf(strings.TrimPrefix(p.key, mine), "")
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(p.key, ".", ""), " ")
	if s := sexOf(first, ""); s != 0 && rest != "" {
		return s // "Mrs Adeyemi"
	}
	return cmp.Or(t.sexes[first], sexOf("", first))
}

// mine begins the key of a relative of the speaker who is not named: "my sister".
const mine = "my "

// unnamed gives whom a sentence begins with and does not name, "my boss" or "the plumber",
// as a person who has a key alone.
func unnamed(toks []token) (met, bool) {
	first := 0
	for first < len(toks) && (toks[first].kind == 'p' || lead(toks[first].s)) {
		first++
	}
	if first+2 >= len(toks) {
		return met{}, false
	}
	switch toks[first].s {
	case "my", "our", "the", "a", "an", "your", "his", "her", "their":
	default:
		return met{}, false
	}
	noun, next := toks[first+1].s, toks[first+2]
	named := next.cap && nameWord(next.s) || next.s == "," || next.s == "'s" || next.s == "is" && first+3 < len(toks) && (toks[first+3].cap || toks[first+3].s == "called")
	if named || !kin(noun) && !trade(noun) && !profession(noun) {
		return met{}, false
	}
	sex, rest := sexOf(noun, ""), toks[first+2:]
	if end := slices.IndexFunc(rest, func(o token) bool { return o.kind == 'p' }); end >= 0 {
		rest = rest[:end]
	}
	also := slices.ContainsFunc(rest, func(o token) bool { // "my mum spoke to my sister"
		other := sexOf(o.s, "")
		return (kin(o.s) || trade(o.s) || profession(o.s)) && (sex == 0 || other == 0 || sex == other)
	})
	if det := toks[first].s; (det == "my" || det == "our") && !also {
		noun = mine + noun
	}
	return met{person{key: noun}, toks[first].start}, true
}

// relativeIn gives the one relative of the speaker's whom a sentence has somewhere, without a name: "I met my
// cousin". Of several it is the last, as somebody of whom nobody can say whose they are.
func relativeIn(toks []token) (p met, ok bool) {
	for i := 0; i+1 < len(toks); i++ {
		base, rest := contraction(toks[i].s)
		switch {
		case i == 0 && parent[base] && (rest == "is" || rest == "" && verbish(toks[1].s)): // "Dad's ill"
		case (base == "my" || base == "our") && (kin(toks[i+1].s) || offspring[toks[i+1].s]) && (i+2 == len(toks) || !toks[i+2].cap && toks[i+2].s != "'s" && toks[i+2].s != ","):
			base = toks[i+1].s
		default:
			continue
		}
		if ok {
			return met{person{key: base}, toks[i].start}, true
		}
		p, ok = met{person{key: mine + base}, toks[i].start}, true
	}
	return p, ok
}

// parent are the relatives whom one speaks of without "my".
var parent = set("dad mum mom mummy daddy grandma grandpa granny gran nan grandad granddad nana")

// personsIn lists who is named in a sentence: capitalised words inside it that
// are no days, months, feasts or places after "in", and no firm or street.
func personsIn(toks []token, text string) []met {
	var all []met
	for i, end := 0, 0; i < len(toks); i = max(i, end) + 1 {
		t := toks[i]
		if end = i; !t.cap || t.kind != 'w' || !nameWord(t.s) {
			continue
		}
		if k := i + 1 + boolInt(i+1 < len(toks) && toks[i+1].s == "."); titles[t.s] && k < len(toks) && toks[k].cap {
			end = k // "Dr. Osei"
		}
		for end+1 < len(toks) && toks[end+1].kind == 'w' && toks[end+1].cap && nameWord(toks[end+1].s) && strings.TrimSpace(text[toks[end].end:toks[end+1].start]) == "" {
			end++
		}
		if end > i+1 && !titles[t.s] || sites[toks[end].s] {
			continue // "Petrol Lane Motors", "Mill Street"
		}
		if initials(text[t.start:t.end]) || worksFor(toks, i) {
			continue // "he's with SAS"
		}
		if f, n := feast.At((&sentence{toks: toks}).at, i); f != nil {
			end = max(end, i+n-1)
			continue
		}
		if i > 0 {
			switch toks[i-1].s {
			case "in", "to", "at", "from", "of", "the", "on", "near", "into":
				continue
			}
		}
		if i == 0 && (end+1 == len(toks) || !verbish(toks[end+1].s)) {
			continue
		}
		name, _ := contraction(toks[end].s) // "Clara's moving"
		name = text[t.start:toks[end].start] + written(text[toks[end].start:toks[end].end], name)
		all = append(all, met{person{name, strings.ToLower(name)}, t.start})
	}
	return all
}

// initials reports a word of capitals alone, three or more, as firms and offices are called.
func initials(word string) bool {
	return len(word) > 2 && strings.ToUpper(word) == word
}

// worksFor reports a name at token i for whom somebody works or drives: a firm.
func worksFor(toks []token, i int) bool {
	if i < 2 || toks[i-1].s != "for" {
		return false
	}
	for k := i - 2; k >= max(0, i-5) && toks[k].kind != 'p'; k-- {
		switch l, _, _ := lemma(toks[k].s); l {
		case "work", "drive", "freelance", "deliver":
			return true
		}
	}
	return false
}

// titles stand before a name and are a part of it.
var titles = set("dr mr mrs ms prof")

// sites end the names of firms, streets and buildings.
var sites = set("motors motor garage road street lane avenue square court hall house hotel inn bank school college university hospital clinic surgery pharmacy station airport park gardens garden market centre center club museum library church bridge river lake group ltd inc gmbh llc company bakery restaurant cafe café bar pub gym airlines airways express")

// nameWord reports whether a capitalised word could be a person's name.
func nameWord(s string) bool {
	if utf8.RuneCountInString(s) < 2 || s == "'s" || weekdayOf(s, false) >= 0 || monthOf(s) > 0 && s != "april" && s != "june" && s != "may" && s != "jan" {
		return false
	}
	base, rest := contraction(s)
	if rest != "" {
		s = base
	}
	return !commonWord(s)
}

// commonWord: capitalised at the start of a sentence, and still no name.
func commonWord(s string) bool {
	if subjectPronoun(s) || determiner(s) || auxiliary(s) || lead(s) || adverb(s) || kin(s) {
		return true
	}
	switch s {
	case "me", "us", "him", "them", "there", "here", "not", "if", "when", "while", "because", "since", "then", "after", "before", "in", "on", "at", "to",
		"for", "from", "with", "of", "by", "about", "first", "next", "finally", "lastly", "second", "third", "people", "someone", "everyone",
		"nobody", "everything", "something", "nothing", "what", "where", "who", "why", "how", "which", "let", "don't", "please", "thanks", "thank",
		"good", "great", "nice", "sure", "maybe", "perhaps", "dinner", "lunch", "breakfast", "dentist", "doctor", "meeting", "mum", "mom", "dad",
		"today", "tomorrow", "yesterday", "tonight", "english", "chinese", "remember", "both", "only", "some", "one", "two", "three", "every", "each",
		"work", "school", "home", "music", "tea", "coffee", "is", "go", "keep", "send", "call", "put", "take", "turn", "add", "get":
		return true
	}
	return false
}

func subjectPronoun(s string) bool {
	switch s {
	case "i", "we", "you", "he", "she", "they", "it":
		return true
	}
	return false
}

func determiner(s string) bool {
	switch s {
	case "a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that", "these", "those", "some", "any", "no":
		return true
	}
	return false
}

func auxiliary(s string) bool {
	switch s {
	case "am", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "may", "might",
		"must", "should", "shall", "not", "never", "used", "gonna", "gotta", "ought", "cannot":
		return true
	}
	return false
}

// lead words open a sentence and say nothing.
func lead(s string) bool {
	switch s {
	case "so", "well", "oh", "and", "but", "also", "actually", "anyway", "yeah", "yes", "yep", "ok", "okay", "um", "uh", "erm", "hmm", "hey", "hi", "hello",
		"look", "listen", "right", "basically", "honestly", "personally", "apparently", "fyi", "btw", "plus", "then", "because", "though", "although",
		"ah", "wow", "true", "no", "nope", "sorry", "wait", "luckily", "unfortunately", "sadly", "now", "currently", "nowadays", "anyhow", "sure", "too",
		"finally", "recently", "lately", "usually", "normally", "generally", "turns", "fun", "great", "news", "guess", "mind", "lovely", "perfect", "absolutely",
		"exactly", "funny", "good", "nice", "cool", "haha", "please", "just", "still", "even", "while":
		return true
	}
	return false
}

// contraction splits "i'm" into "i" and "am"; rest is empty for other words.
func contraction(s string) (base, rest string) {
	i := strings.LastIndexByte(s, '\'')
	if i <= 0 {
		return s, ""
	}
	switch s[i+1:] {
	case "m":
		return s[:i], "am"
	case "re":
		return s[:i], "are"
	case "ve":
		return s[:i], "have"
	case "ll":
		return s[:i], "will"
	case "d":
		return s[:i], "would"
	case "s":
		return s[:i], "is"
	case "t":
		switch s {
		case "can't":
			return "can", "not"
		case "won't":
			return "will", "not"
		case "shan't":
			return "shall", "not"
		}
		return strings.TrimSuffix(s, "n't"), "not"
	}
	return s, ""
}

// kin names relations between people; singular.
func kin(s string) bool {
	switch s {
	case "sister", "brother", "mother", "father", "mum", "mom", "dad", "wife", "husband", "partner", "girlfriend", "boyfriend", "fiancé", "fiancée", "fiance",
		"fiancee", "son", "daughter", "aunt", "uncle", "cousin", "niece", "nephew", "grandmother", "grandfather", "grandma", "grandpa", "granny", "gran", "nan", "grandad", "granddad", "nana", "boss",
		"manager", "colleague", "coworker", "friend", "neighbour", "neighbor", "flatmate", "roommate", "landlord", "landlady", "teacher", "doctor", "dentist",
		"therapist", "mentor", "assistant", "twin", "stepmother", "stepfather", "godfather", "godmother", "mother-in-law", "father-in-law", "daughter-in-law", "son-in-law", "sister-in-law",
		"brother-in-law", "ex", "ex-wife", "ex-husband", "baby", "child", "kid", "grandson", "granddaughter", "coach", "nanny", "babysitter", "accountant", "lawyer", "housemate", "parents", "grandparents", "in-laws", "kids", "children", "family", "gp", "physio", "supervisor", "tutor", "godson",
		"goddaughter", "stepson", "stepdaughter", "stepbrother", "stepsister", "half-brother", "half-sister", "classmate", "teammate", "buddy", "mate", "spouse", "great-aunt", "great-uncle", "line manager":
		return true
	}
	return false
}

func pet(s string) bool {
	switch s {
	case "dog", "cat", "puppy", "kitten", "rabbit", "hamster", "parrot", "budgie", "horse", "pony", "tortoise", "turtle", "goldfish", "fish", "bird", "guinea-pig", "snake", "lizard", "pup", "kitty", "chicken", "hen", "gecko", "ferret", "gerbil", "retriever", "beagle", "spaniel", "labrador", "terrier", "poodle", "corgi":
		return true
	}
	return false
}

// personal reports whether a pronoun stands for somebody as an object.
func personal(s string) bool {
	switch s {
	case "me", "us", "him", "her", "them", "you":
		return true
	}
	return false
}
