package rules

import (
	"slices"
	"strings"
)

// Answers to "when" and "what time", and to questions about a time that was another.

// filledTime puts a time where the question has "when" or "what time".
func (q *inquiry) filledTime(head sentence, w []string) string {
	fill := q.timeWords(head)
	if len(fill) == 0 || q.subj == "I" && (q.aux == "do" || q.aux == "did") && len(w) == 0 {
		return ""
	}
	rest := slices.Clone(q.rest)
	if n := len(rest); n > 0 && (rest[n-1] == "at" || rest[n-1] == "on") {
		rest = rest[:n-1]
	}
	// "what time's the dentist tomorrow?": the day stands behind the hour
	subject := strings.Fields(q.subj)
	if n := len(subject); n > 1 && (weekdayOf(strings.ToLower(subject[n-1]), false) >= 0 || subject[n-1] == "tomorrow" || subject[n-1] == "today" || subject[n-1] == "tonight") {
		day := 1
		if n > 2 && preposition(subject[n-2]) {
			day = 2
		}
		fill = append(fill, subject[n-day:]...)
		q.subj = strings.Join(subject[:n-day], " ")
	}
	return q.says(false, append(rest, fill...))
}

// timeWords are a time with the prepositions that it needs in a statement: "on the third of May", "tomorrow at six".
func (q *inquiry) timeWords(head sentence) (fill []string) {
	if len(head.toks) > 10 {
		return nil
	}
	for k := 0; k < len(head.toks); {
		end := k
		for end < len(head.toks) && head.toks[end].kind != 'p' {
			end++
		}
		part := head.sub(k, max(end, k+1))
		some := words(part)
		timed, clock := q.timed(part)
		at := part.at(0)
		if !timed && k > 0 && (at == "in" || at == "at") { // "the fourteenth of August, in Siena"
			fill[len(fill)-1] += ","
			fill = append(fill, some...)
			break
		}
		if !timed {
			return nil
		}
		for i := range part.toks {
			if w := trimS(part.at(i)); w == "minute" || part.at(i) == "seconds" || w == "moment" || w == "hour" {
				return nil
			}
		}
		_, nth := day31(at)
		switch {
		case preposition(at) || at == "around" || at == "since" || at == "until":
		case nth > 0 && !clock && !numeral(at) || at == "the" || weekdayOf(strings.TrimSuffix(at, "s"), false) >= 0 || monthOf(at) > 0 && len(part.toks) > 1:
			some = append([]string{"on"}, some...)
		case monthOf(at) > 0 || isYear(at):
			some = append([]string{"in"}, some...)
		case clock:
			some = append([]string{"at"}, some...)
		case numeral(at) && len(part.toks) == 2 && monthOf(part.at(1)) > 0:
			some = append([]string{"on"}, some...)
		}
		fill = append(fill, some...)
		k = end + 1
	}
	return fill
}

// retimed puts another time in the place of the one that the question ends in: "is the meeting on Tuesday?", "no,
// Wednesday". A time of day leaves the day as it is.
func (q *inquiry) retimed(head sentence) string {
	said := strings.Join(q.rest, " ")
	timed, clock := q.timed(head)
	all := sentences(said)
	if !timed || len(all) != 1 || len(all[0].toks) != len(q.rest) {
		return ""
	}
	s := all[0]
	for k := range s.toks {
		was, hour := q.timed(s.sub(k, len(s.toks)))
		if !was {
			continue
		}
		at := slices.Index(q.rest, "at")
		switch {
		case hour == clock && (hour || at < 0):
		case clock && at > k:
			k = at
		default:
			return ""
		}
		return q.says(false, append(slices.Clone(q.rest[:k]), q.timeWords(head)...))
	}
	return ""
}

// timed reports whether words are a time, and whether they are a time of day alone.
func (q *inquiry) timed(s sentence) (timed, clock bool) {
	i := 0
	for preposition(s.at(i)) || s.at(i) == "around" || s.at(i) == "the" {
		i++
	}
	if n, ok := number(s.at(i)); ok && i+1 == len(s.toks) && n > 0 && n < 13 && s.at(i) != "a" {
		return true, true
	}
	if isYear(s.at(i)) && i+1 == len(s.toks) {
		return true, false
	}
	covered, hour := 0, false
	if _, ok := number(s.at(0)); ok && s.at(0) != "a" {
		if all := sentences("at " + s.raw()); len(all) == 1 {
			if t := findWhens(all[0], q.now); len(t) == 1 && t[0].clock && !t[0].habit && t[0].next-t[0].first == len(all[0].toks) {
				return true, true
			}
		}
	}
	whens := findWhens(s, q.now)
	for _, w := range whens {
		covered += w.next - w.first
		hour = hour || w.clock && !w.hasDay
		if w.habit {
			return false, false
		}
	}
	return covered > 0 && covered >= len(s.toks)-i, hour
}
