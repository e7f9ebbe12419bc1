package rules

import (
	"slices"
	"strings"
)

// early reports whether an hour before seven is meant as it stands: the time
// of getting up, or one of a timetable to the minute ("the flight at 6:40").
func early(s sentence, minute int) bool {
	for i, tok := range s.toks {
		switch word, _ := contraction(tok.s); word { // "the flight's at 6:40"
		case "alarm", "breakfast", "sunrise", "dawn", "wake", "wakes", "woke", "waking", "jog", "jogging":
			return true
		case "flight", "plane", "train", "bus", "coach", "ferry", "tram", "departs", "departure", "boarding", "boards",
			"fly", "flies", "flying", "flew", "lands", "landing", "landed":
			if minute > 0 {
				return true
			}
		case "get", "got", "gets", "getting":
			if s.at(i+1) == "up" {
				return true
			}
		}
	}
	return false
}

// nearby is how many words away a word may tell what an hour is of: a line may be long.
const nearby = 32

// supper reports whether what is at the hour that begins at token i is a meal or a round of
// drinks of the evening, so that seven is 19:00. The nearest word before it tells what it is of,
// or else the words after it up to the next thing that is done.
func supper(s sentence, i int) bool {
	for k := i - 1; k >= max(0, i-nearby); k-- {
		switch w := s.at(k); {
		case evenings[w], w == "drink" && s.at(k-1) == "a", tabled(s, k), w == "meeting" && ofEvening(s, k):
			return true
		case mornings[w], w == "." || w == ";" || w == "then" || w == "but" || w == "before" || w == "after":
			return false
		}
	}
	for k := i; k < min(len(s.toks), i+nearby); k++ {
		switch w := s.at(k); {
		case evenings[w], w == "drink" && s.at(k-1) == "a", tabled(s, k):
			return true
		case mornings[w], w == "." || w == ";" || w == "," || w == "and" || w == "then" || w == "but" || w == "so" || w == "before" || w == "after":
			return false
		}
	}
	return false
}

// ofEvening reports a meeting at token k that is no work: with somebody who is named after it, or of
// parents, residents or a club.
func ofEvening(s sentence, k int) bool {
	before := s.at(k - 1)
	if before == "'" || before == "’" {
		before = s.at(k - 2)
	}
	return evenings[before] || k+1 < len(s.toks) && s.toks[k+1].cap && nameWord(s.at(k+1))
}

var evenings = set("pta parents parents' residents choir club dinner dinners restaurant supper drinks pub cocktails gig concert opera theatre theater musical ballet recital bistro pizzeria steakhouse trattoria brasserie beers tapas sushi cinema movie movies nightclub gala")

var bookings = set("booked booking reserved reserve reservation reservations")

// tabled reports a table that is booked, and not one to sit down at: "a table for four".
func tabled(s sentence, k int) bool {
	if s.at(k) != "table" && s.at(k) != "tables" {
		return false
	}
	if next := s.at(k + 1); next == "for" || next == "at" {
		return true
	}
	return slices.ContainsFunc(s.toks, func(k token) bool { return bookings[k.s] || k.s == "book" })
}

// tableFor reports a clause of a table that is booked, whose hour is the meal's.
func (c *clause) tableFor() bool {
	for i := range c.toks {
		if tabled(c.sentence, i) {
			return true
		}
	}
	return false
}

// bookedOpen reports that something is booked, and not what: by its hour alone it may be breakfast
// or dinner.
func bookedOpen(s sentence) bool {
	booked := false
	for i := range s.toks {
		w, _ := contraction(s.at(i))
		booked = booked || bookings[w]
		if _, event := eventNoun(oneEvent(w)); event && !bookings[oneEvent(w)] || profession(w) || mornings[w] || evenings[w] || tabled(s, i) {
			return false
		}
	}
	return booked
}

// halfOfDay reads "in the morning" and "at night" after an hour, which it is of.
func halfOfDay(s sentence, i int, w *when) int {
	if !w.clock || w.byPart {
		return 0
	}
	m, n := 0, 0
	switch {
	case s.at(i) == "in" && s.at(i+1) == "the":
		m, n = partsOfDay[s.at(i+2)], 3
	case s.at(i) == "at" && s.at(i+1) == "night":
		m, n = partsOfDay["night"], 2
	}
	if m == 0 {
		return 0
	}
	w.part(m)
	w.sure = true
	return n
}

// toCome moves an hour of today that is over into the half of the day that is to come, where the words
// leave open which is meant: at ten "a meeting at seven" is in the evening, and midnight is the next one.
func (c *clause) toCome(w *when, now moment) {
	if c.past || c.perfect || w.habit || !w.overToday(now) {
		return
	}
	at := w.first
	w.ahead12(now)
	for i := range c.whens {
		if o := &c.whens[i]; o != w && o.first == at && o.overToday(now) {
			o.ahead12(now)
		}
	}
}

// overToday reports an hour of today that is over, and that may be meant otherwise.
func (w *when) overToday(now moment) bool {
	return w.clock && !w.byPart && !w.sure && w.until == 0 && w.day == now.day && w.minute <= now.minute && w.minute < 12*60
}

// ahead12 is the next time that a clock of twelve hours shows the hour.
func (w *when) ahead12(now moment) {
	if w.minute == 0 && !w.hasDay {
		w.set(w.day+1, 'd')
		return
	}
	if w.minute += 12 * 60; w.minute <= now.minute {
		w.minute -= 12 * 60
	}
}

var mornings = set("breakfast brunch lunch coffee work school morning mornings meeting am office class call train flight")

// supperZh is supper for an hour of a Chinese clause: 周六七点在妈妈家吃饭, 餐厅订在周五七点.
func supperZh(s sentence, i, h int) bool {
	if h < 5 || h > 9 || i >= len(s.toks) {
		return false
	}
	said := s.text[s.toks[i].start:s.toks[min(len(s.toks), i+nearby)-1].end]
	if end := strings.IndexAny(said, "，。；！？,"); end > 0 {
		said = said[:end]
	}
	_, rest, _ := strings.Cut(said, "点")
	if before, _, more := strings.Cut(rest, "点"); more {
		rest = before // 七点出门八点吃饭
	}
	before := s.text[s.toks[max(0, i-nearby)].start:s.toks[i].start]
	before = before[strings.LastIndexAny(before, "。；！？")+1:]
	if strings.Contains(before, "点") {
		before = ""
	}
	return containsAny(before+" "+rest, suppersZh[:]...) && !containsAny(before+rest, "早饭", "早餐", "早茶", "午饭", "午餐")
}

// suppersZh are meals, shows and feasts of the evening, and what is booked for them.
var suppersZh = [...]string{"家长会", "业主", "居民会", "吃饭", "晚饭", "晚餐", "吃晚", "饭局", "聚餐", "喝酒", "喝一杯", "吃火锅", "吃烧烤", "宵夜", "夜宵", "餐厅", "饭店", "饭馆", "位子", "包间", "包厢", "订了桌", "订桌", "订一桌", "订了一桌", "电影", "演唱会", "音乐会", "话剧", "演出", "聚会", "派对", "酒吧", "唱歌", "KTV"}

// departsZh reports a time of a timetable, to the minute, which is meant as it stands: 六点四十五飞里斯本.
func departsZh(s sentence, i, minute int) bool {
	return minute > 0 && containsAny(s.text[s.toks[max(0, i-nearby)].start:s.toks[min(len(s.toks), i+nearby)-1].end], "飞机", "航班", "起飞", "登机", "飞往", "飞去", "高铁", "火车", "动车")
}

// hourless reports "at twenty past", "at ten to.": minutes of whichever hour, which are no
// time of the day.
func hourless(s sentence, k int) bool {
	m, ok := number(s.at(k))
	if !ok || m < 1 || m > 29 {
		return false
	}
	switch s.at(k + 1) {
	case "past":
		return true
	case "to":
		return k+2 >= len(s.toks) || s.toks[k+2].kind == 'p'
	}
	return false
}

// part sets the time of day from "morning" and the like, unless it is known.
func (w *when) part(minute int) {
	if !w.clock {
		w.minute, w.clock, w.byPart = minute, true, true
	} else if minute >= 12*60 && w.minute < 12*60 && w.minute > 0 {
		w.minute += 12 * 60
		if w.until > 0 && w.until <= w.minute { // "between seven and eight tonight"
			w.until = (w.until + 12*60) % (24 * 60)
		}
		if w.until <= w.minute {
			w.until = 0 // of the next day
		}
	} else if minute < 12*60 && w.minute >= 13*60 {
		w.minute -= 12 * 60
	}
}

var partsOfDay = map[string]int{"morning": 9 * 60, "afternoon": 15 * 60, "evening": 19 * 60, "night": 21 * 60, "lunchtime": 12 * 60}
