package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

func TestPausesOfADay(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 9, 14, hour, 0, 0, 0, time.UTC) }
	p := &pauseTimer{state: pauseRecord{PauseState: serve.PauseState{Paused: true}, Since: at(20),
		Past: []pause{{From: at(1), To: at(2)}, {From: at(7), To: at(9)}, {From: at(11), To: at(12)}}}}
	for _, c := range []struct{ from, to, want int }{{3, 6, 0}, {8, 10, 1}, {0, 24, 4}, {9, 11, 0}, {21, 22, 1}} {
		if got := p.PausesBetween(at(c.from), at(c.to)); len(got) != c.want {
			t.Errorf("%d to %d: %v, want %d", c.from, c.to, got, c.want)
		}
	}
	if got := p.PausesBetween(at(19), at(23)); len(got) != 1 || !got[0].From.Equal(at(20)) || !got[0].To.IsZero() {
		t.Errorf("%v: one that goes on has no end", got)
	}
}
