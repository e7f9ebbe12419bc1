package timex

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// numberedZh are characters after 号 if it numbers a thing, and names no day: 三号线.
var numberedZh = syntax.Set("线 楼 房 门 桌 窗 会 院 车 机 球 馆 厅 台 站 选 位 柜 教 仓 店 井 屏 口 病 航 登 包 座 床 公 地 码 文 电 柱 栋 单 路 场 师 技 库 坑 梯 杆 牌 信")

// roadless are words that end like a road and are not roads: 我们上路12号.
var roadless = [...]string{"上路", "走路", "顺路", "一路", "半路", "迷路", "带路", "赶路", "修路", "同路", "铁路", "公路", "高速路", "逛街", "上街", "沿街", "出路", "思路", "电路", "网路", "知道", "难道", "上道"}

// houseZh reports whether a number at token i is that of a house, a seat or a size: 人民路12号, 我的座位是12号.
func houseZh(s syntax.Sentence, i int) bool {
	before := s.Text[s.Start:s.Toks[i].Start]
	if end := strings.LastIndexAny(before, "，。；！？,;"); end >= 0 {
		before = before[end+1:]
	}
	if syntax.EndsWithAny(before, []string{"是", "在", "：", ":"}) && syntax.ContainsAny(before, "门牌", "座位", "房间", "房号", "工位", "座号", "柜子", "铺位", "车位", "桌号", "球衣", "车厢", "号码", "排队", "我排", "电池", "鞋", "戒指", "诊室", "窗口") {
		return true
	}
	if _, of, ok := strings.Cut(s.From(i), "号的"); ok && !strings.ContainsAny(s.Text[s.Toks[i].Start:s.End-len(of)], "，,月") {
		if k := syntax.KinPrefixZh(syntax.TrimHeads(of, "小", "老")); syntax.PersonZh(strings.TrimSuffix(of, "家")) || len([]rune(of)) > 2 && syntax.PersonZh(string([]rune(of)[:3])) || k != "" && strings.HasPrefix(strings.TrimPrefix(of, k), "家") {
			return true // 十二号的胡阿姨家
		}
	}
	before = strings.TrimRight(before, "零一二三四五六七八九十")      // for 十二号 the 二号
	for _, part := range [...]string{"区", "座", "栋", "排"} { // C区十七号: a place to park
		if of, ok := strings.CutSuffix(before, part); ok && of != "" && syntax.LetterAt(of, len(of)-1) {
			return true
		}
	}
	if syntax.EndsWithAny(before, roadless[:]) && !syntax.ContainsAny(before, "地址", "住址", "住在", "家在") {
		return false
	}
	if lane, ok := strings.CutSuffix(before, "弄"); ok {
		return strings.HasSuffix(strings.TrimRight(lane, "0123456789一二三四五六七八九十百"), "路") && !strings.HasSuffix(lane, "路")
	}
	return syntax.EndsWithAny(before, []string{"路", "街", "巷", "大道", "胡同"}) && len([]rune(before)) > 1
}

// soonZh reads 半个小时后, 一刻钟后, 二十分钟以后, 三小时前, 再过半小时.
func soonZh(s syntax.Sentence, i int, now Moment, w *When) int {
	if n := halfZh(s, i, now, w); n > 0 {
		return n
	}
	_, over := syntax.PrefixZh(s, i, "再过", "过")
	if over == 1 && syntax.EndsWithAny(s.Text[s.Start:s.Toks[i].Start], []string{"不", "住", "去", "来", "学", "做", "待", "干", "用", "养", "当", "教", "工作", "练", "拉", "租", "谈", "吃", "呆", "读", "写", "开", "打", "弹"}) {
		over = 0 // 住过五年
	}
	if over == 0 {
		over = leftZh(s, i)
	}
	n, unit, took := LengthZh(s, i+over)
	k, minutes := i+over+took, n
	switch {
	case took == 0 || unit != "minute" && unit != "hour" && over == 0:
		return 0
	case unit == "hour":
		minutes = 60 * n
	case unit != "minute": // 过三天
		w.ahead(now, unit, n)
		return over + took
	}
	dir, d := awayZh(s, k)
	if d == 0 && over == 0 {
		return 0
	}
	if strings.HasSuffix(dir, "前") {
		minutes = -minutes
	}
	w.after(now, minutes)
	return k + d - i
}

// leftZh returns the length of 还有 in 护照还有两个月就过期了, and 0 in 我还有两个月假.
func leftZh(s syntax.Sentence, i int) int {
	if _, n := syntax.PrefixZh(s, i, "还有", "还剩"); n > 0 {
		if _, unit, took := LengthZh(s, i+n); took > 0 && unit != "minute" && unit != "hour" && i+n+took < len(s.Toks) {
			after := syntax.TrimHeads(s.Text[s.Toks[i+n+took].Start:s.End], "我们", "我", "他", "她", "咱们", "孩子")
			if syntax.StartsWithAny(after, []string{"就", "才", "要", "到期", "过期", "截止", "开学", "放假", "毕业", "退休", "满"}) && !strings.HasPrefix(after, "就是") {
				return n
			}
		}
	}
	return 0
}

// awayZh reads 后 or 前 after an amount of time, but not the one of 后来.
func awayZh(s syntax.Sentence, i int) (dir string, n int) {
	dir, n = syntax.PrefixZh(s, i, "以后", "之后", "后", "以前", "之前", "前")
	if next := s.At(i + 2); dir == "后" && s.At(i+1) == "来" && next != "" && strings.Contains("才就又我他她去在改不没还结", next) {
		return "", 0
	}
	return dir, n
}

// toldLaterZh reports whether a time after another one is in the past: 结婚五年后离婚了.
func toldLaterZh(s syntax.Sentence, dir string) bool {
	return strings.HasSuffix(dir, "后") && strings.Contains(s.Raw(), "了") && !syntax.ContainsAny(s.Raw(), "要", "会", "将", "打算", "准备", "快")
}

// spanZh reads 三天后, 两个星期前.
func spanZh(s syntax.Sentence, i, n, k int, now Moment, w *When) int {
	_, ge := syntax.PrefixZh(s, i+k, "个")
	unit, u := syntax.PrefixZh(s, i+k+ge, spanUnitsZh...)
	if u == 0 {
		return 0
	}
	dir, d := awayZh(s, i+k+ge+u)
	if dir == "前" && s.At(i+k+ge+u+d) == unit && (unit == "年" || unit == "天") {
		return 0 // 干了六年前年出来的
	}
	if before := s.At(i - 1); d == 0 || toldLaterZh(s, dir) || strings.HasSuffix(dir, "后") && (before == "了" || before == "过") { // 待了五年后: from then on
		return 0
	}
	sign := 1
	if strings.HasSuffix(dir, "前") {
		sign = -1
	}
	w.ahead(now, unitsZh[unit], sign*n)
	took := k + ge + u + d
	if unit == "年" {
		y, _, _ := Date(w.Day)
		day := *w
		if in := inYearZh(s, i+took, y, w); in > 0 {
			return took + in
		}
		*w = day
	}
	return took
}

// unitsZh are units of time, and spanUnitsZh those of a day or more.
var (
	unitsZh     = map[string]string{"分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
	allUnitsZh  = []string{"分钟", "小时", "钟头", "天", "周", "星期", "礼拜", "月", "年"}
	spanUnitsZh = []string{"天", "周", "星期", "礼拜", "月", "年"}
)

// LengthZh reads a length of time at token i, and returns how many tokens it takes: 一周, 两天, 半个小时,
// 一个半小时, 三刻钟. Quarters and halves of an hour become minutes.
func LengthZh(s syntax.Sentence, i int) (n int, unit string, took int) {
	if _, half := syntax.PrefixZh(s, i, "半个小时", "半个钟头", "半小时"); half > 0 {
		return 30, "minute", half
	}
	n, took = NumberZh(s, i)
	if took == 0 {
		return 0, "", 0
	}
	if _, half := syntax.PrefixZh(s, i+took, "个半小时", "个半钟头"); half > 0 {
		return n*60 + 30, "minute", took + half
	}
	if _, quarters := syntax.PrefixZh(s, i+took, "刻钟"); quarters > 0 {
		return 15 * n, "minute", took + quarters
	}
	_, ge := syntax.PrefixZh(s, i+took, "个")
	word, u := syntax.PrefixZh(s, i+took+ge, allUnitsZh...)
	if u == 0 {
		return 0, "", 0
	}
	return n, unitsZh[word], took + ge + u
}

// ahead sets the day n units from now, or ago if n is negative.
func (w *When) ahead(now Moment, unit string, n int) {
	switch unit {
	case "day":
		w.Set(now.Day+n, 'd')
	case "week":
		w.Set(now.Day+7*n, 'd')
	case "month":
		w.Set(AddMonths(now.Day, n), 'M')
	case "year":
		w.Set(AddMonths(now.Day, 12*n), 'y')
	}
}

// pairZh reads another weekday after weekday d: 周一周五 and 周一和周五在家办公 are in each week, 周六周日 may be in
// this one.
func pairZh(s syntax.Sentence, i, d int) (took int, habit bool) {
	_, and := syntax.PrefixZh(s, i, "和", "、")
	i += and
	_, u := syntax.PrefixZh(s, i, "星期", "礼拜", "周")
	word, n := syntax.PrefixZh(s, i+u, "一", "二", "三", "四", "五", "六", "日", "天")
	if u == 0 || n == 0 {
		return 0, false
	}
	if _, usual := syntax.PrefixZh(s, i+u+n, "在家办公", "在家上班", "远程", "上班", "不上班", "坐班", "有课", "上课", "健身", "跑步", "游泳"); and > 0 && usual == 0 {
		return 0, false
	}
	d2 := strings.Index("一二三四五六日", word) / 3
	if word == "天" {
		d2 = 6
	}
	return and + u + n, Mod(d2-d, 7) > 1
}

// barePairZh returns the number of weekdays that follow weekday d from token i on, each later than
// the previous one and without a word for the week: 周一三五 has two, and 周一三点 and 周一三小时的课 have none.
// They are in each week if there is a day between two of them; 周四五我请假 may be in this week.
func barePairZh(s syntax.Sentence, i, d int) (n int, habit bool) {
	const days = "一二三四五六日"
	gap := 0 // how many days are named, counted from the first one after a gap
	for at := d; s.At(i+n) != ""; n++ {
		next := strings.Index(days, s.At(i+n)) / len("一")
		if next <= at {
			break
		}
		if gap == 0 && next > at+1 {
			gap = n + 1
		}
		at = next
	}
	if s.At(i+n) == "点" {
		n-- // 周二四六点我去跑步
	} else if after := s.At(i + n); after != "" && s.Toks[i+n].Kind != 'p' && !strings.Contains("我他她你咱都去在上下早晚要有不休开带跑游健练打学做请出值加回接送教坐收", after) {
		return 0, false
	}
	return max(n, 0), gap > 0 && gap <= n
}

// weekBeforeZh returns the week, in days from this one, of the day that is named directly before
// token i: in 下周一周三, the Wednesday is in the next week, too.
func weekBeforeZh(s syntax.Sentence, i int) (days int, ok bool) {
	before := []rune(strings.TrimRight(s.Text[s.Start:s.Toks[i].Start], "、和"))
	if n := len(before); n < 3 || !strings.ContainsRune("一二三四五六日天", before[n-1]) {
		return 0, false
	}
	head := string(before[:len(before)-1])
	for _, week := range [...]string{"周", "星期", "礼拜"} {
		rel, cut := strings.CutSuffix(head, week)
		rel = strings.TrimSuffix(rel, "个")
		switch {
		case cut && strings.HasSuffix(rel, "下下"):
			return 14, true
		case cut && strings.HasSuffix(rel, "下") && !strings.HasSuffix(rel, "一下"):
			return 7, true
		case cut && strings.HasSuffix(rel, "上"):
			return -7, true
		}
	}
	return 0, false
}

// halfZh reads 半年前, 半个月后, 一年半以前.
func halfZh(s syntax.Sentence, i int, now Moment, w *When) int {
	half, n := syntax.PrefixZh(s, i, "半年", "半个月", "一年半", "两年半", "一个半月", "两个半月")
	dir, d := awayZh(s, i+n)
	if n == 0 || d == 0 {
		return 0
	}
	if after := strings.HasSuffix(dir, "后"); after && (toldLaterZh(s, dir) || i > 0 && !strings.Contains("我们，大要会再过", s.At(i-1))) {
		return 0 // 我结婚半年后离婚了
	}
	sign := 1
	if strings.HasSuffix(dir, "前") {
		sign = -1
	}
	switch half {
	case "半个月":
		w.Set(now.Day+15*sign, 'w')
	case "一个半月":
		w.Set(now.Day+45*sign, 'w')
	case "两个半月":
		w.Set(now.Day+75*sign, 'w')
	default:
		w.Set(AddMonths(now.Day, sign*map[string]int{"半年": 6, "一年半": 18, "两年半": 30}[half]), 'M')
	}
	return n + d
}

// besideDayZh reports whether the time of day at token i is on the day before or after another one, so that it
// is not on the day that the sentence names: 周二做胃镜，前一天晚上不能吃东西.
func besideDayZh(s syntax.Sentence, i int) bool {
	if i < 3 || s.At(i-1) != "天" || s.At(i-2) != "一" {
		return false
	}
	before := s.At(i - 3)
	return before == "前" || before == "头" || before == "后"
}
