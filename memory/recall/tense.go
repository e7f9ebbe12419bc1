package recall

import (
	"slices"
	"strings"
)

// Words that show whether a text is about the past or the future.
var (
	wasWords = set(`did was were had happened since ago went saw took gave came made knew thought told found left felt brought bought kept began
wrote stood heard met paid sat spoke led lost fell sent built broke spent drove wore chose won taught caught fought sold sang swam ran ate drank flew forgot
rode rang slept stole woke got said`)
	notWas    = set("need indeed feed speed bed red wed")
	willWords = set("will shall gonna must should would need needs going plan plans upcoming coming due am is are do does have has got")
	clips     = set("'ll 'm 're ’ll ’m ’re")
)

// Such words in Chinese. Strong ones mean the future even if 了 ends the text, and words of
// notStrong contain 要 without meaning it.
var (
	notStrong = strings.NewReplacer("要了", "了", "要过", "过", "重要", "", "主要", "", "要求", "", "要是", "", "约了", "预约")
	strongHan = []string{"要", "打算", "准备", "预约", "记得", "别忘", "提醒"}
	wasHan    = []string{"了", "过", "刚", "发生", "聊", "曾"}
	weakHan   = []string{"安排", "计划", "应该", "有什么", "有啥", "有事", "有空", "会去", "会来", "会有", "会不会", "我会", "将"}
)

// tense is what the words of a text say about past and future.
type tense struct {
	was   int  // number of words for the past
	will  bool // a word is for the future
	han   bool // the text is Chinese, and ahead has the result
	ahead bool
}

func tenseOf(words []word) *tense {
	var t tense
	var han strings.Builder
	for _, w := range words {
		switch {
		case w.han && len([]rune(w.text)) == 1:
			han.WriteString(w.text)
		case !w.han:
			if wasWords[w.text] || pastForm(w) {
				t.was++
			}
			t.will = t.will || willWords[w.text] || clips[w.clip]
		}
	}
	if text := han.String(); text != "" {
		t.han, t.ahead = true, aheadHan(text)
	}
	return &t
}

// pastForm reports whether a word ends like a verb in the past tense.
func pastForm(w word) bool {
	return !w.han && strings.HasSuffix(w.text, "ed") && len(w.text) > 3 && !notWas[w.text]
}

// aheadOf reports whether a text that names a weekday, or a feast, without its week or year means
// the next one: "what do I have on Friday", 周五有什么安排. at is the index of that word. The whole text
// is read once, however many such words it has.
func (r *timeReader) aheadOf(at int) bool {
	switch r.at(at - 1) {
	case "for", "by", "until", "till":
		return true
	case "since":
		return false
	}
	if r.tense == nil {
		r.tense = tenseOf(r.words)
	}
	if r.tense.han {
		return r.tense.ahead
	}
	was := r.tense.was
	if w := r.words[at]; pastForm(w) && !wasWords[w.text] { // it is part of the day's name
		was--
	}
	return r.tense.will && was == 0
}

// aheadHan reports whether a Chinese text is about the future.
func aheadHan(text string) bool {
	text = notStrong.Replace(text)
	has := func(s string) bool { return strings.Contains(text, s) }
	return slices.ContainsFunc(strongHan, has) || slices.ContainsFunc(weakHan, has) && !slices.ContainsFunc(wasHan, has)
}
