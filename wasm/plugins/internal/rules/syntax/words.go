package syntax

import "strings"

// Set lists words once, to be looked up.
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

// CutHead cuts off the first of heads that s begins with; it returns s where there is none.
func CutHead(s string, heads ...string) (rest string, ok bool) {
	for _, h := range heads {
		if rest, ok = strings.CutPrefix(s, h); ok {
			return rest, true
		}
	}
	return s, false
}

// CutEnd cuts the first of ends off that s ends with, and reports whether it ends with one.
func CutEnd(s string, ends ...string) (rest string, ok bool) {
	for _, e := range ends {
		if rest, ok = strings.CutSuffix(s, e); ok {
			return rest, true
		}
	}
	return s, false
}

// TrimHeads cuts off each of heads in turn, where s begins with it then.
func TrimHeads(s string, heads ...string) string {
	for _, h := range heads {
		s = strings.TrimPrefix(s, h)
	}
	return s
}

// TrimTails is [TrimHeads] at the end of s.
func TrimTails(s string, tails ...string) string {
	for _, l := range tails {
		s = strings.TrimSuffix(s, l)
	}
	return s
}

// FirstOf is the first of two.
func FirstOf(a, _ string) string { return a }

// Placing reports a preposition of place.
func Placing(w string) bool {
	switch w {
	case "in", "on", "under", "behind", "at", "next", "inside", "near", "above", "beside", "below":
		return true
	}
	return false
}
