package recall

import "time"

// Days returns the days that a phrase names ("yesterday", "last Tuesday", "in May", 上周), relative
// to now and in its zone: each from its first midnight to its last. rest has the words that were
// not read as a time.
func Days(phrase string, now time.Time) (days [][2]time.Time, rest []string) {
	words := split(phrase)
	f := findTimes(words, now)
	midnight := func(d int32) time.Time {
		y, m, day := dayTime(d).Date()
		return time.Date(y, m, day, 0, 0, 0, 0, now.Location())
	}
	for _, s := range f.spans {
		days = append(days, [2]time.Time{midnight(s.from), midnight(s.to + 1)})
	}
	for i, w := range words {
		if !f.consumed[i] && !f.named[i] {
			rest = append(rest, w.text)
		}
	}
	return days, rest
}
