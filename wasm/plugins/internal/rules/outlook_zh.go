package rules

import (
	"strings"
	"unicode/utf8"
)

// outlooksZh are the words of an outlook (outlook.go), the longer ones first.
var outlooksZh = [...]string{"一直想要", "一直想", "正在考虑", "在考虑", "想要", "不想再", "想念", "梦想着", "梦想是", "目标是", "愿望是", "梦想", "想", "打算", "计划", "准备", "希望能", "希望可以", "希望以后", "希望将来",
	"正在找", "在找", "正在攒钱", "在攒钱", "在存钱", "正在减肥", "在减肥", "正在备考", "在备考", "正在备孕", "在备孕", "在健身", "在装修", "在努力", "担心", "不太擅长", "不擅长", "擅长",
	"受够了", "宁愿", "宁可", "羡慕", "舍不得", "忘了", "忘记", "可能要", "可能会", "怕"}

// Where more than the word must be right: what may follow it, and what may not.
var (
	followsZh = map[string][]string{
		"在找":   {"房", "工作", "对象", "保姆", "月嫂", "老师", "教练", "医生", "室友", "装修", "律师", "实习", "兼职", "学校", "幼儿园", "新"},
		"忘了":   {"交", "带", "关", "买", "拿", "还", "寄", "取", "吃药", "锁", "给", "打", "回", "订", "充值", "充话费", "喂", "浇", "签", "报"},
		"可能要":  {"搬", "换", "离", "出差", "做手术", "动手术", "住院", "转", "辞", "卖", "退", "结婚", "生"},
		"准备":   {"考", "辞", "换", "搬", "买", "卖", "结婚", "离", "移民", "留学", "生", "要", "开", "去", "学", "参加", "报", "装修", "退休"},
		"怕":    {"黑", "高", "打雷", "虫", "蛇", "狗", "猫", "水", "血", "打针", "冷", "热", "吵", "鬼", "坐飞机", "见生人"},
		"梦想":   {"成为", "当", "开", "有", "去", "做", "环游"},
		"在努力":  {"学", "减", "戒", "存", "攒", "找", "考", "改"},
		"在装修":  {"", "房", "新", "家", "厨房", "浴室"},
		"不想再":  {""},
		"一直想":  {"去", "学", "养", "有", "开", "做", "当", "看", "试", "买", "写", "搬", "换"},
		"想":    {"学", "去", "养", "换", "买", "搬", "开", "考", "当", "做", "写", "移民", "创业", "辞职", "退休", "把", "给", "带", "在", "参加", "报", "租", "卖", "生", "结婚", "要个", "存", "减"},
		"羡慕":   {""},
		"可能会":  {"搬", "换", "离开", "辞", "出国", "结婚", "退"},
		"想念":   {""},
		"担心":   {""},
		"希望以后": {""},
	}
	voidZh = [...]string{"你", "您", "他", "她", "它", "这", "那", "什么", "怎么", "哪", "谁", "吗", "呢", "吧", "一下", "看看你", "说", "问", "死", "？", "?", "如果", "要是", "好了"}
)

// outlookZh is [talk.outlook] of a Chinese clause that names no day to come, which would be a plan:
// 我想学冲浪, 我姐在找工作, 我在考虑换工作.
func (t *talk) outlookZh(b *bareZh) bool {
	for i := range b.whens {
		if b.whens[i].hasDay || b.whens[i].habit {
			return false
		}
	}
	x := strings.TrimRight(b.text, "，。,.！! ")
	for _, cue := range outlooksZh {
		who, what, ok := strings.Cut(x, cue)
		if !ok {
			continue
		}
		base := strings.TrimPrefix(cue, "正")
		if cue == "忘记" {
			base = "忘了"
		}
		if next, has := followsZh[base]; has && !startsWithAny(what, next) {
			return false
		}
		n := utf8.RuneCountInString(what)
		if whole := strings.HasPrefix(base, "在") && base != "在找" && base != "在考虑" && base != "在努力"; !whole && n < 2 && base != "怕" || n > 20 || containsAny(what, voidZh[:]...) || strings.HasSuffix(who, "不") {
			return false
		}
		p, ok := t.subjectZh(strings.TrimRight(trimTails(who, "的", "也", "都", "正", "很", "最", "真", "特别", "一直", "从小就", "从小", "其实", "还", "又", "总", "有点", "非常"), " "))
		if !ok || who == "" {
			return false
		}
		t.out.Candidates = append(t.out.Candidates, t.baseZh(b, "semantic", "noted", p, notedSure))
		if base == "忘了" {
			a := &t.out.Candidates[len(t.out.Candidates)-1]
			a.Type, a.EventType, a.Actor, a.Started = "episodic", "noted", p.name, t.toldAt(b.s)
		}
		return true
	}
	return false
}
