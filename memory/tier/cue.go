package tier

import (
	"slices"
	"strings"
	"time"
)

// Day is what is known about the day for which memories are fetched.
type Day struct {
	Now    time.Time // in the wearer's zone
	Place  string    // where the wearer is; empty: not known
	People []string  // who has spoken in the live session
	Wearer string    // not among the people
	Plans  []string  // the words of hot plans that are due
}

// Limits on the cues of each sort, because a day at a fair names everybody.
const (
	maxPeople = 8
	maxPlans  = 8
)

// Cues returns the searches for memories that the day may need: what is due today and tomorrow, the
// place, the people present, and what the plans name. The same day gives the same cues, in the same
// order.
func Cues(d Day) []string {
	var out []string
	add := func(query string) {
		query = strings.TrimSpace(query)
		if query != "" && !slices.ContainsFunc(out, func(c string) bool { return strings.EqualFold(c, query) }) {
			out = append(out, query)
		}
	}
	if !d.Now.IsZero() {
		for _, t := range []time.Time{d.Now, d.Now.AddDate(0, 0, 1)} {
			add(t.Format("2 January 2006"))
		}
	}
	add(d.Place)
	people := slices.Sorted(slices.Values(d.People))
	taken := 0
	for _, p := range slices.Compact(people) {
		if taken < maxPeople && !strings.EqualFold(p, d.Wearer) && strings.TrimSpace(p) != "" {
			add(p)
			taken++
		}
	}
	plans := slices.Sorted(slices.Values(d.Plans))
	for _, p := range plans[:min(len(plans), maxPlans)] {
		add(p)
	}
	return out
}
