package secrets

// byOpener reads "punch in 4821 at the gate": a verb of entering, a number,
// and within a few words what it opens.
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
		switch t.s {
		case "use", "enter", "type", "dial", "punch", "press", "key", "try":
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

// typedFor reads "for the alarm you type 907", with "type" at token i and the
// digits at j; "that's half" after it makes them a part.
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
