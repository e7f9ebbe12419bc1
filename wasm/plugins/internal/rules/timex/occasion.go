package timex

import (
	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// beforeFeast is how many days before a feast the days begin that are meant with it.
const beforeFeast = 21

// withoutOccasion leaves out a feast that is only the occasion, if the day follows: "the kids break
// up for Easter on the 27th". A bare day of the month is then one shortly before or after the feast.
func withoutOccasion(s syntax.Sentence, all []When, now Moment) []When {
	for i := 0; i+1 < len(all); i++ {
		f, on := &all[i], &all[i+1]
		if f.Days == nil || s.At(f.First) != "for" || on.First != f.Next || s.At(on.First) != "on" || !on.HasDay || on.Grain != 'd' || on.Habit || on.Days != nil {
			continue
		}
		if _, _, d := Date(on.Day); on.Assumed == 1 && !pastBefore(s, f.First) {
			on.Day = calendar.DayOfMonth(max(now.Day, f.Day-beforeFeast), d, true)
		}
		all = append(all[:i:i], all[i+1:]...)
	}
	return all
}
