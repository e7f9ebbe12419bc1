package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Somebody who searches for a word and then finds it means the word that they found: 看牙是周几来着，哦周三;
// 我妹妹在上海，不是，我是说我弟弟.

// askedTimes are words for a time that the speaker tries to remember.
var askedTimes = []string{"什么时候", "星期几", "礼拜几", "周几", "几号", "哪天", "几点"}

// recalledZh returns a sentence with the time that its speaker remembers after 来着, or "".
func recalledZh(s syntax.Sentence, now timex.Moment) string {
	raw := strings.TrimRight(s.Raw(), "。！ ")
	before, after, ok := strings.Cut(raw, "来着")
	after = syntax.TrimHeads(after, "，", ",", " ", "哦", "噢", "啊", "对了", "想起来了", "是", "对")
	if before = strings.TrimRight(before, "，, "); !ok || before == "" || after == "" {
		return ""
	}
	all := syntax.Sentences(after)
	if len(all) != 1 {
		return ""
	}
	right := timex.FindWhens(all[0], now)
	if len(right) == 0 || right[0].First != 0 {
		return ""
	}
	if head, asks := syntax.CutEnd(before, askedTimes...); asks {
		return head + after
	}
	wrong := syntax.Sentences(before)
	if len(wrong) != 1 {
		return ""
	}
	for _, w := range timex.FindWhens(wrong[0], now) {
		if w.Next == len(wrong[0].Toks) && w.HasDay && right[0].HasDay {
			return before[:wrong[0].Toks[w.First].Start] + after
		}
	}
	return ""
}

// meantZh returns what somebody says from token j on that they mean, in place of the text before
// token end: all of it if it says the same about another person, or the earlier words with another
// person. It returns "" if neither is certain.
func meantZh(s syntax.Sentence, end, j int) string {
	before, after := s.Sub(0, end).Raw(), s.Text[s.Toks[j].Start:s.End]
	after, ok := syntax.CutHead(after, "我是说", "我的意思是", "我说的是", "我想说的是")
	after = strings.Trim(after, "，, 。！")
	if !ok || after == "" {
		return ""
	}
	if said := strings.TrimRight(before, "了，, "); len(after) > 6 && len(said) > 6 && strings.HasSuffix(strings.TrimRight(after, "了"), said[len(said)-6:]) {
		return after // 我妹妹在上海, 我弟弟在上海
	}
	own, mine := discourse.CutOwnZh(after)
	was, wasMine := discourse.CutOwnZh(before)
	if k := syntax.KinPrefixZh(was); mine && wasMine && own != "" && syntax.KinPrefixZh(own) == own {
		return after + strings.TrimRight(was[len(k):], "，, ") // 我对海鲜过敏, 我弟
	}
	return ""
}

// lastDayZh returns the token of the last day of a span of days, or 0 if the time is not a span.
func lastDayZh(s syntax.Sentence, w *timex.When) int {
	if w.Last <= w.Day {
		return 0
	}
	for k := w.Next - 2; k > w.First; k-- {
		if s.At(k) == "到" || s.At(k) == "至" {
			return k + 1
		}
	}
	return 0
}
