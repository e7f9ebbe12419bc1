package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// dosesApart reads a clause about several medicines as if there were a clause for each, with its
// own time: "I take metformin in the morning and lisinopril at night". A time before it, "at night I
// take lisinopril", is read after it. It reports whether it did.
func dosesApart(t *discourse.Talk, s syntax.Sentence) bool {
	for i := 1; i+1 < len(s.Toks); i++ {
		if !takesWord[s.At(i)] || medicineAt(s, i+1) == 0 {
			continue
		}
		parts, first := dosesIn(s, i+1), dosedAt(s, 0)
		if len(parts) == 0 || len(parts) == 1 && first == 0 || first >= i || toCome(s.Sub(0, i)) {
			return false
		}
		from, head := len(t.Out.Candidates), s.Text[s.Toks[first].Start:s.Toks[i].End]
		if first > 0 { // "at night I take lisinopril" is read as "I take lisinopril at night"
			front := strings.TrimRight(s.Text[s.Start:s.Toks[first].Start], " ,")
			parts[0] += " " + strings.ToLower(front[:1]) + front[1:]
		}
		for _, part := range parts {
			for _, o := range syntax.Sentences(head + " " + part) {
				o.Ends = s.Ends
				Clause(t, o)
			}
		}
		discourse.StandsFor(t, from, s)
		return true
	}
	return false
}

// dosedAt returns the token after a time of day at which medicines are taken, and after its comma:
// "at night", "after breakfast", "in the morning"; 0 if there is none at token i.
func dosedAt(s syntax.Sentence, i int) int {
	switch s.At(i) {
	case "at", "in", "before", "after", "with":
	default:
		return 0
	}
	k := i + 1
	for syntax.Determiner(s.At(k)) {
		k++
	}
	if w := s.At(k); !dosedWith[w] && w != "bed" && w != "morning" && w != "mornings" && w != "evening" && w != "evenings" {
		return 0
	}
	if k++; s.At(k) == "," {
		k++
	}
	return k
}

// toCome reports whether words before a verb make it one of the future: "I'll".
func toCome(s syntax.Sentence) bool {
	for i := range s.Toks {
		if _, rest := syntax.Contraction(s.At(i)); rest == "will" || s.At(i) == "will" || s.At(i) == "going" || s.At(i) == "gonna" {
			return true
		}
	}
	return false
}

// severalDoses reports whether a sentence tells of several medicines that somebody takes.
func severalDoses(s syntax.Sentence) bool {
	for i := 1; i < len(s.Toks); i++ {
		if takesWord[s.At(i-1)] && medicineAt(s, i) > 0 {
			return len(dosesIn(s, i)) > 1
		}
	}
	return false
}

// JoinDoses joins a clause that only has a medicine to the one before it, which says that somebody
// takes another: "I take my metformin in the morning and my lisinopril at night".
func JoinDoses(all []syntax.Sentence, s syntax.Sentence) []syntax.Sentence {
	for i := 0; i+1 < len(all); i++ {
		if medicineAt(all[i+1], 0) == 0 || s.Chinese() {
			continue
		}
		first := slices.IndexFunc(s.Toks, func(t syntax.Token) bool { return t.Start == all[i].Start })
		last := slices.IndexFunc(s.Toks, func(t syntax.Token) bool { return t.End == all[i+1].End })
		if first < 0 || last < first || !severalDoses(s.Sub(first, last+1)) {
			continue
		}
		all[i+1] = s.Sub(first, last+1)
		all = append(all[:i:i], all[i+1:]...)
		i--
	}
	return all
}

// takesWord are words before a medicine that somebody takes.
var takesWord = syntax.Set("take takes taking on use uses using inject injects injecting")

// dosesIn returns each medicine from token i on, with what is said about it. Medicines of one list
// share what follows the last: "metformin and aspirin in the morning". It returns nothing if the
// clause says something else, too.
func dosesIn(s syntax.Sentence, i int) (parts []string) {
	raw := func(from, to int) string { return s.Text[s.Toks[from].Start:s.Toks[to-1].End] }
	var list []string
	first := "" // the time before the medicine: "and at night lisinopril"
	for i < len(s.Toks) {
		end := medicineAt(s, i)
		if end == 0 {
			return nil
		}
		list = append(list, raw(i, end))
		next, at := nextMedicine(s, end)
		if next > 0 && at == "" && first == "" {
			i = next
			continue
		}
		if next > 0 {
			parts = append(parts, shareTail(list, first)...)
			list, i, first = nil, next, at
			continue
		}
		next = len(s.Toks)
		for k := end; k < len(s.Toks) && next == len(s.Toks); k++ {
			n := 0
			if n, at = nextMedicine(s, k); n > 0 {
				next = n
				for end < k && s.At(k-1) == "," {
					k--
				}
				parts = append(parts, shareTail(list, strings.TrimSpace(raw(end, max(k, end+1))+" "+first))...)
			}
		}
		if end < len(s.Toks) && !aboutDose(s, end) {
			return nil
		}
		if next == len(s.Toks) {
			tail := ""
			if end < len(s.Toks) {
				tail = raw(end, len(s.Toks))
			}
			return append(parts, shareTail(list, strings.TrimSpace(tail+" "+first))...)
		}
		list, i, first = nil, next, at
	}
	return nil
}

// shareTail gives each medicine of a list the words that follow the last.
func shareTail(list []string, tail string) (parts []string) {
	for _, m := range list {
		parts = append(parts, strings.TrimSpace(m+" "+tail))
	}
	return parts
}

// nextMedicine returns where the medicine after "and" or a comma at token k begins; 0 if there is
// none. Words such as "and I take", "and then" may come before it. So may a time, "and at night I
// take", which is returned as first.
func nextMedicine(s syntax.Sentence, k int) (next int, first string) {
	if s.At(k) != "and" && s.At(k) != "," && s.At(k) != "plus" {
		return 0, ""
	}
	for w := s.At(k); w == "and" || w == "," || w == "plus" || w == "then" || w == "also"; w = s.At(k) {
		k++
	}
	if main := dosedAt(s, k); main > 0 {
		first, k = strings.TrimRight(s.Text[s.Toks[k].Start:s.Toks[main-1].End], " ,"), main
	}
	if syntax.SubjectPronoun(s.At(k)) && takesWord[s.At(k+1)] {
		k += 2
	} else if s.At(k) == "take" || s.At(k) == "takes" {
		k++
	}
	if medicineAt(s, k) == 0 {
		return 0, ""
	}
	return k, first
}

// aboutDose reports whether words from token i on tell when, how or why somebody takes what is
// before them.
func aboutDose(s syntax.Sentence, i int) bool {
	switch w := s.At(i); w {
	case "every", "each", "once", "twice", "three", "daily", "nightly", "weekly", "now", "again", "too", "any", "anymore", "since", "until", "when", "because", "as":
		return true
	default:
		return syntax.Preposition(w)
	}
}

// medicineAt returns the token after a medicine with or without its dose at token i: "20 mg of
// lisinopril", "my metformin", "vitamin D"; 0 if there is none.
func medicineAt(s syntax.Sentence, i int) int {
	if syntax.Determiner(s.At(i)) {
		i++
	}
	if unit := strings.TrimLeft(s.At(i), "0123456789."); unit != s.At(i) && doseUnit[unit] {
		i++ // 20mg
	} else if _, counted := syntax.Number(s.At(i)); counted && doseUnit[s.At(i+1)] {
		i += 2
	}
	if s.At(i) == "of" {
		i++
	}
	switch {
	case s.At(i) == "vitamin" && i+1 < len(s.Toks) && len(s.At(i+1)) <= 3:
		return i + 2
	case drugWord(s.At(i)):
		return i + 1
	case drugWord(s.At(i+1)) && !syntax.Function(s.At(i)) && s.At(i) != "," && !syntax.Preposition(s.At(i)):
		return i + 2
	}
	return 0
}
