package ellipsis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What may fill the gap of a question: a person for 谁, an amount for 几, a place for 哪里. If anything
// else is said after a question, it is not an answer.

// mostAnswerZh is the greatest number of characters that fill a gap.
const mostAnswerZh = 14

// GapsZh are the question words, the longer ones first.
var GapsZh = [...]string{"啥时候", "啥时间", "几月份", "什么样", "啥样", "什么时候", "什么时间", "几点钟", "几点", "哪一天", "哪天", "几月几号", "几号", "星期几", "礼拜几", "周几", "哪一年", "哪年",
	"什么地方", "哪个城市", "哪个公司", "哪家公司", "哪个学校", "哪个大学", "哪所大学", "什么大学", "哪个区", "哪个小区", "哪里", "哪儿", "多少钱", "多少岁", "多大年纪", "多大岁数", "多大", "几岁", "多少", "多高", "几", "什么名字", "什么东西", "什么", "啥", "谁"}

// filled puts an answer into the gap of the question: 下周六 in 我体检是什么时候. rest are the other clauses.
func filled(q *chinese.Asked, a, rest string) string {
	gap, at := "", len(q.Text)
	for _, g := range GapsZh {
		if i := strings.Index(q.Text, g); i >= 0 && i < at {
			gap, at = g, i
		}
	}
	before, after := q.Text[:at], q.Text[min(len(q.Text), at+len(gap)):]
	if rest := syntax.TrimHeads(before, "要", "得") + syntax.TrimTails(after, "了", "啊"); gap == "" || rest == "" || rest == "次" { // 哪天啊, 要几次
		return ""
	}
	if head, has := syntax.CutEnd(before, "有没有", "有"); has && strings.HasPrefix(after, "过敏") && gap == "什么" {
		before, after = head+"对", "过敏" // 你有什么过敏的吗 / 就花生
	}
	if strings.HasSuffix(after, "过敏") {
		after = "过敏" // 对什么药过敏
		a = syntax.TrimTails(syntax.TrimHeads(a, "就是", "就", "只有", "只是", "只", "仅"), "而已", "吧")
	}
	if unit := syntax.TrimTails(after, "了", "的"); (gap == "几" || gap == "多少") && unit != "" && strings.HasPrefix(strings.TrimLeft(a, syntax.DigitsZh), unit) { // 几分糖 / 三分糖去冰
		return strings.TrimSuffix(before+a+"，"+rest, "，")
	}
	if who := syntax.TrimTails(before, "是", "在", "做", "干", "当"); (gap == "什么" || gap == "啥") && jobGapZh(before, after) && syntax.StartsWithAny(a, []string{"在", "做", "开", "干", "当"}) {
		if syntax.PersonZh(who) || discourse.ForeignZh(who) || who == q.Whose && who != "" || who == "我" { // 马超干什么工作的 / 在美团做运营
			return strings.TrimSuffix(who+a+"，"+rest, "，")
		}
		return ""
	}
	a = strings.TrimPrefix(a, "就")
	if strings.HasSuffix(before, "叫") {
		a, rest = nameAlone(a, rest)
	}
	if verb := strings.TrimSuffix(syntax.TrimHeads(a, "早就", "已经", "都", "早"), "了"); strings.HasSuffix(gap, "时候") && verb != "" && strings.HasSuffix(a, "了") && strings.HasPrefix(after, verb) {
		if when, then := didThen(q, verb, rest); when != "" { // 什么时候搬家 / 搬了，上个月搬的
			if after == "搬" {
				after = "搬家"
			}
			return before + when + after + "了" + then
		}
	}
	if strings.HasSuffix(gap, "时候") || syntax.StartsWithAny(gap, []string{"几点", "几号", "哪天", "周几"}) {
		a = syntax.TrimHeads(a, "约的是", "约的", "约在", "定在", "定的", "定了", "订的")
		if head := syntax.TrimTails(before, "改到", "推到", "挪到"); head != before {
			a = syntax.TrimHeads(a, "改到", "推到", "挪到") // 改到几点了 / 改到三点了
		}
		a = strings.TrimSuffix(a, "了")
	}
	if strings.HasPrefix(gap, "多大") {
		a = strings.TrimSuffix(a, "了") // 八十九了
	}
	if home, asks := syntax.CutEnd(before, "小区叫", "小区是"); asks && (home == "我们" || home == "我" || home == "我家" || home == "我住的") && strings.HasPrefix(gap, "什么") && discourse.NameZh(a) {
		return "我住在" + strings.TrimPrefix(a, "叫") + strings.TrimSuffix("，"+rest, "，")
	}
	if who, put := strings.CutSuffix(before, "在"); put && (gap == "哪儿" || gap == "哪里") && syntax.StartsWithAny(a, []string{"放", "搁", "塞", "藏", "挂", "存"}) {
		return strings.TrimSuffix(who+strings.TrimSuffix(a, "了")+"，"+rest, "，") // 备用钥匙在哪 / 放鞋柜里了
	}
	if who := q.Whose; strings.HasSuffix(a, "的") && (gap == "几" || gap == "多少") && strings.ContainsAny(a, "年月号天") { // 毕业几年了 / 零九年毕业的
		if who == "" && strings.HasPrefix(q.Text, "我") {
			who = "我"
		}
		if who == "" {
			return ""
		}
		return strings.TrimSuffix(who+a+"，"+rest, "，")
	}
	if who, busy := syntax.CutEnd(before, "在忙", "都忙", "忙"); busy && after == "" && (gap == "什么" || gap == "啥") {
		if !syntax.StartsWithAny(a, []string{"在", "准备", "忙", "搬", "装", "写", "考", "找", "带", "照顾"}) {
			return ""
		}
		return strings.TrimSuffix(who+strings.TrimPrefix(a, "忙着")+"，"+rest, "，") // 最近忙啥呢 / 在准备考研
	}
	if strings.HasPrefix(q.Text, "我") && q.Whose == "" {
		a = strings.TrimPrefix(a, "我是")
	}
	a = strings.TrimPrefix(a, "是")
	if own, asks := discourse.CutOwnZh(q.Text); asks && strings.Contains(q.Text, "生日") && syntax.StartsWithAny(a, []string{"农历", "阴历", "旧历"}) && !timedZh(q, a) {
		return q.Text[:len(q.Text)-len(own)] + strings.TrimSuffix(syntax.KinPrefixZh(own), "的") + "的生日是" + a
	}
	if a = overlapZh(before, a, after); a == "" || utf8.RuneCountInString(a) > mostAnswerZh || !fits(q, gap, before, a) {
		return ""
	}
	if more, ok := strings.CutPrefix(rest, "还有"); ok && !strings.ContainsAny(more, "，,了") && (gap == "什么" || gap == "谁") {
		a, rest = a+"和"+more, "" // 尘螨，还有鸡蛋
	}
	if rest != "" {
		rest = "，" + rest
	}
	if strings.HasSuffix(gap, "大学") && strings.HasPrefix(after, "毕业") { // 武大的
		return before + "从" + strings.TrimSuffix(a, "的") + "毕业" + rest
	}
	if strings.HasSuffix(before, "叫") {
		a = syntax.TrimHeads(a, "大名叫", "大名", "全名叫", "叫")
	}
	if strings.HasPrefix(a, "姓") {
		before = strings.TrimSuffix(before, "叫") // 你老公叫什么 / 姓张
	}
	switch gap {
	case "几号", "几月几号":
		if r, _ := utf8.DecodeLastRuneInString(a); strings.ContainsRune(syntax.DigitsZh, r) {
			a += "号"
		}
	case "多大", "几岁", "多大年纪", "多大岁数", "多少岁":
		if !strings.Contains(a, "岁") && !strings.Contains(a, "月") && (before == "我" || before == q.Whose || strings.HasSuffix(before, "今年")) {
			a += "岁"
		}
	case "几点", "几点钟":
		if (before == "我" || before == q.Whose) && dailyZh[after] {
			before += "一般" // 你几点下班 / 六点
		}
	case "多高":
		a = "身高" + a
	case "什么", "啥":
		if jobGapZh(before, after) {
			if syntax.TrimTails(before, "是", "做", "干", "当") == "" {
				return "" // 干啥的: who?
			}
			return strings.TrimSuffix(syntax.TrimTails(before, "做", "干", "当"), "是") + "是" + a + rest
		}
		if plays := playsZh(before, after); plays != "" {
			return plays + a + rest // 会什么乐器 / 古筝
		}
		if n := utf8.RuneCountInString(after); n > 0 && n <= 2 && !syntax.StartsWithAny(after, []string{"过", "的"}) { // 什么血型
			if before = strings.TrimSuffix(before, "是"); before == "我" || before == q.Whose {
				return before + after + "是" + a + rest
			}
			after = ""
		}
	case "哪个小区":
		before += "在"
	case "哪里", "哪儿":
		if syntax.StartsWithAny(after, []string{"不舒服", "疼", "难受"}) && strings.ContainsAny(a, "疼痛晕胀酸麻痒闷肿") {
			after = "" // 哪儿不舒服 / 嗓子疼
		}
		if a == "老地方" && rest != "" {
			a, rest = discourse.CutCommaZh(strings.TrimPrefix(rest, "，")) // 老地方，门口花盆底下
			if rest != "" {
				rest = "，" + rest
			}
		}
		if head, goes := strings.CutSuffix(before, "去"); goes && syntax.StartsWithAny(a, []string{"回", "到", "飞", "陪", "带", "看", "在", "就"}) {
			before, after = head, "" // 国庆去哪儿了 / 回了趟老家
		}
		switch {
		case after == "人":
			a = strings.TrimSuffix(a, "的")
		case syntax.EndsWithAny(before, []string{"放", "住", "存", "搁", "落"}):
			a = "在" + strings.TrimPrefix(a, "在")
		case strings.HasSuffix(before, "老家"):
			a, after = "是"+a, ""
		}
	}
	return before + a + after + rest
}

// dailyZh is what people do every day at an hour.
var dailyZh = syntax.Set("下班 上班 起床 睡觉 睡 放学 上学 出门 吃饭 吃晚饭 起")

// nameAlone returns a name without what the answer says after it, which is put before rest:
// 大名叫周子墨小名叫豆包, 姓孙叫孙丽娟教语文的.
func nameAlone(a, rest string) (name, more string) {
	if surname, full, ok := strings.Cut(a, "叫"); ok && strings.HasPrefix(surname, "姓") {
		a = full
	}
	head := syntax.TrimHeads(a, "大名叫", "大名", "全名叫", "叫")
	for _, next := range [...]string{"小名", "大名", "今年", "教", "属", "是个", "在"} {
		if i := strings.Index(head, next); i > 0 && utf8.RuneCountInString(head[:i]) >= 2 {
			return head[:i], head[i:] + rest
		}
	}
	return a, rest
}

// playsZh returns who plays or learns an instrument, with the verb, if a question asks which one;
// otherwise "".
func playsZh(before, after string) string {
	who, learns := syntax.CutEnd(before, "在学", "学")
	if learns && after == "乐器" {
		return who + "在学"
	}
	if who, plays := syntax.CutEnd(before, "会弹", "弹"); plays && (after == "" || after == "乐器") {
		return who + "会弹"
	}
	if who, can := strings.CutSuffix(before, "会"); can && after == "乐器" {
		return who + "会弹"
	}
	return ""
}

// overlapZh returns an answer without the words of the question that it repeats: 对芒果 after 我对什么过敏.
func overlapZh(before, a, after string) string {
	a = strings.TrimPrefix(a, "都")
	for n := min(3, utf8.RuneCountInString(before)); n > 0; n-- {
		rs := []rune(before)
		if head := string(rs[len(rs)-n:]); strings.HasPrefix(a, head) {
			a = strings.TrimPrefix(a, head)
			break
		}
	}
	for n := min(3, utf8.RuneCountInString(after)); n > 0; n-- {
		if tail := string([]rune(after)[:n]); strings.HasSuffix(a, tail) {
			return strings.TrimSuffix(a, tail)
		}
	}
	return a
}

// jobGapZh reports whether the question is 做什么的, 干什么 or 做什么工作.
func jobGapZh(before, after string) bool {
	return syntax.EndsWithAny(before, []string{"做", "干", "当"}) && slices.Contains([]string{"的", "工作", "工作的", "活", ""}, after)
}

// fits reports whether an answer can be what a gap asks for.
func fits(q *chinese.Asked, gap, before, a string) bool {
	r, _ := utf8.DecodeRuneInString(a)
	after := q.Text[len(before)+len(gap):]
	switch {
	case gap == "什么样" || gap == "啥样", syntax.StartsWithAny(a, []string{"爱", "喜欢", "最", "讨厌", "想", "特别", "比较", "主要"}): // 爱看悬疑的 has its verb
		return false
	case strings.HasSuffix(before, "叫") && (gap != "什么" && gap != "啥" && gap != "什么名字" || after != "" && after != "名字"):
		return false // 叫什么外卖, 叫谁来
	case gap == "谁":
		who := strings.TrimSuffix(a, "的")
		rest, own := discourse.CutOwnZh(who)
		if of := strings.LastIndex(who, "的"); of > 0 && syntax.PersonZh(who[of+len("的"):]) {
			return true // 跟少年宫的刘老师
		}
		return own && syntax.KinPrefixZh(rest) == rest || syntax.KinPrefixZh(who) == who || syntax.PersonZh(who) || discourse.ForeignZh(who)
	case strings.ContainsAny(a, "我你您他她咱吗"):
		return false
	case syntax.EndsWithAny(gap, []string{"时候", "时间", "点", "点钟", "天", "号", "星期几", "礼拜几", "周几", "年"}):
		if paid := before + after; strings.HasPrefix(a, "每") && syntax.ContainsAny(paid, "交", "还", "扣", "发工资", "缴", "付") && !strings.Contains(paid, "了") {
			return utf8.RuneCountInString(a) <= 8 // 房租几号交 / 每月五号
		}
		return WholeTime(q, a) && !syntax.StartsWithAny(a, []string{"现在", "今天周", "今天星期"}) && !strings.Contains(a, "和")
	case strings.HasPrefix(gap, "多") || strings.HasPrefix(gap, "几"):
		return strings.ContainsRune(syntax.DigitsZh, r) || a[0] >= '0' && a[0] <= '9'
	case strings.ContainsRune("没不别刚跟离喂哈有还等这那来去说已现", r) || strings.HasSuffix(a, "了") || syntax.StartsWithAny(a, []string{"以前", "对不起", "待业", "医生说", "医生还", "服务员", "师傅"}):
		return false
	case syntax.ContainsAny(a, "啥都", "都喜", "都行", "都可", "都吃"):
		return false
	case strings.HasPrefix(gap, "什么名字") || syntax.EndsWithAny(before, []string{"叫", "名字是"}):
		return syntax.KinPrefixZh(a) != a && (syntax.PersonZh(a) || discourse.ForeignZh(a) || discourse.NameZh(a) && utf8.RuneCountInString(a) <= 3 && !placeWordZh(a) || a[0] < 0x80)
	case (strings.Contains(after, "上班") || strings.Contains(after, "工作")) && a != "阿里" && syntax.EndsWithAny(a, []string{"上", "里"}):
		return false // 地铁上
	case gap == "什么" && jobGapZh(before, after):
		return discourse.JobZh(a) || syntax.EndsWithAny(a, []string{"的", "员", "师", "家", "生意", "工", "人", "警", "长", "医", "手", "官"})
	case (syntax.PersonZh(a) || syntax.KinPrefixZh(a) == a) && !syntax.ContainsAny(q.Text, "上班", "工作", "公司"):
		return false
	case strings.Contains(after, "过敏"):
		return (syntax.KinPrefixZh(a) == "" || slices.Contains(discourse.PetsZh[:], syntax.KinPrefixZh(a)) && syntax.KinPrefixZh(a) != a) && !timedZh(q, a) && !strings.ContainsRune(discourse.VerbStartsZh+"开", r)
	case strings.Contains(a, "有"):
		return false // 车库里有水
	case syntax.EndsWithAny(before, []string{"血型", "血型是"}):
		return strings.ContainsAny(a, "ABOabo")
	}
	return true
}

// placeWordZh reports whether a is a place or a thing, and not a name.
func placeWordZh(a string) bool { return syntax.EndsWithAny(a, []string{"里", "上", "店", "开"}) }

// timedZh reports whether an answer has a time.
func timedZh(q *chinese.Asked, a string) bool {
	return slices.ContainsFunc(syntax.Sentences(a), func(s syntax.Sentence) bool { return len(timex.TimesIn(s, q.Now)) > 0 })
}

// WholeTime reports whether a is a day or an hour, and nothing else.
func WholeTime(q *chinese.Asked, a string) bool {
	all := syntax.Sentences(a)
	if len(all) != 1 {
		return false
	}
	left := len(all[0].Toks)
	for _, w := range timex.TimesIn(all[0], q.Now) {
		if w.Habit || w.Void {
			return false
		}
		left -= w.Next - w.First
	}
	return left <= 1 && left < len(all[0].Toks)
}
