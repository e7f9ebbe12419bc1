package rules

// until reports whether a time is that up to which something lasts: "away until Friday".
func (s *sentence) until(w *when) bool {
	return w.hasDay && s.leadsUntil(w)
}

// leadsUntil reports "until" before a time.
func (s *sentence) leadsUntil(w *when) bool {
	lead := s.at(w.first)
	if lead != "until" && lead != "till" {
		lead = s.at(w.first - 1)
	}
	return lead == "until" || lead == "till"
}

// lasts reports a sentence that has a time until which something lasts.
func (v *view) lasts(now moment) bool {
	for i := range v.whens {
		if w := &v.whens[i]; !w.habit && w.day > now.day && v.s.until(w) {
			return true
		}
	}
	return false
}

// state reports a clause of how some thing is now: "the lift is out of order".
func (c *clause) state() bool {
	return c.kind == 't' && c.verb == "be" && !pronoun(c.thing) && !c.past && !c.neg && !c.modal
}

// dayAlone reports a day of a month, "the 28th", that no month follows.
func dayAlone(word, next string) bool {
	_, ok := ordinal(word)
	return ok && next != "of" && monthOf(next) == 0
}

// ends is the last moment of a time, in ms since 1970: of a day without an hour its end.
func (w *when) ends() int64 {
	if w.clock {
		return w.unix()
	}
	if _, _, d := date(w.day + 7); w.grain == 'w' && d == 1 { // the last week of a month
		return moment{w.day + 6, 24*60 - 1, w.zone}.unix()
	}
	return moment{w.day, 24*60 - 1, w.zone}.unix()
}
