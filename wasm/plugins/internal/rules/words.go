package rules

import "strings"

// set lists words once, to be looked up.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func startsWithAny(s string, heads []string) bool {
	_, ok := cutHead(s, heads...)
	return ok
}

func endsWithAny(s string, ends []string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

// cutHead cuts off the first of heads that s begins with; it returns s where there is none.
func cutHead(s string, heads ...string) (rest string, ok bool) {
	for _, h := range heads {
		if rest, ok = strings.CutPrefix(s, h); ok {
			return rest, true
		}
	}
	return s, false
}

// cutEnd cuts the first of ends off that s ends with, and reports whether it ends with one.
func cutEnd(s string, ends ...string) (rest string, ok bool) {
	for _, e := range ends {
		if rest, ok = strings.CutSuffix(s, e); ok {
			return rest, true
		}
	}
	return s, false
}

// trimHeads cuts off each of heads in turn, where s begins with it then.
func trimHeads(s string, heads ...string) string {
	for _, h := range heads {
		s = strings.TrimPrefix(s, h)
	}
	return s
}

// trimTails is trimHeads at the end of s.
func trimTails(s string, tails ...string) string {
	for _, l := range tails {
		s = strings.TrimSuffix(s, l)
	}
	return s
}
