package noted

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// HeadlessZh reports whether x has 我的 without the thing: 我的上周被偷了.
func HeadlessZh(x string) bool {
	rest, ok := syntax.CutHead(x, "我的", "你的", "他的", "她的")
	return ok && (syntax.TrimZh(rest) == "" || syntax.StartsWithAny(rest, []string{"被", "也", "还没", "早就", "刚", "都", "已经", "坏了", "丢了", "没了", "是在", "是去", "不见"}))
}

// UndecidedZh reports whether a clause leaves something undecided: 周五去不去, 要不要买.
func UndecidedZh(x string) bool {
	if _, or, ok := strings.Cut(x, "或者"); ok && (syntax.ContainsAny(or, "都行", "都可以", "都好", "也行") || strings.Contains(x, "可以") || syntax.StartsWithAny(or, []string{"等", "再"})) {
		return true // 周五或者周六去都行
	}
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if rs[i] == '不' && rs[i-1] == rs[i+1] {
			return true
		}
	}
	return false
}

// wasThenZh reports whether a time is the one before something was moved: 原来是周二，现在是周四.
func wasThenZh(before, after string) bool {
	if i := strings.IndexAny(after, "。！？\n"); i >= 0 {
		after = after[:i]
	}
	return syntax.EndsWithAny(before, []string{"原来是", "原来说的是", "原来定的是", "原来在", "本来是", "本来在", "本来定的是", "之前是", "之前说的是", "原先是", "以前是", "说好的是", "说好是", "约的是", "定的是"}) &&
		syntax.ContainsAny(after, "现在", "改", "挪", "推迟", "提前")
}

// UndoneZh reports whether somebody did not do something: 没去上班, and not 没空 or 没课.
func UndoneZh(x string) bool {
	_, not, ok := strings.Cut(x, "没")
	not = strings.TrimPrefix(not, "有")
	return ok && syntax.StartsWithAny(not, []string{"去", "来", "吃", "喝", "上班", "上学", "做", "买", "看", "见", "打", "写", "交", "睡", "回", "到", "跑", "练", "学", "洗", "接", "送", "带", "拿", "找", "赶", "参加", "坐", "出门", "开会", "下楼"})
}

// FeltZh reports whether a clause tells how something was: 吃得很开心.
func FeltZh(x string) bool {
	x = knowingZh.Replace(x)
	return syntax.ContainsAny(x, "得很", "得真", "得太", "得特别", "得挺", "得非常", "得不", "得还", "得超", "得有点")
}

// knowingZh removes the words that end in 得 and are not a deed.
var knowingZh = syntax.Compounds("觉得 记得 值得 显得 懂得 晓得 舍得 获得 取得")

// AmountZh reports whether a text has a sum or a share: 一共一万二, 六百块.
func AmountZh(x string) bool {
	i := strings.IndexAny(x, "百千万元块")
	if i <= 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(x[:i])
	return strings.ContainsRune(syntax.DigitsZh, r)
}

// 我的生日不是六月三号，是七月十二号 states one day and denies another: the denied one is not used.

// Denies reports whether a Chinese clause denies one of its times.
func Denies(b *discourse.BareZh, w *timex.When) bool {
	before := strings.TrimRight(b.S.Text[b.S.Start:b.S.Toks[w.First].Start], " ")
	return syntax.EndsWithAny(before, []string{"不是", "不在", "并非"}) && !strings.HasSuffix(before, "是不是") || wasThenZh(before, b.S.Text[b.S.Toks[w.Next-1].End:])
}
