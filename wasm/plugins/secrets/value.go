package secrets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class says what a cue's value may look like.
type class byte

const (
	anyValue      class = iota // a password, which may be words
	pinValue                   // mostly digits
	codeCode                   // digits, or letters with digits
	bareCode                   // like codeCode, after a cue that often means something else: at least 4
	keyValue                   // one long token
	phrase                     // 12 to 24 words
	tokenValue                 // like keyValue, but short: a word with digits in it
	wordyValue                 // like tokenValue, but beginning with four letters
	sentenceValue              // a passphrase of any number of words
)

// value is a credential: a span of the text, and its content.
type value struct {
	start, end int
	secret     string
	next       int // the token after it
}

// element is one piece of a value.
type element struct {
	kind       byte // d: digits; l: a letter; m: a named mark; t: a token with digits or marks; w: a plain word
	s          string
	start, end int
}

// parseValue reads a value that begins at token i. If strict is set, nothing links it to its cue,
// and plain words or few digits are not enough.
func parseValue(text string, toks []token, i int, c class, strict bool) (value, bool) {
	if i < 0 || i >= len(toks) {
		return value{}, false
	}
	if c == phrase {
		return parsePhrase(text, toks, i)
	}
	if v, ok := quoted(text, toks, i); ok {
		return v, !strict && plausible(v.secret, c)
	}
	if c == sentenceValue {
		if v, ok := parseSentence(text, toks, i); ok && !strict {
			return v, true
		}
		c = anyValue
	}
	els, next, closed := elements(text, toks, i, c, strict)
	if len(els) == 0 {
		return value{}, false
	}
	v := value{start: els[0].start, end: els[len(els)-1].end, secret: assemble(text, els), next: next}
	return v, accept(toks, els, v, c, strict, closed)
}

// accept decides whether elements are a credential, and not ordinary talk.
func accept(toks []token, els []element, v value, c class, strict, closed bool) bool {
	var digits, letters, tokens, words int
	for _, e := range els {
		switch e.kind {
		case 'd':
			digits += len(digitsOf(e.s))
		case 'l', 'm':
			letters++
		case 't':
			tokens++
		case 'w':
			words++
		}
	}
	if v.next < len(toks) && isUnit(toks[v.next].s) {
		return false
	}
	switch {
	case words > 0 && tokens+letters+digits == 0:
		return c == anyValue && !strict && closed && words <= 6 && !predicate(els[0].s)
	case words > 0:
		return c == anyValue && len(v.secret) >= 4
	case c == tokenValue:
		return tokens == 1 && len(els) == 1 && len(v.secret) >= 5 && digitsOf(v.secret) != ""
	case c == wordyValue:
		return tokens == 1 && len(els) == 1 && wordy(v.secret) && (!strict || strings.ContainsAny(v.secret, "-_"))
	case tokens > 0:
		return (len(v.secret) >= 4 || tokens > 0 && !strict && len(v.secret) >= 3) && (c != keyValue || len(v.secret) >= 8)
	case letters > 0:
		return letters+digits >= 3 && (c != pinValue || digits > 0)
	case c == keyValue:
		return digits >= 8
	case c == bareCode || strict:
		return digits >= 4 && digits <= 16
	}
	return digits >= 3 && digits <= 16
}

// wordy reports whether a token has digits, begins with four letters, and is neither a standard nor
// a device: not 5GHz-2, 4pm-5pm, WPA2-PSK, IEEE802.11, iPhone15.
func wordy(s string) bool {
	word := strings.ToLower(s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsLetter))])
	return digitsOf(s) != "" && !strings.Contains(s, " ") && len(word) >= 4 && word != "ieee" && word != "iphone" && word != "ipad" && word != "galaxy"
}

// quoted reads a value in quotation marks.
func quoted(text string, toks []token, i int) (value, bool) {
	q := toks[i].s
	switch q {
	case "\"", "“", "'", "‘", "「":
	default:
		return value{}, false
	}
	for k := i + 1; k < len(toks) && k < i+12; k++ {
		switch toks[k].s {
		case "\"", "”", "'", "’", "」":
			s, e := toks[i].end, toks[k].start
			return value{s, e, strings.TrimSpace(text[s:e]), k + 1}, e > s
		}
	}
	return value{}, false
}

func plausible(s string, c class) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && n <= 64 && (c == anyValue || digitsOf(s) != "") && (c != wordyValue || wordy(s))
}

// maxElements limits the pieces of one value: nobody spells out more.
const maxElements = 128

// elements reads pieces of a value until something else comes; closed means that a clause ends
// there.
func elements(text string, toks []token, i int, c class, strict bool) (els []element, next int, closed bool) {
	upper, lower := false, false
	add := func(k byte, s string, from, to int) {
		if upper {
			_, n := utf8.DecodeRuneInString(s)
			s = strings.ToUpper(s[:n]) + s[n:]
		} else if lower {
			s = strings.ToLower(s)
		}
		upper, lower = false, false
		els = append(els, element{k, s, toks[from].start, toks[to].end})
		next = to + 1
	}
	next = i
	for i < len(toks) && len(els) < maxElements {
		t := toks[i]
		if t.kind == 'p' {
			soft := t.s == "," || t.s == "、" || t.s == "-" || t.s == "–" || t.s == "—" || t.s == "…" || t.s == "." && len(els) > 0 && els[len(els)-1].kind == 'l'
			_, spell := spelled(toks, i+1, true)
			if modifier(toks, i+1) {
				_, spell = spelled(toks, i+2, false)
			}
			if i+1 < len(toks) && !spell {
				_, n := symbolWord(toks, i+1)
				spell = n > 0
			}
			if len(els) > 0 && soft && spell && els[len(els)-1].kind != 'w' && els[len(els)-1].kind != 't' {
				i++
				continue
			}
			return els, next, true
		}
		if sign, n := symbolWord(toks, i); n > 0 && len(els) > 0 {
			if i+n < len(toks) || sign != "." {
				add('m', sign, i, i+n-1)
				i = next
				continue
			}
		}
		switch t.s {
		case "capital", "uppercase", "upper", "大写", "big":
			if e, ok := spelled(toks, i+1, false); ok && e.kind == 'l' {
				upper, i = true, i+1
				continue
			}
		case "lowercase", "lower", "small":
			if e, ok := spelled(toks, i+1, false); ok && e.kind == 'l' {
				lower, i = true, i+1
				continue
			}
		case "case":
			if upper || lower {
				i++
				continue
			}
		case "大", "小":
			if i+2 < len(toks) && toks[i+1].s == "写" {
				upper, lower = t.s == "大", t.s == "小"
				i += 2
				continue
			}
		case "double", "triple":
			if e, ok := spelled(toks, i+1, true); ok && len(e.s) == 1 {
				n := 2
				if t.s == "triple" {
					n = 3
				}
				add(e.kind, strings.Repeat(e.s, n), i, i+1)
				i = next
				continue
			}
		case "and", "then":
			if len(els) > 0 && els[len(els)-1].kind != 'w' {
				if _, ok := spelled(toks, i+1, true); ok {
					i++
					continue
				}
			}
		case "as", "like":
			if len(els) > 0 && els[len(els)-1].kind == 'l' && i+1 < len(toks) {
				i += 2
				if t.s == "as" && i-1 < len(toks) && toks[i-1].s == "in" {
					i++
				}
				next = min(i, len(toks))
				els[len(els)-1].end = toks[next-1].end
				continue
			}
		}
		if e, n, ok := spelledRun(text, toks, i, len(els) > 0); ok {
			if t.s == "o" && len(els) > 0 && els[len(els)-1].kind == 'l' { // among letters it is not a zero
				e = element{kind: 'l', s: text[t.start:t.end]}
			}
			add(e.kind, e.s, i, i+n-1)
			i = next
			continue
		}
		switch {
		case len(els) > 0 && els[len(els)-1].kind == 'd' && isUnit(t.s):
			return els, next, false
		case t.kind == 'x' || t.kind == 'w' && strings.ContainsAny(t.s, "-_") && c == anyValue:
			if ordinary(t.s) {
				return els, next, false
			}
			add('t', text[t.start:t.end], i, i)
		case t.kind == 'w' && len(els) > 0 && els[len(els)-1].kind == 't' && afterwards(t.s):
			return els, next, true
		case t.kind == 'w' && c == anyValue && !strict && !function(t.s) && len(els) < 12:
			add('w', text[t.start:t.end], i, i)
		default:
			return els, next, trailing(t.s)
		}
		i++
	}
	return els, next, true
}

// afterwards words follow a password without being part of it.
func afterwards(s string) bool {
	switch s {
	case "now", "today", "again", "then", "thanks", "okay", "ok", "right", "anyway", "though", "currently", "instead", "everywhere", "by", "btw":
		return true
	}
	return false
}

// parseSentence reads a passphrase of at least four words, up to the end of the
// clause.
func parseSentence(text string, toks []token, i int) (value, bool) {
	k := i
	for k < len(toks) && k < i+16 && (toks[k].kind == 'w' || toks[k].kind == 'x' || toks[k].kind == 'n') {
		k++
	}
	if k-i < 4 || predicate(toks[i].s) || function(toks[i].s) || toks[i].s == "written" {
		return value{}, false
	}
	return value{toks[i].start, toks[k-1].end, text[toks[i].start:toks[k-1].end], k}, true
}

// trailing words say how a value is written, like the end of a clause.
func trailing(s string) bool {
	return s == "all" || s == "no" || s == "with" || s == "without" || s == "in"
}

// assemble joins elements as they would be typed: nothing between digits, letters and marks; a
// space between words and tokens that were written separately.
func assemble(text string, els []element) string {
	var b strings.Builder
	joined := true // "one word": marks and spelling join what they touch
	for i, e := range els {
		if i > 0 {
			p := els[i-1]
			apart := func(k byte) bool { return k == 'w' || k == 't' }
			if (apart(e.kind) || apart(p.kind)) && e.kind != 'm' && p.kind != 'm' {
				joined = false
			} else {
				joined = true
			}
			if !joined {
				b.WriteByte(' ')
			} else if e.kind == 'd' && p.kind == 'd' && e.start > p.end && strings.TrimSpace(text[p.end:e.start]) == "-" {
				b.WriteByte('-')
			}
		}
		b.WriteString(e.s)
	}
	return b.String()
}

// parsePhrase reads a recovery phrase: 12 to 24 words of 3 to 8 letters (BIP-39), with commas and
// numbering in between.
func parsePhrase(text string, toks []token, i int) (value, bool) {
	var words []string
	start, end, next := 0, 0, i
	for ; i < len(toks) && len(words) < 24; i++ {
		t := toks[i]
		if t.s == "," || t.s == "." || t.s == "\n" || t.kind == 'n' && len(t.s) <= 2 {
			continue
		}
		if t.kind != 'w' || len(t.s) < 3 || len(t.s) > 8 || !allLetters(t.s) {
			break
		}
		if len(words) == 0 {
			start = t.start
		}
		words, end, next = append(words, t.s), t.end, i+1
	}
	n := len(words) / 3 * 3
	return value{start, end, strings.Join(words, " "), next}, n >= 12 && n == len(words)
}

// ordinary tokens contain digits or hyphens and are not secrets.
func ordinary(s string) bool {
	switch s {
	case "well-known", "case-sensitive", "two-factor", "up-to-date", "out-of-date", "so-called", "e-mail", "uh-huh", "uh-oh", "mm-hm", "mm-hmm", "wi-fi", "check-in", "follow-up", "sign-in", "log-in", "one-time", "built-in":
		return true
	}
	for _, tens := range [...]string{"twenty-", "thirty-"} {
		if rest, ok := strings.CutPrefix(s, tens); ok && (strings.HasSuffix(rest, "th") || strings.HasSuffix(rest, "st") || strings.HasSuffix(rest, "nd") || strings.HasSuffix(rest, "rd")) {
			return true
		}
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if n := len(digitsOf(s)); n > 0 && unicode.IsLetter(last) {
		rest := strings.TrimLeft(s, "0123456789.:-")
		switch rest {
		case "st", "nd", "rd", "th", "am", "pm", "a.m", "p.m", "kg", "km", "cm", "mm", "gb", "mb", "min", "h", "m", "k", "s", "px", "d", "x", "g":
			return true
		}
	}
	return strings.ContainsAny(s[:1], "$€£¥")
}
