package chinese

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// attributes are properties of which somebody has one: 我的血型是O型.
var attributes = [...]struct{ word, kind, attribute string }{
	{"鞋码", "preference", "shoe_size"}, {"衣服尺码", "preference", "clothes_size"}, {"血型", "biography", "blood_type"}, {"星座", "biography", "star_sign"},
	{"母语", "biography", "speaks"}, {"身高", "biography", "height"}, {"体重", "biography", "weight"}, {"国籍", "biography", "nationality"}, {"民族", "biography", "ethnicity"},
	{"专业", "biography", "education"}, {"小名", "biography", "called"}, {"英文名", "biography", "called"}, {"职业", "work", "job"}, {"籍贯", "biography", "origin"},
}

// lasting takes what is true of somebody for long: measurements, names, illnesses, attainments and
// habits.
func lasting(t *discourse.Talk, b *discourse.BareZh) bool {
	return level(t, b) || measures(t, b) || alsoCalled(t, b) || state(t, b) || takes(t, b) || attained(t, b) || usually(t, b)
}

// measures takes properties of which the speaker has one: a weight, a salary, an animal of the
// zodiac.
func measures(t *discourse.Talk, b *discourse.BareZh) bool {
	x := b.Text
	if kilos, ok := weighs(t, x); ok {
		t.FactZh(b, t.Self, "biography", "weight", kilos, false, false, 0.85)
		t.Out.Candidates[len(t.Out.Candidates)-1].Sensitivity = "private"
		return true
	}
	if salary(t, b) {
		return true
	}
	who, sign, ok := strings.Cut(syntax.TrimZh(x), "属")
	sign, _, _ = strings.Cut(sign, "的") // 我属兔的八七年的
	if ok && who == "我" && utf8.RuneCountInString(sign) == 1 && strings.Contains("鼠牛虎兔龙蛇马羊猴鸡狗猪", sign) {
		t.FactZh(b, t.Self, "biography", "chinese_zodiac", sign, false, false, 0.88)
		return true
	}
	if size, ok := strings.CutPrefix(x, "我穿"); ok {
		if size, ok := syntax.CutEnd(syntax.TrimZh(size), "码的鞋", "码鞋", "号的鞋", "号鞋"); ok && strings.Trim(size, "0123456789一二三四五六七八九十半.") == "" {
			t.FactZh(b, t.Self, "preference", "shoe_size", size+"码", false, false, 0.85)
			return true
		}
	}
	for _, a := range attributes {
		head, value, _ := strings.Cut(x, a.word)
		value, is := strings.CutPrefix(value, "是")
		if rest, called := strings.CutPrefix(value, "叫"); called && a.attribute == "called" {
			value, is = rest, true
		}
		if is = is || a.attribute == "height" && strings.ContainsAny(value, "0123456789一二") && !strings.Contains(value, "的"); is && (head == "我的" || head == "我") {
			if first, _, more := strings.Cut(value, "跟"); more && first != "" {
				value = first // B型跟我妈一样
			}
			t.FactZh(b, t.Self, a.kind, a.attribute, value, false, false, 0.88)
			return true
		}
		if is && head != "" && (a.attribute == "height" || a.attribute == "blood_type" || a.attribute == "education") && syntax.KinPrefixZh(strings.TrimPrefix(head, "我")) != "" {
			if p, ok := t.SubjectZh(strings.TrimSuffix(head, "的")); ok && p.Key != t.Self.Key { // 我弟弟身高一米八五
				t.FactZh(b, p, a.kind, a.attribute, value, false, false, 0.85)
				return true
			}
		}
	}
	return false
}

// alsoCalled takes a surname, and what others call the speaker.
func alsoCalled(t *discourse.Talk, b *discourse.BareZh) bool {
	if who, name, ok := strings.Cut(strings.TrimPrefix(b.Text, "免贵"), "姓"); ok && !strings.HasSuffix(who, "来的") && utf8.RuneCountInString(syntax.TrimZh(name)) <= 2 && strings.ContainsAny(syntax.SurnamesZh, syntax.TrimZh(name)) && factOf(t, b, who, "biography", "surname", name, 0.9) {
		return true
	}
	for _, k := range [...]string{"大家都叫我", "他们都叫我", "朋友都叫我", "朋友们都叫我", "都叫我", "你可以叫我", "叫我"} {
		if name, ok := strings.CutPrefix(b.Text, k); ok && discourse.NameZh(syntax.TrimZh(name)) && !strings.HasSuffix(name, "吧") && !ordered(name) && len(b.Whens) == 0 {
			t.FactZh(b, t.Self, "biography", "called", name, false, false, 0.8)
			return true
		}
	}
	return false
}

// state takes that somebody is out of work, suffers from something, or has been married for years.
func state(t *discourse.Talk, b *discourse.BareZh) bool {
	x, end := b.Text, discourse.TrimZhEnd(b.Text)
	for _, k := range [...]string{"失业了", "下岗了", "被裁了", "被裁员了", "被辞退了"} {
		if who, ok := strings.CutSuffix(end, k); ok && factOf(t, b, who, "work", "job", "失业", 0.85) {
			return true
		}
	}
	if who, ok := strings.CutSuffix(end, "戒了"); ok { // 我终于把烟给戒了
		who = syntax.TrimAdverbsZh(syntax.TrimTails(who, "给", "都", "就"))
		for _, what := range [...]string{"烟", "酒", "咖啡", "奶茶", "可乐", "甜食"} {
			if who, ok := strings.CutSuffix(who, what); ok && factOf(t, b, syntax.TrimAdverbsZh(strings.TrimSuffix(who, "把")), "diet", "avoids", what, 0.85) {
				return true
			}
		}
	}
	if what, ok := strings.CutSuffix(syntax.TrimZh(x), "不耐受"); ok && !strings.Contains(what, "对") {
		what = strings.TrimPrefix(what, "我")
		if n := utf8.RuneCountInString(what); n >= 1 && n <= 4 {
			health(t, b, t.Self, "allergies", what+"不耐受")
			return true
		}
	}
	if outOfRange(t, b) {
		return true
	}
	for _, k := range [...]string{"恐高", "色盲", "色弱", "晕车", "晕船", "左撇子", "独生子", "独生女", "近视", "老花眼", "耳背", "耳聋", "怀孕了"} {
		if who, ok := strings.CutSuffix(end, k); ok && healthOf(t, b, strings.TrimSuffix(who, "是"), "trait", k) {
			return true
		}
	}
	who, _, ok := strings.Cut(x, "结婚")
	return ok && strings.HasSuffix(syntax.TrimZh(x), "年") && factOf(t, b, who, "relation", "marital_status", "结婚", 0.88)
}

// attained takes what somebody has passed, won, given birth to or left, without a day.
func attained(t *discourse.Talk, b *discourse.BareZh) bool {
	x := b.Text
	if len(b.Whens) > 0 || strings.Contains(x, "没") && !syntax.ContainsAny(x, "没考过", "没通过", "没过") {
		return false
	}
	for _, k := range [...]string{"考上", "考过", "考了第", "得了第", "拿了第", "拿到", "通过了", "升职", "毕业", "订婚", "提了离职", "提离职", "提出离职", "提了辞职", "提辞职", "提出辞职", "递了辞", "交了辞", "辞职", "离职", "怀孕", "生了个女儿", "生了个儿子", "生了一个", "生了对双胞胎", "生了双胞胎", "被录取", "获奖", "中奖", "领证", "出院", "涨工资", "涨薪", "加薪", "住院", "发烧", "感冒", "骨折", "摔断", "摔伤", "扭伤", "崴了", "生了", "没考过", "没通过", "没过", "落榜", "确诊", "流产", "打了石膏", "换工作", "退租", "买房", "搬家"} {
		i := strings.Index(x, k)
		if i >= 0 && (k == "没过" || k == "生了") && strings.TrimSuffix(discourse.TrimZhEnd(x[i+len(k):]), "了") != "" {
			continue // 没过敏, 生了病
		}
		if i < 0 || !strings.HasSuffix(discourse.TrimZhEnd(x), "了") && !strings.Contains(x[i:], "了") || strings.Contains(x[i:], "吗") || syntax.EndsWithAny(x[:i], []string{"要", "快", "会", "能", "想", "可以"}) {
			continue
		}
		who := strings.TrimSuffix(syntax.TrimAdverbsZh(strings.TrimSuffix(x[:i], "又")), "被")
		p, ok := t.SubjectZh(who)
		if !ok && syntax.CalledSmallZh(who) {
			p, ok = t.Named(who), true
		}
		if ok {
			a := t.BaseZh(b, "episodic", "event", p, 0.65)
			a.EventType, a.Actor, a.Started = "event", p.Name, t.Ev.At
			t.Out.Candidates = append(t.Out.Candidates, a)
			return true
		}
	}
	return false
}

// usually takes for what the speaker prepares, and their habits.
func usually(t *discourse.Talk, b *discourse.BareZh) bool {
	x := b.Text
	if what, ok := strings.CutPrefix(x, "我在准备"); ok && len(b.Whens) == 0 {
		t.FactZh(b, t.Self, "habit", "prepares_for", what, true, false, 0.75)
		return true
	}
	for _, k := range [...]string{"平时", "一般", "通常", "经常", "总是", "习惯"} {
		_, rest, ok := strings.Cut(x, k)
		if ok && (strings.HasPrefix(x, "我") || strings.HasPrefix(x, k)) && utf8.RuneCountInString(rest) >= 2 && !syntax.StartsWithAny(rest, []string{"吧", "般", "的", "人", "来说"}) && !syntax.ContainsAny(rest, "你", "忘") && !(k == "习惯" && strings.HasPrefix(rest, "了")) {
			p, known := t.Self, true
			if strings.HasPrefix(x, k) {
				p, known = t.SubjectlessZh()
			}
			if known {
				habitual(t, b, p, 0.7)
			}
			return true
		}
	}
	return false
}

// habitual proposes what somebody usually does; its times are not dates.
func habitual(t *discourse.Talk, b *discourse.BareZh, p discourse.Person, confidence float64) {
	if syntax.ContainsAny(b.Text, "选错", "最慢", "倒霉", "踩雷", "堵车", "受够", "吃腻", "烦透") {
		return // 我总是排最慢的队
	}
	dateless := *b
	dateless.Whens = nil
	a := t.BaseZh(&dateless, "semantic", "habit", p, confidence)
	if what := routineOf(b); what != "" && p.Key == t.Self.Key {
		often := what
		for _, w := range b.Whens {
			if w.Habit && w.Next > w.First {
				often = b.S.Text[b.S.Toks[w.First].Start:b.S.Toks[w.Next-1].End]
			}
		}
		a.Slot = &abi.Slot{Subject: p.Key, Attribute: discourse.RoutineSlot(what), Value: often, Many: true}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// healthOf does the same as [factOf], for health.
func healthOf(t *discourse.Talk, b *discourse.BareZh, who, attribute, value string) bool {
	p, ok := t.SubjectZh(who)
	if ok {
		health(t, b, p, attribute, value)
	}
	return ok
}

func health(t *discourse.Talk, b *discourse.BareZh, p discourse.Person, attribute, value string) {
	n := len(t.Out.Candidates)
	t.FactZh(b, p, "health", attribute, value, true, false, 0.85)
	if len(t.Out.Candidates) > n {
		t.Out.Candidates[n].Sensitivity = "private"
	}
}

func condition(s string) bool {
	for _, c := range [...]string{"高血压", "糖尿病", "哮喘", "心脏病", "鼻炎", "胃病", "关节炎", "偏头痛", "抑郁症", "焦虑症", "失眠", "癫痫", "痛风", "湿疹", "贫血", "低血糖", "颈椎病", "腰椎间盘突出", "甲亢", "甲减", "癌症", "荨麻疹", "近视", "脂肪肝", "胃炎", "咽炎", "肾结石", "胆结石", "白内障", "青光眼", "骨质疏松", "高血脂", "支气管炎", "肺炎", "胰腺炎", "结膜炎", "干眼症", "胃溃疡", "肩周炎", "腱鞘炎", "中耳炎", "阑尾炎", "半月板损伤", "半月板撕裂", "腰突", "静脉曲张", "帕金森", "阿尔茨海默", "阿尔茨海默症", "结节", "息肉", "囊肿", "肌瘤"} {
		if strings.HasSuffix(s, c) && utf8.RuneCountInString(s) <= utf8.RuneCountInString(c)+4 {
			return true
		}
	}
	return false
}

// places are endings of words for places of things.
var places = [...]string{"那儿", "那里", "那边", "家里", "家", "手里", "手上", "上面", "下面", "里面", "旁边", "后面", "前面", "中间", "边上", "对面", "背后", "抽屉", "冰箱", "书架", "柜子", "楼", "层", "地下室", "储藏室", "车库", "阳台", "后备箱", "宿舍", "领事馆", "修理店", "上", "里", "下", "边", "内"}

// Things are things that people look for.
var Things = [...]string{"钥匙", "眼镜", "护照", "钱包", "手机", "充电器", "充电线", "遥控器", "雨伞", "伞", "药", "药箱", "车", "自行车", "胰岛素", "耳机", "电脑", "平板", "相机", "身份证", "驾驶证", "房产证", "结婚证", "学生证", "社保卡", "医保卡", "银行卡", "信用卡", "公交卡", "饭卡", "会员卡", "病历", "存折", "发票", "户口本", "文件", "合同", "行李箱", "书", "包", "背包", "工具箱", "手电筒", "电池", "胶水", "剪刀", "螺丝刀", "针线盒", "体温计", "办公室", "工位", "说明书", "票", "门卡", "灭火器", "电闸", "水阀"}

// where takes 眼镜在床头柜上, 我们办公室在五楼: a thing that people look for, and its place.
func where(t *discourse.Talk, b *discourse.BareZh) bool {
	what, where, ok := strings.Cut(b.Text, "在")
	if !ok || len(b.Whens) > 0 {
		return false
	}
	if at, _, asks := strings.Cut(where, "你"); asks && syntax.EndsWithAny(at, places[:]) {
		where = at // 钥匙在我包里你自己拿
	}
	where = syntax.TrimZh(where)
	what = syntax.TrimAdverbsZh(what)
	what = strings.TrimSuffix(strings.TrimSuffix(what, "就"), "放")
	if strings.Contains(what, "把") || syntax.EndsWithAny(what, []string{"停", "锁", "挂", "摆", "收", "搁", "塞", "藏", "忘", "落", "丢", "存", "住", "坐", "站", "躺", "睡"}) {
		return false // handled by rules
	}
	if strings.HasSuffix(what, "包") && strings.HasSuffix(where, "身上") && (what == "包" || syntax.ContainsAny(what, "事", "这", "都", "全")) {
		return false // 这事包在我身上: somebody takes care of it
	}
	if what == "我家" || what == "我们家" {
		floor, _, _ := strings.Cut(where, "不是") // 我家在二楼不是三楼
		return onFloor(t, b, floor)
	}
	owner := ""
	if rest, own := discourse.CutOwnZh(what); own {
		what, owner = rest, t.Self.Name+"的"
	}
	if rest := syntax.TrimHeads(what, "你的", "您的"); rest != what {
		a, ok := t.Addressee()
		if !ok {
			return false
		}
		what, owner = rest, a.Name+"的"
	}
	thing := owner != "" && syntax.KinPrefixZh(what) == "" && !strings.HasSuffix(where, "上") && !syntax.EndsWithAny(what, []string{"心", "人", "家", "钱", "工作", "压力", "精力", "问题", "目标", "重点", "机会", "未来", "兴趣", "名字", "病"})
	if who, of, ok := strings.Cut(what, "的"); ok && owner == "" && (syntax.PersonZh(who) || syntax.KinPrefixZh(who) == who) && syntax.KinPrefixZh(of) == "" && utf8.RuneCountInString(of) > 1 {
		thing = !strings.HasSuffix(where, "上") // 小普的帐篷在我地下室
	}
	known := syntax.EndsWithAny(what, Things[:])
	thing = thing || known || owner == "" && stored(what, where)
	if n := utf8.RuneCountInString(where); !thing || utf8.RuneCountInString(what) > 8 || n < 2 || n > 16 || syntax.VagueZh(where) || strings.ContainsAny(where, "他她你您了") || !known && syntax.EndsWithAny(what, syntax.KinZh[:]) {
		return false
	}
	for _, end := range places {
		if strings.HasSuffix(where, end) {
			t.FactZh(b, discourse.Person{Name: owner + what, Key: strings.ToLower(owner + what)}, "place", "location", ownPlace(t, where), false, false, 0.82)
			return true
		}
	}
	return false
}

// onFloor takes the floor on which the speaker lives: 十二楼.
func onFloor(t *discourse.Talk, b *discourse.BareZh, floor string) bool {
	number, ok := syntax.CutEnd(syntax.TrimZh(floor), "楼", "层")
	if ok = ok && number != "" && strings.Trim(number, syntax.DigitsZh) == ""; ok {
		t.FactZh(b, t.Self, "biography", "floor", number+"楼", false, false, 0.8)
	}
	return ok
}

// ownPlace replaces the speaker's pronoun in a place by their name: 我包里.
func ownPlace(t *discourse.Talk, where string) string {
	before, after, ok := strings.Cut(where, "我")
	switch {
	case !ok || strings.HasPrefix(after, "们"):
		return where
	case syntax.KinPrefixZh(after) != "":
		return before + t.Self.Name + "的" + after
	}
	return before + t.Self.Name + after
}

// notBut takes 聚会不是周六: together with the rest of the sentence, it gives the new time of a known or
// named event.
func notBut(t *discourse.Talk, b *discourse.BareZh) bool {
	whole := b.S.Text[b.S.Start:]
	if i := strings.IndexAny(whole, "。！？\n"); i >= 0 {
		whole = whole[:i]
	}
	head, rest, ok := strings.Cut(whole, "不是")
	ok = ok && strings.Contains(b.S.Raw(), "不是")
	right := ""
	if _, thought, supposed := strings.Cut(whole, "以为"); supposed && strings.Contains(b.S.Raw(), "以为") { // 我以为考试是周二，其实是周三
		head, rest, ok = strings.Cut(thought, "是")
	}
	if ok {
		_, right, ok = strings.Cut(rest, "是")
	}
	if !ok {
		return false
	}
	attr, word := EventIn(head)
	if attr == "" || festiveDay(head) {
		wide := b.S
		wide.End = b.S.Start + len(whole)
		return then(t, wide, head, rest, right)
	}
	s := syntax.Split(right, syntax.Lex(right))
	if len(s) == 0 {
		return false
	}
	to := discourse.Together(timex.FindWhens(s[0], t.Now))
	if to == nil {
		return false
	}
	whose := possessorOf(t, syntax.StripLeadZh(head), word)
	p, known := t.FindOf(whose, nil, attr, word)
	switch {
	case !known && whose.Named && !whose.Known:
		asSaid(t, b)
		return true
	case !known:
		p = discourse.Plan{Subject: t.Self.Key, Attribute: attr, What: word, Label: head, Day: t.Now.Day}
		if whose.Named {
			p.Subject, p.Shown = whose.Key, whose.Name
		}
	}
	p.Chinese, p.What = true, word
	wide := b.S
	wide.End = b.S.Start + len(whole)
	discourse.Moved(t, p.Move(to), wide, 0.88)
	t.Out.Candidates[len(t.Out.Candidates)-1].Spans = []abi.Span{{Start: b.S.Start, End: wide.End}}
	return true
}

// weighs takes 我现在七十公斤, 我有70公斤重, 我瘦到六十五公斤了.
func weighs(t *discourse.Talk, x string) (string, bool) {
	own, ok := own(discourse.TrimZhEnd(x))
	if has := strings.HasPrefix(strings.TrimPrefix(own, "已经"), "有"); has && !strings.HasSuffix(strings.TrimSuffix(own, "了"), "重") {
		return "", false // 我有十斤: of what?
	}
	own = syntax.TrimHeads(own, "现在", "体重", "已经", "有", "重", "是", "瘦到", "胖到", "瘦到了", "胖到了")
	own = strings.TrimSuffix(strings.TrimSuffix(own, "了"), "重")
	for _, unit := range [...]string{"公斤", "千克", "斤"} {
		n, found := strings.CutSuffix(own, unit)
		if ok && found && n != "" && strings.HasPrefix(x, "我") && strings.Trim(n, "0123456789.一二两三四五六七八九十百零半") == "" && heavy(n, unit) {
			return own, true
		}
	}
	return "", false
}

// heavy reports whether a number of a unit can be somebody's weight: 2 to 300 kilograms.
func heavy(n, unit string) bool {
	n, _, _ = strings.Cut(n, ".")
	kilos, err := strconv.Atoi(n)
	if err != nil {
		kilos, _ = calendar.Han(strings.TrimSuffix(n, "半"))
	}
	if unit == "斤" {
		kilos /= 2
	}
	return kilos >= 2 && kilos <= 300
}

// stores are endings of places in which things are kept.
var stores = []string{"抽屉里", "柜子里", "柜里", "箱子里", "箱里", "盒子里", "盒里", "包里", "袋子里", "架子上", "柜子上", "储物间", "储藏室", "储物间里", "衣柜里", "书柜里", "床底下"}

// stored reports whether a thing, and not food, is in such a place: 吸尘器在阳台柜子里.
func stored(what, where string) bool {
	n := utf8.RuneCountInString(what)
	return n >= 2 && n <= 5 && syntax.EndsWithAny(where, stores) && !strings.ContainsAny(what, "我你他她它谁这那人的是有说都被把了们还不没糕饭菜肉奶果饼糖汤茶面粥") && !syntax.PersonZh(what) && !syntax.EndsWithAny(what, syntax.KinZh[:])
}
