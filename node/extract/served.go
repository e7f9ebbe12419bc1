package extract

import (
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// servedFor is how long after a recall its words count as repeated.
const servedFor = 10 * time.Minute

// servedWords is the least number of words of a repetition; fewer are said by
// chance.
const servedWords = 5

// served remembers what recall has just given out. So an assistant that reads it
// aloud does not teach the node its own words.
type served struct {
	mu   sync.Mutex
	said map[string]time.Time
}

// Served notes texts that were given out at a time. It is safe for concurrent use.
func (x *Extractor) Served(at time.Time, texts ...string) {
	s := &x.served
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil {
		s.said = map[string]time.Time{}
	}
	for k, t := range s.said {
		if at.Sub(t) > servedFor {
			delete(s.said, k)
		}
	}
	for _, text := range texts {
		if n := memory.Normal(text); len(strings.Fields(n)) >= servedWords || len([]rune(n)) >= 2*servedWords {
			s.said[n] = at
		}
	}
}

// recently reports whether a text repeats something that was given out shortly
// before.
func (s *served) recently(text string, at time.Time) bool {
	n := memory.Normal(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, t := range s.said {
		if d := at.Sub(t); d >= -servedFor && d <= servedFor && strings.Contains(n, k) {
			return true
		}
	}
	return false
}
