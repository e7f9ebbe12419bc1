package secrets

// byOpener reads "punch in 4821 at the gate": a verb of entering, a number,
// and within a few words what it opens.
func byOpener(text string, toks []token) []found {
	var all []found
	for i, t := range toks {
		switch t.s {
		case "use", "enter", "type", "dial", "punch", "press", "key", "try":
		default:
			continue
		}
		j := i + 1
		if j < len(toks) && toks[j].s == "in" {
			j++
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
