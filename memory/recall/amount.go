package recall

import (
	"slices"
	"strings"
)

// This file finds what a text tells besides its words: a number, or an hour of the day. A text that
// has one answers a question for it, in either language.

const (
	numeralsHan = "二两三四五六七八九十百千万半"
	afterOne    = "百千万亿块元斤天年周岁次米层楼号个" // what 一 counts: 一些 and 一起 are not numbers
)

// noNumbers are words that contain a numeral but state no number.
var noNumbers = set(`万一 十分 百货 半夜 一半`)

// manyWords are number words that are not figures.
var manyWords = set(`hundred thousand million dozen half twice double couple`)

// ordinals state a place in a row, which is not a number.
var ordinals = set(`first second third fourth fifth sixth seventh eighth ninth tenth`)

// saysNumber reports whether a text has a number that is not part of a date.
func saysNumber(words []word, times map[int]bool) bool {
	var before, last rune // the two characters before, if they are Chinese
	counted := func() bool { return last != 0 && before != '第' && strings.ContainsRune(numeralsHan, last) }
	for i, w := range words {
		r := []rune(w.text)
		switch {
		case w.han && len(r) > 1:
		case !w.han && !times[i] && (r[0] >= '0' && r[0] <= '9' || manyWords[w.text] || number(w.text) > 1 && !ordinals[w.text]):
			return true
		case w.han && !times[i] && (counted() && !noNumbers[string(last)+w.text] || last == '一' && before != '第' && strings.ContainsRune(afterOne, r[0])):
			return true
		case w.han && !times[i]:
			before, last = last, r[0]
			if noNumbers[string(before)+w.text] {
				last = 0
			}
		case counted():
			return true
		default:
			before, last = 0, 0
		}
	}
	return counted()
}

// hourLeads come before 一点 if it is an hour, and not "a little"; hourEnds come after it.
var (
	hourLeads = set(`早上 上午 中午 下午 晚上 凌晨 傍晚 今晚 明早 夜里`)
	hourEnds  = []string{"半", "钟", "一刻", "零", "多", "整"}
)

// afterHour can follow "at seven", unlike a noun.
var afterHour = set(`fifteen thirty forty today tonight tomorrow sharp monday tuesday wednesday thursday friday saturday sunday`)

// saysHour reports whether a text has an hour of the day: "at half past three", "7 pm", 三点半.
func saysHour(text string, words []word) bool {
	const near = 12 // number of words, including pairs of characters, that contain the three characters next to 点
	if onTheClock(text) {
		return true
	}
	at := func(i int) string {
		if i >= 0 && i < len(words) {
			return words[i].text
		}
		return ""
	}
	figure := func(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
	hour := func(s string) bool {
		n := number(s)
		return n > 0 && n <= 24 && s != "a" && s != "an" && !ordinals[s]
	}
	for i, w := range words {
		switch before, next := at(i-1), at(i+1); w.text {
		case "noon", "midnight":
			return true
		case "past", "to":
			if (before == "half" || before == "quarter") && hour(next) {
				return true
			}
		case "am", "pm":
			if figure(before) {
				return true
			}
		case "at":
			after := at(i + 2)
			if hour(next) && (after == "" || stopWords[after] || afterHour[after] || hour(after) || number(after) > 0) {
				return true
			}
		case "点":
			if figure(before) && i > 0 && !words[i-1].han || hourOf(tail(words[max(0, i-near):i]), tail(words[i+1:min(i+near, len(words))])) {
				return true
			}
		}
		if w.text == "o" && w.clip == "'clock" || figure(w.text) && (strings.HasSuffix(w.text, "am") || strings.HasSuffix(w.text, "pm")) {
			return true
		}
	}
	return false
}

// onTheClock reports whether a text has an hour in figures: 9:30.
func onTheClock(text string) bool {
	figure := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for i := range len(text) {
		for _, colon := range [...]string{":", "："} {
			if n := i + len(colon); strings.HasPrefix(text[i:], colon) && figure(i-1) && figure(n) && figure(n+1) && !figure(n+2) && !figure(i-3) {
				return true
			}
		}
	}
	return false
}

// hourOf reports whether 点 is an hour, given the characters before and after it.
func hourOf(before, behind string) bool {
	r := []rune(before)
	if len(r) == 0 || !digit(r[len(r)-1]) {
		return false
	}
	if r[len(r)-1] != '一' || len(r) > 1 && digit(r[len(r)-2]) {
		return true
	}
	for _, s := range hourEnds {
		if strings.HasPrefix(behind, s) {
			return true
		}
	}
	return len(r) > 2 && hourLeads[string(r[len(r)-3:len(r)-1])]
}

// asksLength reports whether a question asks how long something takes or lasts.
func asksLength(lower string) bool {
	return strings.Contains(lower, "how long") || strings.Contains(lower, "多久") || strings.Contains(lower, "多长")
}

// asksAmount reports whether a question asks for a number: how much, 几斤, "what does it cost". How
// many times something happened is counted from lines that need not have a number.
func asksAmount(lower string, shape Shape) bool {
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(s string) bool { return strings.Contains(lower, s) })
	}
	return (shape == HowMany || has(amountWords)) && !has(timesWords)
}

var (
	amountWords = []string{" cost", " price", "how high", "how big", "how tall", "how heavy", "how far", "how fast", "which floor", "what floor", "what number", "几", "多大", "多高", "多重", "多远", "多贵"}
	timesWords  = []string{"how many times", "几次", "几回", "多少次"}
)
