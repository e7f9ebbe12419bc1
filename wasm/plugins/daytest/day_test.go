package daytest

import (
	"fmt"
	"testing"
)

// days is how many generated days are played.
const days = 60

// What was said all day comes out as the day's expectations say.
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
