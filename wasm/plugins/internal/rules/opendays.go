package rules

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// leavesDayOpen reports whether a sentence names two days to come of which one is meant: "the
// dentist is on Friday or Monday". It is no plan on either.
func leavesDayOpen(t *discourse.Talk, s syntax.Sentence) bool {
	if !slices.ContainsFunc(s.Toks, func(t syntax.Token) bool { return t.S == "or" || t.S == "或" || t.S == "么" }) {
		return false // days are looked for in few sentences
	}
	toCome := func(w *timex.When) bool {
		return w.HasDay && !w.Habit && w.Day >= t.Now.Day && (w.Grain == 'd' || w.Grain == 'M')
	}
	whens := timex.FindWhens(s, t.Now)
	for i := range whens {
		if !toCome(&whens[i]) {
			continue
		}
		k, or := whens[i].Next, false
		for joins := true; joins; {
			switch s.At(k) {
			case "or", "或", "么":
				or = true
			case ",", "，", "maybe", "perhaps", "possibly", "else", "者", "要":
			default:
				joins = false
				k--
			}
			k++
		}
		if other, ok := timex.WhenAt(s, k, t.Now); or && (ok && toCome(&other) || syntax.MonthOf(s.At(k)) > 0 && whens[i].Grain == 'M') {
			return true
		}
	}
	return false
}

// offered reports whether somebody tells of days that were offered. They are to come, whatever the
// tense.
func offered(s syntax.Sentence) bool {
	for i := range s.Toks {
		switch s.At(i) {
		case "offered", "suggested", "proposed", "gave":
			return true
		}
	}
	return false
}

// undate makes the candidates from index from on notes without a day.
func undate(t *discourse.Talk, from int) {
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		a.Type, a.EventType, a.Started, a.Ended = "semantic", "", 0, 0
	}
}
