package day

import (
	"fmt"
	"strings"
	"time"
)

var (
	ones = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve"}
	ordinals = [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
		"eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
		"twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
		"twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"}
	hanDigits   = [...]string{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	hanWeekdays = [...]string{"日", "一", "二", "三", "四", "五", "六"}
)

// digitWords spells a number digit by digit: "four seven one".
func digitWords(digits string) string {
	words := make([]string, len(digits))
	for i, c := range digits {
		words[i] = ones[c-'0']
	}
	return strings.Join(words, " ")
}

// hanDigitWords spells a number digit by digit in Chinese: 四七一.
func hanDigitWords(digits string) string {
	var b strings.Builder
	for _, c := range digits {
		b.WriteString(hanDigits[c-'0'])
	}
	return b.String()
}

// hanNumber writes a number from 1 to 99 in Chinese: 十一, 二十三.
func hanNumber(n int) string {
	switch {
	case n < 10:
		return hanDigits[n]
	case n < 20:
		return "十" + strings.TrimPrefix(hanDigits[n%10], "零")
	}
	return hanDigits[n/10] + "十" + strings.TrimPrefix(hanDigits[n%10], "零")
}

// clockForms returns the forms of a time of day that contain no other time of a day, with those
// that people say first.
func clockForms(t time.Time) []string {
	h, m := t.Hour(), t.Minute()
	h12 := (h+11)%12 + 1
	next := h12%12 + 1
	noon := "am"
	if h >= 12 {
		noon = "pm"
	}
	var f []string
	switch m {
	case 0:
		f = []string{ones[h12] + " o'clock", fmt.Sprintf("%d %s", h12, noon), fmt.Sprintf("%d o'clock", h12)}
	case 15:
		f = []string{"quarter past " + ones[h12], ones[h12] + " fifteen"}
	case 30:
		f = []string{"half past " + ones[h12], ones[h12] + " thirty"}
	case 45:
		f = []string{"quarter to " + ones[next], ones[h12] + " forty-five"}
	}
	return append(f, fmt.Sprintf("%d:%02d", h12, m), t.Format("15:04"))
}

// dateForms returns the forms of a day of the year in English.
func dateForms(t time.Time) []string {
	d, m := t.Day(), t.Month().String()
	suffix := "th"
	if d/10 != 1 {
		switch d % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return []string{
		fmt.Sprintf("the %s of %s", ordinals[d], m),
		fmt.Sprintf("%s the %s", m, ordinals[d]),
		fmt.Sprintf("%s %d%s", m, d, suffix),
		fmt.Sprintf("%s %s", m, ordinals[d]),
		fmt.Sprintf("the %d%s of %s", d, suffix, m),
		fmt.Sprintf("%s %d", m, d),
		fmt.Sprintf("%d %s", d, m),
		t.Format(time.DateOnly),
	}
}

// hanDateForms returns the forms of a day of the year in Chinese.
func hanDateForms(t time.Time) []string {
	d, m := t.Day(), int(t.Month())
	return []string{
		hanNumber(m) + "月" + hanNumber(d) + "号",
		fmt.Sprintf("%d月%d号", m, d),
		hanNumber(m) + "月" + hanNumber(d) + "日",
		fmt.Sprintf("%d月%d日", m, d),
		t.Format(time.DateOnly),
	}
}
