package syntax

import "strings"

// Set makes a set from a list of words.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// ContainsAny reports whether a text has one of the words.
func ContainsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// StartsWithAny reports whether a text begins with one of the heads.
func StartsWithAny(s string, heads []string) bool {
	_, ok := CutHead(s, heads...)
	return ok
}

// EndsWithAny reports whether a text ends with one of the ends.
func EndsWithAny(s string, ends []string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

// CutHead removes the first of heads with which s begins; it returns s if there is none.
func CutHead(s string, heads ...string) (rest string, ok bool) {
	for _, h := range heads {
		if rest, ok = strings.CutPrefix(s, h); ok {
			return rest, true
		}
	}
	return s, false
}

// CutEnd removes the first of ends with which s ends, and reports whether there is one.
func CutEnd(s string, ends ...string) (rest string, ok bool) {
	for _, e := range ends {
		if rest, ok = strings.CutSuffix(s, e); ok {
			return rest, true
		}
	}
	return s, false
}

// TrimHeads removes each of heads in turn, if s then begins with it.
func TrimHeads(s string, heads ...string) string {
	for _, h := range heads {
		s = strings.TrimPrefix(s, h)
	}
	return s
}

// TrimTails does the same as [TrimHeads] at the end of s.
func TrimTails(s string, tails ...string) string {
	for _, l := range tails {
		s = strings.TrimSuffix(s, l)
	}
	return s
}

// FirstOf returns the first of two values.
func FirstOf(a, _ string) string { return a }

// Placing reports whether w is a preposition of place.
func Placing(w string) bool {
	switch w {
	case "in", "on", "under", "behind", "at", "next", "inside", "near", "above", "beside", "below":
		return true
	}
	return false
}

// Tongues are words for languages, which are neither places nor persons.
var Tongues = Set("chinese english german french spanish dutch italian polish arabic welsh portuguese russian japanese korean turkish greek latin swedish danish norwegian finnish hindi czech hungarian ukrainian hebrew mandarin cantonese")
