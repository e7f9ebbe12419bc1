package syntax

import (
	"strings"
	"unicode/utf8"
)

// Profession reports whether s is somebody with whom people have appointments.
func Profession(s string) bool {
	switch s {
	case "dentist", "doctor", "vet", "optician", "hairdresser", "physio", "therapist", "gp", "barber", "mechanic", "hospital", "optometrist", "orthodontist", "hygienist",
		"chiropractor", "osteopath", "podiatrist", "psychiatrist", "paediatrician", "pediatrician", "obstetrician", "midwife", "notary", "solicitor", "surgeon", "nutritionist",
		"dietician", "beautician", "masseur", "masseuse", "acupuncturist", "gynaecologist", "gynecologist":
		return true
	}
	if stem, ok := strings.CutSuffix(s, "therapist"); ok {
		return stem != ""
	}
	switch stem, _ := strings.CutSuffix(s, "ologist"); stem {
	case "dermat", "cardi", "neur", "ur", "onc", "rheumat", "audi", "psych", "radi", "allerg", "immun", "endocrin", "ophthalm", "haemat", "hemat", "pulmon", "gastroenter":
		return stem != s
	}
	return false
}

// LetterAt reports whether a Latin letter or a digit is at byte i.
func LetterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i]|32 >= 'a' && s[i]|32 <= 'z' || s[i] >= '0' && s[i] <= '9')
}

// Joins are beginnings of what somebody adds to a "yes".
var Joins = Set("but because though although while and")

// OneEvent returns the singular of an event: meeting for "meetings".
func OneEvent(s string) string {
	if strings.HasSuffix(s, "ss") {
		return s // a class
	}
	return strings.TrimSuffix(s, "s")
}

// Errand are verbs with which "I'll …" is a plan even without a time.
var Errand = Set("send ring bring buy call email book pick return pay fix write collect finish order ask help cook visit apply phone text lend drop repair print renew prepare organise organize submit water feed " +
	"发 送 寄 买 给 带 交 写 查 问 还 订 取 接 转 把 帮") // "I'll 发 you the file"

// Adverb reports whether s is an adverb that may be before a verb.
func Adverb(s string) bool {
	switch s {
	case "really", "just", "always", "also", "actually", "currently", "now", "still", "usually", "often", "sometimes", "mostly", "already", "finally", "recently", "both",
		"all", "even", "definitely", "only", "normally", "absolutely", "secretly", "totally", "honestly", "lately", "quite", "kind", "of", "kinda", "sort", "truly", "generally", "mainly", "once", "ever", "simply", "certainly", "officially", "basically", "originally", "mostly,", "much", "rather", "particularly", "especially", "genuinely", "deeply", "particular", "proper", "properly", "nearly", "almost", "soon", "regularly", "rarely", "mainly,", "therefore", "myself", "personally", "apparently", "sadly", "luckily", "unfortunately", "actively", "happily", "accidentally", "somehow", "literally", "seriously", "actually,":
		return true
	case "probably", "maybe", "perhaps", "possibly":
		return true
	}
	return false
}

// Offspring are words for a child that need an owner: "our youngest".
var Offspring = Set("boy girl youngest eldest oldest lad toddler newborn teenager")

// Parent are relatives whom people mention without "my".
var Parent = Set("dad mum mom mummy daddy grandma grandpa granny gran nan grandad granddad nana")

// NameWord reports whether a capitalised word could be a person's name.
func NameWord(s string) bool {
	if utf8.RuneCountInString(s) < 2 || s == "'s" || WeekdayOf(s, false) >= 0 || MonthOf(s) > 0 && s != "april" && s != "june" && s != "may" && s != "jan" {
		return false
	}
	base, rest := Contraction(s)
	if rest != "" {
		s = base
	}
	return !CommonWord(s)
}

// CommonWord reports whether a word is capitalised at the start of a sentence, but is not a name.
func CommonWord(s string) bool {
	if SubjectPronoun(s) || Determiner(s) || Auxiliary(s) || Lead(s) || Adverb(s) || Kin(s) {
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

// SubjectPronoun reports whether s is a pronoun that is a subject: I, she, we.
func SubjectPronoun(s string) bool {
	switch s {
	case "i", "we", "you", "he", "she", "they", "it":
		return true
	}
	return false
}

// Determiner reports whether s begins a noun phrase: the, my, this.
func Determiner(s string) bool {
	switch s {
	case "a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that", "these", "those", "some", "any", "no":
		return true
	}
	return false
}

// Auxiliary reports whether s is a form of be, have and do, or a modal verb.
func Auxiliary(s string) bool {
	switch s {
	case "am", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "may", "might",
		"must", "should", "shall", "not", "never", "used", "gonna", "gotta", "ought", "cannot":
		return true
	}
	return false
}

// Lead reports whether s opens a sentence and has no content.
func Lead(s string) bool {
	switch s {
	case "so", "well", "oh", "and", "but", "also", "actually", "anyway", "yeah", "yes", "yep", "ok", "okay", "um", "uh", "erm", "hmm", "hey", "hi", "hello",
		"look", "listen", "right", "basically", "honestly", "personally", "apparently", "fyi", "btw", "plus", "then", "because", "though", "although",
		"ah", "wow", "true", "no", "nope", "nah", "sorry", "wait", "luckily", "unfortunately", "sadly", "now", "currently", "nowadays", "anyhow", "sure", "too",
		"finally", "recently", "lately", "usually", "normally", "generally", "turns", "fun", "great", "news", "guess", "mind", "lovely", "perfect", "absolutely",
		"exactly", "funny", "good", "nice", "cool", "haha", "please", "just", "still", "even", "while":
		return true
	}
	return false
}

// Contraction splits "i'm" into "i" and "am"; rest is empty for other words.
func Contraction(s string) (base, rest string) {
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

// Kin reports whether s is a relation between people, in the singular.
func Kin(s string) bool {
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

// Pet reports whether s is an animal that people keep.
func Pet(s string) bool {
	switch s {
	case "dog", "cat", "puppy", "kitten", "rabbit", "hamster", "parrot", "budgie", "horse", "pony", "tortoise", "turtle", "goldfish", "fish", "bird", "guinea-pig", "snake", "lizard", "pup", "kitty", "chicken", "hen", "gecko", "ferret", "gerbil", "retriever", "beagle", "spaniel", "labrador", "terrier", "poodle", "corgi":
		return true
	}
	return false
}

// Singular removes the s of a word of more than three letters.
func Singular(s string) string {
	if n := len(s); n > 3 && s[n-1] == 's' {
		return s[:n-1]
	}
	return s
}

// Askers are question words.
var Askers = Set("what where who why how which whose when")
