package noted

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// WorthZh are the marks of a Chinese sentence; the weights are TestWorth's.
var WorthZh = []Mark{
	{"always", -1.0, func(*view) float64 { return 1 }},
	{"我", 0.6, func(v *view) float64 { return Yes(strings.Contains(v.raw, "我")) }},
	{"begins with 我", 1.4, func(v *view) float64 { return Yes(strings.HasPrefix(v.raw, "我")) }},
	{"a relative", 1.0, func(v *view) float64 { return v.says(syntax.KinZh[:]) }},
	{"begins with 他, 她", -0.1, func(v *view) float64 { return Yes(strings.HasPrefix(v.raw, "他") || strings.HasPrefix(v.raw, "她")) }},
	{"begins with 这, 那", -0.2, func(v *view) float64 { return Yes(strings.HasPrefix(v.raw, "这") || strings.HasPrefix(v.raw, "那")) }},
	{"你", -1.5, func(v *view) float64 { return Yes(strings.ContainsAny(v.raw, "你您")) }},
	{"a day", 1.3, func(v *view) float64 { return Yes(v.day) }},
	{"a time of day", 0.6, func(v *view) float64 { return v.timed(func(w *timex.When) bool { return w.Clock && !w.ByPart }) }},
	{"how often, since when", 0.3, func(v *view) float64 {
		return max(v.timed(func(w *timex.When) bool { return w.Habit || w.Since }), v.says(alwaysZh))
	}},
	{"a number", 1.5, func(v *view) float64 {
		return max(v.number(), Yes(strings.ContainsAny(v.raw, "三四五六七八九十百千万")))
	}},
	{"to come", -0.6, func(v *view) float64 { return v.says(comingZh) }},
	{"not", -0.2, func(v *view) float64 { return v.says(notZh) }},
	{"can, may", -1.1, func(v *view) float64 {
		return v.says(maybeZh)
	}},
	{"asks", -1.0, func(v *view) float64 {
		return v.says(asksZh)
	}},
	{"a particle", -0.8, func(v *view) float64 { return v.saysAlone(particlesZh) }},
	{"a feeling", -0.5, func(v *view) float64 { return v.says(feelingsZh) }},
	{"an opinion", -0.7, func(v *view) float64 {
		return v.says(opinionsZh)
	}},
	{"真, 太, 好", -1.6, func(v *view) float64 { return v.says(veryZh) }},
	{"said", -1.0, func(v *view) float64 { return v.saysAlone(saidZh) }},
	{"a command", -1.0, func(v *view) float64 {
		return v.saysAlone(commandsZh)
	}},
	{"在, 到, 给, 把", 0.3, func(v *view) float64 { return v.says(withZh) }},
	{"health", 0.9, func(v *view) float64 { return v.says(healthWordsZh) }},
	{"work and school", 0.4, func(v *view) float64 { return v.says(workWordsZh) }},
	{"home and things", 1.0, func(v *view) float64 { return v.says(thingWordsZh) }},
	{"money and papers", 0.4, func(v *view) float64 { return v.says(moneyWordsZh) }},
	{"read out to everybody", -1.8, func(v *view) float64 { return v.says(allWordsZh) }},
	{"warm words", -1.8, func(v *view) float64 { return v.says(warmZh) }},
	{"length", 0.4, func(v *view) float64 { return float64(min(utf8.RuneCountInString(v.raw), 24)) / 8 }},
	{"six characters or fewer", -1.4, func(v *view) float64 { return Yes(utf8.RuneCountInString(v.raw) <= 6) }},
}

// weatherZh reports whether a sentence is about the weather, and nothing that depends on it:
// 明天还要降温.
func weatherZh(x string) bool {
	const most = 14 // characters
	return utf8.RuneCountInString(x) <= most && syntax.ContainsAny(x, "降温", "升温", "回暖", "下雨", "下雪", "有雨", "有雪", "小雨", "大雨", "暴雨", "刮风", "大风", "零下", "雾霾", "冷空气") && !syntax.ContainsAny(x, "取消", "改", "停", "漏", "淹")
}

var alwaysZh = []string{"每", "一直", "从来", "总是"}

var comingZh = []string{"要", "会", "得", "准备", "打算", "约"}

var notZh = []string{"不", "没"}

var maybeZh = []string{"可能", "说不定", "也许", "应该", "大概", "想", "如果", "要是"}

var asksZh = []string{"吗", "呢", "什么", "怎么", "哪", "谁", "？"}

var particlesZh = []string{"吧", "啊", "呀", "哦", "嘛", "啦", "哈"}

var opinionsZh = []string{"觉得", "感觉", "以为", "看来", "说实话", "其实", "真的", "知道"}

var veryZh = []string{"真", "太", "好", "挺", "死了"}

var saidZh = []string{"说", "讲", "问"}

var commandsZh = []string{"请", "帮", "别", "打开", "关", "放", "等一下", "给我"}

var withZh = []string{"在", "从", "到", "给", "把", "跟", "和"}

// MoodsZh are words for how somebody is at the moment.
var MoodsZh = [...]string{"困死", "累死", "饿死", "热死", "冷死", "烦死", "气死", "笑死", "吓死", "忙死", "愁死"}

var feelingsZh = strings.Fields("高兴 开心 难过 累 困 饿 烦 无聊 可爱 好看 不错 喜欢 奇怪 可惜 佩服 服了 热 冷")

var warmZh = strings.Fields("放松 支持 幸福 美 漂亮 暖 骄傲 努力 压力 辛苦 好吃 希望 心里 重要 感觉 拼 撑 难")

var healthWordsZh = strings.Fields("医 病 药 手术 血 疼 痛 牙 膝 腰 眼 体检 过敏 化验 怀孕 生了 住院 复查 检查 感冒 发烧 护士 出院 去世 追悼 忌口")

var workWordsZh = strings.Fields("公司 部门 老板 同事 客户 合同 项目 加班 出差 升职 面试 工资 老师 学校 考 论文 毕业 上班 辞 离职 退休 预算 会议 开会 班 课 学")

var thingWordsZh = strings.Fields("钥匙 车 房 家 门 柜 箱 抽屉 手机 电脑 护照 伞 包 床 沙发 冰箱 洗衣机 暖气 水管 房东 邻居 阿姨 狗 猫 快递 行李 路由器 相机 眼镜")

var moneyWordsZh = strings.Fields("钱 块 元 万 租 押金 贷 税 保险 退款 账 买 卖 订 票 续 欠 借 费 收 证 签")

var allWordsZh = strings.Fields("总统 主持 节目 嘉宾 旅客 下一站 车门 路口 天气预报 多云 新闻 电影 剧 本期 收听 您 大家 俗话 地震 记者 梦")
