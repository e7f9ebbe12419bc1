package rules

import (
	"strconv"
	"strings"
)

var partsZh = map[string]int{"凌晨": 3 * 60, "早上": 8 * 60, "早晨": 8 * 60, "上午": 10 * 60, "中午": 12 * 60, "下午": 15 * 60, "傍晚": 18 * 60, "晚上": 20 * 60, "夜里": 22 * 60, "一早": 8 * 60, "一大早": 8 * 60}

// partWordsZh are those of partsZh, the longer first.
var partWordsZh = []string{"凌晨", "早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "夜里", "一大早", "一早"}

// clockPartZh reads a time of day at token i into w, and says how many tokens it takes.
func clockPartZh(s sentence, i int, now moment, w *when) int {
	part, p := prefixZh(s, i, partWordsZh...)
	k := i + p
	if lasts := s.at(i - 1); p > 0 && lasts == "一" && (s.at(i-2) == "" || !strings.Contains("周期拜十初月第", s.at(i-2))) {
		return 0 // 停了一下午: how long
	}
	if next := s.at(k); p > 0 && (next == "饭" || next == "餐") && boundZh(s, i) {
		return 0 // 记一下午饭的时间
	}
	afternoon := -1
	if p > 0 {
		afternoon = partsZh[part]
	} else if w.byPart {
		afternoon = w.minute
	}
	if m, q := shortOfZh(s, k); q > 0 { // 差五分八点
		if h, n := numberZh(s, k+q); n > 0 && s.at(k+q+n) == "点" && h >= 1 && h <= 12 {
			if h = before(h); h < 12 && (afternoon >= 12*60 || afternoon < 0 && h < 7) {
				h += 12
			}
			w.minute, w.clock, w.byPart = h*60+60-m, true, false
			return k + q + n + 1 - i
		}
	}
	h, n := numberZh(s, k)
	_, counted := prefixZh(s, k+n+1, "建议", "意见", "要求", "理由", "原因", "好处", "坏处", "内容", "想法", "说明", "看法", "不同", "共识", "希望")
	if long := s.at(k + n + 1); n > 0 && (s.at(k+n) == "点" || s.at(k+n) == "时" && long != "间" && long != "刻" && long != "期") && h <= 99 && counted == 0 { // and not 同一时间
		w.void = w.void || h > 24
		k += n + 1
		m := 0
		if _, q := prefixZh(s, k, "半"); q > 0 {
			m, k = 30, k+1
		} else if _, q := prefixZh(s, k, "一刻"); q > 0 {
			m, k = 15, k+2
		} else if _, q := prefixZh(s, k, "三刻"); q > 0 {
			m, k = 45, k+2
		} else if short, q := shortOfZh(s, k); q > 0 && h > 0 { // 九点差一刻
			m, k = -short, k+q
		} else if v, q := numberZh(s, k); q > 0 && v < 100 && s.at(k+q) != "个" && (v > 9 || q > 1 || s.toks[k].kind == 'n' || s.at(k+1) == "分") { // 七点一起吃饭
			w.void = w.void || v > 59
			m, k = v, k+q
			if s.at(k) == "分" {
				k++
			}
		} else if s.at(k) == "钟" {
			k++
		}
		if afternoon >= 20*60 && (h == 12 || h > 0 && h < 5) { // 明晚一点, 晚上十二点: of the night that begins on that day
			if h %= 12; !w.hasDay && s.comingZh() {
				w.set(now.day+boolInt(h == 0 || now.minute >= 5*60), 'd') // the night that comes
			} else {
				w.day += boolInt(w.hasDay)
			}
		} else if h < 12 && !(h > 9 && part == "中午") && (afternoon >= 12*60 || afternoon < 0 && h > 0 && (h < 7 && !departsZh(s, i, m) && !(h < 5 && asleepZh(s.text[:s.end])) && !containsAny(s.text[:s.end], "早起", "起早", "赶早", "起大早") || supperZh(s, i, h) || h > 4 && worksUntilZh(s.text[s.start:s.toks[i].start]))) {
			h += 12
		}
		if part == "凌晨" && h < 6 && !w.hasDay && now.minute >= 6*60 && s.comingZh() {
			w.set(now.day+1, 'd') // of the night that comes
		}
		w.minute, w.clock, w.byPart, w.sure = h%24*60+m, true, false, afternoon >= 0
		if w.minute < 0 { // 十二点差五分 of the night
			w.minute, w.day = w.minute+24*60, w.day-boolInt(w.hasDay)
		}
		return k + hoursZh(s, k, now, w) - i
	}
	if k < len(s.toks) && s.toks[k].kind == 'n' && strings.Contains(s.at(k), ":") {
		hh, mm, _ := strings.Cut(s.at(k), ":")
		h, e1 := strconv.Atoi(hh)
		m, e2 := strconv.Atoi(mm)
		if e1 == nil && e2 == nil && h < 24 && m < 60 {
			if h < 12 && afternoon >= 12*60 {
				h += 12
			}
			w.minute, w.clock, w.byPart = h*60+m, true, false
			return p + 1 + hoursZh(s, i+p+1, now, w)
		}
	}
	if p == 0 {
		return 0
	}
	w.part(afternoon)
	return p
}

// asleepZh reports words by which a small hour is one of the night: 两点多才睡.
func asleepZh(text string) bool {
	return containsAny(text, "睡", "醒", "失眠", "熬夜", "通宵") && !strings.Contains(text, "午")
}

// worksUntilZh reports words after which an hour is one of the evening: 上班到, 营业到.
func worksUntilZh(before string) bool {
	return endsWithAny(before, []string{"得到", "要到", "估计到"}) && containsAny(before, "加班", "开会", "上班", "营业") || endsWithAny(before, []string{"上班到", "加班到", "班到", "忙到", "营业到", "干到", "开会到", "上课到"}) && !endsWithAny(before, []string{"夜班到", "晚班到"})
}

// shortOfZh reads how many minutes are missing to an hour at token i, and how many tokens that takes: 差一刻, 差五分.
func shortOfZh(s sentence, i int) (minutes, n int) {
	m, n := prefixZh(s, i, "差一刻", "差五分", "差十分", "差两分", "差三分", "差八分")
	minutes = map[string]int{"差一刻": 15, "差五分": 5, "差十分": 10, "差两分": 2, "差三分": 3, "差八分": 8}[m]
	if n > 0 && s.at(i+n) == "钟" {
		n++
	}
	return minutes, n
}

// comingZh reports whether an hour without a day is still to come. It is if the sentence tells of nothing that is over
// and of nothing that happens each time.
func (s sentence) comingZh() bool {
	return !containsAny(s.raw(), "了", "过", "才", "的时候", "一般", "通常", "平时", "经常", "总是", "习惯", "常常", "往往")
}
