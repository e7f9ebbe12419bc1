package consolidate

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Expiry is judged by the clock of events, and the end of a day by the device's clock: a node that
// lay in a drawer archives nothing for that reason, and summarises the day on which it was put
// there.
func TestEventClockAndDeviceClock(t *testing.T) {
	d := &device{}
	for i := range byte(dayFrom) {
		d.heard(i+1, memory.Semantic, fmt.Sprintf("The van number %d is on level three", i), 0, tag("place"))
	}
	kinds := func(wall time.Time, events time.Time) (summed, expired int) {
		p := New(Input{Memories: d.memories(), Now: events, Wall: wall, ID: func(string) memory.ID { return memory.ID{99} }})
		for _, s := range p.Steps {
			switch s.Kind {
			case Summarise:
				summed++
			case Expire:
				expired++
			}
		}
		return summed, expired
	}
	for _, c := range []struct {
		name            string
		wall, events    time.Time
		summed, expired int
	}{
		{"the same evening", now, now, 0, 0},
		{"a month in a drawer", now.AddDate(0, 1, 0), now, 1, 0},
		{"a month of events", now.AddDate(0, 1, 0), now.AddDate(0, 1, 0), 1, dayFrom},
		{"no wall clock given", time.Time{}, now.AddDate(0, 1, 0), 1, dayFrom},
	} {
		if summed, expired := kinds(c.wall, c.events); summed != c.summed || expired != c.expired {
			t.Errorf("%s: %d days summed up and %d expired, want %d and %d", c.name, summed, expired, c.summed, c.expired)
		}
	}
}
