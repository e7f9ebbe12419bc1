package calendar

import (
	"strings"
	"unicode/utf8"
)

// Digit returns the value of a Chinese digit; false: it is not one.
func Digit(c rune) (int, bool) {
	switch c {
	case '〇':
		return 0, true
	case '两':
		return 2, true
	}
	at := strings.IndexRune("零一二三四五六七八九", c)
	return at / 3, at >= 0
}

// Han reads a whole number below 10,000 in Chinese characters at the beginning of a text: 三十五,
// 一百零二, and digit by digit 二〇二六. It returns how many characters that takes; 0: there is none, or a
// longer one, such as a phone number. 三五 means three or five.
func Han(text string) (n, size int) {
	if n, size = spelt(text); size != 1 && (size != 2 || n < 11 || n%10 == 0) {
		return n, size
	}
	n, size = 0, 0
	digit, unit := -1, 10000 // the last ones that were read
	for _, c := range text {
		if d, ok := Digit(c); ok {
			if digit > 0 || digit == 0 && unit == 10000 {
				break
			}
			digit = d
		} else {
			u := 0
			switch c {
			case '十':
				u = 10
			case '百':
				u = 100
			case '千':
				u = 1000
			}
			if u == 0 || u >= unit {
				break
			}
			if digit < 0 {
				digit = 1
			}
			n, digit, unit = n+digit*u, -1, u
		}
		size++
	}
	return n + max(digit, 0), size
}

// spelt reads a number digit by digit. One character alone is not such a number, or ends it.
func spelt(text string) (n, size int) {
	for _, c := range text {
		d, ok := Digit(c)
		if !ok {
			if size > 0 && strings.ContainsRune("十百千", c) {
				size = 1
			}
			break
		}
		n, size = 10*n+d, size+1
		if size > 4 {
			return 0, 0
		}
	}
	return n, max(size, 1)
}

// HanWeekday returns the weekday after 周, 星期 or 礼拜: 一 is 1, 日 and 天 are 7, and 末 is 6; 0: it is not one.
func HanWeekday(c rune) int {
	switch c {
	case '天':
		return 7
	case '末':
		return 6
	}
	return (strings.IndexRune("一二三四五六日", c) + 3) / 3
}

// notMiddle are the characters that form a word with the 中 before them: 五月中秋.
const notMiddle = "国午学文秋心医央间级餐东美奖等介风考招暑药部队铁行标英日年高场"

// HanPart reads the part of a month after its name: 底, 初, 中旬, 的第一个周一, 第一周, 最后一天. It returns how
// many characters that takes; 0: there is none.
func HanPart(text string) (p Part, size int) {
	for _, named := range [...]struct {
		word string
		Part
	}{{"上旬", early}, {"中旬", middle}, {"下旬", late}, {"底", end}, {"末", end}, {"初", early}, {"中", middle}} {
		rest, ok := strings.CutPrefix(text, named.word)
		if !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest)
		_, digit := Digit(next)
		switch size = utf8.RuneCountInString(named.word); {
		case size == 2:
		case strings.ContainsRune("恋次步级中班量", next), named.word == "初" && (digit || next == '十'), // 五月初恋分手了, 三月末班车, the moon's 初三
			named.word == "中" && strings.ContainsRune(notMiddle, next):
			return nil, 0
		}
		return named.Part, size
	}
	rest := strings.TrimPrefix(text, "的")
	n := -1
	if last, ok := strings.CutPrefix(rest, "最后"); ok {
		rest = strings.TrimPrefix(last, "一")
	} else if nth, ok := strings.CutPrefix(rest, "第"); ok {
		c, wide := utf8.DecodeRuneInString(nth)
		n, rest = HanWeekday(c), nth[wide:] // 一 to 五
	} else {
		return nil, 0
	}
	rest = strings.TrimPrefix(rest, "个")
	what := "day"
	day, ok := strings.CutPrefix(rest, "天")
	for _, week := range [...]string{"星期", "礼拜", "周"} {
		after, is := strings.CutPrefix(rest, week)
		if !is {
			continue
		}
		what, ok = "week", true
		c, wide := utf8.DecodeRuneInString(after)
		if d := HanWeekday(c); c == '末' {
			what, after = "weekend", after[wide:]
		} else if d > 0 && (c != '天' || week != "周") {
			what, after = weekdayNames[d-1][0], after[wide:]
		}
		day = after
		break
	}
	if !ok || n == 0 {
		return nil, 0
	}
	if p = nth(n, what); p == nil {
		return nil, 0
	}
	return p, utf8.RuneCountInString(text) - utf8.RuneCountInString(day)
}

// HanMonth reads a part of an unnamed month: 月底, 月初, 月中. before is the character before it; 0 or
// [utf8.RuneError]: there is none.
func HanMonth(before rune, text string) (p Part, size int) {
	rest, ok := strings.CutPrefix(text, "月")
	c, _ := utf8.DecodeRuneInString(rest)
	if _, digit := Digit(before); !ok || digit || before == '十' || before == '个' || before >= '0' && before <= '9' || !strings.ContainsRune("底末初中", c) {
		return nil, 0 // the month has a number
	}
	if c == '中' && before != 0 && before != utf8.RuneError && !strings.ContainsRune("我们他她在等到，", before) {
		return nil, 0 // 岁月中
	}
	if p, size = HanPart(rest); p == nil {
		return nil, 0
	}
	return p, size + 1
}

// HanMonths reads a part of a year at the beginning of a text: 春天, 上半年, 第三季度. Nil: there is none.
func HanMonths(text string) (p *Months, size int) {
	for i := range ofYear {
		p = &ofYear[i]
		rest, ok := strings.CutPrefix(text, p.Name)
		if next, _ := utf8.DecodeRuneInString(rest); ok && p.Name[0] >= utf8.RuneSelf && (p.Name != "年中" || !strings.ContainsRune(notMiddle, next)) {
			return p, utf8.RuneCountInString(p.Name)
		}
	}
	return nil, 0
}
