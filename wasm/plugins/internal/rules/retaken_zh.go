package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// takesBackZh are the words with which somebody takes back what they just said, the longer first.
var takesBackZh = []string{"我说错了", "不好意思", "不对不对", "哦不对", "啊不对", "说错了", "不不不", "不对", "不是", "错了", "哦不", "噢不", "啊不", "不不", "等等"}

// retakenZh is [retaken] in Chinese: 四点去，不对，四点半. A time is corrected by a time, a name by a name,
// and a number by another number of the same things. What is taken back without a correction is
// removed.
func retakenZh(s syntax.Sentence, now timex.Moment) (string, bool) {
	if syntax.ContainsAny(s.Raw(), "，不是我，是", ",不是我,是") {
		return "", true // about somebody else: 我明天去上海，不是我，是我老公
	}
	if said := recalledZh(s, now); said != "" {
		return said, true
	}
	if said := deniedWordZh(s); said != "" {
		return said, true
	}
	if said := misledZh(s, now); said != "" {
		return said, true
	}
	for i := 2; i+1 < len(s.Toks); i++ {
		word, n := syntax.PrefixZh(s, i, takesBackZh...)
		end, j := i, i+n
		if s.Toks[end-1].Kind == 'p' {
			end--
		}
		if end > 3 && end < i && s.At(end-1) == "着" && s.At(end-2) == "来" {
			end -= 2 // 牙医是周二来着，哦不，周三
		}
		bare := strings.HasSuffix(word, "不对") || strings.HasSuffix(word, "哦不") || strings.HasSuffix(word, "啊不")
		if n > 0 && j < len(s.Toks) && s.Toks[j].Kind == 'p' {
			j++
		} else if !bare {
			continue
		}
		if end == i && !bare || n == 0 || j >= len(s.Toks) {
			continue
		}
		_, is := syntax.PrefixZh(s, j, "应该是", "还是", "是到", "是", "改到", "到")
		if j += is; j >= len(s.Toks) || (word == "不好意思" || word == "等等") && is == 0 {
			continue
		}
		j += deniedAgainZh(s, end, j)
		if said, ok := putRightZh(s, now, end, j); ok {
			return said, true
		}
		if said := meantZh(s, end, j); said != "" {
			return said, true
		}
		if _, is := syntax.PrefixZh(s, j, "我是说", "我说的是"); is > 0 && j+is < len(s.Toks) {
			if said, ok := putRightZh(s, now, end, j+is); ok {
				return said, true // 我住三号楼，不是，我是说五号楼
			}
		}
		if after := s.Text[s.Toks[j].Start:s.End]; end < i && (word != "不是" && word != "不好意思" && word != "等等" || syntax.StartsWithAny(after, []string{"我是说", "我说的是", "我，", "我,", "是我"})) {
			return "", true // 我对海鲜过敏，不是，我是说我弟
		}
	}
	return "", false
}

// putRightZh returns a sentence in which the text before token end is corrected by what begins at
// token j.
func putRightZh(s syntax.Sentence, now timex.Moment, end, j int) (string, bool) {
	before, after := s.Sub(0, end), s.Sub(j, len(s.Toks))
	if right := timex.FindWhens(after, now); len(right) > 0 && right[0].First == 0 && !chinese.NamesLevel(before.Raw()) {
		wrong := timex.FindWhens(before, now)
		for k := len(wrong) - 1; k >= 0; k-- {
			w, r := &wrong[k], &right[0]
			if w.Habit && r.HasDay && !r.Habit {
				return before.Raw(), true // 每天六点起，不对，周末七点: the first is still true
			}
			if last := lastDayZh(s, w); last > 0 && r.HasDay && r.Last == 0 && r.Assumed > 0 { // 三月五号到八号，不对，九号
				return s.Text[s.Start:s.Toks[last].Start] + s.Text[after.Toks[r.First].Start:after.Toks[r.Next-1].End] + s.Text[s.Toks[w.Next-1].End:s.Toks[end-1].End] + s.Text[after.Toks[r.Next-1].End:s.End], true
			}
			if w.HasDay && r.HasDay || w.Clock && r.Clock {
				deed, again := s.Text[s.Toks[w.Next-1].End:s.Toks[end-1].End], s.Text[after.Toks[r.Next-1].End:s.End]
				if first, n := utf8.DecodeRuneInString(again); n > 1 && strings.HasPrefix(deed, string(first)) {
					deed = "" // 下周去北京，不对，下周去上海
				}
				return s.Text[s.Start:s.Toks[w.First].Start] + timeWithZh(before, w, after, r, now) + deed + again, true
			}
		}
		return "", false
	}
	said := strings.TrimRight(before.Raw(), "了，, ")
	tail := before.Raw()[len(said):]
	right, rest := discourse.CutCommaZh(after.Raw())
	right, done := strings.CutSuffix(syntax.TrimTails(right, "吧", "来着"), "了")
	if tail == "" && done {
		tail = "了"
	}
	if rest != "" {
		rest = "，" + rest
	}
	if unit := strings.TrimLeft(right, syntax.DigitsZh); len(unit) < len(right) {
		head, ok := strings.CutSuffix(said, unit)
		if unit == "" {
			head = syntax.TrimTails(said, "块钱", "块", "元")
		}
		bare := strings.TrimRight(head, syntax.DigitsZh) // 三百块, 四百块
		if unit == "" {
			ok, right = true, right+said[len(head):]
		}
		return bare + right + tail + rest, ok && bare != head
	}
	if first, _ := utf8.DecodeRuneInString(right); len(right) > len("过敏") && strings.HasSuffix(said, right[len(right)-len("过敏"):]) {
		i := strings.LastIndex(said, string(first)) // 对花生过敏, 对核桃过敏
		return said[:max(i, 0)] + right + tail + rest, i > 0
	}
	if discourse.CitiesZh[right] {
		for i := range said {
			if n := i + len(right); n <= len(said) && discourse.CitiesZh[said[i:n]] {
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
	if from > 0 && wrong != right && utf8.RuneCountInString(right) <= 4 && (syntax.PersonZh(right) && syntax.PersonZh(wrong) || utf8.RuneCountInString(right) > 1 && strings.HasSuffix(wrong, right[len(right)-last:])) {
		return said[:from] + right + tail + rest, true // 牛肉, 羊肉
	}
	return "", false
}

// timeWithZh returns the time r with the parts of the withdrawn time w that r lacks: 明天下午 with 四点半,
// 下周四 for 下周三 and 周四.
func timeWithZh(s syntax.Sentence, w *timex.When, after syntax.Sentence, r *timex.When, now timex.Moment) string {
	text := s.Text
	right := text[after.Toks[r.First].Start:after.Toks[r.Next-1].End]
	var day timex.When
	k := w.First + timex.DayPartZh(s, w.First, now, &day)
	start, end := s.Toks[w.First].Start, s.Toks[w.Next-1].End
	hour := end // start of the time of day
	if k < w.Next {
		hour = s.Toks[k].Start
	}
	switch {
	case !r.HasDay:
		if _, part := syntax.PrefixZh(after, r.First, timex.PartWordsZh...); part == 0 {
			_, own := syntax.PrefixZh(s, k, timex.PartWordsZh...)
			if k+own < w.Next {
				hour = s.Toks[k+own].Start
			}
		}
		return text[start:hour] + right
	case w.Weekday != r.Weekday && r.Weekday:
		rel, n := syntax.PrefixZh(s, w.First, "下下个", "下下", "下个", "下", "上个", "上", "这个", "这")
		if _, week := syntax.PrefixZh(s, w.First+n, "周", "星期", "礼拜"); n > 0 && week > 0 {
			right = rel + right
		}
	case !strings.Contains(right, "月"):
		if head, _, ok := strings.Cut(text[start:hour], "月"); ok && strings.ContainsAny(right, "号日") {
			right = head + "月" + right
		}
	}
	if !r.Clock {
		right += text[hour:end]
	}
	return right
}

// retakenNextZh is [retakenNext] in Chinese: 四点去。不对，四点半。
func retakenNextZh(t *discourse.Talk, s, next syntax.Sentence) (string, bool) {
	const most = 12 // characters
	if len(next.Toks) > most || next.Ends == "？" || next.Ends == "?" || !syntax.StartsWithAny(next.Raw(), takesBackZh) {
		return "", false
	}
	if both := syntax.Sentences(s.Raw() + "，" + next.Raw()); len(both) == 1 {
		return retakenZh(both[0], t.Now)
	}
	return "", false
}

// deniedAgainZh returns how many tokens at token j repeat what is wrong before the right words: 不是深圳是 in
// 住在深圳，不对，不是深圳是珠海.
func deniedAgainZh(s syntax.Sentence, end, j int) int {
	if _, n := syntax.PrefixZh(s, j, "不是"); n > 0 {
		for k := j + n + 1; k+1 < len(s.Toks); k++ {
			if s.At(k) == "是" && strings.HasSuffix(s.Text[s.Start:s.Toks[end-1].End], strings.TrimRight(s.Text[s.Toks[j+n].Start:s.Toks[k].Start], "，, ")) {
				return k + 1 - j
			}
		}
	}
	return 0
}
