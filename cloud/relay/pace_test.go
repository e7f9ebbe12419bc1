package relay

import (
	"fmt"
	"testing"
	"time"
)

// However many strangers come, a key that has used up its share is refused until a minute has
// passed, and what is remembered does not grow.
func TestPaceAmongManyStrangers(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	p := &Pace{PerMinute: 1, Now: func() time.Time { return now }}
	stranger := 0
	strangers := func(n int) {
		for range n {
			stranger++
			if _, ok := p.Take(fmt.Sprint("stranger ", stranger)); !ok {
				t.Fatal("a stranger is refused")
			}
		}
	}
	strangers(maxPaced)
	for i := range 100 {
		p.Take(fmt.Sprint("eager ", i))
	}
	strangers(maxPaced/2 - 100)
	for i := range 100 {
		if _, ok := p.Take(fmt.Sprint("eager ", i)); ok {
			t.Fatalf("eager %d has its share again", i)
		}
	}
	strangers(maxPaced)
	if n := len(p.recent) + len(p.before); n > maxPaced {
		t.Errorf("%d keys are remembered", n)
	}
}

// BenchmarkPaceFull is what a request of a new key costs when no more are remembered.
func BenchmarkPaceFull(b *testing.B) {
	now := time.Unix(1_790_000_000, 0)
	p := &Pace{PerMinute: 1, Now: func() time.Time { return now }}
	for i := range maxPaced {
		p.Take(fmt.Sprint(i))
	}
	for i := 0; b.Loop(); i++ {
		p.Take(fmt.Sprint("more ", i))
	}
}
