package recall

import (
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory/graph"
)

// Terms that are no words begin with a control byte, so that no text can make one.
const (
	speakerMark  = "\x01" // a speaker, whole name
	entityMark   = "\x02" // an entity, whole name
	timeMark     = "\x03" // a date: see dateTerms
	relationMark = "\x04" // a relation: see relationTerm
	mentionMark  = "\x05" // a name that stands in the text with a capital
	codeMark     = "\x06" // a flight, a telephone number, an id: see codes
	pledgeMark   = "\x07" // somebody says that they will do something for somebody
)

// flags of a document.
const (
	flagPinned   = 1 << iota
	flagQuestion      // the turn asks
	flagTime          // the text names a time
	flagPast     = 16 // 8 is the segment's own
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
	length  int     // words, stop words included: what length is judged by
	flags   uint8
	speaker string // folded
	day     int32  // local; 0: not known
}

// maxTerms bounds the distinct terms of one document; what comes after is
// left out. A page of print has about 300.
const maxTerms = 2000

func prepare(d Doc) prepared {
	p := prepared{speaker: foldName(d.Speaker)}
	at := map[string]int{}
	add := func(term string) {
		if i, ok := at[term]; ok {
			p.counts[i].tf++
		} else if len(p.counts) < maxTerms {
			at[term] = len(p.counts)
			p.counts = append(p.counts, count{term, 1})
		}
	}
	once := func(term string) {
		if _, ok := at[term]; !ok {
			add(term)
		}
	}
	words := split(d.Text)
	var now time.Time
	if !d.At.IsZero() {
		now = local(d.At, d.Zone)
		p.day = dayOf(now)
	}
	f := findTimes(words, now)
	han := 0
	for _, w := range words {
		switch {
		case !w.han:
			p.length++
		case len(w.text) <= len("𠀀"):
			han++
		}
		if w.term != "" {
			add(w.term)
		}
	}
	p.length += (3*han + 4) / 5 // five characters say about as much as three words
	if p.speaker != "" {
		for _, w := range split(d.Speaker) {
			if w.term != "" {
				add(w.term)
			}
		}
		once(speakerMark + p.speaker)
	}
	// Where it was said is a name, not words: half a day is said at home, and
	// is not about the home.
	for _, e := range append([]string{d.Place}, d.Entities...) {
		if n := foldName(e); n != "" && len(n) <= maxTerm {
			once(entityMark + n)
		}
	}
	for _, n := range mentions(d.Text) {
		once(mentionMark + n)
	}
	for _, k := range codes(d.Text) {
		once(k.term)
	}
	if pledge(d.Text) {
		once(pledgeMark)
	}
	for _, r := range d.Relations[:min(len(d.Relations), graph.MaxNames)] {
		if t := relationTerm(r); t != "" {
			once(t)
		}
	}
	if f.any {
		p.flags |= flagTime
	}
	if saysWhere(words, f.consumed) {
		p.flags |= flagPlace
	}
	if d.Pinned {
		p.flags |= flagPinned
	}
	if d.Past {
		p.flags |= flagPast
	}
	if isQuestion(d.Text) {
		p.flags |= flagQuestion
	}
	if p.day != 0 {
		dateTerms(span{p.day, p.day, true}, once)
		once(timeMark + "w" + strconv.Itoa((int(p.day)+3)%7+1))
	}
	for _, s := range f.spans {
		dateTerms(s, once)
	}
	return p
}

// dateTerms names the days, months and years that a span covers: D<days since
// 1970> for each day of a span of up to ten, M<year>-<month> and m<month> for
// up to three months, Y<year>; d<month>-<day> for a single day.
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

// foldName is a name for comparison: its words in lower case.
func foldName(s string) string {
	var out []string
	for _, w := range split(s) {
		if !w.han || len([]rune(w.text)) == 1 {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, " ")
}
