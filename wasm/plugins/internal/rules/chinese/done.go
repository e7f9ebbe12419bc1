package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// comes reports whether somebody is expected: 修空调的师傅周三下午来, 燃气公司来查表.
func comes(x string) bool {
	if who, what, ok := strings.Cut(x, "来"); ok && utf8.RuneCountInString(what) >= 1 && (strings.HasSuffix(who, "公司") || strings.HasSuffix(who, "有人") || who == "人") && syntax.StartsWithAny(what, []string{"修", "装", "查", "检", "抄", "换", "收", "取", "量", "通", "洗", "清", "拆"}) {
		return true
	}
	if what, ok := strings.CutPrefix(x, "来"); ok && syntax.StartsWithAny(what, []string{"修", "装", "查", "检", "抄", "换", "量", "通", "洗", "清", "拆"}) && utf8.RuneCountInString(what) > 1 {
		return true // 明天上午来修暖气
	}
	if who, ok := strings.CutSuffix(x, "的来"); ok && syntax.StartsWithAny(who, []string{"修", "装", "查", "检", "抄", "换", "收", "送", "通", "洗", "拆", "搬"}) {
		return true // 修热水器的来
	}
	if who, ok := syntax.CutEnd(x, "到岗", "上任", "到任", "报到", "入职"); ok && strings.HasPrefix(who, "新") && !strings.ContainsAny(who, "我你他她") {
		return true // 新来的主管到岗
	}
	return (strings.HasSuffix(x, "来") || strings.HasSuffix(x, "上门") || strings.HasSuffix(x, "到") || strings.Contains(x, "来修") || strings.Contains(x, "来装")) &&
		syntax.ContainsAny(x, "师傅", "工人", "快递", "维修", "保洁", "物业", "搬家公司", "中介", "阿姨", "医生", "电工", "水管工", "安装", "房东", "快递员", "客服")
}

// done reports whether a clause tells of a deed with its object after 了: 周六我们订了一台冰箱. Something
// booked or agreed for the day that it names is still in the future: 周六我订了位子.
func done(x string) bool {
	x = discourse.GatheringsZh.Replace(x)
	head, object, ok := strings.Cut(x, "了")
	if !ok || utf8.RuneCountInString(object) < 2 || syntax.ContainsAny(x, "要", "快", "就", "该", "马上", "会", "准备", "打算", "改", "约了", "请了", "安排了", "预约", "定了", "答应了") {
		return false
	}
	if strings.HasSuffix(head, "订") || strings.HasSuffix(head, "买") {
		return !syntax.ContainsAny(object, "个人", "位", "票", "房", "酒店", "座", "桌", "餐", "车次", "机票", "高铁", "火车", "动车", "航班", "飞机", "民宿", "场地")
	}
	r, _ := utf8.DecodeLastRuneInString(head)
	return strings.ContainsRune("吃喝看见买订签交去送修换拔打开做写洗拿借还卖聊谈跑游爬住搬参办丢掉摔生办拍逛唱听学睡", r)
}

// obliged reports whether somebody has to do something, even if it ends in 了: 得把作业交了.
func obliged(x string) bool {
	if dueBefore(x) {
		return true
	}
	x = strings.TrimPrefix(strings.TrimPrefix(x, "我们"), "我")
	return syntax.StartsWithAny(x, []string{"得", "还得", "必须", "要把", "还要"})
}

// vowed reports whether the speaker promises to do something for the other: 周五之前一定给你弄好.
func vowed(x string) bool {
	return syntax.ContainsAny(x, "一定", "肯定", "保证") && syntax.ContainsAny(x, "给你", "还你", "帮你", "替你", "给您") && !strings.Contains(x, "不")
}

// dueBefore reports whether something has to be done by a time: 报告周三之前得交.
func dueBefore(x string) bool {
	what, due, ok := strings.Cut(x, "之前")
	return ok && what != "" && syntax.StartsWithAny(due, []string{"得", "要", "必须", "一定"})
}

// IsErrand reports whether x is an errand of the speaker: 我得去银行取点钱, 晚上我要给我妈打个电话.
func IsErrand(x string) bool {
	_, what, ok := strings.Cut(x, "我")
	what = strings.TrimPrefix(what, "们")
	if !ok || !syntax.StartsWithAny(what, []string{"得", "要", "还得", "还要", "必须", "需要"}) || syntax.ContainsAny(what, "不", "吗", "你", "您", "如果", "买单", "洗手") || utf8.RuneCountInString(what) > 20 {
		return false
	}
	if _, besides, ok := strings.Cut(what, "顺便"); ok {
		return Chore(strings.Replace(syntax.TrimHeads(besides, "去"), "买点", "买", 1)) // 下班顺便买点牛奶
	}
	return Chore(syntax.TrimHeads(what, "还", "必须", "需", "得", "要", "去")) || syntax.ContainsAny(what, "去", "给", "把", "帮") && syntax.ContainsAny(what, "取", "买", "接", "送", "交", "还给", "电话", "办", "修", "剪", "拿", "寄", "续", "退", "付", "缴", "存", "领", "打印", "配", "订")
}

// Chores are beginnings of what somebody has to do with a thing, and notChores are words with the
// same beginnings.
var Chores = [...]string{"换", "买", "找", "还", "续", "刷", "粉刷", "洗", "修", "约", "预约", "取", "交", "寄", "退", "付", "缴", "办", "订", "打扫", "收拾", "整理", "打印", "清理", "遛", "喂", "浇", "装", "申请", "注销", "报名", "充", "趟", "一趟", "带", "赶紧订", "赶紧买", "赶紧办", "赶紧交", "做"}

var notChores = []string{"洗澡", "洗脸", "洗手", "洗漱", "换个角度", "换位", "换句", "换衣", "找时间", "找机会", "找到", "找个时间", "找个机会", "找点", "找份", "还好", "还有", "还是", "还没", "还要", "还得", "修养", "交流", "交朋友", "交代", "装作", "付出", "退休", "退一步", "续命", "充电", "充实", "约会", "买单", "趟浑水"}

// Chore reports whether x is a chore with its object: 换轮胎, 预约牙医, 趟银行.
func Chore(x string) bool {
	if syntax.StartsWithAny(x, notChores) {
		return false
	}
	for _, verb := range Chores {
		what, ok := strings.CutPrefix(x, verb)
		if n := utf8.RuneCountInString(what); ok && n >= 1 && n <= 10 && !syntax.VagueZh(what) && !strings.ContainsAny(what, "了过着他她它啥点") && !syntax.StartsWithAny(what, []string{"得", "到", "完", "好", "来", "去", "什么"}) {
			return true
		}
	}
	return false
}

// undertaken reports whether the speaker takes something on: 我答应孩子们去动物园, 垃圾我来倒, 我给保险公司打电话.
func undertaken(x string) bool {
	x = discourse.TrimZhEnd(x)
	if syntax.ContainsAny(x, "你", "您", "吗", "没", "不", "了", "过", "如果", "想") {
		return false
	}
	if what, ok := strings.CutPrefix(x, "我答应"); ok {
		return utf8.RuneCountInString(what) >= 5
	}
	if what, verb, ok := strings.Cut(x, "我来"); ok && what != "" {
		return utf8.RuneCountInString(what) <= 6 && slices.Contains([]string{"倒", "洗", "做", "买", "拿", "订", "付", "交", "修", "处理", "安排", "负责", "搞定", "办", "送", "接", "写", "收拾", "打扫", "准备", "通知", "联系", "带", "取"}, verb)
	}
	who, ok := strings.CutPrefix(x, "我给")
	return ok && utf8.RuneCountInString(who) >= 4 && syntax.EndsWithAny(who, []string{"打电话", "打个电话", "发邮件", "发个邮件", "发消息", "发个消息"})
}

// soonZh are words for a time that is not a day, in a promise.
var soonZh = []string{"回头", "改天", "晚点", "待会儿", "待会", "一会儿", "等会儿", "等会", "等下", "稍后", "到时候", "下班", "会", "就", "再", "来"}

// pledged reports whether the speaker will give or send something to somebody: 回头我把菜谱发给你, 照片我发你.
func pledged(x string) bool {
	x = discourse.TrimZhEnd(x)
	if syntax.ContainsAny(x, "吗", "没", "不", "了", "过", "如果", "想", "要是", "每", "请", "说", "让") {
		return false
	}
	thing, deed, ok := strings.Cut(syntax.TrimHeads(x, soonZh...), "我")
	deed, held := strings.CutPrefix(syntax.TrimHeads(deed, soonZh...), "把")
	if n := utf8.RuneCountInString(thing); !ok || n > 6 || held != (thing == "") || syntax.StartsWithAny(thing, []string{"你", "您", "他", "她", "给", "是", "跟"}) || syntax.VagueZh(thing) {
		return false
	}
	what, whom, ok := strings.Cut(deed, "给")
	if !ok {
		what, whom = strings.TrimSuffix(strings.TrimSuffix(deed, "你"), "您"), "你"
		ok = what != deed
	}
	if whom != "你" && whom != "您" && whom != "你们" && !syntax.PersonZh(whom) && syntax.KinPrefixZh(whom) != whom {
		return false
	}
	given, gives := syntax.CutEnd(what, "发", "寄", "转", "还", "送", "拿", "带", "传", "拷", "退", "交", "快递", "拍", "捎", "邮")
	n := utf8.RuneCountInString(given)
	return ok && gives && (thing != "" && n == 0 || held && n > 0 && n <= 8 && !syntax.VagueZh(given))
}

// mixedDeed reports whether the speaker will do something, with an English verb: 我来 handle 这个, 我会
// update 文档.
func mixedDeed(x string) bool {
	head, rest, ok := strings.Cut(x, " ")
	head, own := strings.CutPrefix(head, "我")
	verb, object, _ := strings.Cut(rest, " ")
	if !ok || !own || object == "" || strings.Contains(head, "不") || discourse.CompletedZh(x) {
		return false
	}
	return syntax.StartsWithAny(head, []string{"来", "会", "去", "得", "要", "等下", "等会", "等会儿", "一会儿", "待会", "待会儿", "回头", "稍后", "马上", "负责", "帮你", "给你"}) && (syntax.Errand[verb] || officeDeeds[verb])
}

// officeDeeds are English verbs in Chinese talk, besides [syntax.Errand].
var officeDeeds = syntax.Set("handle update review check share forward follow schedule confirm upload sync push merge deploy draft ping cover arrange")

// agreed reports whether a clause ends with what was agreed, for the day that it names: 我和医生约了周五.
func agreed(x string) bool {
	head, ok := strings.CutSuffix(strings.TrimRight(x, "。，! "), "了")
	return ok && syntax.EndsWithAny(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(head, "好"), "下"), "在"), []string{"约", "订", "定", "安排"})
}

// definite does the same as [discourse.Clause.Definite], for a Chinese clause with the event word.
func definite(x, word string) bool {
	if due(x) || syntax.ContainsAny(x, "我的", "你的", "这个", "那个", "这场", "那场", "把") {
		return true
	}
	_, after, ok := strings.Cut(x, word)
	return ok && word != "" && syntax.StartsWithAny(after, []string{"是", "在", "定在", "安排在"})
}

// due reports whether a Chinese clause says when something is due or over: 房租周一到期.
func due(x string) bool {
	x = syntax.TrimHeads(strings.TrimRight(x, "。！! 了"), "之前", "以前", "前") // 周五之前得交: what?
	return len([]rune(x)) > 3 && syntax.EndsWithAny(x, []string{"到期", "截止", "过期", "结束", "开始", "失效", "续费", "要交", "该交", "得交", "开售", "开学", "送到", "发货"})
}
