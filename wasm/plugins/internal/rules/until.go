package rules

// until reports whether a time is that up to which something lasts: "away until Friday".
func (c *clause) until(w *when) bool {
	lead := c.at(w.first)
	if lead != "until" && lead != "till" {
		lead = c.at(w.first - 1)
	}
	return w.hasDay && (lead == "until" || lead == "till")
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
	return moment{w.day, 24*60 - 1, w.zone}.unix()
}
