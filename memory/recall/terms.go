package recall

import (
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory/graph"
)

// Terms that are not words begin with a control byte, so that no text can contain one.
const (
	speakerMark  = "\x01" // a speaker, by the whole name
	entityMark   = "\x02" // an entity, by the whole name
	timeMark     = "\x03" // a date: see dateTerms
	relationMark = "\x04" // a relation: see relationTerm
	mentionMark  = "\x05" // a name that has a capital in the text
	codeMark     = "\x06" // a flight, a telephone number, an id: see codes
	pledgeMark   = "\x07" // somebody says that they will do something for somebody
	numberMark   = "\x08" // the text has a number, see saysNumber
)

// These are the flags of a document.
const (
	flagPinned   = 1 << iota
	flagQuestion      // the turn asks
	flagTime          // the text names a time
	flagPast     = 16 // the segment uses 8
	flagPlace    = 32 // the text says where something is
	flagsKnown   = flagPinned | flagQuestion | flagTime | flagPast | flagPlace
)

// count is a term and how often it stands in a document.
type count struct {
	term string
	tf   int
}

// prepared is a document as terms.
type prepared struct {
	counts  []count // distinct
	length  int     // number of words, including stop words: the length for ranking
	flags   uint8
	speaker string // folded
}

// maxTerms bounds the distinct terms of one document; further terms are left out. A page of print
// has about 300.
const maxTerms = 2000

// bag collects the distinct terms of a document.
type bag struct {
	counts []count
	at     map[string]int // index in counts
}

// add counts a term.
func (b *bag) add(term string) {
	if i, ok := b.at[term]; ok {
		b.counts[i].tf++
	} else if len(b.counts) < maxTerms {
		b.at[term] = len(b.counts)
		b.counts = append(b.counts, count{term, 1})
	}
}

// once adds a term that counts once, however often it occurs.
func (b *bag) once(term string) {
	if _, ok := b.at[term]; !ok {
		b.add(term)
	}
}

// addWords counts the words that are terms.
func (b *bag) addWords(words []word) {
	for _, w := range words {
		if w.term != "" {
			b.add(w.term)
		}
	}
}

// prepare reads a document's text, and makes the terms by which it is found.
func prepare(d Doc) prepared {
	d.Text = hans.Fold(d.Text)
	words := split(d.Text)
	var now time.Time
	day := int32(0)
	if !d.At.IsZero() {
		now = local(d.At, d.Zone)
		day = dayOf(now)
	}
	f := findTimes(words, now)
	terms := bag{at: map[string]int{}}
	terms.addWords(words)
	speaker := foldName(d.Speaker)
	if speaker != "" {
		terms.addWords(split(d.Speaker))
		terms.once(speakerMark + speaker)
	}
	// The place is added as a name, not as words: half a day is spent at home, and is not about the
	// home.
	for _, e := range append([]string{d.Place}, d.Entities...) {
		if n := foldName(e); n != "" && len(n) <= maxTerm {
			terms.once(entityMark + n)
		}
	}
	for _, n := range mentions(d.Text) {
		terms.once(mentionMark + n)
	}
	for _, k := range codes(d.Text) {
		terms.once(k.term)
	}
	if saysNumber(words, f.consumed) {
		terms.once(numberMark)
	}
	if pledge(d.Text) {
		terms.once(pledgeMark)
	}
	for _, r := range d.Relations[:min(len(d.Relations), graph.MaxNames)] {
		if t := relationTerm(r); t != "" {
			terms.once(t)
		}
	}
	if day != 0 {
		dateTerms(span{day, day, true}, terms.once)
		terms.once(timeMark + "w" + strconv.Itoa((int(day)+3)%7+1))
	}
	for _, s := range f.spans {
		dateTerms(s, terms.once)
	}
	return prepared{terms.counts, lengthOf(words), flagsOf(d, words, f), speaker}
}

// lengthOf returns the length of a text in words. Five Chinese characters say about as much as
// three words.
func lengthOf(words []word) int {
	n, han := 0, 0
	for _, w := range words {
		switch {
		case !w.han:
			n++
		case len(w.text) <= len("𠀀"):
			han++
		}
	}
	return n + (3*han+4)/5
}

// flagsOf returns the flags of a document and its text.
func flagsOf(d Doc, words []word, f found) (flags uint8) {
	for _, x := range []struct {
		flag uint8
		is   bool
	}{
		{flagPinned, d.Pinned}, {flagQuestion, isQuestion(d.Text)}, {flagTime, f.any || saysHour(d.Text, words)}, {flagPast, d.Past}, {flagPlace, saysWhere(words, f.consumed)},
	} {
		if x.is {
			flags |= x.flag
		}
	}
	return flags
}

// dateTerms adds the days, months and years that a span covers: D<days since 1970> for each day of
// a span of up to ten, M<year>-<month> and m<month> for up to three months, Y<year>; d<month>-<day>
// for a single day.
func dateTerms(s span, add func(string)) {
	if s.to < s.from || s.to-s.from > 800 {
		return
	}
	if s.to-s.from < 10 {
		for d := s.from; d <= s.to; d++ {
			add(timeMark + "D" + strconv.Itoa(int(d)))
		}
	}
	first, last := dayTime(s.from), dayTime(s.to)
	if s.from == s.to {
		add(timeMark + "d" + strconv.Itoa(int(first.Month())) + "-" + strconv.Itoa(first.Day()))
	}
	if s.to-s.from <= 93 {
		for t := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); !t.After(last); t = t.AddDate(0, 1, 0) {
			add(monthTerm(t.Year(), int(t.Month())))
			add(timeMark + "m" + strconv.Itoa(int(t.Month())))
		}
	}
	for y := first.Year(); y <= last.Year(); y++ {
		add(yearTerm(y))
	}
}

func monthTerm(y, m int) string { return timeMark + "M" + strconv.Itoa(y) + "-" + strconv.Itoa(m) }
func yearTerm(y int) string     { return timeMark + "Y" + strconv.Itoa(y) }

// foldName returns a name for comparison: its words in lower case.
func foldName(s string) string {
	var out []string
	for _, w := range split(s) {
		if !w.han || len([]rune(w.text)) == 1 {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, " ")
}
