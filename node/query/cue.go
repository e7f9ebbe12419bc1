package query

import (
	"regexp"
	"slices"
	"strings"
)

// cue reports quickly whether a text may match an expression. An expression that looks for
// somebody's name before a word takes far longer, because it tries a match at each character.
type cue func(text string) bool

var (
	// namesPartner is the cue for expressions with partnerEn or partnerZh. namesProperty is the cue for those
	// with propertyEn or propertyZh.
	namesPartner = cueOf(`wife husband partner girlfriend boyfriend fianc doctor gp dentist vet boss landlord landlady lawyer therapist
		teacher neighbour neighbor manager colleague sister brother mother father mum mom dad son daughter aunt uncle cousin niece
		nephew grandmother grandfather grandma grandpa grandson granddaughter friend dog cat puppy kitten`, partnerZh, "爸", "妈")
	namesProperty = cueOf(`birthday birth birthdate address job profession occupation employer phone number email mail age surname name`, propertyZh)
)

// cueOf returns the cue that finds one of some English words, or of some Chinese ones, (?:as|these|are).
func cueOf(words, han string, more ...string) cue {
	more = append(more, strings.Split(strings.Trim(han, "(?:)"), "|")...)
	known := map[string]bool{}
	for _, w := range strings.Fields(words) {
		known[w] = true
	}
	return func(text string) bool {
		var word [16]byte
		n := 0
		for i := 0; i <= len(text); i++ {
			c := byte(0)
			if i < len(text) {
				c = text[i] | 0x20
			}
			if 'a' <= c && c <= 'z' {
				if n < len(word) {
					word[n] = c
				}
				n++
				continue
			}
			if n <= len(word) && known[string(word[:n])] {
				return true
			}
			n = 0
		}
		return slices.ContainsFunc(more, func(w string) bool { return strings.Contains(text, w) })
	}
}

// submatch returns what an expression finds in a text that has its cue. With a nil cue every text
// may match.
func submatch(re *regexp.Regexp, may cue, text string) []string {
	if may != nil && !may(text) {
		return nil
	}
	return re.FindStringSubmatch(text)
}
