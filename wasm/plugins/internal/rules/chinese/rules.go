package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// rule has phrases that say the same about somebody.
type rule struct {
	kind, attribute string
	many, negates   bool
	phrases         []phrase
}

// phrase is one wording of a rule: the text before the key is the subject; the text after it, up to
// until if that is set, is the object.
type phrase struct {
	key, until string
	confidence float64
}

// rules are in the order in which they are tried: the longer phrase first.
var rules = [...]rule{
	{"residence", "home", false, true, []phrase{{"不住", "了", 0.85}, {"不住在", "", 0.88}, {"不在", "住", 0.85}}},
	{"work", "employer", false, true, []phrase{{"不在", "工作", 0.88}, {"不在", "上班", 0.88}, {"不在", "干了", 0.88}}},
	{"biography", "education", true, false, []phrase{{"在", "留学", 0.85}, {"在", "读", 0.8}}},
	{"work", "employer", false, false, []phrase{{"在", "做", 0.85}}},
	{"habit", "volunteers_at", true, false, []phrase{{"在", "做义工", 0.85}, {"在", "做志愿者", 0.85}, {"在", "当志愿者", 0.85}}},
	{"residence", "home", false, false, []phrase{{"搬到了", "", 0.9}, {"搬到", "", 0.88}, {"搬回了", "", 0.85}, {"搬回", "", 0.85}, {"搬去了", "", 0.88}, {"搬去", "", 0.82}, {"搬来了", "", 0.85}, {"搬进了", "", 0.82}, {"搬", "了", 0.8}, {"住在", "", 0.92}, {"家在", "", 0.88}, {"住", "", 0.85}}},
	{"work", "employer", false, false, []phrase{{"跳槽到了", "", 0.88}, {"跳槽到", "", 0.88}, {"跳槽去了", "", 0.88}, {"跳槽去", "", 0.88}, {"跳到了", "公司", 0.85}, {"跳到", "公司", 0.85}, {"换到了", "公司", 0.85}, {"换到", "公司", 0.85}, {"换到", "上班", 0.85}, {"换到", "工作", 0.85}, {"入职了", "", 0.88}, {"入职", "", 0.85}, {"加入了", "", 0.85}, {"加入", "的", 0.85}}},
	{"work", "employer", false, true, []phrase{{"从", "辞职", 0.88}}},
	{"work", "employer", false, false, []phrase{{"在", "工作", 0.88}, {"在", "上班", 0.9}, {"在", "上夜班", 0.85}, {"在", "上早班", 0.85}, {"在", "当", 0.8}}},
	{"biography", "worked_as", true, false, []phrase{{"当过", "", 0.8}}},
	{"diet", "avoids", true, false, []phrase{{"在戒", "", 0.8}}},
	{"biography", "education", true, false, []phrase{{"毕业于", "", 0.92}, {"在", "读书", 0.82}, {"在", "上学", 0.85}}},
	{"biography", "grew_up_in", false, false, []phrase{{"在", "长大", 0.9}}},
	{"biography", "birthplace", false, false, []phrase{{"在", "出生", 0.9}, {"出生在", "", 0.9}, {"出生于", "", 0.9}}},
	{"biography", "education", true, false, []phrase{{"从", "毕业", 0.9}, {"学的是", "", 0.88}}},
	{"biography", "origin", false, false, []phrase{{"来自", "", 0.9}, {"老家在", "", 0.9}, {"老家是", "", 0.9}, {"老家", "的", 0.85}}},
	{"preference", "dislikes", true, false, []phrase{{"对", "没什么兴趣", 0.85}, {"对", "没兴趣", 0.85}, {"对", "没有兴趣", 0.85}, {"对", "不感兴趣", 0.85}}},
	{"preference", "likes", true, false, []phrase{{"对", "很感兴趣", 0.85}, {"对", "感兴趣", 0.85}}},
	{"allergy", "allergies", true, false, []phrase{{"对", "不耐受", 0.9}}},
	{"allergy", "allergies", true, true, []phrase{{"对", "已经不过敏", 0.9}, {"对", "不再过敏", 0.9}, {"对", "并不过敏", 0.9}, {"对", "没有过敏", 0.9}, {"对", "没过敏", 0.9}, {"对", "不过敏", 0.9}}},
	{"allergy", "allergies", true, false, []phrase{{"对", "过敏", 0.93}}},
	{"diet", "avoids", true, false, []phrase{{"不再吃", "", 0.88}, {"不再喝", "", 0.88}}},
	{"preference", "likes", true, true, []phrase{{"不再喜欢", "", 0.85}}},
	{"preference", "dislikes", true, false, []phrase{{"不喜欢吃", "", 0.9}, {"不喜欢喝", "", 0.9}, {"不太喜欢", "", 0.85}, {"不喜欢", "", 0.9}, {"不爱吃", "", 0.9}, {"不爱喝", "", 0.9}, {"不爱", "", 0.85}}},
	{"diet", "avoids", true, false, []phrase{{"吃不了", "", 0.85}, {"喝不了", "", 0.85}}},
	{"preference", "dislikes", true, false, []phrase{{"吃不惯", "", 0.85}, {"喝不惯", "", 0.85}, {"不怎么吃", "", 0.85}, {"不怎么喝", "", 0.85}, {"不怎么喜欢", "", 0.85}, {"讨厌", "", 0.9}, {"最烦", "", 0.85}, {"受不了", "", 0.85}, {"闻不了", "", 0.85}, {"闻不得", "", 0.85}, {"闻不惯", "", 0.85}}},
	{"preference", "likes", true, false, []phrase{{"迷上了", "", 0.85}, {"爱上了", "", 0.8}, {"喜欢吃", "", 0.9}, {"喜欢喝", "", 0.9}, {"爱吃", "", 0.9}, {"爱喝", "", 0.9}, {"喜欢", "", 0.9}, {"爱", "", 0.85}}},
	{"diet", "avoids", true, false, []phrase{{"不吃", "", 0.88}, {"不能喝", "", 0.88}, {"不能吃", "", 0.88}, {"不能打", "", 0.85}, {"不能用", "", 0.85}, {"不喝", "", 0.88}, {"戒了", "", 0.85}}},
	{"diet", "diet", false, false, []phrase{{"吃素", "", 0.9}, {"吃全素", "", 0.9}, {"吃纯素", "", 0.9}}},
	{"biography", "speaks", true, false, []phrase{{"会说", "", 0.85}}},
	{"relation", "marital_status", false, false, []phrase{{"结婚了", "", 0.88}, {"离婚了", "", 0.88}}},
	{"work", "job", false, false, []phrase{{"退休了", "", 0.88}}},
	{"diet", "avoids", true, false, []phrase{{"戒烟", "", 0.88}, {"戒酒", "", 0.88}}},
	{"preference", "afraid_of", true, false, []phrase{{"害怕", "", 0.85}, {"怕", "", 0.8}}},
	{"place", "location", false, false, []phrase{{"忘在了", "", 0.85}, {"忘在", "", 0.85}, {"落在了", "", 0.85}, {"落在", "", 0.85}, {"丢在了", "", 0.85}, {"丢在", "", 0.85}, {"锁在", "", 0.85}, {"写在", "", 0.8}, {"贴在", "", 0.8}, {"寄存在", "", 0.85}, {"寄放在", "", 0.85}, {"挂在", "", 0.85}, {"摆在", "", 0.85}, {"收在", "", 0.85}, {"搁在", "", 0.85}, {"塞在", "", 0.85}, {"藏到", "", 0.8}, {"放到", "", 0.8}, {"放在了", "", 0.85}, {"放在", "", 0.85}, {"停在", "", 0.85}, {"藏在", "", 0.85}, {"放进", "", 0.8}, {"收到", "", 0.8}, {"收进", "", 0.8}, {"锁进", "", 0.8}, {"塞进", "", 0.8}, {"塞到", "", 0.8}, {"放", "", 0.8}, {"搁", "", 0.8}, {"塞", "", 0.8}, {"停", "", 0.8}}},
	{"family", "pets", true, false, []phrase{{"养了", "", 0.9}}},
	{"possession", "owns", true, true, []phrase{{"卖了", "", 0.75}}},
	{"possession", "owns", true, false, []phrase{{"买了", "", 0.78}}},
	{"habit", "learning", true, false, []phrase{{"正在学", "", 0.8}, {"在学", "", 0.75}}},
	{"habit", "plays", true, false, []phrase{{"会弹", "", 0.85}, {"会拉", "", 0.85}, {"会吹", "", 0.85}}},
}

// match is a clause with the phrase of a rule, split: 我, 在, 华为, 当, 工程师.
type match struct {
	*rule
	phrase
	before string // the key
	object string
	after  string // until; empty if the rule has none
	future bool   // the clause names a future day
	dated  bool   // the clause names a day, a month or a year
}

// matched tries the rules; it reports whether one of them knew the clause.
func matched(t *discourse.Talk, b *discourse.BareZh) bool {
	var p match
	for k := range b.Whens {
		p.dated = p.dated || b.Whens[k].HasDay && !b.Whens[k].Habit
		p.future = p.future || !b.Whens[k].Habit && b.Whens[k].HasDay && b.Whens[k].Unix() > t.Ev.At+3600_000
	}
	for i := range rules {
		p.rule = &rules[i]
		for _, p.phrase = range p.phrases {
			ok := false
			if p.before, p.object, ok = strings.Cut(b.Text, p.key); ok && p.until != "" {
				p.object, p.after, ok = strings.Cut(p.object, p.until)
				ok = ok && p.object != ""
			}
			if i := strings.LastIndex(p.object, "在"); ok && i > 0 && p.attribute == "education" {
				p.object = p.object[i+len("在"):] // 我在英国待过三年在曼城读的本科
			}
			if ok && knownPhrase(t, b, &p) {
				return true
			}
		}
	}
	return false
}

// knownPhrase proposes what a phrase says. It returns false if the phrase is there by chance, so
// that another may be tried.
func knownPhrase(t *discourse.Talk, b *discourse.BareZh, p *match) bool {
	if p.unsettled() || aim(t, p) || strings.HasPrefix(p.key, "搬") && !strings.HasSuffix(p.key, "了") && ahead(t, b) {
		return true
	}
	if season := discourse.TrimZhEnd(p.object); p.attribute == "birthplace" && calendar.Named(season) != nil { // 我出生在夏天
		who, ok := t.SubjectZh(p.subject())
		if ok {
			t.FactZh(b, who, "biography", "birthday", season, false, false, 0.9)
		}
		return ok
	}
	if (strings.HasPrefix(p.key, "跳到") || strings.HasPrefix(p.key, "换到")) && p.until == "公司" && generalFirm(p.object) {
		p.object += p.until // 一家新公司
	}
	if p.misread() || p.before != "" && syntax.ContainsAny(t.Said.Raw(), "或者"+p.before, "要么"+p.before) { // 我哥或者我姐住在成都
		return false
	}
	if p.attribute == "allergies" && syntax.ContainsAny(t.Said.Raw(), "现在好了", "已经好了", "后来好了", "现在没事了", "脱敏") {
		return true // 从小对鸡蛋过敏，现在好了
	}
	if p.attribute == "location" {
		put(t, b, p)
		return true
	}
	if what, allergic := strings.CutSuffix(discourse.TrimZhEnd(p.object), "过敏"); allergic && p.attribute == "avoids" && discourse.AllergenZh(what) {
		who, ok := t.SubjectZh(p.before)
		if ok { // 我不喝酒精过敏
			health(t, b, who, "allergies", what)
			t.Out.Candidates[len(t.Out.Candidates)-1].Kind = "allergy"
		}
		return ok
	}
	if p.attribute == "avoids" && strings.HasSuffix(p.before, "从来") {
		p.object = strings.TrimSuffix(discourse.TrimZhEnd(p.object), "的") // 我从来不喝酒的
	}
	who, object, denies := discourse.OfAllergyZh(p.attribute, p.subject(), p.object)
	switch {
	case strings.HasPrefix(p.key, "不喜欢") || strings.HasPrefix(p.key, "不爱"):
		object = otherTaste(t, b, who, object, "likes", "喜欢吃", "喜欢喝", "爱吃", "爱喝")
	case p.attribute == "likes":
		object = otherTaste(t, b, who, object, "dislikes", "不喜欢", "不爱", "讨厌")
		for _, than := range [...]string{"多过", "胜过", "甚于", "超过", "但"} { // 米饭多过面条, 辣但怕上火
			object, _, _ = strings.Cut(object, than)
		}
	}
	whose, ok := t.SubjectZh(who)
	if !ok {
		return false
	}
	if passing(t, b, p, whose, object) {
		return true
	}
	if object, ok = p.named(object); !ok || strings.HasPrefix(object, "的") { // 我最喜欢的演员结婚了
		return false
	}
	if p.attribute == "home" {
		if where, _, with := strings.Cut(object, "跟"); with && utf8.RuneCountInString(where) >= 2 {
			object = where // 搬到苏州跟女儿住
		}
		for _, tail := range [...]string{"去", "来", "住"} { // 搬到上海去了
			if city, cut := strings.CutSuffix(strings.TrimSuffix(object, "了"), tail); cut && utf8.RuneCountInString(city) >= 2 {
				object = city
			}
		}
	}
	if p.key == "买了" || p.key == "卖了" {
		bare := strings.TrimLeft(object, "一二两三辆台部个只把件套架条双张份束")
		if strings.HasPrefix(bare, "手") && strings.HasSuffix(object, "二"+bare) {
			bare = "二" + bare // 二手思域
		}
		object = bare
		if slices.Contains([]string{"单", "账", "教训", "他的账", "花", "保险"}, object) || syntax.StartsWithAny(object, []string{"瓶水", "瓶酒", "瓶饮料", "包烟", "斤", "点", "些"}) {
			return true
		}
		if owned, ok := strings.CutPrefix(whose.Name, t.Self.Name+"的"); ok && object == "" {
			object = owned
		}
		for _, more := range [...]string{"一年", "一个月", "花了", "才", "都"} {
			if i := strings.Index(object, more); i > 0 {
				object = object[:i] // 重疾险一年交八千
			}
		}
		if syntax.StartsWithAny(object, []string{"没", "不", "也", "就", "才", "还", "又", "以后", "之后", "后"}) {
			return true // 买了没啥用
		}
		if syntax.ContainsAny(object, "咖啡", "菜", "水果", "面包", "牛奶", "票", "奶茶", "早饭", "午饭", "晚饭", "蛋糕") {
			return true
		}
	}
	negates := p.negates || denies || strings.HasSuffix(strings.TrimRight(p.before, " 再太很"), "不") && p.attribute != "avoids"
	parts := []string{object}
	if p.many && p.attribute != "education" {
		parts = strings.FieldsFunc(object, func(r rune) bool { return r == '和' || r == '、' || r == '跟' })
	}
	for _, o := range parts {
		t.FactZh(b, whose, p.kind, p.attribute, o, p.many, negates, p.confidence)
	}
	jobAfter(t, b, p, whose)
	return true
}

// unsettled reports whether something is planned and not done yet, or is a meal, from which no fact
// follows.
func (p *match) unsettled() bool {
	switch {
	case p.attribute == "location" && strings.HasPrefix(p.before, "把") && !strings.Contains(p.key+p.object, "了"):
		return true // 把书放桌上
	case strings.HasPrefix(p.key, "搬"):
		return p.future || syntax.ContainsAny(p.before, "要", "打算", "想")
	case p.attribute == "employer" && p.future && p.key == "入职" && !strings.HasSuffix(discourse.TrimZhEnd(p.object), "了"):
		return true // 下个月三号入职美团
	case strings.HasPrefix(p.key, "跳"), strings.HasPrefix(p.key, "换到"):
		return p.future || syntax.ContainsAny(p.before, "要", "打算", "想", "准备", "会", "考虑", "没", "不")
	case p.key == "买了":
		return p.future
	case p.attribute == "employer" || p.attribute == "marital_status" || p.attribute == "job" || p.attribute == "home":
		if syntax.EndsWithAny(p.before, []string{"想", "打算", "考虑", "准备", "计划"}) { // 我哥打算结婚了
			return true
		}
	}
	return strings.HasPrefix(p.key, "不") && p.attribute == "avoids" && syntax.ContainsAny(p.object, "就", "会", "怎么", "哪来", "哪有", "长不", "多没", "伤身", "伤胃", "对身体", "不行", "不好") || // 不吃午饭就偏头痛, 不吃青菜长不高
		p.key == "不吃" && strings.HasPrefix(p.object, "饭")
}

// aim reports whether the text follows a word for somebody's aim: 我有个打算，就是搬去成都.
func aim(t *discourse.Talk, p *match) bool {
	return strings.Contains(t.Said.Raw(), "就是"+p.key) && syntax.ContainsAny(t.Said.Raw(), "打算", "想法", "计划", "梦想", "心愿", "愿望", "目标")
}

// misread reports whether the phrase is among the words by chance, or says less than it seems to.
func (p *match) misread() bool {
	if p.attribute == "location" && strings.HasSuffix(p.before, "被") || (p.attribute == "diet" || p.attribute == "avoids") && syntax.ContainsAny(p.before, "以前", "从前", "曾经", "小时候") {
		return true // 我被锁在外面了, 我以前吃素
	}
	if p.attribute == "avoids" && strings.HasPrefix(p.object, "了") && len(p.object) > len("了") {
		return true // 不吃了不吃了
	}
	if host, there := syntax.CutEnd(syntax.TrimZh(p.object), "那儿", "那里"); p.attribute == "home" && there && syntax.PersonZh(host) {
		return true // 周四住在老刘那儿
	}
	switch p.key {
	case "卖了", "买了", "戒了":
		return strings.Trim(syntax.TrimZh(p.object), syntax.DigitsZh+"块元钱多有年个月天") == "" && syntax.TrimZh(p.object) != "" // 卖了六万二, 戒了有三年
	case "不能打", "不能用": // 我不能打青霉素
		return !Drug(syntax.TrimZh(p.object)) && !syntax.EndsWithAny(syntax.TrimZh(p.object), []string{"霉素", "疫苗", "麻药"})
	case "不吃":
		return strings.HasPrefix(p.object, "素") // words with this ending are not meat
	case "最烦":
		return syntax.TrimZh(p.object) == "人" // he is a nuisance
	case "收到", "收进", "锁进", "塞进", "塞到": // 我把大衣都收到箱子里了, and not 我收到通知
		return !strings.Contains(p.before, "把") || !syntax.EndsWithAny(syntax.TrimZh(p.object), places[:])
	case "放", "搁", "塞", "停", "放进": // 医保卡放抽屉里了
		return !strings.Contains(p.before, "把") && !syntax.EndsWithAny(strings.TrimRight(p.before, "我都"), Things[:]) || !syntax.EndsWithAny(syntax.TrimZh(p.object), places[:]) || strings.HasSuffix(p.before, "心")
	case "加入": // 我是2020年加入华为的
		return !strings.HasSuffix(p.before, "是") || p.after != "" || !joinedFirm(p.object)
	case "加入了": // 我2020年加入了华为
		return !joinedFirm(p.object) || !p.dated && !syntax.EndsWithAny(syntax.TrimZh(p.object), []string{"公司", "集团", "银行", "医院", "大学", "事务所", "科技", "工作室"})
	case "老家": // 我老家湖南的
		n := utf8.RuneCountInString(p.object)
		return n < 2 || n > 4 || p.after != "" || strings.ContainsAny(p.object, "在是有来去人房我你他她")
	case "搬": // 我现在搬顺义了
		return p.after != "" || !district(p.object) || syntax.ContainsAny(p.before, "把", "给", "帮") || syntax.StartsWithAny(p.object, []string{"到", "去", "来", "进", "回", "走", "出", "公司", "办公", "学校", "单位", "东西", "行李"})
	case "住": // 我现在住望京
		return !district(syntax.TrimZh(p.object)) || strings.Contains(p.object, "住") // 我住成都住腻了
	case "爱": // 我爸爱钓鱼, but not 可爱 and 爱来不来
		return !syntax.StartsWithAny(p.object, pastimes[:]) || syntax.StartsWithAny(p.object, []string{"打听", "画饼", "画大饼", "打架", "打人", "打岔"}) || strings.Contains(p.object, "不") || syntax.EndsWithAny(p.before, []string{"可", "恋", "热", "亲", "心", "不", "没"})
	case "会拉", "会吹":
		return !syntax.EndsWithAny(syntax.TrimZh(p.object), []string{"琴", "提琴", "二胡", "笛", "笛子", "箫", "号", "萨克斯", "口琴", "唢呐", "葫芦丝"})
	case "怕":
		return !slices.Contains(noted.DreadsZh[:], syntax.TrimZh(p.object)) && (!syntax.EndsWithAny(p.before, []string{"我", "很", "最", "特别", "从小就"}) || strings.HasPrefix(p.object, "是") || utf8.RuneCountInString(p.object) > 5 || syntax.ContainsAny(p.object, "不", "我", "他", "她", "堵", "忘", "搬", "下雨", "死", "来"))
	case "搬回", "搬回了":
		return syntax.StartsWithAny(p.object, []string{"来", "去"}) // 我搬回来了: where to?
	case "结婚了", "离婚了", "退休了":
		return toCome(p.before) || p.future // 我还有一年就退休了
	}
	return p.until == "读" && strings.Contains(p.object, "家里") ||
		(p.until == "做" || p.until == "当") && (syntax.StartsWithAny(p.object, []string{"找", "考虑", "犹豫", "给", "帮", "跟", "为", "努力", "学"}) || syntax.StartsWithAny(p.after, []string{"过", "了"})) ||
		p.until == "干了" && (strings.Trim(p.after, "。！! ") != "" || utf8.RuneCountInString(p.object) < 2) || // 我不在乎干了多久
		(p.until == "工作" || p.until == "上班") && (syntax.ContainsAny(p.object, "找", "换", "赶", "挑", "帮", "想", "忙着", "讨厌", "加班", "兼职", "边", "也要") || syntax.StartsWithAny(p.object, []string{"考虑", "努力", "认真", "拼命", "安心", "专心", "远程"})) || // 我姐在上海找工作
		p.key == "家在" && syntax.StartsWithAny(p.object, []string{"装", "翻", "拆", "修", "吵", "办", "下雪", "下雨", "漏", "停", "打扫", "吃", "附近", "搬", "做", "请"}) || // 我家在装修
		p.key == "老家在" && strings.HasPrefix(p.object, "下") ||
		p.until == "做" && (strings.Contains(p.object, "家里") || p.object == "家" || !syntax.EndsWithAny(syntax.TrimZh(p.after), syntax.JobsZh[:]) && !slices.Contains(lines[:], syntax.TrimZh(p.after))) || // 在家做饭
		p.attribute == "dislikes" && syntax.ContainsAny(p.before, "喜欢", "爱吃", "爱喝") // the phrase of liking reads both
}

// lines are what people do at a company, if there is no name for the job: 在字节跳动做后端.
var lines = [...]string{"后端", "前端", "运营", "市场", "测试", "财务", "人事", "行政", "设计", "研发", "开发", "产品", "算法", "客服", "采购", "审计", "法务", "公关", "数据分析", "技术支持", "管理"}

// pastimes are verbs for what people do because they like it.
var pastimes = [...]string{"钓鱼", "打", "看", "听", "玩", "唱", "跳", "跑步", "读", "逛", "画", "做饭", "做菜", "下棋", "下厨", "下围棋", "下象棋", "骑", "爬山", "养", "种", "写", "拍照", "摄影", "滑", "弹", "拉二胡", "拉小提琴", "游泳", "旅游", "旅行", "健身", "收集", "收藏", "睡懒觉"}

// subject returns the words for whom the phrase is about: 我 for 我从北京搬到上海, and for 比起咖啡我更喜欢喝茶.
func (p *match) subject() string {
	who := p.before
	if strings.HasPrefix(p.key, "搬") || strings.HasPrefix(p.key, "跳") || strings.HasPrefix(p.key, "换") {
		who, _, _ = strings.Cut(who, "从")
	}
	if strings.HasPrefix(p.key, "搬") {
		who, _, _ = strings.Cut(who, "为了")
	}
	if i := strings.LastIndex(who, "比起"); i >= 0 {
		if k := strings.LastIndex(who, "我"); k > i {
			who = who[k:]
		}
	}
	return who
}

// named returns the value that the object names; ok is false if it names none.
func (p *match) named(object string) (value string, ok bool) {
	switch p.key {
	case "戒烟", "戒酒":
		object = strings.TrimPrefix(p.key, "戒")
	case "吃素":
		return p.key, true
	case "结婚了", "离婚了", "退休了":
		object = strings.TrimSuffix(p.key, "了")
	case "养了":
		if strings.HasPrefix(object, "好") {
			return "", false
		}
		if _, name, ok := strings.Cut(object, "叫"); ok {
			object = name
		}
	}
	object = strings.TrimPrefix(strings.TrimLeft(object, "吃喝 "), "在")
	return object, !strings.HasPrefix(object, "过") && !Count(discourse.TrimZhEnd(object)) && discourse.TrimZhEnd(object) != "死了" && (p.key != "在学" || !strings.HasPrefix(object, "校"))
}

// Count reports whether s says how many or how long, but not of what: 两只, 两年多了.
func Count(s string) bool {
	rest := strings.TrimLeft(s, "〇零一二两三四五六七八九十几半多好0123456789")
	return rest != s && strings.Trim(rest, "年个月天只条次岁回周星期了多半大小") == ""
}

// put proposes where a thing was put: 我把护照放在抽屉里, 发票我都放在抽屉里.
func put(t *discourse.Talk, b *discourse.BareZh, p *match) {
	what := syntax.TrimAdverbsZh(syntax.StripLeadZh(p.before))
	if _, after, ok := strings.Cut(what, "把"); ok && after != "" {
		what = syntax.TrimHeads(after, "你的", "您的", "你那个", "你", "那个", "这个")
	}
	what, _ = syntax.CutHead(what, "我把", "我们把", "把", "我的", "我")
	what = strings.TrimSuffix(strings.TrimSuffix(what, "记得"), "明明")
	for _, by := range [...]string{"都", "一般", "平时", "全", "我们", "我"} {
		if rest := strings.TrimSuffix(what, by); rest != "" {
			what = rest
		}
	}
	if what != "" && utf8.RuneCountInString(what) <= 10 && !syntax.VagueZh(what) && utf8.RuneCountInString(syntax.TrimZh(p.object)) > 1 && !syntax.EndsWithAny(what, []string{"记得", "觉得", "以为", "好像", "知道"}) { // 我明明记得放在…: what?
		t.FactZh(b, discourse.Person{Name: what, Key: what}, p.kind, p.attribute, ownPlace(t, p.object), false, false, p.confidence)
	}
}

// passing takes where somebody stays, or works, if that is not a home or employer: 住在酒店, 在浦东上班.
func passing(t *discourse.Talk, b *discourse.BareZh, p *match, who discourse.Person, object string) bool {
	switch {
	case p.negates:
		return false
	case p.attribute == "home":
		abode := abode(object, strings.HasPrefix(p.key, "搬"))
		if abode == discourse.Passing {
			t.FactZh(b, who, "place", "staying_at", object, false, false, 0.7)
		}
		return abode != discourse.Dwelling
	case p.attribute == "employer" && !employs(object):
		if v := syntax.TrimZh(object); discourse.CitiesZh[v] && v != "家" || strings.HasSuffix(v, "区") || strings.HasSuffix(v, "中心") {
			t.FactZh(b, who, "work", "works_in", object, false, false, 0.8)
			jobAfter(t, b, p, who)
		}
		return true
	}
	return false
}

// otherTaste returns the first object of 喜欢喝茶不喜欢喝咖啡, and proposes the second, which follows one of
// the phrases, with the other attribute.
func otherTaste(t *discourse.Talk, b *discourse.BareZh, who, object, attribute string, phrases ...string) string {
	for _, k := range phrases {
		first, second, ok := strings.Cut(object, k)
		if p, known := t.SubjectZh(who); ok && known && first != "" && second != "" {
			t.FactZh(b, p, "preference", attribute, strings.TrimLeft(second, "吃喝 "), true, false, 0.85)
			return first
		}
	}
	return object
}
