package noted

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// outlooksZh are the words of an outlook (outlook.go), the longer ones first.
var outlooksZh = [...]string{"一直想要", "一直想", "正在考虑", "在考虑", "想要", "不想再", "想念", "梦想着", "梦想是", "目标是", "愿望是", "梦想", "想", "打算", "计划", "准备", "希望能", "希望可以", "希望以后", "希望将来",
	"正在找", "在找", "正在攒钱", "在攒钱", "在存钱", "正在减肥", "在减肥", "正在备考", "在备考", "正在备孕", "在备孕", "在健身", "在住院", "在化疗", "在考驾照", "在休产假", "在坐月子", "在实习", "在装修", "在努力", "担心", "不太擅长", "不擅长", "擅长",
	"受够了", "宁愿", "宁可", "羡慕", "舍不得", "忘了", "忘记", "可能要", "可能会"}

// Lists for words after which more has to be right: what may follow them, and what may not.
var aimsZh = []string{"学", "养", "换工作", "换个工作", "换城市", "买房", "买车", "买台", "买套", "搬家", "搬到", "搬去", "开一家", "开家", "开个店", "开店", "开公司", "考研", "考公", "考驾照", "考证", "考雅思", "当", "写书", "写小说", "移民", "创业", "辞职", "离职", "退休", "把头发", "报名", "租房", "租个房", "卖房", "卖车", "生孩子", "生二胎", "要孩子", "结婚", "离婚", "存钱", "减肥", "戒", "留学", "出国", "转行", "跳槽", "参加", "装修"}

var followsZh = map[string][]string{
	"想": aimsZh, "准备": aimsZh, "在努力": aimsZh, "希望能": append([]string{"早点退休"}, aimsZh...), "希望可以": aimsZh,
	"忘了":  {"交", "带", "关", "买", "拿", "还", "寄", "取", "吃药", "锁", "给", "打", "回", "订", "充值", "充话费", "喂", "浇", "签", "报"},
	"可能要": {"搬家", "换工作", "离职", "离婚", "出差", "做手术", "动手术", "住院", "转学", "转行", "辞职", "卖房", "卖车", "退休", "结婚"},
	"可能会": {"搬家", "换工作", "离职", "离婚", "辞职", "出国", "结婚", "退休"},
	"梦想":  {"成为", "当", "开", "有", "去", "做", "环游"},
	"一直想": {"去", "学", "养", "有", "开", "做", "当", "看", "试", "买", "写", "搬", "换"},
	"打算":  append([]string{"去", "把", "自己"}, aimsZh...),
}

// soughtZh are endings of things that people look for over weeks.
var soughtZh = []string{"房子", "房", "工作", "对象", "保姆", "月嫂", "老师", "教练", "医生", "室友", "装修公司", "装修队", "律师", "实习", "兼职", "学校", "幼儿园"}

// DreadsZh are things of which people are generally afraid.
var DreadsZh = [...]string{"黑", "高", "打雷", "虫", "虫子", "蛇", "狗", "猫", "水", "血", "打针", "冷", "热", "吵", "鬼", "坐飞机", "见生人"}

var voidZh = [...]string{"你", "您", "他", "她", "它", "这", "那", "什么", "怎么", "哪", "谁", "吗", "呢", "吧", "一下", "说", "问", "死", "？", "?", "如果", "要是", "好了", "学校", "当初", "当时", "应该", "不过来"}

// notSoZh are words before what was once true, or is not true.
var notSoZh = [...]string{"以前", "本来", "原", "刚", "小时候", "没", "从来", "一点都", "不知道", "曾经"}

// OutlookZh does the same as [Outlook] for a Chinese clause without a future day, which would make
// it a plan: 我想学冲浪, 我姐在找工作, 我在考虑换工作.
func OutlookZh(t *discourse.Talk, b *discourse.BareZh) bool {
	if len(b.Whens) > 0 {
		return false
	}
	x := strings.TrimRight(b.Text, "，。,.！! ")
	for _, cue := range outlooksZh {
		who, what, ok := strings.Cut(x, cue)
		if !ok {
			continue
		}
		what = syntax.TrimHeads(what, "年后", "年前", "过完年", "年底")
		base := strings.TrimPrefix(cue, "正")
		if cue == "忘记" {
			base = "忘了"
		}
		if next, has := followsZh[base]; has && !syntax.StartsWithAny(what, next) || base == "在找" && !syntax.EndsWithAny(what, soughtZh) || syntax.ContainsAny(who, notSoZh[:]...) {
			return false
		}
		n := utf8.RuneCountInString(what)
		if doing := strings.HasPrefix(base, "在") && base != "在找" && base != "在考虑" && base != "在努力"; doing && what != "" && what != "了" && !syntax.StartsWithAny(what, []string{"房子", "新房", "买", "准备"}) || !doing && n < 2 || n > 20 || syntax.ContainsAny(what, voidZh[:]...) || strings.HasSuffix(who, "不") {
			return false
		}
		if len(timex.FindWhens(t.Said, t.Now)) > 0 { // in another clause: 我想去爬山,周六早上八点出发
			return false
		}
		p, ok := t.SubjectZh(strings.TrimRight(syntax.TrimTails(who, "的", "也", "都", "正", "长大后", "长大了", "长大", "以后", "毕业后", "毕业", "放学", "暑假", "生日", "很", "最", "真", "特别", "一直", "从小就", "从小", "其实", "还", "又", "总", "有点", "非常"), " "))
		if !ok || who == "" {
			return false
		}
		a := t.BaseZh(b, "semantic", "noted", p, discourse.NotedSure)
		if base == "忘了" || intentionsZh[base] {
			a.Type, a.EventType, a.Actor = "episodic", "noted", p.Name
		}
		if base == "忘了" {
			a.Started = ToldAt(t, b.S)
		}
		t.Out.Candidates = append(t.Out.Candidates, a)
		return true
	}
	return false
}

// intentionsZh are the same in Chinese.
var intentionsZh = syntax.Set("在考虑 打算 计划 准备 在找 可能要 可能会")
