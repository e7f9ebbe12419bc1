package limitless

import (
	"testing"
	"time"
)

func TestPauseSpans(t *testing.T) {
	var p part
	at := func(s int) time.Time { return time.Unix(1773489600+int64(s), 0) }
	for i, c := range []struct {
		on   bool
		at   int
		news bool
	}{{false, 0, false}, {true, 100, true}, {true, 150, false}, {false, 200, true}, {false, 201, false}, {true, 300, true}} {
		if got := p.pause(c.on, at(c.at)); got != c.news {
			t.Errorf("%d: %v", i, got)
		}
	}
	for _, c := range []struct {
		at   int
		want bool
	}{{0, false}, {96, false}, {98, true}, {150, true}, {201, true}, {202, false}, {290, false}, {299, true}, {1000, true}} {
		if got := p.paused(at(c.at), time.Second); got != c.want {
			t.Errorf("%d s: %v", c.at, got)
		}
	}
	if p.paused(time.Time{}, time.Second) {
		t.Error("a page without a time")
	}
	for i := range 1000 {
		p.pause(i%2 == 1, at(1000+i))
	}
	if len(p.Pauses) != maxPauses {
		t.Errorf("%d are remembered", len(p.Pauses))
	}
}
