package rules

import (
	"strings"
	"unicode/utf8"
)

// deedsOfThingsZh are verbs of what is done with a thing, or becomes of it, at the end of a question.
const deedsOfThingsZh = "修找买发交办拿取寄订定约装洗吃用做写给退换卖借签付打缴送还有开收搬看改批停扔报查丢坏剩喝拍谈弄领录挂剪"

// outcomesZh may follow such a verb, or stand in its place: 修好, 找到, 报告出来.
var outcomesZh = [...]string{"出来", "回来", "下来", "过来", "好", "完", "到", "掉", "齐", "清", "出", "着"}

// aboutZh is the thing that somebody's words ask or tell about, as the one who answers would say it: 那个报价单 of
// 那个报价单我发给客户了吗, 狗粮 of 狗粮还有吗, 那辆车 of 我不是说要把那辆车卖了吗. It is "" where no rule can tell.
func aboutZh(x string) string {
	x = strings.TrimRight(stripLeadZh(x), "？?。！! ")
	for _, ask := range [...]string{"多少", "几", "谁", "哪", "什么", "怎么样", "咋样"} {
		if before, _, ok := strings.Cut(x, ask); ok {
			x = before // 我那台车卖了多少
		}
	}
	own := ""
	if _, thing, ok := strings.Cut(x, "把"); ok {
		x = thing
	} else if rest, is := cutHead(x, "我家的", "我家", "我那个", "我这个", "我的", "我"); is {
		own, x = x[:len(x)-len(rest)], rest
	} else if i := strings.IndexAny(x, "我你"); i > 0 && !endsWithAny(x[:i], []string{"给", "跟", "和", "让", "叫", "还", "帮", "问", "找", "在", "带", "接", "欠", "借", "到", "对", "看", "送", "听说", "陪", "为"}) {
		return namesThingZh(x[:i])
	}
	x = trimTails(x, "呢", "啊", "呀")
	x = trimTails(x, "没有", "没", "吗", "么", "嘛", "吧")
	x = trimTails(x, "了", "过", "的")
	x = trimTails(x, "我", "你", "给")
	thing := trimTails(x, outcomesZh[:]...)
	verb, n := utf8.DecodeLastRuneInString(thing)
	switch {
	case strings.HasSuffix(thing, "装修"):
	case strings.ContainsRune(deedsOfThingsZh, verb) && n < len(thing):
		thing = thing[:len(thing)-n]
	case thing == x:
		return "" // there is no verb
	}
	thing = trimTails(thing, "还没", "没有", "没", "不", "还", "已经", "都", "该", "快", "得", "要", "又", "被", "能", "会")
	if thing = namesThingZh(thing); thing == "" {
		return ""
	}
	return own + thing
}

// namesThingZh is a thing's name, or "" where words name none of their own.
func namesThingZh(x string) string {
	if n := utf8.RuneCountInString(x); n == 0 || n > 12 || strings.ContainsAny(x, "，, 他她它谁哪几？?") || containsAny(x, "什么", "怎么", "多少", "真的", "啥") ||
		strings.Trim(x, "这那个些最近现在今天明后晚周下上都听说事要是不没想打算") == "" || startsWithAny(x, []string{"听说", "最近", "现在", "没", "不", "要", "想", "打算"}) {
		return ""
	}
	return x
}
