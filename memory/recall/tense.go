package recall

import (
	"slices"
	"strings"
)

// Words that say whether a text speaks of what was or of what is to come.
var (
	wasWords = set(`did was were had happened since ago went saw took gave came made knew thought told found left felt brought bought kept began
wrote stood heard met paid sat spoke led lost fell sent built broke spent drove wore chose won taught caught fought sold sang swam ran ate drank flew forgot
rode rang slept stole woke got said`)
	notWas    = set("need indeed feed speed bed red wed")
	willWords = set("will shall gonna must should would need needs going plan plans upcoming coming due am is are do does have has got")
	clips     = set("'ll 'm 're ’ll ’m ’re")
)

// Such words in Chinese. strong ones tell what is to come although 了 ends the text, and notStrong has 要 in it without that.
var (
	notStrong = strings.NewReplacer("要了", "了", "要过", "过", "重要", "", "主要", "", "要求", "", "要是", "", "约了", "预约")
	strongHan = []string{"要", "打算", "准备", "预约", "记得", "别忘", "提醒"}
	wasHan    = []string{"了", "过", "刚", "发生", "聊", "曾"}
	weakHan   = []string{"安排", "计划", "应该", "有什么", "有啥", "有事", "有空", "会去", "会来", "会有", "会不会", "我会", "将"}
)

// aheadOf reports whether a text that names a weekday, or a feast, without its week or year means
// the next one: "what do I have on Friday", 周五有什么安排. at is the place of that word.
func aheadOf(words []word, at int) bool {
	if at > 0 {
		switch words[at-1].text {
		case "for", "by", "until", "till":
			return true
		case "since":
			return false
		}
	}
	was, will := false, false
	var han strings.Builder
	for i, w := range words {
		switch {
		case w.han && len([]rune(w.text)) == 1:
			han.WriteString(w.text)
		case !w.han:
			was = was || wasWords[w.text] || strings.HasSuffix(w.text, "ed") && len(w.text) > 3 && !notWas[w.text] && i != at
			will = will || willWords[w.text] || clips[w.clip]
		}
	}
	if text := han.String(); text != "" {
		return aheadHan(text)
	}
	return will && !was
}

// aheadHan is aheadOf for Chinese.
func aheadHan(text string) bool {
	text = notStrong.Replace(text)
	has := func(s string) bool { return strings.Contains(text, s) }
	return slices.ContainsFunc(strongHan, has) || slices.ContainsFunc(weakHan, has) && !slices.ContainsFunc(wasHan, has)
}
