package rules

// Days that are named without saying which one: "on a Friday".

// someWeekday reads "a Friday" after "on" at token k. What one does then is done each week, and of what was or is to be
// nobody can say on which day.
func (w *when) someWeekday(s sentence, k int, now moment) int {
	verb := s.at(k - 2)
	_, rest := contraction(verb)
	w.set(now.day, 'd')
	if s.tells() || rest == "is" || auxiliary(verb) || s.once() {
		w.void, w.vague = true, true
	} else {
		w.habit = true
	}
	if _, ok := partsOfDay[s.at(k+2)]; ok {
		return 3
	}
	return 2
}
