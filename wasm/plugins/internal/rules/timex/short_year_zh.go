package timex

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A year is said by its last two digits: 九八年 is 1998 and 一二年 is 2012. 七八年 may also be seven or
// eight years.

// digitsZh are the digits with which a year is said, in order.
const digitsZh = "零一二三四五六七八九"

// shortYearZh reads a year of two digits at token i, and returns how many tokens it takes with 年.
func shortYearZh(s syntax.Sentence, i int, now Moment) (y, n int) {
	if s.At(i+2) != "年" && s.At(i+1) != "年" {
		return 0, 0
	}
	tens, ones := -1, -1
	if s.At(i+2) == "年" {
		tens, ones, n = digitZh(s.At(i)), digitZh(s.At(i+1)), 3
	} else if d := s.At(i); len(d) == 2 && syntax.Numeric(d) {
		tens, ones, n = int(d[0]-'0'), int(d[1]-'0'), 2
	}
	if tens < 0 || ones < 0 || digitZh(s.At(i-1)) >= 0 || s.At(i-1) == "十" {
		return 0, 0
	}
	after := s.From(i + n)
	told := strings.HasPrefix(strings.TrimLeft(after, digitsZh+"十0123456789"), "月") || syntax.EndsWithAny(strings.TrimRight(s.Raw(), "。！ "), []string{"的"}) || syntax.ContainsAny(after, "出生", "毕业", "去世", "走了", "买的", "搬到", "搬来")
	count := n == 2 && tens > 0 && tens < 6 || n == 3 && (ones == tens+1 || tens == 3 && ones == 5 || tens == 1 && ones == 2 && s.At(i-1) == "过")
	if before := s.At(i - 1); count && !told || before != "" && strings.Contains("了过等有干学近这那每前后隔满", before) && !strings.HasSuffix(strings.TrimRight(s.Raw(), "。 "), "的") {
		return 0, 0
	}
	if syntax.StartsWithAny(after, []string{"后", "前", "内", "之", "以", "多", "半", "来没", "没"}) {
		return 0, 0 // 三五年后
	}
	this, _, _ := Date(now.Day)
	if y = 2000 + tens*10 + ones; y > this+4 {
		y -= 100
	}
	return y, n
}

// digitZh returns the value of a digit that is said alone; -1 if it is none.
func digitZh(w string) int {
	if w == "〇" {
		return 0
	}
	if i := strings.Index(digitsZh, w); w != "" && i >= 0 && i%3 == 0 {
		return i / 3
	}
	return -1
}
