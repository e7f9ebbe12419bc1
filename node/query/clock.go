package query

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/forget"
)

// clock is a time of day as a question states it.
type clock struct {
	hours  []int // what the hour can mean, in order; 24 and above are on the next day
	minute int
}

var (
	clockEn  = regexp.MustCompile(`\bat (?:about |around )?(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|o'clock)?(?:\s|$)`)
	clockHan = regexp.MustCompile(`(\d{1,2}|[一二两三四五六七八九十]{1,3})点(半)?$`)
	// partAlone is a part of a day without the day.
	partAlone = regexp.MustCompile(`^(?:(?:in the |at )?(?:morning|noon|afternoon|evening|night)|凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)$`)
)

// readClock takes a time of day out of the part of a question that is about time. said
// reports whether there is one. A text in its place that is no time gives no hours.
func readClock(when string) (c clock, rest string, said bool) {
	var hour, minutes, mark string
	if m := clockEn.FindStringSubmatch(when); m != nil {
		hour, minutes, mark = m[1], m[2], m[3]
		rest = strings.TrimSpace(strings.Replace(when, m[0], "", 1))
	} else if m := clockHan.FindStringSubmatch(when); m != nil {
		hour, rest = m[1], strings.TrimSuffix(when, m[0])
		if m[2] != "" {
			minutes = "30"
		}
	} else {
		return c, when, false
	}
	c.minute, _ = strconv.Atoi(minutes) // without minutes it is 0
	if h := hourOf(hour); h >= 0 && c.minute < 60 {
		c.hours = hoursOf(h, mark, rest)
	}
	if hour[0] == '0' && len(c.hours) > 1 { // 09:30
		c.hours = c.hours[:1]
	}
	return c, rest, true
}

// hourOf reads an hour in digits or in Chinese. It returns a number below zero if the
// text is no hour.
func hourOf(s string) int {
	if h, err := strconv.Atoi(s); err == nil {
		return h
	}
	digit := func(s string, none int) int { // none is the value of an empty digit
		i := strings.Index("一二三四五六七八九", s)
		switch {
		case s == "":
			return none
		case s == "两":
			return 2
		case i < 0 || len(s) > len("一"): // 两三点 is no hour
			return -100
		}
		return i/len("一") + 1
	}
	tens, ones, ten := strings.Cut(s, "十")
	if !ten {
		return digit(s, -100)
	}
	return 10*digit(tens, 1) + digit(ones, 0)
}

// hoursOf returns what an hour can mean with "a.m." or "p.m." (mark), or with the
// words beside it. "Night" after midnight is on the next day.
func hoursOf(h int, mark, beside string) []int {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(beside, w) })
	}
	night := has("night", "evening", "晚", "夜里")
	switch am, pm := strings.HasPrefix(mark, "a"), strings.HasPrefix(mark, "p"); {
	case h > 24 || h > 12 && am:
		return nil
	case h > 12:
		return []int{h}
	case night && !pm && (am || h < 6 || h == 12):
		return []int{h%12 + 24}
	case am || has("morning", "凌晨", "早"):
		return []int{h % 12}
	case h == 0 || has("上午"):
		return []int{h}
	case night || pm || has("afternoon", "下午"):
		return []int{h%12 + 12}
	case has("noon", "中午") && h < 6:
		return []int{h + 12}
	case has("noon", "中午"):
		return []int{h}
	}
	return []int{h % 12, h%12 + 12}
}

// last returns the last time that a question can mean which states a time of day, and
// a day in other words (of). It returns none if that time is yet to come, or if the
// words do not name a single day.
func (c clock) last(of string, now time.Time) (at time.Time, ok bool) {
	anyDay := of == "" || partAlone.MatchString(of)
	of = cmp.Or(of, "today")
	y, m, d := now.Date()
	for _, from := range []time.Time{now, time.Date(y, m, d, 0, 0, -1, 0, now.Location())} { // today, and yesterday's end
		said, err := parseWhen(of, from)
		if err == nil && (said.Received || said.From.AddDate(0, 0, 1).Before(said.To)) {
			return at, false
		}
		if err == nil {
			if at, ok = c.lastOn(said.From, now, anyDay); ok {
				return at, true
			}
		}
		if !anyDay {
			break
		}
	}
	return at, false
}

// lastOn returns the last time on a day, not after now, that a clock can mean. If the
// question names a day, and it is not today, only times at which people are awake
// count.
func (c clock) lastOn(day, now time.Time, anyDay bool) (at time.Time, ok bool) {
	y, m, d := day.Date()
	awake := !anyDay && len(c.hours) > 1 && day.Format(time.DateOnly) != now.Format(time.DateOnly)
	for _, h := range c.hours {
		t := time.Date(y, m, d, h, c.minute, 0, 0, now.Location())
		if !t.After(now) && (!awake || h >= 7 && h < 19) {
			at, ok = t, true
		}
	}
	return at, ok
}

// parseWhen reads what a question says about a day or a part of it.
func parseWhen(when string, now time.Time) (said forget.When, err error) {
	if said, err = forget.ParseWhen(strings.TrimPrefix(when, "in the "), now); err != nil || said.Place != "" {
		said, err = forget.ParseWhen(when, now)
	}
	if err == nil && said.Place != "" {
		err = errors.New("a place is named")
	}
	return said, err
}
