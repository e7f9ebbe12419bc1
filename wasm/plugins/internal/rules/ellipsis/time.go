package ellipsis

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Answers to "when" and "what time", and corrections of a time in a question.

// filledTime puts a time in the position of "when" or "what time".
func (q *Inquiry) filledTime(head syntax.Sentence, w []string) string {
	fill := q.timeWords(head)
	if len(fill) == 0 || q.Subj == "I" && (q.Aux == "do" || q.Aux == "did") && len(w) == 0 {
		return ""
	}
	rest := slices.Clone(q.Rest)
	if n := len(rest); n > 0 && (rest[n-1] == "at" || rest[n-1] == "on") {
		rest = rest[:n-1]
	}
	// "what time's the dentist tomorrow?": the day comes after the hour
	subject := strings.Fields(q.Subj)
	if n := len(subject); n > 1 && (syntax.WeekdayOf(strings.ToLower(subject[n-1]), false) >= 0 || subject[n-1] == "tomorrow" || subject[n-1] == "today" || subject[n-1] == "tonight") {
		day := 1
		if n > 2 && syntax.Preposition(subject[n-2]) {
			day = 2
		}
		fill = append(fill, subject[n-day:]...)
		q.Subj = strings.Join(subject[:n-day], " ")
	}
	if _, clock := q.timed(head); clock && (q.Aux == "do" || q.Aux == "does") && slices.Contains(daily[:], strings.ToLower(strings.Join(rest, " "))) {
		rest = append([]string{"usually"}, rest...) // "what time do you finish work?", "half five"
	}
	return q.Says(false, append(rest, fill...))
}

// daily is what people do every day at an hour.
var daily = [...]string{"finish work", "start work", "leave work", "leave for work", "get home", "get up", "wake up", "go to bed", "start school", "finish school"}

// timeWords returns a time with the prepositions that it needs in a statement: "on the third of
// May", "tomorrow at six".
func (q *Inquiry) timeWords(head syntax.Sentence) (fill []string) {
	if len(head.Toks) > 10 {
		return nil
	}
	for k := 0; k < len(head.Toks); {
		end := k
		for end < len(head.Toks) && head.Toks[end].Kind != 'p' {
			end++
		}
		part := head.Sub(k, max(end, k+1))
		some := words(part)
		timed, clock := q.timed(part)
		at := part.At(0)
		if !timed && k > 0 && (at == "in" || at == "at") { // "the fourteenth of August, in Siena"
			fill[len(fill)-1] += ","
			fill = append(fill, some...)
			break
		}
		if !timed && k > 0 && (at == "between" || at == "from") { // "Thursday, between eight and twelve"
			timed, clock = q.timed(head.Sub(0, max(end, k+1)))
		}
		if !timed {
			return nil
		}
		for i := range part.Toks {
			if w := syntax.Singular(part.At(i)); w == "minute" || part.At(i) == "seconds" || w == "moment" || w == "hour" {
				return nil
			}
		}
		_, nth := timex.Day31(at)
		switch {
		case at == "half" || at == "quarter":
			some = append([]string{"at", at}, some[1:]...)
		case syntax.Preposition(at) || at == "around" || at == "since" || at == "until":
		case nth > 0 && !clock && !Numeral(at) || at == "the" || syntax.WeekdayOf(strings.TrimSuffix(at, "s"), false) >= 0 || syntax.MonthOf(at) > 0 && len(part.Toks) > 1:
			some = append([]string{"on"}, some...)
		case syntax.MonthOf(at) > 0 || timex.IsYear(at):
			some = append([]string{"in"}, some...)
		case clock:
			some = append([]string{"at"}, some...)
		case Numeral(at) && len(part.Toks) == 2 && syntax.MonthOf(part.At(1)) > 0:
			some = append([]string{"on"}, some...)
		}
		fill = append(fill, some...)
		k = end + 1
	}
	return fill
}

// retimed replaces the time with which the question ends: "is the meeting on Tuesday?", "no,
// Wednesday". A time of day does not change the day.
func (q *Inquiry) retimed(head syntax.Sentence) string {
	said := strings.Join(q.Rest, " ")
	timed, clock := q.timed(head)
	all := syntax.Sentences(said)
	if !timed || len(all) != 1 || len(all[0].Toks) != len(q.Rest) {
		return ""
	}
	s := all[0]
	for k := range s.Toks {
		was, hour := q.timed(s.Sub(k, len(s.Toks)))
		if !was {
			continue
		}
		at := slices.Index(q.Rest, "at")
		switch {
		case hour == clock && (hour || at < 0):
		case clock && at > k:
			k = at
		default:
			return ""
		}
		return q.Says(false, append(slices.Clone(q.Rest[:k]), q.timeWords(head)...))
	}
	return ""
}

// timed reports whether words are a time, and whether they are only a time of day.
func (q *Inquiry) timed(s syntax.Sentence) (timed, clock bool) {
	i := 0
	for syntax.Preposition(s.At(i)) || s.At(i) == "around" || s.At(i) == "the" {
		i++
	}
	if n, ok := syntax.Number(s.At(i)); ok && i+1 == len(s.Toks) && n > 0 && n < 13 && s.At(i) != "a" {
		return true, true
	}
	if timex.IsYear(s.At(i)) && i+1 == len(s.Toks) {
		return true, false
	}
	covered, hour := 0, false
	if _, ok := syntax.Number(s.At(0)); ok && s.At(0) != "a" {
		if all := syntax.Sentences("at " + s.Raw()); len(all) == 1 {
			if t := timex.FindWhens(all[0], q.Now); len(t) == 1 && t[0].Clock && !t[0].Habit && t[0].Next-t[0].First == len(all[0].Toks) {
				return true, true
			}
		}
	}
	if s.At(0) == "half" { // half two on Thursday
		if all := syntax.Sentences("at " + LowerFirst(s.Raw())); len(all) == 1 {
			if t := timex.FindWhens(all[0], q.Now); len(t) == 1 && t[0].Clock && !t[0].Habit && t[0].Next-t[0].First == len(all[0].Toks) {
				return true, !t[0].HasDay
			}
		}
	}
	if _, ok := timex.Ordinal(s.At(1)); ok && s.At(0) == "the" { // the seventh at ten
		if all := syntax.Sentences("on " + LowerFirst(s.Raw())); len(all) == 1 {
			if t := timex.FindWhens(all[0], q.Now); len(t) == 1 && t[0].HasDay && !t[0].Habit && t[0].Next-t[0].First == len(all[0].Toks) {
				return true, false
			}
		}
	}
	whens := timex.FindWhens(s, q.Now)
	for _, w := range whens {
		covered += w.Next - w.First
		hour = hour || w.Clock && !w.HasDay
		if w.Habit {
			return false, false
		}
	}
	return covered > 0 && covered >= len(s.Toks)-i, hour
}
