package timex

import (
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Scales are words that make an hour a larger number: "about twelve thousand".
var Scales = syntax.Set("thousand hundred million billion grand k quid bucks percent")

// clock is a time of day in English that is being read.
type clock struct {
	syntax.Sentence
	from, k   int // the first token, and that of the hour
	w         *When
	lead      bool // a word before it, such as "at", or its form shows that it is an hour
	spokenAs  bool // in the words of a twelve-hour clock: "ten past two"
	afternoon int  // the minute of the part of the day that was named; -1: none
}

// clockPart reads a time of day at token i.
func clockPart(s syntax.Sentence, i int, now Moment, w *When) int {
	if i >= len(s.Toks) {
		return 0
	}
	if s.Toks[i].Kind == 'c' || s.Toks[i].Kind == 'n' && i+1 < len(s.Toks) && s.Toks[i+1].Kind == 'c' {
		return clockPartZh(s, i, now, w)
	}
	if n := clockSpan(s, i, w); n > 0 {
		return n
	}
	c := clock{Sentence: s, from: i, k: i, w: w, afternoon: -1}
	if w.ByPart {
		c.afternoon = w.Minute
	}
	switch s.At(i) {
	case "half", "quarter":
		c.lead = w.ByPart && w.HasDay && s.At(i-1) == "," // "Monday morning, half nine"
	case "at", "by", "around", "about", "until", "till":
		c.lead = true
		c.k++
	case "from", "for", "before", "after", "to":
		c.lead = w.HasDay || s.At(i) == "to" && shiftedBefore(s, i)
		c.k++
	case "the":
		if !departure(s, i) {
			return 0
		}
		c.lead = true
		c.k++
	case "in":
		if m, ok := partsOfDay[s.At(i+2)]; ok && s.At(i+1) == "the" {
			w.part(m)
			return 3
		}
		return 0
	default:
		c.lead = w.HasDay && s.At(i-1) == "," && ofPart(s, i) // "Monday the fifth, eight in the morning"
	}
	if c.k > i && (s.At(c.k) == "around" || s.At(c.k) == "about") {
		c.k++
	}
	return c.read()
}

// boards are words before a train, a bus or a flight that is called by its time.
var boards = syntax.Set("on onto for catch catching caught get getting got take taking took miss missing missed book booked booking")

// departure reports whether "the" at token i begins the name of a train, a bus or a flight: "on the nine forty".
// "The six fifteen" may be in either half of the day.
func departure(s syntax.Sentence, i int) bool {
	h, ok := syntax.Number(s.At(i + 1))
	m, ok2 := syntax.Number(s.At(i + 2))
	next := s.At(i + 3)
	return boards[s.At(i-1)] && ok && ok2 && h > 0 && h < 24 && h != 5 && h != 6 && m > 9 && m < 60 && s.Toks[i+1].Kind == 'w' && s.Toks[i+2].Kind == 'w' &&
		(i+3 == len(s.Toks) || s.Toks[i+3].Kind == 'p' || syntax.Preposition(next) || syntax.WeekdayOf(next, false) >= 0 || next == "tomorrow" || next == "tonight" || next == "today" || next == "next" || next == "this" || next == "train" || next == "flight" || next == "bus" || next == "ferry" || next == "out" || next == "and")
}

// ofPart reports whether the number at token i is followed by "in the morning" or the like.
func ofPart(s syntax.Sentence, i int) bool {
	if n, ok := syntax.Number(s.At(i + 1)); ok && n >= 10 {
		i++ // ten thirty
	}
	_, ok := partsOfDay[s.At(i+3)]
	return ok && s.At(i+1) == "in" && s.At(i+2) == "the" || s.At(i+1) == "at" && s.At(i+2) == "night"
}

// shiftedBefore reports whether something is moved to what follows token i: "pushed back to half
// eleven".
func shiftedBefore(s syntax.Sentence, i int) bool {
	k := i - 1
	if w := s.At(k); w == "back" || w == "forward" || w == "up" {
		k--
	}
	l, past, _ := syntax.Lemma(s.At(k))
	return past && Moves(l) && !s.Toks[min(i+1, len(s.Toks)-1)].Cap
}

// read reads the hour, in any form; it returns how many tokens the time of day takes.
func (c *clock) read() int {
	switch c.At(c.k) {
	case "noon", "midday":
		return c.set(12, 0, c.k+1)
	case "midnight":
		return c.set(0, 0, c.k+1)
	case "half", "quarter":
		return c.half()
	}
	if c.k >= len(c.Toks) || Scales[c.At(c.k+1)] {
		return 0
	}
	if h, m, n := pastTheHour(c.Sentence, c.k, c.lead); n > 0 {
		c.lead, c.spokenAs = true, true
		return c.either(h, m, c.k+n)
	}
	t := c.At(c.k)
	if hourless(c.Sentence, c.k) {
		return 0
	}
	if hh, mm, ok := strings.Cut(t, ":"); ok {
		if c.At(c.from-1) == "in" { // how long a race took
			return 0
		}
		return c.digital(hh, mm)
	}
	for _, half := range [...]string{"am", "pm"} { // 3pm
		if d, ok := strings.CutSuffix(t, half); ok {
			if h, _ := syntax.InDigits(d); h >= 1 && h <= 12 {
				c.w.Sure = true
				return c.set(h%12+12*syntax.BoolInt(half == "pm"), 0, c.k+1)
			}
		}
	}
	h, ok := syntax.Number(t)
	if next := c.At(c.k + 1); !ok || h < 1 || h > 24 || t == "a" || t == "an" || uncounted[next] || next == "with" && (!c.lead || t == "one") {
		return 0 // "at one with nature"
	}
	return c.spoken(h)
}

// uncounted are words after a number that is not an hour: "three people".
var uncounted = syntax.Set("point another time side thing go day, days weeks months years hours minutes people percent of or times euros dollars more pounds day week month year kilometres km miles friends children kids different other")

// half reads "half past two", "quarter to three", "at half three".
func (c *clock) half() int {
	k := c.k + 1
	half, to := c.At(c.k) == "half", c.At(k) == "to"
	if h, ok := syntax.Number(c.At(k + 1)); ok && h >= 1 && h <= 12 && (to || c.At(k) == "past") {
		m := 15 + 15*syntax.BoolInt(half)
		if to {
			h, m = before(h), 60-m
		}
		c.lead = true
		return c.either(h, m, k+2)
	}
	if h, ok := syntax.Number(c.At(k)); ok && c.lead && half && h >= 1 && h <= 12 && c.At(k) != "a" && c.At(k) != "an" {
		switch c.At(k + 1) {
		case "hours", "hour", "percent", "pounds", "euros", "dollars", "people":
			return 0
		}
		return c.either(h, 30, k+1)
	}
	return 0
}

// digital reads 3:30, 03:30 and 3:30pm.
func (c *clock) digital(hh, mm string) int {
	mm, am := strings.CutSuffix(mm, "am")
	mm, pm := strings.CutSuffix(mm, "pm")
	h, e1 := strconv.Atoi(hh)
	m, e2 := strconv.Atoi(mm)
	switch {
	case e1 != nil || e2 != nil || h > 23 || m > 59:
		return 0
	case am || pm:
		h = h%12 + 12*syntax.BoolInt(pm)
	case h > 0 && h < 12 && !(len(hh) == 2 && hh[0] == '0'):
		return c.either(h, m, c.k+1)
	}
	c.w.Sure = true
	return c.set(h, m, c.k+1)
}

// spoken reads "three", "three thirty", "three thirty in the afternoon"; h is the hour.
func (c *clock) spoken(h int) int {
	k := c.k + 1
	m, ok := syntax.Number(c.At(k))
	if h > 12 && !ok && c.Toks[c.k].Kind == 'w' && c.At(k) != "o'clock" {
		return 0 // "keep it at twenty"
	}
	if !ok || m < 10 || m >= 60 || c.Toks[c.k].Kind != 'w' || c.Toks[k].Kind != 'w' || !c.lead && !c.w.HasDay && (c.At(k+1) != "in" || c.At(k+2) != "the") {
		return c.either(h, 0, k)
	}
	c.lead = true
	part := 0
	if p, ok := partsOfDay[c.At(k+3)]; ok && c.At(k+1) == "in" && c.At(k+2) == "the" {
		c.afternoon, part = p, 3
	}
	return c.either(h, m, k+1) + part
}

// either takes an hour up to token next that may be in either half of the day: what follows it, the
// part of the day, or its event decides.
func (c *clock) either(h, m, next int) int {
	n := next
	switch strings.ReplaceAll(c.At(n), ".", "") {
	case "am":
		n++
		if c.At(n) == "." && strings.Contains(c.At(n-1), ".") {
			n++
		}
		c.w.Sure = true
		return c.set(h%12, m, n)
	case "pm":
		c.w.Sure = true
		return c.set(h%12+12, m, n+1)
	case "o'clock":
		n++
	default:
		if !c.lead && next == c.k+1 && m == 0 && !strings.Contains(c.At(c.k), ":") {
			return 0
		}
	}
	if h > 24 || m > 59 {
		return 0
	}
	if h < 12 && h > 0 && (c.afternoon >= 12*60 || c.afternoon < 0 && (h < 7 && (c.spokenAs && h < 3 || !early(c.Sentence, m)) || h >= 5 && supper(c.Sentence, c.from))) {
		h += 12
	}
	return c.set(h%24, m, n)
}

// set takes the tokens up to next as a time of day, and returns their number.
func (c *clock) set(h, m, next int) int {
	c.w.Clock, c.w.ByPart, c.w.Minute = true, false, h*60+m
	return next - c.from
}
