package daytest

import (
	"fmt"
	"testing"
)

// days is the number of generated days.
const days = 60

// The memories of a day match the day's expectations.
func TestDays(t *testing.T) {
	passed := 0
	for seed := range uint64(days + 1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := seeded(t, seed)
			w := wrong(d, play(t, d))
			for _, s := range w {
				t.Errorf("%s%s", s, said(d, s))
			}
			if len(w) == 0 {
				passed++
			}
		})
	}
	t.Logf("%d of %d days are right", passed, days+1)
}
