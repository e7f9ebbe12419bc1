package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinedWords are contractions without their apostrophe, as speech recognition and people on phones
// write them.
var joinedWords = func() map[string]string {
	m := map[string]string{}
	for s := range strings.FieldsSeq("i'm i've we've they've you've he's she's that's what's where's how's who's there's they're you're don't doesn't didn't isn't wasn't haven't hasn't hadn't " +
		"won't can't couldn't wouldn't shouldn't aren't weren't mustn't they'll you'll it'll that'll") {
		m[strings.Replace(s, "'", "", 1)] = s
	}
	return m
}()

// rejoin reads contractions without their apostrophe in tokens that follow each other: "ive",
// "shes". Those that are also words ("its", "ill", "were", "well", "hell", "shell") are recognised
// as contractions by the word after them.
func rejoin(toks []Token, text string) {
	for i := range toks {
		t := &toks[i]
		if t.Kind != 'w' {
			continue
		}
		if full, ok := joinedWords[t.S]; ok && (len(t.S) > 2 || text[t.Start:t.End] != "IM") {
			t.S = full
			continue
		}
		next := ""
		if i+1 < len(toks) {
			next = toks[i+1].S
		}
		prev := ""
		if i > 0 {
			prev = toks[i-1].S
		}
		opens := i == 0 || Joins[prev] || prev == "," || prev == "so" || prev == "then" || prev == "ok" || prev == "okay" || prev == "oh" || prev == "yes" || prev == "yeah"
		if one := Singular(t.S); one != t.S && (SexOf("", one) != 0 || (Kin(one) || one == "neighbour" || one == "neighbor") && (prev == "my" || prev == "our" || prev == "door")) && (Kin(next) && Singular(next) == next || Pet(next)) {
			t.S = one + "'s" // "helens daughter", "our neighbours dog"
			continue
		} else if one != t.S && opens && SexOf("", one) != 0 && !AlsoWords[one] && (next == "got" || next == "been" || next == "gone") {
			t.S = one + "'s" // "kates got covid"
			continue
		}
		switch t.S {
		case "its":
			if Determiner(next) || next == "my" || next == "our" || next == "been" || next == "not" || next == "at" || next == "on" || next == "in" || next == "half" || next == "quarter" {
				t.S = "it's"
			}
		case "lets":
			if i == 0 || opens && prev != "" && !SubjectPronoun(next) {
				t.S = "let's"
			}
		case "ill":
			if opens && (Errand[next] || next == "be" || next == "do" || next == "have" || next == "get" || next == "need" || next == "come" || next == "go" || next == "take") {
				t.S = "i'll"
			}
		case "were":
			if _, _, ing := Lemma(next); ing && opens {
				t.S = "we're"
			}
		case "well", "hell", "shell":
			if next == "be" && (opens || t.S == "hell") {
				t.S = t.S[:len(t.S)-2] + "'ll"
			}
		}
	}
}

// AlsoWords are given names that are also words: they need a relative or a verb of meeting before
// them.
var AlsoWords = Set("mark max frank grace rose bill jack nick carol victor ray dominik")

// PieceEnd returns the end of the piece that begins at from: after the last sentence that fits, or
// at a word or character if none fits.
func PieceEnd(text string, from int) int {
	if len(text)-from <= maxPiece {
		return len(text)
	}
	to := from + len(Cut(text[from:], maxPiece))
	for _, marks := range [...]string{".!?\n。！？", " ,，"} {
		if i := strings.LastIndexAny(text[from:to], marks); i > maxPiece/2 {
			_, n := utf8.DecodeRuneInString(text[from+i:])
			return from + i + n
		}
	}
	return to
}

// MarksBefore returns the number of tokens before what a sentence says: the mark of a list, an
// empty check box, a picture. Marks with a meaning stay: quotation marks, brackets, "-5", "#42".
func MarksBefore(toks []Token) int {
	n := 0
	for n < len(toks) {
		switch t := toks[n]; {
		case t.Kind == 'p' && !strings.Contains("\"'“”‘’«»「」『』《》()（）[]【】{}$€£¥￥@+~<&/=", t.S) &&
			(n+1 == len(toks) || toks[n+1].Start > t.End || toks[n+1].Kind != 'n' && t.S != "#"):
			n++
		case t.S == "[" && n+1 < len(toks) && toks[n+1].S == "]":
			n += 2
		case t.Kind == 'n' && n == 0 && len(toks) > 2 && toks[1].S == ")" && toks[1].Start == t.End:
			n += 2
		default:
			return n
		}
	}
	return n
}

// picture reports whether s is an emoji, or a part of one: a skin colour, a selector, a joiner.
// "20°" and "Locket™" keep their marks.
func picture(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x2300 && unicode.Is(unicode.So, r) || r == '\u200d' || r == '\ufe0f' || r >= 0x1f3fb && r <= 0x1f3ff
}

// PhoneIn returns the telephone number with which a text begins: six digits or more.
func PhoneIn(s string) string {
	end := len(s) - len(strings.TrimLeft(s, "+0123456789 ()./-"))
	if i := strings.IndexByte(s[min(1, end):end], '+'); i >= 0 { // another number begins
		end = i + 1
	}
	s = strings.TrimRight(s[:end], " ()./-+")
	digits := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits < 6 || digits > 15 { // E.164 allows at most 15
		return ""
	}
	return s
}

// How much of a text is read at once, and of each earlier text: talk is shorter.
const (
	maxPiece  = 8 << 10 // bytes
	MaxBefore = 2 << 10
	// greatest number of sentences in one piece, because each may look back at the others
	MaxSentences = 100
)

// Cut cuts a text to at most n bytes, between characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
