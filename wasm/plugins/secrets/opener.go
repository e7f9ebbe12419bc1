package secrets

// byOpener reads "punch in 4821 at the gate": a verb of entering, a number, and within a few words
// the thing that it opens.
func byOpener(text string, toks []token) []found {
	var all []found
	for i, t := range toks {
		if (t.s == "opens" || t.s == "unlocks") && i > 0 && i+2 < len(toks) && toks[i+1].s == "with" && opener(toks[i-1].s) {
			j := i + 2
			if toks[j].s == "the" || toks[j].s == "this" {
				j++
			}
			if j < len(toks) && (toks[j].s == "code" || toks[j].s == "number") {
				j++
			}
			if v, ok := parseValue(text, toks, j, codeCode, false); ok && digitsOf(v.secret) != "" {
				k := i - 1
				for k > 0 && toks[k-1].kind == 'w' && !function(toks[k-1].s) && i-k < 3 {
					k--
				}
				f := found{value: v, known: true, cue: cue{noun: "code", class: codeCode, entry: "pin", label: "code for the " + text[toks[k].start:toks[i-1].end], start: toks[k].start, end: toks[i-1].end}}
				if unfinished(text, toks, v) {
					f.part = firstPart
				}
				all = append(all, f)
			}
		}
		if f, ok := toLogIn(text, toks, i); ok {
			all = append(all, f)
			continue
		}
		if f, ok := setTo(text, toks, i); ok {
			all = append(all, f)
			continue
		}
		if f, ok := presses(text, toks, i); ok {
			all = append(all, f)
			continue
		}
		switch t.s {
		case "use", "enter", "type", "dial", "punch", "press", "key", "try":
		case "it's": // "it's 7 7 0 1 for the garage": said digit by digit, unlike a price
			if digits, end := spacedDigits(toks, i+1); digits < 4 || end >= len(toks) || toks[end].s != "for" {
				continue
			}
		case "with": // "you get in with 4721 at the door"
			if i == 0 || toks[i-1].s != "in" {
				continue
			}
		default:
			continue
		}
		j := i + 1
		if j < len(toks) && toks[j].s == "in" {
			j++
		}
		if f, ok := typedFor(text, toks, i, j); ok {
			all = append(all, f)
			continue
		}
		v, ok := parseValue(text, toks, j, codeCode, true)
		if !ok || len(digitsOf(v.secret)) < 4 || len(v.secret) > 12 {
			continue
		}
		for k := v.next + 1; k < min(len(toks), v.next+7); k++ {
			if toks[k].kind == 'p' {
				break
			}
			if opener(toks[k].s) {
				c := cue{noun: "code", class: codeCode, entry: "pin", label: "code for the " + text[toks[k].start:toks[k].end], start: toks[k].start, end: toks[k].end}
				all = append(all, found{value: v, cue: c, known: true})
				break
			}
		}
	}
	return all
}

// typedFor reads "for the alarm you type 907", with "type" at token i and the digits at j; if
// "that's half" follows, they are a part.
func typedFor(text string, toks []token, i, j int) (found, bool) {
	for k := max(0, i-4); k < i; k++ {
		if !opener(toks[k].s) || k < 2 || toks[k-2].s != "for" {
			continue
		}
		v, ok := parseValue(text, toks, j, codeCode, false)
		if !ok || digitsOf(v.secret) == "" {
			return found{}, false
		}
		f := found{value: v, known: true, cue: cue{noun: "code", class: codeCode, entry: "pin",
			label: "code for the " + text[toks[k].start:toks[k].end], start: toks[k].start, end: toks[k].end}}
		for _, t := range toks[min(v.next, len(toks)):] {
			if t.s == "half" || t.s == "part" {
				f.part = firstPart
			}
		}
		if unfinished(text, toks, v) {
			f.part = firstPart
		}
		return f, true
	}
	return found{}, false
}

// toLogIn reads "use hunter2 to log in".
func toLogIn(text string, toks []token, i int) (found, bool) {
	switch toks[i].s {
	case "use", "type", "enter", "try":
	default:
		return found{}, false
	}
	if i+4 >= len(toks) || toks[i+2].s != "to" || toks[i+4].s != "in" || toks[i+3].s != "log" && toks[i+3].s != "sign" && toks[i+3].s != "get" {
		return found{}, false
	}
	v, ok := parseValue(text, toks, i+1, tokenValue, false)
	return found{value: v, known: true, cue: cue{noun: "password", class: anyValue, entry: "password", label: "password", start: toks[i+2].start, end: toks[i+4].end}}, ok
}

// setTo reads "the suitcase lock is set to 731", "the keypad takes 9215": things whose only setting
// is their code.
func setTo(text string, toks []token, i int) (found, bool) {
	switch toks[i].s {
	case "lock", "padlock", "lockbox", "keypad", "safe":
	default:
		return found{}, false
	}
	at := func(k int) string {
		if k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	j := 0
	switch {
	case (at(i+1) == "is" || at(i+1) == "'s") && at(i+2) == "set" && at(i+3) == "to":
		j = i + 4
	case at(i+1) == "takes" || at(i+1) == "wants":
		j = i + 2
	default:
		return found{}, false
	}
	v, ok := parseValue(text, toks, j, codeCode, false)
	if !ok || digitsOf(v.secret) == "" || v.next < len(toks) && toks[v.next].kind == 'w' && !function(toks[v.next].s) {
		return found{}, false
	}
	k := i
	for k > 0 && toks[k-1].kind == 'w' && !function(toks[k-1].s) && i-k < 2 {
		k--
	}
	return found{value: v, known: true, cue: cue{noun: "code", class: codeCode, entry: "pin", label: "code for the " + text[toks[k].start:toks[i].end], start: toks[k].start, end: toks[i].end}}, true
}

// presses reads 开门按 4471: what is keyed in to get in.
func presses(text string, toks []token, i int) (found, bool) {
	if s := toks[i].s; s != "开" && s != "进" {
		return found{}, false
	}
	for _, w := range [...]string{"开门按", "开门输", "进门按", "进门输", "开锁按", "开门用"} {
		if !spells(toks, i, w) {
			continue
		}
		j := i + len([]rune(w))
		if j < len(toks) && toks[j].s == "入" {
			j++
		}
		v, ok := parseValue(text, toks, j, codeCode, true)
		return found{value: v, known: true, cue: cue{noun: "密码", class: codeCode, entry: "pin", label: "开门密码", start: toks[i].start, end: toks[min(j, len(toks))-1].end}}, ok
	}
	return found{}, false
}

// spacedDigits counts the single digits from token i on, and returns the token after
// them.
func spacedDigits(toks []token, i int) (n, end int) {
	for ; i < len(toks); i++ {
		if _, word := digitWord(toks[i].s); !word && (toks[i].kind != 'n' || len(toks[i].s) != 1) {
			break
		}
		n++
	}
	return n, i
}
