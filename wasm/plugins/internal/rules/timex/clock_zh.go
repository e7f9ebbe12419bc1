package timex

import (
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

var partsZh = map[string]int{"凌晨": 3 * 60, "早上": 8 * 60, "早晨": 8 * 60, "上午": 10 * 60, "中午": 12 * 60, "下午": 15 * 60, "傍晚": 18 * 60, "晚上": 20 * 60, "夜里": 22 * 60, "一早": 8 * 60, "一大早": 8 * 60, "半夜": 22 * 60, "后半夜": 22 * 60, "大半夜": 22 * 60}

// PartWordsZh are the words of partsZh, the longer first.
var PartWordsZh = []string{"凌晨", "早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "夜里", "一大早", "一早", "后半夜", "大半夜", "半夜"}

// clockPartZh reads a time of day at token i into w, and returns how many tokens it takes.
func clockPartZh(s syntax.Sentence, i int, now Moment, w *When) int {
	part, p := syntax.PrefixZh(s, i, PartWordsZh...)
	k := i + p
	if lasts := s.At(i - 1); p > 0 && lasts == "一" && (s.At(i-2) == "" || !strings.Contains("周期拜十初月第", s.At(i-2))) {
		return 0 // 停了一下午: how long
	}
	if next := s.At(k); p > 0 && (next == "饭" || next == "餐") && boundZh(s, i) {
		return 0 // 记一下午饭的时间
	}
	afternoon := -1
	if p > 0 {
		afternoon = partsZh[part]
	} else if w.ByPart {
		afternoon = w.Minute
	}
	if m, q := shortOfZh(s, k); q > 0 { // 差五分八点
		if h, n := NumberZh(s, k+q); n > 0 && s.At(k+q+n) == "点" && h >= 1 && h <= 12 {
			if h = before(h); h < 12 && (afternoon >= 12*60 || afternoon < 0 && h < 7) {
				h += 12
			}
			w.Minute, w.Clock, w.ByPart = h*60+60-m, true, false
			return k + q + n + 1 - i
		}
	}
	h, n := NumberZh(s, k)
	_, counted := syntax.PrefixZh(s, k+n+1, "建议", "意见", "要求", "理由", "原因", "好处", "坏处", "内容", "想法", "说明", "看法", "不同", "共识", "希望")
	if long := s.At(k + n + 1); n > 0 && (s.At(k+n) == "点" || s.At(k+n) == "时" && long != "间" && long != "刻" && long != "期") && h <= 99 && counted == 0 { // and not 同一时间
		if h == 12 && afternoon < 0 && lateZh(s.Text[s.Start:s.Toks[i].Start]) {
			w.Clock, w.Void = true, true // 学到十二点: midnight, of which nobody says on which day
			return k + n + 1 - i
		}
		w.Void = w.Void || h > 24
		k += n + 1
		m := 0
		if _, q := syntax.PrefixZh(s, k, "半"); q > 0 {
			m, k = 30, k+1
		} else if _, q := syntax.PrefixZh(s, k, "一刻"); q > 0 {
			m, k = 15, k+2
		} else if _, q := syntax.PrefixZh(s, k, "三刻"); q > 0 {
			m, k = 45, k+2
		} else if short, q := shortOfZh(s, k); q > 0 && h > 0 { // 九点差一刻
			m, k = -short, k+q
		} else if v, q := NumberZh(s, k); q > 0 && v < 100 && s.At(k+q) != "个" && (v > 9 || q > 1 || s.Toks[k].Kind == 'n' || s.At(k+1) == "分") { // 七点一起吃饭
			w.Void = w.Void || v > 59
			m, k = v, k+q
			if s.At(k) == "分" {
				k++
			}
		} else if s.At(k) == "钟" {
			k++
		}
		if afternoon >= 20*60 && (h == 12 || h > 0 && h < 5) { // 明晚一点, 晚上十二点: in the night that begins on that day
			if h %= 12; !w.HasDay && comingZh(s) {
				w.Set(now.Day+syntax.BoolInt(h == 0 || now.Minute >= 5*60), 'd') // the coming night
			} else {
				w.Day += syntax.BoolInt(w.HasDay)
			}
		} else if h < 12 && !(h > 9 && part == "中午") && (afternoon >= 12*60 || afternoon < 0 && h > 0 && (h < 7 && !departsZh(s, i, m) && !(h < 5 && asleepZh(s.Text[:s.End])) && !syntax.ContainsAny(s.Text[:s.End], "早起", "起早", "赶早", "起大早") || supperZh(s, i, h) || h > 4 && worksUntilZh(s.Text[s.Start:s.Toks[i].Start]))) {
			h += 12
		}
		if part == "凌晨" && h < 6 && !w.HasDay && now.Minute >= 6*60 && comingZh(s) {
			w.Set(now.Day+1, 'd') // in the coming night
		}
		w.Minute, w.Clock, w.ByPart, w.Sure = h%24*60+m, true, false, afternoon >= 0
		if w.Minute < 0 { // 十二点差五分 at night
			w.Minute, w.Day = w.Minute+24*60, w.Day-syntax.BoolInt(w.HasDay)
		}
		return k + hoursZh(s, k, now, w) - i
	}
	if k < len(s.Toks) && s.Toks[k].Kind == 'n' && strings.Contains(s.At(k), ":") {
		hh, mm, _ := strings.Cut(s.At(k), ":")
		h, e1 := strconv.Atoi(hh)
		m, e2 := strconv.Atoi(mm)
		if e1 == nil && e2 == nil && h < 24 && m < 60 {
			if h < 12 && afternoon >= 12*60 {
				h += 12
			}
			w.Minute, w.Clock, w.ByPart = h*60+m, true, false
			return p + 1 + hoursZh(s, i+p+1, now, w)
		}
	}
	if p == 0 || strings.HasSuffix(part, "半夜") {
		return 0
	}
	w.part(afternoon)
	return p
}

// asleepZh reports whether words put a small hour into the night: 两点多才睡.
func asleepZh(text string) bool {
	return syntax.ContainsAny(text, "睡", "醒", "失眠", "熬夜", "通宵") && !strings.Contains(text, "午")
}

// worksUntilZh reports whether an hour after these words is in the evening: 上班到, 营业到.
func worksUntilZh(before string) bool {
	return syntax.EndsWithAny(before, []string{"得到", "要到", "估计到"}) && syntax.ContainsAny(before, "加班", "开会", "上班", "营业") || syntax.EndsWithAny(before, []string{"上班到", "加班到", "班到", "忙到", "营业到", "干到", "开会到", "上课到"}) && !syntax.EndsWithAny(before, []string{"夜班到", "晚班到"})
}

// lateZh reports whether twelve after these words is rather midnight than noon: 学到, 加班到.
func lateZh(before string) bool {
	return syntax.EndsWithAny(before, []string{"学到", "加班到", "熬到", "忙到", "玩到", "聊到", "喝到", "打到", "唱到", "写到", "刷到", "熬夜到", "营业到"})
}

// shortOfZh reads how many minutes are missing to an hour at token i, and returns how many tokens
// that takes: 差一刻, 差五分.
func shortOfZh(s syntax.Sentence, i int) (minutes, n int) {
	m, n := syntax.PrefixZh(s, i, "差一刻", "差五分", "差十分", "差两分", "差三分", "差八分")
	minutes = map[string]int{"差一刻": 15, "差五分": 5, "差十分": 10, "差两分": 2, "差三分": 3, "差八分": 8}[m]
	if n > 0 && s.At(i+n) == "钟" {
		n++
	}
	return minutes, n
}

// comingZh reports whether an hour without a day is still in the future. It is if the sentence
// tells neither of something past nor of something that happens each time.
func comingZh(s syntax.Sentence) bool {
	return !syntax.ContainsAny(s.Raw(), "了", "过", "才", "的时候", "一般", "通常", "平时", "经常", "总是", "习惯", "常常", "往往")
}

// 下, 上 and 本 before 周五, 月底 or 午饭 may end the previous word: 记一下周五交报告 is on Friday, and not next
// week; 桌上周五的报告, 版本周五发布.

// endersZh are the characters that form one word with each of these after them, if nobody says 下周
// or 上周 after them: 约下周五 and 交上周五的作业 stay as they are.
var endersZh = map[string]string{
	"下": "楼桌台地山乡树私线床底脚旗名眼当手天灯车城月足零以之剩留停坐躺写脱卸丢扔存省攒生立记蹲跪趴余收",
	"上": "早晚桌网路楼身手床墙书山船车班世地街线马会课头脸纸海天表单台本际实以之加赶遇碰关穿戴考爱锁贴合算连挂附坐骑爬跟晨群岸镇",
	"本": "版剧日书课样成根基资标副绘文译",
}

// boundZh reports whether token i ends the word before it.
func boundZh(s syntax.Sentence, i int) bool {
	w := s.At(i)
	before := s.At(i - 1)
	if i == 0 || before == "" {
		return false
	}
	if w == "下" && before == "一" {
		return !strings.Contains("周期拜十初月第", s.At(i-2)) || s.At(i-2) == "" // 一下, and not 星期一下周
	}
	if w == "上" && before == "实" && s.At(i-2) == "其" {
		return false // 其实上周, and not 事实上
	}
	return strings.Contains(endersZh[w], before)
}

// nextFeastZh reports whether a feast of this year at token k is the one next year, as 今年过年去三亚
// means in autumn. Something told in the past tense is about the last one.
func nextFeastZh(s syntax.Sentence, k, y int, now Moment) bool {
	const longAgo = 180 // days
	days, n := feastNameZh(s, k)
	if n == 0 || syntax.ContainsAny(stays.Replace(s.From(k)), "了", "没", "时候", "那会", "过得", "过的") {
		return false
	}
	first, _, ok := days(y)
	return ok && first < now.Day-longAgo && first < DayOf(y, 3, 15)
}

// stays removes words about a future feast that end in 了.
var stays = strings.NewReplacer("不回去了", "", "不回了", "", "不去了", "", "不走了", "")
