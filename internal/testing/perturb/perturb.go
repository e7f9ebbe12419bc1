// Package perturb rewords a question without changing its meaning: as people and programs write, in
// a hurry, with another keyboard, or with a slip.
package perturb

import (
	"strings"
	"unicode"
)

// Way changes the wording of a question, and not its meaning.
type Way struct {
	Name string
	Of   func(question string) string
}

// Ways returns all ways.
func Ways() []Way { return ways }

var ways = []Way{
	{"capitals", strings.ToUpper},
	{"small letters", strings.ToLower},
	{"no question mark", func(s string) string { return strings.TrimRight(s, "?？") }},
	{"many marks", func(s string) string { return strings.TrimRight(s, "?？") + "???!!" }},
	{"brackets", func(s string) string { return "(" + s + ")" }},
	{"quotation marks", func(s string) string { return "“" + s + "”" }},
	{"emoji", func(s string) string { return "🤔 " + s + " 🙏🏽" }},
	{"full width", fullWidth},
	{"spaces", func(s string) string { return "  " + strings.ReplaceAll(s, " ", "   ") + " " }},
	{"two letters swapped", func(s string) string {
		return slip(s, func(b []byte, n int) []byte { b[n], b[n+1] = b[n+1], b[n]; return b })
	}},
	{"a letter missing", func(s string) string {
		return slip(s, func(b []byte, n int) []byte { return append(b[:n], b[n+1:]...) })
	}},
	{"a letter twice", func(s string) string {
		return slip(s, func(b []byte, n int) []byte { return append(b[:n+1], b[n:]...) })
	}},
	{"asked politely", func(s string) string { return "Hey, could you please tell me: " + s }},
}

// fullWidth writes letters, digits and marks as Chinese keyboards can.
func fullWidth(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r - '!' + '！'
		}
		return r
	}, s)
}

// slip misspells the longest word in its middle, if it has seven letters or more: shorter ones can
// become another word.
func slip(s string, of func(word []byte, middle int) []byte) string {
	long := ""
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) || r > 0x7f }) {
		if len(w) > len(long) {
			long = w
		}
	}
	if len(long) < 7 {
		return s
	}
	return strings.Replace(s, long, string(of([]byte(long), len(long)/2)), 1)
}
