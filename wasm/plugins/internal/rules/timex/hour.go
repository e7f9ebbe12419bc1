package timex

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// early reports whether an hour before seven is really in the morning: the time of getting up, or a
// time of a timetable to the minute ("the flight at 6:40").
func early(s syntax.Sentence, minute int) bool {
	for i, tok := range s.Toks {
		switch word, _ := syntax.Contraction(tok.S); word { // "the flight's at 6:40"
		case "alarm", "breakfast", "sunrise", "dawn", "wake", "wakes", "woke", "waking", "jog", "jogging":
			return true
		case "flight", "plane", "train", "bus", "coach", "ferry", "tram", "departs", "departure", "boarding", "boards",
			"fly", "flies", "flying", "flew", "lands", "landing", "landed":
			if minute > 0 {
				return true
			}
		case "get", "got", "gets", "getting":
			if s.At(i+1) == "up" {
				return true
			}
		}
	}
	return false
}

// nearby is how many words away a word may show what an hour belongs to, because a line may be
// long.
const nearby = 32

// supper reports whether the hour that begins at token i is that of an evening meal or drinks, so
// that seven is 19:00. The nearest word before it decides, or else the words after it up to the
// next deed.
func supper(s syntax.Sentence, i int) bool {
	for k := i - 1; k >= max(0, i-nearby); k-- {
		switch w := s.At(k); {
		case evenings[w], w == "drink" && s.At(k-1) == "a", Tabled(s, k), w == "meeting" && ofEvening(s, k):
			return true
		case mornings[w], w == "." || w == ";" || w == "then" || w == "but" || w == "before" || w == "after":
			return false
		}
	}
	for k := i; k < min(len(s.Toks), i+nearby); k++ {
		switch w := s.At(k); {
		case evenings[w], w == "drink" && s.At(k-1) == "a", Tabled(s, k):
			return true
		case mornings[w], w == "." || w == ";" || w == "," || w == "and" || w == "then" || w == "but" || w == "so" || w == "before" || w == "after":
			return false
		}
	}
	return false
}

// ofEvening reports whether a meeting at token k is not at work: with somebody who is named after
// it, or of parents, residents or a club.
func ofEvening(s syntax.Sentence, k int) bool {
	before := s.At(k - 1)
	if before == "'" || before == "’" {
		before = s.At(k - 2)
	}
	return evenings[before] || k+1 < len(s.Toks) && s.Toks[k+1].Cap && syntax.NameWord(s.At(k+1))
}

var evenings = syntax.Set("pta parents parents' residents choir club dinner dinners restaurant supper drinks pub cocktails gig concert opera theatre theater musical ballet recital bistro pizzeria steakhouse trattoria brasserie beers tapas sushi cinema movie movies nightclub gala")

var bookings = syntax.Set("booked booking reserved reserve reservation reservations")

// Tabled reports whether a table is booked, and not one to sit down at: "a table for four".
func Tabled(s syntax.Sentence, k int) bool {
	if s.At(k) != "table" && s.At(k) != "tables" {
		return false
	}
	if next := s.At(k + 1); next == "for" || next == "at" {
		return true
	}
	return slices.ContainsFunc(s.Toks, func(k syntax.Token) bool { return bookings[k.S] || k.S == "book" })
}

// bookedOpen reports whether something is booked, and not said what: by its hour alone it may be
// breakfast or dinner.
func bookedOpen(s syntax.Sentence) bool {
	booked := false
	for i := range s.Toks {
		w, _ := syntax.Contraction(s.At(i))
		booked = booked || bookings[w]
		if _, event := syntax.EventNoun(syntax.OneEvent(w)); event && !bookings[syntax.OneEvent(w)] || syntax.Profession(w) || mornings[w] || evenings[w] || Tabled(s, i) {
			return false
		}
	}
	return booked
}

// halfOfDay reads "in the morning" and "at night" after an hour to which they belong.
func halfOfDay(s syntax.Sentence, i int, w *When) int {
	if !w.Clock || w.ByPart {
		return 0
	}
	m, n := 0, 0
	switch {
	case s.At(i) == "in" && s.At(i+1) == "the":
		m, n = partsOfDay[s.At(i+2)], 3
	case s.At(i) == "at" && s.At(i+1) == "night":
		m, n = partsOfDay["night"], 2
	}
	if m == 0 {
		return 0
	}
	w.part(m)
	w.Sure = true
	return n
}

// OverToday reports whether an hour of today is over, and may have another meaning.
func (w *When) OverToday(now Moment) bool {
	return w.Clock && !w.ByPart && !w.Sure && w.Until == 0 && w.Day == now.Day && w.Minute <= now.Minute && w.Minute < 12*60
}

// Ahead12 moves w to the next time that a twelve-hour clock shows the hour.
func (w *When) Ahead12(now Moment) {
	if w.Minute == 0 && !w.HasDay {
		w.Set(w.Day+1, 'd')
		return
	}
	if w.Minute += 12 * 60; w.Minute <= now.Minute {
		w.Minute -= 12 * 60
	}
}

var mornings = syntax.Set("breakfast brunch lunch coffee work school morning mornings meeting am office class call train flight")

// supperZh is supper for an hour in a Chinese clause: 周六七点在妈妈家吃饭, 餐厅订在周五七点.
func supperZh(s syntax.Sentence, i, h int) bool {
	if h < 5 || h > 9 || i >= len(s.Toks) {
		return false
	}
	said := s.Text[s.Toks[i].Start:s.Toks[min(len(s.Toks), i+nearby)-1].End]
	if end := strings.IndexAny(said, "，。；！？,"); end > 0 {
		said = said[:end]
	}
	_, rest, _ := strings.Cut(said, "点")
	if before, _, more := strings.Cut(rest, "点"); more {
		rest = before // 七点出门八点吃饭
	}
	before := s.Text[s.Toks[max(0, i-nearby)].Start:s.Toks[i].Start]
	before = before[strings.LastIndexAny(before, "。；！？")+1:]
	if strings.Contains(before, "点") {
		before = ""
	}
	return syntax.ContainsAny(before+" "+rest, suppersZh[:]...) && !syntax.ContainsAny(before+rest, "早饭", "早餐", "早茶", "午饭", "午餐")
}

// suppersZh are meals, shows and parties in the evening, and words for booking them.
var suppersZh = [...]string{"家长会", "业主", "居民会", "吃饭", "晚饭", "晚餐", "吃晚", "饭局", "聚餐", "喝酒", "喝一杯", "吃火锅", "吃烧烤", "宵夜", "夜宵", "餐厅", "饭店", "饭馆", "位子", "包间", "包厢", "订了桌", "订桌", "订一桌", "订了一桌", "电影", "演唱会", "音乐会", "话剧", "演出", "聚会", "派对", "酒吧", "唱歌", "KTV"}

// departsZh reports whether a time is from a timetable, to the minute, and so meant exactly:
// 六点四十五飞里斯本.
func departsZh(s syntax.Sentence, i, minute int) bool {
	return minute > 0 && syntax.ContainsAny(s.Text[s.Toks[max(0, i-nearby)].Start:s.Toks[min(len(s.Toks), i+nearby)-1].End], "飞机", "航班", "起飞", "登机", "飞往", "飞去", "高铁", "火车", "动车")
}

// leavesZh reports whether the hour w is the one at which somebody leaves for what departs in the
// morning: 六点四十的飞机四点就得出门.
func leavesZh(s syntax.Sentence, departs, w *When) bool {
	early := w.Minute - 12*60
	return !departs.ByPart && departs.Minute < 12*60 && !w.Sure && early >= 0 && early < departs.Minute && departsZh(s, departs.First, 1) && syntax.StartsWithAny(s.From(w.Next), []string{"就得", "就要", "得", "要", "就出"})
}

// hourless reports whether the text is like "at twenty past", "at ten to.": minutes of any hour,
// which are not a time of day.
func hourless(s syntax.Sentence, k int) bool {
	m, ok := syntax.Number(s.At(k))
	if !ok || m < 1 || m > 29 {
		return false
	}
	switch s.At(k + 1) {
	case "past":
		return true
	case "to":
		return k+2 >= len(s.Toks) || s.Toks[k+2].Kind == 'p'
	}
	return false
}

// part sets the time of day from "morning" and the like, unless it is already known.
func (w *When) part(minute int) {
	if !w.Clock {
		w.Minute, w.Clock, w.ByPart = minute, true, true
	} else if minute >= 12*60 && w.Minute < 12*60 && w.Minute > 0 {
		w.Minute += 12 * 60
		if w.Until > 0 && w.Until <= w.Minute { // "between seven and eight tonight"
			w.Until = (w.Until + 12*60) % (24 * 60)
		}
		if w.Until <= w.Minute {
			w.Until = 0 // of the next day
		}
	} else if minute < 12*60 && w.Minute >= 13*60 {
		w.Minute -= 12 * 60
	}
}

var partsOfDay = map[string]int{"morning": 9 * 60, "afternoon": 15 * 60, "evening": 19 * 60, "night": 21 * 60, "lunchtime": 12 * 60}

// HourIn returns the token at which the time of day begins in a day with one: "Wednesday at three"; 0
// if it has none.
func HourIn(s syntax.Sentence, x *When, now Moment) int {
	if !x.HasDay || !x.Clock || x.ByPart {
		return 0
	}
	for k := x.First + 1; k < x.Next; k++ {
		if w, ok := WhenAt(s, k, now); ok && w.Clock && !w.HasDay && w.Next == x.Next {
			return k
		}
	}
	return 0
}

// OnDay puts a time of day on a day, and in the half of it that the day's part names: "tomorrow
// evening … at seven".
func (w *When) OnDay(day *When) {
	w.Set(day.Day, 'd')
	w.Weekday, w.Assumed = day.Weekday, day.Assumed
	if day.ByPart && day.Minute >= 12*60 && !w.Sure && w.Minute > 0 && w.Minute < 12*60 && w.Until < 12*60 {
		w.Minute += 12 * 60
		if w.Until > 0 {
			w.Until += 12 * 60
		}
	}
}
