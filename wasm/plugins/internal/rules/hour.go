package rules

import "strings"

// early reports whether an hour before seven is meant as it stands: the time
// of getting up, or one of a timetable to the minute ("the flight at 6:40").
func early(s sentence, minute int) bool {
	for i, tok := range s.toks {
		switch tok.s {
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
		case evenings[w], w == "drink" && s.at(k-1) == "a":
			return true
		case mornings[w], w == "." || w == ";" || w == "then" || w == "but" || w == "before" || w == "after":
			return false
		}
	}
	for k := i; k < min(len(s.toks), i+nearby); k++ {
		switch w := s.at(k); {
		case evenings[w], w == "drink" && s.at(k-1) == "a":
			return true
		case mornings[w], w == "." || w == ";" || w == "," || w == "and" || w == "then" || w == "but" || w == "so" || w == "before" || w == "after":
			return false
		}
	}
	return false
}

var evenings = set("dinner dinners restaurant supper drinks pub cocktails gig concert opera")

var mornings = set("breakfast brunch lunch coffee work school morning mornings meeting am office class call train flight")

// supperZh is supper for an hour of a Chinese clause: 周六七点在妈妈家吃饭.
func supperZh(s sentence, i, h int) bool {
	if h < 5 || h > 9 || i >= len(s.toks) {
		return false
	}
	said := s.text[s.toks[i].start:s.toks[min(len(s.toks), i+nearby)-1].end]
	if end := strings.IndexAny(said, "，。；！？,"); end > 0 {
		said = said[:end]
	}
	if _, rest, ok := strings.Cut(said, "点"); ok && strings.Contains(rest, "点") {
		said, _, _ = strings.Cut(rest, "点") // 七点出门八点吃饭
	}
	return containsAny(said, "吃饭", "晚饭", "晚餐", "吃晚", "饭局", "聚餐", "喝酒", "喝一杯", "吃火锅", "吃烧烤", "宵夜", "夜宵") && !containsAny(said, "早饭", "早餐", "早茶")
}

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
