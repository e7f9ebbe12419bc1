package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// deedsOfThings are verbs for what is done with a thing, or happens to it, at the end of a
// question.
const deedsOfThings = "修找买发交办拿取寄订定约装洗吃用做写给退换卖借签付打缴送还有开收搬看改批停扔报查丢坏剩喝拍谈弄领录挂剪抢"

// outcomes may follow such a verb, or replace it: 修好, 找到, 报告出来.
var outcomes = [...]string{"出来", "回来", "下来", "过来", "好", "完", "到", "掉", "齐", "清", "出", "着"}

// About returns the thing that somebody's words ask about or tell about, as the one who answers
// would say it: 那个报价单 for 那个报价单我发给客户了吗, 狗粮 for 狗粮还有吗, 那辆车 for 我不是说要把那辆车卖了吗. It returns "" if no
// rule can find it.
func About(x string) string {
	x = strings.TrimRight(syntax.StripLeadZh(x), "？?。！! ")
	for _, ask := range [...]string{"多少", "几", "谁", "哪", "什么", "怎么样", "咋样"} {
		if before, _, ok := strings.Cut(x, ask); ok {
			x = before // 我那台车卖了多少
		}
	}
	own := ""
	if _, thing, ok := strings.Cut(x, "把"); ok {
		x = thing
	} else if rest, is := syntax.CutHead(x, "我家的", "我家", "我那个", "我这个", "我的", "我"); is {
		own, x = x[:len(x)-len(rest)], rest
	} else if i := strings.IndexAny(x, "我你"); i > 0 && !syntax.EndsWithAny(x[:i], []string{"给", "跟", "和", "让", "叫", "还", "帮", "问", "找", "在", "带", "接", "欠", "借", "到", "对", "看", "送", "听说", "陪", "为"}) {
		return namesThing(x[:i])
	}
	x = syntax.TrimTails(x, "呢", "啊", "呀")
	x = syntax.TrimTails(x, "没有", "没", "吗", "么", "嘛", "吧")
	x = syntax.TrimTails(x, "了", "过", "的")
	x = syntax.TrimTails(x, "我", "你", "给")
	thing := syntax.TrimTails(x, outcomes[:]...)
	verb, n := utf8.DecodeLastRuneInString(thing)
	switch {
	case strings.HasSuffix(thing, "装修"):
	case strings.ContainsRune(deedsOfThings, verb) && n < len(thing):
		thing = thing[:len(thing)-n]
	case thing == x:
		return "" // there is no verb
	}
	thing = syntax.TrimTails(thing, "还没", "没有", "没", "不", "还", "已经", "都", "该", "快", "得", "要", "又", "被", "能", "会")
	if thing = namesThing(thing); thing == "" {
		return ""
	}
	return own + thing
}

// namesThing returns a thing's name, or "" if the words have none of their own.
func namesThing(x string) string {
	if n := utf8.RuneCountInString(x); n == 0 || n > 12 || strings.ContainsAny(x, "，, 他她它谁哪几？?") || syntax.ContainsAny(x, "什么", "怎么", "多少", "真的", "啥") ||
		strings.Trim(x, "这那个些最近现在今天明后晚周下上都听说事要是不没想打算") == "" || syntax.StartsWithAny(x, []string{"听说", "最近", "现在", "没", "不", "要", "想", "打算"}) {
		return ""
	}
	return x
}

// proposed reports whether a clause proposes what to do on a day: 我们可以周日去打球, or 那 before the day if
// it names nobody, 那周日去打球.
func proposed(raw string, w *timex.When) bool {
	return syntax.StartsWithAny(raw, []string{"我们可以", "咱们可以", "咱可以", "可以"}) || strings.HasPrefix(raw, "那") && !strings.Contains(raw, "我") && w.First <= 2
}

// bids reports whether the other person is asked to do something, or to bring or send the speaker
// something: 明天上班带给我.
func bids(t *discourse.Talk, x string) bool {
	if noted.BidsOther(t, x) {
		return true
	}
	if asked, ok := strings.CutPrefix(x, "请"); ok && syntax.StartsWithAny(asked, asksZh) {
		return true // 周六请带身份证来面试
	}
	for _, to := range [...]string{"带给我", "拿给我", "发给我", "还给我", "寄给我", "交给我", "转给我", "发我", "转我", "还我", "递给我"} {
		if head, ok := strings.CutSuffix(discourse.TrimZhEnd(x), to); ok {
			return utf8.RuneCountInString(head) <= 3 && syntax.KinPrefixZh(head) == "" && !strings.ContainsAny(head, "他她") && (!t.Topic.Known || t.Topic.Person.Key == t.Self.Key) && !t.Topic.Unclear
		}
	}
	return false
}

// asksZh follow 请 in what others are asked to do, and not before a guest: 请小李吃饭.
var asksZh = []string{"来", "到", "带", "把", "准时", "按时", "提前", "您", "记得", "务必", "于", "在", "携带", "大家", "各位", "家长", "进", "拨", "联系", "配合", "空腹", "去", "自备", "穿"}
