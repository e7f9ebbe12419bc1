package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is where a word stands, in bytes of the text.
type Span struct{ Start, End int }

// CutEnglish cuts a text into sentences, and those into words, as the English
// Web Treebank does: marks stand alone, "don't" is do and n't, "Tom's" Tom and
// 's, compounds with hyphens are their parts.
func CutEnglish(text string) [][]Span {
	var out [][]Span
	var list []Span
	end := func() {
		if len(list) > 0 {
			out = append(out, list)
			list = nil
		}
	}
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			if r == '\n' {
				end()
			}
			at += n
			continue
		}
		stop := at
		for stop < len(text) {
			r, n := utf8.DecodeRuneInString(text[stop:])
			if unicode.IsSpace(r) {
				break
			}
			stop += n
		}
		from := len(list)
		list = cutChunk(list, text, at, stop)
		// A sentence ends with its mark, and what closes after it.
		k := len(list) - 1
		for k > from && strings.Contains("\"'”’)]", text[list[k].Start:list[k].End]) {
			k--
		}
		if k >= from && strings.Trim(text[list[k].Start:list[k].End], ".!?…") == "" && (k > 0 || len(list) == 1) {
			end()
		}
		at = stop
	}
	end()
	return out
}

const (
	openers = "([{\"“‘'`<$#£€¥*~_=>+@"
	closers = ".,;:!?)]}\"”’'`%>*~_=…|"
)

// cutChunk cuts what stands between spaces.
func cutChunk(list []Span, text string, at, end int) []Span {
	chunk := text[at:end]
	if isAddress(chunk) {
		stop := end
		for stop > at && strings.ContainsRune(",.;:!?)\"'>", rune(text[stop-1])) {
			stop--
		}
		list = append(list, Span{at, stop})
		return cutMarks(list, text, stop, end)
	}
	for at < end {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !strings.ContainsRune(openers, r) && !isRun(r) || n == end-at {
			break
		}
		if r == '\'' && startsContraction(text[at:end]) || r == '.' && at+1 < end && isDigit(text[at+1]) {
			break
		}
		n = run(text[at:end])
		list = append(list, Span{at, at + n})
		at += n
	}
	stop := end
	for stop > at {
		r, n := utf8.DecodeLastRuneInString(text[at:stop])
		if !strings.ContainsRune(closers, r) && !isRun(r) {
			break
		}
		if r == '.' && stop-n > at && text[stop-n-1] != '.' && isAbbreviation(text[at:stop]) {
			break
		}
		if r == '\'' && strings.HasSuffix(text[at:stop], "in'") {
			break
		}
		stop -= n
	}
	list = cutWord(list, text, at, stop)
	return cutMarks(list, text, stop, end)
}

// cutMarks cuts what is marks alone: runs of the same stay whole.
func cutMarks(list []Span, text string, at, end int) []Span {
	for at < end {
		n := run(text[at:end])
		list = append(list, Span{at, at + n})
		at += n
	}
	return list
}

func isRun(r rune) bool {
	return r == '.' || r == '!' || r == '?' || r == '-' || r == '–' || r == '—'
}

// run is how many bytes of the mark at the beginning of s belong together.
func run(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if !isRun(r) && r != '*' && r != '=' && r != '~' && r != '_' {
		return n
	}
	for n < len(s) {
		next, size := utf8.DecodeRuneInString(s[n:])
		if next != r && !((r == '!' || r == '?') && (next == '!' || next == '?')) {
			break
		}
		n += size
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAddress(s string) bool {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "www.") {
		return true
	}
	name, host, mail := strings.Cut(s, "@")
	return mail && name != "" && strings.Contains(host, ".")
}

var abbreviations = wordSet(`mr. mrs. ms. dr. prof. st. jr. sr. vs. etc. e.g. i.e. inc. ltd. co. corp. no. vol. fig. dept. est. approx. a.m. p.m. jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. gen. gov. sen. rep. capt. lt. col. sgt. rev. hon. ave. blvd. rd.`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// isAbbreviation says whether the point at the end of s belongs to it.
func isAbbreviation(s string) bool {
	if abbreviations[strings.ToLower(s)] {
		return true
	}
	inner := s[:len(s)-1]
	if len(inner) == 1 && unicode.IsUpper(rune(inner[0])) {
		return inner != "I"
	}
	// U.S., B.C.
	for i := range len(inner) {
		if (i%2 == 1) != (inner[i] == '.') {
			return false
		}
	}
	return len(inner) > 1
}

// tails are cut off a word that ends in one, the longest first.
var tails = []string{"n't", "n’t", "'ll", "’ll", "'re", "’re", "'ve", "’ve", "'s", "’s", "`s", "'m", "’m", "'d", "’d"}

// joined words, and where they are cut.
var joined = map[string]int{
	"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "lemme": 3, "gimme": 3, "dunno": 2,
	"dont": 2, "didnt": 3, "doesnt": 4, "cant": 2, "wont": 2, "couldnt": 5, "wouldnt": 5, "shouldnt": 6, "isnt": 2, "wasnt": 3,
	"arent": 3, "werent": 4, "havent": 4, "hasnt": 3, "hadnt": 3, "aint": 2,
	"im": 1, "ive": 1, "youre": 3, "youve": 3, "theyre": 4, "theyve": 4, "thats": 4, "theres": 5, "hes": 2, "shes": 3, "whats": 4, "youll": 3,
}

func startsContraction(s string) bool {
	for _, t := range tails {
		if len(s) >= len(t) && strings.EqualFold(s[:len(t)], t) && len(s) <= len(t)+1 {
			return true
		}
	}
	return strings.EqualFold(s, "'em") || strings.EqualFold(s, "'cause") || strings.EqualFold(s, "'til")
}

// cutWord cuts a chunk without its outer marks.
func cutWord(list []Span, text string, at, end int) []Span {
	if at >= end {
		return list
	}
	word := text[at:end]
	if n := joined[strings.ToLower(word)]; n > 0 {
		return append(list, Span{at, at + n}, Span{at + n, end})
	}
	for _, t := range tails {
		if len(word) > len(t) && strings.EqualFold(word[len(word)-len(t):], t) {
			list = cutWord(list, text, at, end-len(t))
			return append(list, Span{end - len(t), end})
		}
	}
	// A mark inside: a hyphen, a slash, a dash, dots, a bracket.
	for i := 0; i < len(word); {
		r, n := utf8.DecodeRuneInString(word[i:])
		if i > 0 && i+n < len(word) && cutsAt(word, i, r) {
			m := run(word[i:])
			list = cutWord(list, text, at, at+i)
			list = append(list, Span{at + i, at + i + m})
			return cutWord(list, text, at+i+m, end)
		}
		i += n
	}
	// "10am", "5km"
	if n := unitAt(word); n > 0 {
		return append(list, Span{at, at + n}, Span{at + n, end})
	}
	return append(list, Span{at, end})
}

// prefixes stay with what follows their hyphen.
var prefixes = wordSet("e co re un non anti pre post mid multi semi sub ex pro over psycho socio inter intra ultra quasi neo vice bi tri counter micro mini mega de x")

func cutsAt(word string, i int, r rune) bool {
	switch r {
	case '-':
		before, after := word[i-1], word[i+1]
		if after == '-' {
			return true
		}
		if isDigit(before) && isDigit(after) {
			return strings.Count(word, "-") == 1 && !strings.ContainsAny(word, "/.")
		}
		return !prefixes[strings.ToLower(word[:i])]
	case '–', '—', '…', '(', ')', '[', ']', '"', '“', '”', '=', '|', '~', '*':
		return true
	case '/':
		return !isDigit(word[0]) && !isDigit(word[i+1])
	case '.':
		return word[i+1] == '.' || len(word) > i+1 && i > 2 && unicode.IsUpper(rune(word[i+1])) && unicode.IsLower(rune(word[i-1]))
	case ',', ';', '!', '?', ':':
		return !isDigit(word[i-1]) || !isDigit(word[i+1])
	case '%', '$':
		return true
	}
	return false
}

var units = wordSet("am pm a.m p.m km kg mg ml cm mm m g lb lbs oz hrs hr min mins gb mb k")

func unitAt(word string) int {
	i := 0
	for i < len(word) && (isDigit(word[i]) || word[i] == ':' || word[i] == '.' || word[i] == ',') {
		i++
	}
	if i > 0 && units[strings.ToLower(word[i:])] {
		return i
	}
	return 0
}
