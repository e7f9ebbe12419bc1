package extract

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// servedFor is how long after a recall its words count as repeated.
const servedFor = 10 * time.Minute

// The minimum length of a repetition, in words, or in Chinese characters: shorter ones happen by
// chance.
const (
	servedWords = 5
	servedHan   = 10
)

// servedMost is how many texts are remembered: those of about two hundred answers. Each utterance
// is compared with all of them.
const servedMost = 2000

// served remembers what recall has just given out. When an assistant reads it aloud, the node must
// not learn its own words.
type served struct {
	mu    sync.Mutex
	texts map[string]*list.Element // the elements of order, by text
	order list.List                // of given; the text that was given out last is at the end
}

// given is a text that was given out, and the last time when that happened.
type given struct {
	text string
	at   time.Time
}

// NoteServed notes texts that were given out at a time. It is safe for concurrent use.
func (x *Extractor) NoteServed(at time.Time, texts ...string) {
	s := &x.served
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]*list.Element{}
	}
	for _, text := range texts {
		n := memory.Normal(text)
		if words, han := length(n); words < servedWords && han < servedHan {
			continue
		}
		if e := s.texts[n]; e != nil {
			s.order.Remove(e)
		}
		s.texts[n] = s.order.PushBack(given{n, at})
	}
	for e := s.order.Front(); e != nil; e = s.order.Front() {
		oldest := e.Value.(given)
		if s.order.Len() <= servedMost && at.Sub(oldest.at) <= servedFor {
			break
		}
		s.order.Remove(e)
		delete(s.texts, oldest.text)
	}
}

// recently reports whether more than half of a text repeats what was given out shortly before, as
// "You told me: …" does. A text in which the other words outnumber these says something new, and is
// no repetition.
func (s *served) recently(text string, at time.Time) bool {
	n := memory.Normal(text)
	words, han := length(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for e := s.order.Front(); e != nil; e = e.Next() {
		g := e.Value.(given)
		if d := at.Sub(g.at); d >= -servedFor && d <= servedFor && strings.Contains(n, g.text) {
			all = append(all, g.text)
		}
	}
	repeated := 0
	for i, k := range all {
		if !slices.ContainsFunc(all, func(o string) bool { return o != all[i] && strings.Contains(o, k) }) { // otherwise it is counted with the longer text
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
