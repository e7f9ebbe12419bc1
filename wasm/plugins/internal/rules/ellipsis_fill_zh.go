package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What may stand where a question has its gap: a person for 谁, an amount for 几, a place for 哪里. Whoever says something
// else after a question does not answer it.

// mostAnswerZh is how many characters fill a gap at most.
const mostAnswerZh = 14

// gapsZh are the words for what is asked for, the longer ones first.
var gapsZh = [...]string{"啥时候", "啥时间", "几月份", "什么样", "啥样", "什么时候", "什么时间", "几点钟", "几点", "哪一天", "哪天", "几月几号", "几号", "星期几", "礼拜几", "周几", "哪一年", "哪年",
	"什么地方", "哪个城市", "哪个公司", "哪家公司", "哪个学校", "哪个大学", "哪所大学", "什么大学", "哪个区", "哪里", "哪儿", "多少钱", "多少岁", "多大年纪", "多大岁数", "多大", "几岁", "多少", "多高", "几", "什么名字", "什么东西", "什么", "啥", "谁"}

// filled puts an answer where the question has its gap: 下周六 in 我体检是什么时候. rest are the other clauses.
func (q *askedZh) filled(a, rest string) string {
	gap, at := "", len(q.text)
	for _, g := range gapsZh {
		if i := strings.Index(q.text, g); i >= 0 && i < at {
			gap, at = g, i
		}
	}
	before, after := q.text[:at], q.text[min(len(q.text), at+len(gap)):]
	if rest := trimHeads(before, "要", "得") + trimTails(after, "了", "啊"); gap == "" || rest == "" || rest == "次" { // 哪天啊, 要几次
		return ""
	}
	if strings.HasSuffix(after, "过敏") {
		after = "过敏" // 对什么药过敏
	}
	if unit := trimTails(after, "了", "的"); (gap == "几" || gap == "多少") && unit != "" && strings.HasPrefix(strings.TrimLeft(a, digitsZh), unit) { // 几分糖 / 三分糖去冰
		return strings.TrimSuffix(before+a+"，"+rest, "，")
	}
	if who := trimTails(before, "是", "在", "做", "干", "当"); (gap == "什么" || gap == "啥") && jobGapZh(before, after) && startsWithAny(a, []string{"在", "做", "开", "干", "当"}) {
		if personZh(who) || foreignZh(who) || who == q.whose && who != "" || who == "我" { // 马超干什么工作的 / 在美团做运营
			return strings.TrimSuffix(who+a+"，"+rest, "，")
		}
		return ""
	}
	a = strings.TrimPrefix(a, "就")
	if strings.HasSuffix(gap, "时候") {
		a = trimHeads(a, "约的是", "约的", "约在", "定在", "定的", "订的")
	}
	if who := q.whose; strings.HasSuffix(a, "的") && (gap == "几" || gap == "多少") && strings.ContainsAny(a, "年月号天") { // 毕业几年了 / 零九年毕业的
		if who == "" && strings.HasPrefix(q.text, "我") {
			who = "我"
		}
		if who == "" {
			return ""
		}
		return strings.TrimSuffix(who+a+"，"+rest, "，")
	}
	if strings.HasPrefix(q.text, "我") && q.whose == "" {
		a = strings.TrimPrefix(a, "我是")
	}
	a = strings.TrimPrefix(a, "是")
	if own, asks := cutOwnZh(q.text); asks && strings.Contains(q.text, "生日") && startsWithAny(a, []string{"农历", "阴历", "旧历"}) && !q.timed(a) {
		return q.text[:len(q.text)-len(own)] + strings.TrimSuffix(kinPrefixZh(own), "的") + "的生日是" + a
	}
	if a = overlapZh(before, a, after); a == "" || utf8.RuneCountInString(a) > mostAnswerZh || !q.fits(gap, before, a) {
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
		a = trimHeads(a, "大名叫", "大名", "全名叫", "叫")
	}
	if strings.HasPrefix(a, "姓") {
		before = strings.TrimSuffix(before, "叫") // 你老公叫什么 / 姓张
	}
	switch gap {
	case "几号", "几月几号":
		if r, _ := utf8.DecodeLastRuneInString(a); strings.ContainsRune(digitsZh, r) {
			a += "号"
		}
	case "多大", "几岁", "多大年纪", "多大岁数", "多少岁":
		if !strings.Contains(a, "岁") && !strings.Contains(a, "月") && (before == "我" || before == q.whose || strings.HasSuffix(before, "今年")) {
			a += "岁"
		}
	case "多高":
		a = "身高" + a
	case "什么", "啥":
		if jobGapZh(before, after) {
			if trimTails(before, "是", "做", "干", "当") == "" {
				return "" // 干啥的: who?
			}
			return strings.TrimSuffix(trimTails(before, "做", "干", "当"), "是") + "是" + a + rest
		}
		if n := utf8.RuneCountInString(after); n > 0 && n <= 2 && !startsWithAny(after, []string{"过", "的"}) { // 什么血型
			if before = strings.TrimSuffix(before, "是"); before == "我" || before == q.whose {
				return before + after + "是" + a + rest
			}
			after = ""
		}
	case "哪里", "哪儿":
		if a == "老地方" && rest != "" {
			a, rest = cutCommaZh(strings.TrimPrefix(rest, "，")) // 老地方，门口花盆底下
			if rest != "" {
				rest = "，" + rest
			}
		}
		if head, goes := strings.CutSuffix(before, "去"); goes && startsWithAny(a, []string{"回", "到", "飞", "陪", "带", "看", "在", "就"}) {
			before, after = head, "" // 国庆去哪儿了 / 回了趟老家
		}
		switch {
		case after == "人":
			a = strings.TrimSuffix(a, "的")
		case endsWithAny(before, []string{"放", "住", "存", "搁", "落"}):
			a = "在" + strings.TrimPrefix(a, "在")
		case strings.HasSuffix(before, "老家"):
			a, after = "是"+a, ""
		}
	}
	return before + a + after + rest
}

// overlapZh is an answer without the words of the question that it says again: 对芒果 where 我对什么过敏 was asked.
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

const digitsZh = "〇零一二两三四五六七八九十百千万半几0123456789"

// jobGapZh reports 做什么的, 干什么 or 做什么工作.
func jobGapZh(before, after string) bool {
	return endsWithAny(before, []string{"做", "干", "当"}) && slices.Contains([]string{"的", "工作", "工作的", "活", ""}, after)
}

// fits reports whether an answer can be what a gap asks for.
func (q *askedZh) fits(gap, before, a string) bool {
	r, _ := utf8.DecodeRuneInString(a)
	after := q.text[len(before)+len(gap):]
	switch {
	case gap == "什么样" || gap == "啥样", startsWithAny(a, []string{"爱", "喜欢", "最", "讨厌", "想", "特别", "比较", "主要"}): // 爱看悬疑的 has its verb
		return false
	case strings.HasSuffix(before, "叫") && (gap != "什么" && gap != "啥" && gap != "什么名字" || after != "" && after != "名字"):
		return false // 叫什么外卖, 叫谁来
	case gap == "谁":
		who := strings.TrimSuffix(a, "的")
		rest, own := cutOwnZh(who)
		if of := strings.LastIndex(who, "的"); of > 0 && personZh(who[of+len("的"):]) {
			return true // 跟少年宫的刘老师
		}
		return own && kinPrefixZh(rest) == rest || kinPrefixZh(who) == who || personZh(who) || foreignZh(who)
	case strings.ContainsAny(a, "我你您他她咱吗"):
		return false
	case endsWithAny(gap, []string{"时候", "时间", "点", "点钟", "天", "号", "星期几", "礼拜几", "周几", "年"}):
		return q.wholeTime(a) && !startsWithAny(a, []string{"现在", "今天周", "今天星期"}) && !strings.Contains(a, "和")
	case strings.HasPrefix(gap, "多") || strings.HasPrefix(gap, "几"):
		return strings.ContainsRune(digitsZh, r) || a[0] >= '0' && a[0] <= '9'
	case strings.ContainsRune("没不别刚跟离喂哈有还等这那来去说已现", r) || strings.HasSuffix(a, "了") || startsWithAny(a, []string{"以前", "对不起", "待业", "医生说", "医生还", "服务员", "师傅"}):
		return false
	case containsAny(a, "啥都", "都喜", "都行", "都可", "都吃"):
		return false
	case strings.HasPrefix(gap, "什么名字") || endsWithAny(before, []string{"叫", "名字是"}):
		return kinPrefixZh(a) != a && (personZh(a) || foreignZh(a) || nameZh(a) && utf8.RuneCountInString(a) <= 3 && !placeWordZh(a) || a[0] < 0x80)
	case (strings.Contains(after, "上班") || strings.Contains(after, "工作")) && a != "阿里" && endsWithAny(a, []string{"上", "里"}):
		return false // 地铁上
	case gap == "什么" && jobGapZh(before, after):
		return jobZh(a) || endsWithAny(a, []string{"的", "员", "师", "家", "生意", "工", "人", "警", "长", "医", "手", "官"})
	case (personZh(a) || kinPrefixZh(a) == a) && !containsAny(q.text, "上班", "工作", "公司"):
		return false
	case strings.Contains(after, "过敏"):
		return (kinPrefixZh(a) == "" || slices.Contains(petsZh[:], kinPrefixZh(a)) && kinPrefixZh(a) != a) && !q.timed(a) && !strings.ContainsRune(verbStartsZh+"开", r)
	case strings.Contains(a, "有"):
		return false // 车库里有水
	case endsWithAny(before, []string{"血型", "血型是"}):
		return strings.ContainsAny(a, "ABOabo")
	}
	return true
}

// placeWordZh reports a place or a thing that nobody is called.
func placeWordZh(a string) bool { return endsWithAny(a, []string{"里", "上", "店", "开"}) }

// timed reports a time in an answer.
func (q *askedZh) timed(a string) bool {
	return slices.ContainsFunc(sentences(a), func(s sentence) bool { return len(timesIn(s, q.now)) > 0 })
}

// wholeTime reports a day or an hour, and nothing else.
func (q *askedZh) wholeTime(a string) bool {
	all := sentences(a)
	if len(all) != 1 {
		return false
	}
	left := len(all[0].toks)
	for _, w := range timesIn(all[0], q.now) {
		if w.habit || w.void {
			return false
		}
		left -= w.next - w.first
	}
	return left <= 1 && left < len(all[0].toks)
}
