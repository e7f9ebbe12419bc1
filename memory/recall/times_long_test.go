package recall

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// The time for a text that names a day again and again grows only with its length, because its
// tense is read once, and not for each day.
func TestManyDaysAreReadInLinearTime(t *testing.T) {
	now := time.Unix(1_790_000_000, 0).UTC()
	takes := func(text string) uint64 {
		words := split(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		findTimes(words, now)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, unit := range []string{"周五和", "我们周五见。"} {
		few, many := takes(strings.Repeat(unit, 250)), takes(strings.Repeat(unit, 4000))
		if many > 64*few { // it was 256 times when the whole text was read for each day
			t.Errorf("%s: %d bytes, and %d for 16 times as much", unit, few, many)
		}
	}
}
