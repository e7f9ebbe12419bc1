package query

import (
	"regexp"
	"strings"

	"github.com/locket-dev/locket/memory/recall"
)

// Hearsay is the part of a text in which somebody else speaks or thinks of the wearer:
// she said "I am allergic to cats", Tom thinks I live in Rome. It does not answer a
// question of the wearer about themselves. What somebody says about anybody else, or
// without quotation marks, is evidence like everything else.
var (
	firstPerson = regexp.MustCompile(`(?i)\b(?:i|me|my|mine|am i)\b|我`)
	asksSaying  = regexp.MustCompile(`(?i)\b(?:say|says|said|tell|tells|told|think|thinks|thought|believes?|wrote|asked)\b|说|告诉|觉得|认为|以为`)

	quotation = regexp.MustCompile(`(?i)(?:\b(?:says?|said|tells?|told|asks?|asked|wrote|writes|texted|repl(?:ied|ies)|shouted|was like)\b[^"“”.!?\n]{0,40}?|(?:说|问|喊|写|回答)[道过]?[，,：:\s]*)["“][^"“”\n]*(?:["”]|$)`)
	quoted    = regexp.MustCompile(`(?i)["“][^"“”\n]+["”],?\s*(?:\b\pL+\s+(?:says?|said|asks?|asked)\b|\b(?:says?|said|asks?|asked)\s+\pL+)`)
	belief    = regexp.MustCompile(`(?i)(?:\b(?:thinks?|thought|believes?|believed|reckons?|assumes?|assumed|guess(?:es|ed)?|imagines?|suspects?|pretends?)\b|以为|觉得|认为|猜|怀疑)[^.!?;。！？；\n]*`)

	// ownWords is the beginning of a clause whose subject is the wearer.
	ownWords = regexp.MustCompile(`(?i)\b(?:i|i'm|i've|i'd|we|we've)\b|^\s*(?:我们?|咱们?)(?:也|都|就|一直|还|真|不|没|其实|总)*$`)
)

// clauseEnds are the characters at which a clause ends.
const clauseEnds = ".!?;,。！？；，\n"

// withoutHearsay returns a text without what others said in quotation marks, or thought.
func withoutHearsay(text string) string {
	quotes := strings.ContainsAny(text, `"“`)
	for _, p := range []*regexp.Regexp{quotation, belief} {
		if p == quotation && !quotes {
			continue
		}
		for from := 0; ; {
			m := p.FindStringIndex(text[from:])
			if m == nil {
				break
			}
			start, end := from+m[0], from+m[1]
			clause := text[strings.LastIndexAny(text[:start], clauseEnds)+1 : start]
			if strings.TrimSpace(clause) == "" || ownWords.MatchString(clause) {
				from = end
				continue
			}
			text = text[:start] + text[end:]
			from = start
		}
	}
	if !quotes {
		return text
	}
	return quoted.ReplaceAllStringFunc(text, func(s string) string {
		if ownWords.MatchString(s[strings.LastIndexAny(s, `"”`)+1:]) {
			return s
		}
		return ""
	})
}

// isHearsay reports whether a part of what a text shares with a question is only what
// others said or thought.
func isHearsay(question, text string) bool {
	rest := withoutHearsay(text)
	if rest == text {
		return false
	}
	whole := recall.Shared(question, text)
	return whole == 0 || recall.Shared(question, rest) < whole
}

// hearsay returns a check for hearsay, if the question is about the wearer; nil: there is
// nothing to check.
func hearsay(question string) check {
	if !firstPerson.MatchString(question) || asksSaying.MatchString(question) {
		return nil
	}
	return func(d document) bool { return isHearsay(question, d.text()) }
}
