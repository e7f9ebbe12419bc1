package extract

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// servedFor is how long after a recall its words count as repeated.
const servedFor = 10 * time.Minute

// The least length of a repetition, in words, or in Chinese characters: less is
// said by chance.
const (
	servedWords = 5
	servedHan   = 10
)

// servedMost is how many texts are remembered, some two hundred answers: each utterance is compared with all of them.
const servedMost = 2000

// served remembers what recall has just given out. So an assistant that reads it
// aloud does not teach the node its own words.
type served struct {
	mu    sync.Mutex
	said  map[string]time.Time // the last time of each
	order []string             // the keys of said, by their first time
}

// Served notes texts that were given out at a time. It is safe for concurrent use.
func (x *Extractor) Served(at time.Time, texts ...string) {
	s := &x.served
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil {
		s.said = map[string]time.Time{}
	}
	for _, text := range texts {
		n := memory.Normal(text)
		if words, han := length(n); words < servedWords && han < servedHan {
			continue
		}
		if _, again := s.said[n]; !again {
			s.order = append(s.order, n)
		}
		s.said[n] = at
	}
	for len(s.order) > servedMost || len(s.order) > 0 && at.Sub(s.said[s.order[0]]) > servedFor {
		delete(s.said, s.order[0])
		s.order = s.order[1:]
	}
}

// recently reports whether more than half of a text repeats what was given out
// shortly before, as "You told me: …" does. A text with more words of its own says
// something new, and is no repetition.
func (s *served) recently(text string, at time.Time) bool {
	n := memory.Normal(text)
	words, han := length(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for k, t := range s.said {
		if d := at.Sub(t); d >= -servedFor && d <= servedFor && strings.Contains(n, k) {
			all = append(all, k)
		}
	}
	repeated := 0
	for i, k := range all {
		if !slices.ContainsFunc(all, func(o string) bool { return o != all[i] && strings.Contains(o, k) }) { // else it is counted with the longer one
			w, h := length(k)
			repeated += w + h
		}
	}
	return words+han < 2*repeated
}

// length counts the words of a text that have no Chinese characters, and the
// Chinese characters.
func length(text string) (words, han int) {
	for w := range strings.FieldsSeq(text) {
		n := 0
		for _, r := range w {
			if unicode.Is(unicode.Han, r) {
				n++
			}
		}
		if han += n; n == 0 {
			words++
		}
	}
	return words, han
}
