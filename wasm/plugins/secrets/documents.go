package secrets

import "strings"

// documents finds the numbers of passports, driving licences and of the British National Insurance,
// each after its name.
func documents(text string, toks []token) []found {
	var all []found
	for i, t := range toks {
		label, after := "", i+1
		switch {
		case t.s == "passport" && (i == 0 || toks[i-1].s != "the" || next(toks, i+1, "number", "no", "is", "#", ":")):
			label = "passport number"
		case (t.s == "licence" || t.s == "license") && next(toks, i+1, "number", "no") && i > 0 && strings.HasPrefix(toks[i-1].s, "driv"), (t.s == "licence" || t.s == "license") && i > 1 && toks[i-1].s == "'s" && next(toks, i+1, "number", "no"):
			label = "driving licence number"
		case t.s == "insurance" && next(toks, i+1, "number", "no") && i > 0 && toks[i-1].s == "national":
			label = "National Insurance number"
		case spells(toks, i, "护照号"):
			label, after = text[t.start:toks[i+2].end], i+3
		default:
			continue
		}
		for after < len(toks) && after < i+8 {
			switch toks[after].s {
			case "number", "no", "no.", ".", "is", "'s", ":", "：", "#", "码", "是", "it", "it's", ",":
				after++
				continue
			}
			break
		}
		if after >= len(toks) {
			continue
		}
		end := after + 1
		if label == "National Insurance number" {
			for end < len(toks) && end < after+5 && toks[end].kind != 'p' && len(toks[end].s) <= 2 {
				end++
			}
		}
		raw := text[toks[after].start:toks[end-1].end]
		if !documentNumber(strings.ReplaceAll(raw, " ", ""), label) {
			continue
		}
		all = append(all, found{value: value{toks[after].start, toks[end-1].end, raw, end}, known: true,
			cue: cue{noun: label, entry: "national_id", label: label, start: t.start, end: t.end}})
	}
	return all
}

func next(toks []token, i int, words ...string) bool {
	for _, w := range words {
		if i < len(toks) && toks[i].s == w {
			return true
		}
	}
	return false
}

// documentNumber: a passport's has up to nine characters (ICAO 9303), a
// licence's more, a National Insurance number two letters, six digits and one
// of A to D.
func documentNumber(s, label string) bool {
	digits := len(digitsOf(s))
	for i := range len(s) {
		if c := s[i]; !upper(c) && !digit(c) && !(c == '-' && label == "driving licence number") {
			return false
		}
	}
	switch label {
	case "National Insurance number":
		return len(s) == 9 && digits == 6 && upper(s[0]) && upper(s[1]) && s[8] >= 'A' && s[8] <= 'D'
	case "driving licence number":
		return len(s) >= 6 && len(s) <= 18 && digits >= 5
	}
	return len(s) >= 7 && len(s) <= 9 && digits >= 4
}
