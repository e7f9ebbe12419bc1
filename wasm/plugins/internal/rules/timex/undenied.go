package timex

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

// undenied leaves out a time that is denied: "at three, not two, tomorrow" is at three; the day may
// be with either.
func undenied(s syntax.Sentence, all []When) []When {
	for i := range all {
		if a := &all[i]; a.ByPart && !a.HasDay && (notAtNight(s, a.Next) || notAtNight(s, a.Next+1)) {
			return append(all[:i], all[i+1:]...)
		}
	}
	for i := 0; i+1 < len(all); i++ {
		a, b := &all[i], all[i+1]
		not := b.First - 1
		if _, hour := syntax.Number(s.At(not)); hour && a.Clock {
			not-- // "at three, not two tomorrow"
		}
		if s.At(not) != "not" || a.Next != not && !(a.Next == not-1 && s.At(a.Next) == ",") || a.Habit || b.Habit {
			continue
		}
		if a.ByPart && b.ByPart && !a.HasDay && !b.HasDay { // "in the morning, not in the evening": on any day
			return append(all[:i], all[i+2:]...)
		}
		if !a.HasDay && b.HasDay && a.Clock {
			a.Set(b.Day, b.Grain)
		}
		a.Next = b.Next
		all = append(all[:i+1], all[i+2:]...)
	}
	return all
}

// notAtNight reports whether "not at night" begins at token i.
func notAtNight(s syntax.Sentence, i int) bool {
	return s.At(i) == "not" && s.At(i+1) == "at" && s.At(i+2) == "night"
}
