package rules

import (
	"strings"
	"unicode/utf8"
)

// takesBackZh are the words by which somebody takes back what they just said, the longer first.
var takesBackZh = []string{"我说错了", "不对不对", "哦不对", "啊不对", "说错了", "不不不", "不对", "不是", "错了", "哦不", "噢不", "啊不", "不不"}

// retakenZh is [sentence.retaken] in Chinese: 四点去，不对，四点半. A time is put right by a time, a name by a name, and
// a number by another one of the same things. What is taken back and not put right leaves nothing.
func (s sentence) retakenZh(now moment) (string, bool) {
	for i := 2; i+1 < len(s.toks); i++ {
		word, n := prefixZh(s, i, takesBackZh...)
		end, j := i, i+n
		if s.toks[end-1].kind == 'p' {
			end--
		}
		if n > 0 && j < len(s.toks) && s.toks[j].kind == 'p' {
			j++
		} else if word != "不对" {
			continue
		}
		if end == i && word != "不对" || n == 0 || j >= len(s.toks) {
			continue
		}
		_, is := prefixZh(s, j, "应该是", "是", "改到")
		if j += is; j >= len(s.toks) {
			continue
		}
		if said, ok := s.putRightZh(now, end, j); ok {
			return said, true
		}
		if word != "不是" && end < i {
			return "", true
		}
	}
	return "", false
}

// putRightZh is a sentence in which what stands before token end is put right by what begins at token j.
func (s sentence) putRightZh(now moment, end, j int) (string, bool) {
	before, after := s.sub(0, end), s.sub(j, len(s.toks))
	if right := findWhens(after, now); len(right) > 0 && right[0].first == 0 {
		wrong := findWhens(before, now)
		for k := len(wrong) - 1; k >= 0; k-- {
			w, r := &wrong[k], &right[0]
			if w.hasDay && r.hasDay || w.clock && r.clock {
				return s.text[s.start:s.toks[w.first].start] + before.timeWithZh(w, after, r, now) + s.text[s.toks[w.next-1].end:s.toks[end-1].end] + s.text[after.toks[r.next-1].end:s.end], true
			}
		}
		return "", false
	}
	said := strings.TrimRight(before.raw(), "了，, ")
	tail := before.raw()[len(said):]
	right, rest := cutCommaZh(after.raw())
	right, done := strings.CutSuffix(trimTails(right, "吧", "来着"), "了")
	if tail == "" && done {
		tail = "了"
	}
	if rest != "" {
		rest = "，" + rest
	}
	if unit := strings.TrimLeft(right, digitsZh); len(unit) < len(right) {
		head, ok := strings.CutSuffix(said, unit)
		if unit == "" {
			head = trimTails(said, "块钱", "块", "元")
		}
		bare := strings.TrimRight(head, digitsZh) // 三百块, 四百块
		if unit == "" {
			ok, right = true, right+said[len(head):]
		}
		return bare + right + tail + rest, ok && bare != head
	}
	if first, _ := utf8.DecodeRuneInString(right); len(right) > len("过敏") && strings.HasSuffix(said, right[len(right)-len("过敏"):]) {
		i := strings.LastIndex(said, string(first)) // 对花生过敏, 对核桃过敏
		return said[:max(i, 0)] + right + tail + rest, i > 0
	}
	if citiesZh[right] {
		for i := range said {
			if n := i + len(right); n <= len(said) && citiesZh[said[i:n]] {
				return said[:i] + right + said[n:] + tail + rest, true
			}
		}
	}
	from := len(said)
	for range utf8.RuneCountInString(right) {
		_, n := utf8.DecodeLastRuneInString(said[:from])
		from -= n
	}
	wrong := said[from:]
	_, last := utf8.DecodeLastRuneInString(right)
	if from > 0 && wrong != right && utf8.RuneCountInString(right) <= 4 && (personZh(right) && personZh(wrong) || utf8.RuneCountInString(right) > 1 && strings.HasSuffix(wrong, right[len(right)-last:])) {
		return said[:from] + right + tail + rest, true // 牛肉, 羊肉
	}
	return "", false
}

// timeWithZh is the time r with what the withdrawn time w says more than it: 明天下午 with 四点半, 下周四 for 下周三 and 周四.
func (s sentence) timeWithZh(w *when, after sentence, r *when, now moment) string {
	text := s.text
	right := text[after.toks[r.first].start:after.toks[r.next-1].end]
	var day when
	k := w.first + dayPartZh(s, w.first, now, &day)
	start, end := s.toks[w.first].start, s.toks[w.next-1].end
	hour := end // where the time of day begins
	if k < w.next {
		hour = s.toks[k].start
	}
	switch {
	case !r.hasDay:
		if _, part := prefixZh(after, r.first, partWordsZh...); part == 0 {
			_, own := prefixZh(s, k, partWordsZh...)
			if k+own < w.next {
				hour = s.toks[k+own].start
			}
		}
		return text[start:hour] + right
	case w.weekday != r.weekday && r.weekday:
		rel, n := prefixZh(s, w.first, "下下个", "下下", "下个", "下", "上个", "上", "这个", "这")
		if _, week := prefixZh(s, w.first+n, "周", "星期", "礼拜"); n > 0 && week > 0 {
			right = rel + right
		}
	case !strings.Contains(right, "月"):
		if head, _, ok := strings.Cut(text[start:hour], "月"); ok && strings.ContainsAny(right, "号日") {
			right = head + "月" + right
		}
	}
	if !r.clock {
		right += text[hour:end]
	}
	return right
}

// retakenNextZh is [talk.retakenNext] in Chinese: 四点去。不对，四点半。
func (t *talk) retakenNextZh(s, next sentence) (string, bool) {
	const most = 12 // characters
	if len(next.toks) > most || next.ends == "？" || next.ends == "?" || !startsWithAny(next.raw(), takesBackZh) {
		return "", false
	}
	if both := sentences(s.raw() + "，" + next.raw()); len(both) == 1 {
		return both[0].retakenZh(t.now)
	}
	return "", false
}
