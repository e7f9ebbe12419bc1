package secrets

// modifier reports whether token i says how the next letter is written, or how often it is
// repeated.
func modifier(toks []token, i int) bool {
	if i >= len(toks) {
		return false
	}
	switch toks[i].s {
	case "capital", "uppercase", "upper", "lowercase", "lower", "small", "double", "triple":
		return true
	}
	return false
}

// spelled reads one spoken digit or letter at i. If "a" or "i" could be a word, it is a letter only
// next to others, which inside says.
func spelled(toks []token, i int, inside bool) (element, bool) {
	e, _, ok := spelledRun("", toks, i, inside)
	if ok && e.kind == 'd' && len(e.s) > 1 && toks[i].kind == 'n' {
		return e, true
	}
	return e, ok
}

func spelledRun(text string, toks []token, i int, inside bool) (element, int, bool) {
	if i >= len(toks) {
		return element{}, 0, false
	}
	t := toks[i]
	if t.kind == 'n' {
		return element{kind: 'd', s: t.s}, 1, true
	}
	if d, ok := digitWord(t.s); ok {
		if t.s != "o" && t.s != "oh" || inside || nextSpelled(toks, i+1) {
			return element{kind: 'd', s: string(d)}, 1, true
		}
	}
	if n, open, ok := pairWord(t.s); ok {
		if open && i+1 < len(toks) {
			if d, ok := digitWord(toks[i+1].s); ok && d != '0' {
				return element{kind: 'd', s: pairDigits(n + int(d-'0'))}, 2, true
			}
		}
		return element{kind: 'd', s: pairDigits(n)}, 1, true
	}
	if s, ok := hyphenDigits(t.s); ok {
		return element{kind: 'd', s: s}, 1, true
	}
	if len(t.s) == 1 && t.kind == 'w' && t.s[0] >= 'a' && t.s[0] <= 'z' {
		if t.s != "a" && t.s != "i" || nextSpelled(toks, i+1) || inside && (i+1 == len(toks) || toks[i+1].kind == 'p' || modifier(toks, i+1)) {
			s := t.s
			if text != "" {
				s = text[t.start:t.end]
			}
			return element{kind: 'l', s: s}, 1, true
		}
	}
	return element{}, 0, false
}

func nextSpelled(toks []token, i int) bool {
	for i < len(toks) && toks[i].s == "," {
		i++
	}
	if i >= len(toks) {
		return false
	}
	t := toks[i]
	if _, ok := digitWord(t.s); ok || t.kind == 'n' {
		return true
	}
	return len(t.s) == 1 && t.kind == 'w'
}
