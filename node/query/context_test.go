package query

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func TestUsefulHits(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{
		{nil, 0}, {[]float64{.9}, 1}, {[]float64{.9, .1, .1}, 3}, {[]float64{.9, .1, .1, .1}, 3},
		{[]float64{.8, .7, .6, .45, .441, .43, .42}, 5}, {[]float64{.8, .8, .8, .8}, 4}, {[]float64{0, 0, 0, 0}, 4},
	} {
		hits := make([]serve.Hit, len(c.scores))
		for i, s := range c.scores {
			hits[i].Score = s
		}
		if got := useful(hits); got != c.want {
			t.Errorf("%v: %d, want %d", c.scores, got, c.want)
		}
	}
}

// A day that was said in Tokyo has the same date in the block of a node in Berlin.
func TestItemOfADayElsewhere(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	m := &memory.Memory{ID: memory.ID{1}}
	m.Type, m.Slot = memory.Episodic, &memory.Slot{Subject: "user", Attribute: "plan: stay", Value: "2026-11-10"}
	m.Fields.Episodic = &memory.EpisodicFields{Started: time.Date(2026, 11, 9, 15, 0, 0, 0, time.UTC)}
	if got := itemOf(&serve.Hit{ID: m.ID, Memory: m}, berlin).At; !got.Equal(time.Date(2026, 11, 10, 0, 0, 0, 0, berlin)) {
		t.Fatal(got)
	}
}
