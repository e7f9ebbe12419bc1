package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

var eventsZh = [...]struct{ word, attribute string }{
	{"牙医", "dentist_appointment"}, {"看牙", "dentist_appointment"}, {"洗牙", "dentist_appointment"}, {"医生", "doctor_appointment"}, {"体检", "checkup"}, {"面试", "interview"},
	{"开会", "meeting"}, {"会议", "meeting"}, {"的会", "meeting"}, {"考试", "exam"}, {"航班", "flight"}, {"飞机", "flight"}, {"高铁", "train"}, {"火车", "train"}, {"聚会", "party"}, {"派对", "party"}, {"生日宴", "party"}, {"生日会", "party"}, {"婚礼", "wedding"},
	{"演唱会", "concert"}, {"音乐会", "concert"}, {"家长会", "parents_meeting"}, {"晚饭", "dinner"}, {"饭局", "dinner"}, {"午饭", "lunch"}, {"吃饭", "dinner"}, {"预约", "appointment"}, {"理发", "haircut"},
	{"电影", "film"}, {"比赛", "match"}, {"培训", "training"}, {"上课", "class"}, {"复查", "checkup"}, {"手术", "operation"}, {"展览", "exhibition"}, {"例会", "meeting"}, {"评审", "review"}, {"约会", "date"}, {"聚餐", "dinner"}, {"剪头发", "haircut"}, {"话剧", "play"}, {"讲座", "lecture"}, {"答辩", "thesis_defence"}, {"驾考", "driving_test"}, {"看病", "doctor_appointment"}, {"看医生", "doctor_appointment"}, {"打疫苗", "vaccination"}, {"年会", "party"}, {"野餐", "picnic"}, {"排练", "rehearsal"}, {"彩排", "rehearsal"}, {"出差", "business_trip"},
	{"meeting", "meeting"}, {"interview", "interview"}, {"flight", "flight"}, {"dinner", "dinner"}, {"lunch", "lunch"},
}

func eventInZh(s string) (attribute, word string) {
	if who, what, ok := strings.Cut(s, "把"); ok && endsWithAny(who, []string{"医生", "牙医", "大夫", "兽医", "医院"}) { // 医生把复查改到周五: who did it
		if attribute, word = eventInZh(what); attribute != "" {
			return attribute, word
		}
	}
	if strings.Contains(s, "会议室") || containsAny(s, "带午饭", "带晚饭", "做晚饭", "做午饭", "热午饭") {
		return "", "" // a room, and what one brings
	}
	if x := strings.TrimSpace(s); x == "会是" || startsWithAny(x, []string{"会定在", "会改到", "会改在", "会推到"}) {
		return "meeting", "会"
	}
	for _, e := range eventsZh {
		if _, after, ok := strings.Cut(s, e.word); ok && !strings.HasPrefix(after, "纪念") && !strings.HasPrefix(after, "周年") {
			return e.attribute, e.word
		}
	}
	return "", ""
}

// changeZh takes 把牙医改到周五, 会议推迟到三点, 取消了周四的面试.
func (t *talk) changeZh(b *bareZh) bool {
	x := b.text
	if t.notBut(b) {
		return true
	}
	if strings.Contains(x, "纪念日") {
		return false // a day of every year is no plan
	}
	if t.movedOffZh(b) {
		return true
	}
	_, gone := eventInZh(x)
	if (gone != "" && containsAny(x, "我去不了了", "我来不了了", "我去不成了", "我不去了") || strings.Contains(x, "取消") || strings.Contains(x, "cancel") || strings.Contains(x, "会不开了")) && !strings.Contains(x, "不取消") && !strings.Contains(x, "不cancel") {
		attr, word := eventInZh(x)
		p, ok := t.meantZh(b, attr, word, true)
		switch whose := t.whoseZh(x, word); {
		case !ok && whose.named && !whose.known:
			t.asSaidZh(b)
			return true
		case !ok && attr == "":
			if word = courseOffZh(x); word == "" {
				return false
			}
			p.attribute, p.what = word, word
		}
		p.chinese = true
		t.emit(p, t.rewriteZh(b.s, b.whens, false), "cancellation", 0.85, b.s, true)
		t.offZh(b, p, attr)
		return true
	}
	moved := containsAny(x, movesZh...)
	attr, word := eventInZh(x)
	now := !moved && attr != "" && len(b.whens) == 1 && b.whens[0].clock && !b.whens[0].hasDay && containsAny(b.s.raw(), "现在是", "现在定在") // 航班现在是七点一刻
	if moved && len(b.whens) == 0 && attr != "" && strings.Contains(x, "改在") {                                                          // 生日宴改在我们家办了
		t.asSaidZh(b)
		return true
	}
	if !moved && !now || len(b.whens) == 0 || attr == "" && b.whens[len(b.whens)-1].grain == 'y' {
		return false // 我改到明年了: what?
	}
	p, ok := t.meantZh(b, attr, word, false)
	if !ok && now {
		return false
	}
	if !ok {
		if attr == "" {
			return false
		}
		whose := t.whoseZh(x, word)
		if whose.named && !whose.known || (!whose.named || whose.key == t.self.key) && slices.ContainsFunc(t.plans, func(p plan) bool { return p.subject == t.self.key && p.attribute == attr && p.day >= t.now.day }) {
			t.asSaidZh(b) // of whom, or another 预约 than the one that is known
			return true
		}
		p = plan{subject: t.self.key, attribute: attr, what: word, label: x, day: t.now.day}
		if whose.named {
			p.subject, p.shown = whose.key, whose.name
		}
	}
	p.chinese = true
	if word != "" {
		p.what = word
	}
	t.moved(p.move(&b.whens[len(b.whens)-1]), b.s, 0.88)
	if with, _, _ := strings.Cut(x, word); !ok && word != "" && startsWithAny(with, []string{"跟", "和", "与", "同"}) && strings.HasSuffix(with, "的") { // 跟小佩的午饭
		a := &t.out.Candidates[len(t.out.Candidates)-1]
		a.Text = strings.Replace(a.Text, "的"+word, with+word, 1)
	}
	return true
}

// courseOffZh is the course or the like that a clause says is cancelled, of no kind that eventsZh have:
// 瑜伽课 of 瑜伽课取消了.
func courseOffZh(x string) string {
	what, ok := strings.CutSuffix(strings.TrimRight(x, "。，！! 了"), "取消")
	what = strings.TrimLeft(strings.TrimSuffix(strings.TrimSuffix(what, "被"), "又"), "的 ")
	if n := utf8.RuneCountInString(what); !ok || n < 2 && what != "课" || n > 8 || !endsWithAny(what, []string{"课", "班", "训练", "活动", "演出", "航班", "团", "球赛", "讲座", "秋游", "春游", "团建"}) || strings.ContainsAny(what, "他她你") {
		return ""
	}
	return what
}

// eventZh takes what happened or will happen at a time.
func (t *talk) eventZh(b *bareZh) {
	w, habit := b.single()
	x := b.text
	attr, word := eventInZh(x)
	if containsAny(x, "你帮我", "帮我") && strings.Contains(x, "一下") || openZh(x) || utf8.RuneCountInString(x) < 2 || undecidedZh(x) || word != "" && strings.Contains(x, "没有"+word) {
		return
	}
	if containsAny(x, "改时间了", "换时间了", "改日子了") || t.bidsZh(x) {
		return // to when?
	}
	if w != nil {
		w = b.lastOf(w, word)
	}
	if w != nil && !habit && w.hasDay && (t.saidZh(b, w) || t.untilZh(b, w)) {
		return
	}
	if containsAny(x, moodsZh[:]...) || undoneZh(x) || attr == "" && containsAny(x, "记得是", "记得好像", "印象中是") || containsAny(x, "不想", "不愿", "懒得", "以为", "本来", "原来约", "原来定", "原来订", "原定", "原本", "上次说", "这都", "不一定", "可能参加不", "可能去不", "可能来不") {
		return
	}
	who, named, ok := t.whoseEventZh(x, habit)
	if !ok {
		return
	}
	if habit && startsWithAny(x, []string{"很多人", "好多人", "许多人", "大家", "有人", "一群"}) {
		return // 我家附近有个公园，每天晚上很多人跳舞
	}
	if w != nil && w.days != nil && containsAny(x, "一定要", "都要", "总要", "都会", "总会", "都得") && !containsAny(b.s.raw(), "今年", "明年") { // 我们家过年一定要吃汤圆
		t.habitZh(b, who, 0.65)
		return
	}
	if habit && (strings.Contains(x, "我") || utf8.RuneCountInString(x) > 3) && !strings.Contains(x, "你") {
		if asRule := containsAny(b.s.raw(), "每", "天天", "常", "都", "总", "一般", "通常", "平时"); asRule || !containsAny(x, "想", "打算", "以前", "了", "过") { // 周一三五我去过
			if p, found := t.subjectZh(b.beforeHabit()); found && !named {
				who = p // 小王每天跑步
			}
			t.habitZh(b, who, 0.65)
		}
		return
	}
	errand := errandZh(x)
	if w == nil || !w.hasDay && (!w.clock || attr == "" && !errand && !containsAny(x, "要去接", "要接", "得去接", "要去送", "要送", "要去取", "要去开", "要交", "要见", "得见", "要去见") && !todayZh(x)) {
		t.promiseZh(b, errand && (!named || who.key == t.self.key))
		return
	}
	done := containsAny(guoZh.Replace(x), "了", "过")
	if bare := strings.TrimRight(x, "。，！! "); !strings.HasSuffix(bare, "了") && !strings.Contains(bare, "过") && w.overToday(t.now) {
		w.ahead12(t.now)
	}
	if !w.hasDay {
		w.set(t.now.day, 'd')
	}
	start := *w
	if !start.clock {
		start.minute = 0
	}
	if start.grain != 'd' && start.grain != 0 && start.day <= t.now.day && !done && !(start.grain == 'w' && shiftZh(x)) {
		return
	}
	if w.grain != 'y' && start.day > t.now.day && w.assumed > 0 && (t.bygoneZh(x, b.s.raw(), w) || t.longSinceZh(b)) {
		w.past(t.now) // 五月份认识了: the last one
		start.day = w.day
	}
	if !done && t.willZh(x) {
		w.rest(t.now)
		start = *w
		if !start.clock {
			start.minute = 0
		}
	}
	if past := t.pastZh(x, b.s.raw(), &start); !past {
		t.comingZh(b, w, who, named, closed(b.s, b.whens, w, t.now, false))
		return
	}
	if w.weekday && !calledOffZh(x) {
		w.past(t.now)
		start = *w
	}
	t.happenedZh(b, w, who, named, start, closed(b.s, b.whens, w, t.now, true))
}

// beforeHabit is what a clause says before the words for how often: 小王 of 小王每天跑步.
func (b *bareZh) beforeHabit() string {
	for i := range b.whens {
		if w := &b.whens[i]; w.habit {
			return b.s.text[b.s.start:b.s.toks[w.first].start]
		}
	}
	return ""
}

// single is the time of a clause that is no habit, the fullest one; nil: there is none. It also reports
// whether another is a habit.
func (b *bareZh) single() (w *when, habit bool) {
	before, what, told := strings.Cut(b.s.raw(), "说")
	said := -1 // the byte behind which what is told stands
	if told && strings.Contains(what, "要") && (kinPrefixZh(before) != "" || containsAny(before, kinZh[:]...)) {
		said = b.s.start + len(before)
	}
	for k := range b.whens {
		switch o := &b.whens[k]; {
		case o.habit:
			habit = true
		case said > 0 && b.s.toks[o.first].start < said && slices.ContainsFunc(b.whens[k:], func(w when) bool { return w.hasDay && b.s.toks[w.first].start > said }): // 今天老师说下周四要开家长会
		case b.denies(o):
		case w == nil || !w.hasDay && o.hasDay || !w.clock && o.clock && o.day == w.day:
			w = o
		}
	}
	if to := b.movedTo(); to != nil {
		w = to
	}
	return w, habit
}

// promiseZh takes what the speaker has to do or will do, without a day: 我得去取包裹, 我会把书还给你.
func (t *talk) promiseZh(b *bareZh, errand bool) {
	what, will := strings.CutPrefix(b.text, "我会")
	switch {
	case undertakenZh(b.text) && !(strings.HasPrefix(b.text, "我给") && startsWithAny(b.s.text[b.s.end:], []string{"，", ","})): // 我给前台打电话，没人接
		what = strings.TrimPrefix(b.text, "我")
	case mixedDeedZh(b.text):
		what = strings.TrimPrefix(strings.TrimPrefix(b.text, "我"), "会")
	case errand:
		_, what, _ = strings.Cut(b.text, "我")
		what = trimHeads(what, "们", "还得", "还要", "必须", "需要", "得", "要")
	case !will || utf8.RuneCountInString(what) <= 4 || !containsAny(what, "给", "把", "帮"):
		return
	}
	t.emit(plan{subject: t.self.key, attribute: "计划：" + trimZh(what), what: "promise", chinese: true}, t.rewriteZh(b.s, b.whens, false), "promise", 0.65, b.s, false)
}

// pastZh reports whether what a clause tells is over; w is when it begins.
func (t *talk) pastZh(x, raw string, w *when) bool {
	if obligedZh(x) && w.day >= t.now.day {
		return false // 今天得把作业交了
	}
	if w.weekday && containsAny(x, movesZh...) {
		return false // 英语课换到周日了
	}
	if w.weekday && containsAny(x, "就该", "就应该", "早该") && strings.HasSuffix(strings.TrimRight(x, "。，"), "了") {
		return true // 房租周五就该交了
	}
	if w.weekday && wasDoneZh(x) || w.byPart && w.day == t.now.day && w.unix() <= t.ev.At-2*3600_000 && strings.Contains(x, "去") && !containsAny(x, "要", "会", "打算", "准备", "得", "约") {
		return true // 今早去菜市场
	}
	begun := w.unix() < t.ev.At
	return begun && w.day < t.now.day || strings.Contains(x, "刚才") || begun && w.day == t.now.day && (doneZh(x) || w.clock && w.sure && containsAny(x, "了", "才")) || // 今天早上八点我吃了药
		w.day <= t.now.day && strings.HasSuffix(strings.TrimRight(x, "。"), "了") ||
		w.weekday && (strings.Contains(raw, "从") && goesOnZh(raw) || completedZh(x) && !agreedZh(x) && !strings.Contains(x, "不") || doneZh(x) || feltZh(x))
}

// arrangedZh are words of what is arranged, told or forgotten, for a day that is to come: 我约了12月3号看牙.
var arrangedZh = [...]string{"约", "订", "定", "安排", "票", "抢", "报", "请了", "通知", "告诉", "听说", "忘", "说", "改", "排", "有", "快", "要", "会", "打算", "准备", "申请", "挂", "走了"}

// bygoneZh reports whether a clause tells of a day, a month or a feast of the past that would be to come by its name alone.
func (t *talk) bygoneZh(x, raw string, w *when) bool {
	if w.grain != 'd' || w.last > 0 && w.days == nil {
		return toldZh(x) || goesOnZh(raw) || w.grain == 'M' && (t.sinceThenZh(x, w) || strings.Contains(raw, "从") && containsAny(raw, "开始", "起") && containsAny(t.said.raw(), "现在", "已经", "一直") && !strings.Contains(raw, "要"))
	}
	if wasDoneZh(x) {
		return true
	}
	if w.days != nil && containsAny(x, "没", "那会儿", "的婚", "生的", "出生") && !containsAny(strings.ReplaceAll(x, "那会儿", ""), "还没", "要", "会") {
		return true // 我春节没回家
	}
	if containsAny(x, "见过", "去过", "来过", "看过", "做过", "聊过") && !containsAny(x, "没", "再") || strings.Contains(x, "是在") && strings.HasSuffix(strings.TrimRight(x, "。！"), "的") {
		return true // 我们11月3号见过面, 是在端午节去世的
	}
	if containsAny(x, arrangedZh[:]...) || !strings.Contains(x, "了") && !strings.HasSuffix(trimZhEnd(x), "过") {
		return false
	}
	last := *w
	last.past(t.now)
	return toldZh(x) && (w.days != nil || t.now.day-last.day <= w.day-t.now.day || completedZh(x))
}

// willZh reports words for what is to come.
func (t *talk) willZh(x string) bool {
	return neighbourZh(x) != "" || strings.HasPrefix(x, "在") && endsWithAny(trimZhEnd(x), []string{"集合", "碰头", "见面", "会合", "见"}) || containsAny(x, "要", "会", "打算", "准备", "约", "去", "不上班", "休息", "放假", "请假", "休假", "值班", "加班", "不在家", "出院", "住院", "搬家", "开学", "上门", "团建", "夜班", "早班", "晚班", "来不了", "去不了", "让我", "叫我", "离职", "入职", "搬进", "搬走") ||
		containsAny(x, outagesZh...) || vowedZh(x) || dueZh(x) || dueBeforeZh(x) || shiftedZh(x) != "" || strings.HasPrefix(x, "得") && !t.topic.known
}

// placesOpenZh do things of themselves, which are not the speaker's: 学校23号放假.
var placesOpenZh = [...]string{"学校", "公司", "幼儿园", "单位", "银行", "医院", "超市", "图书馆", "商场", "小区", "餐厅", "食堂", "药店", "药房", "邮局", "菜市场", "便利店", "健身房", "游泳馆", "博物馆", "咖啡店", "咖啡馆", "面包店", "书店", "诊所", "理发店", "干洗店"}

// comingZh proposes an appointment or a plan at a time, and when it is over; named says that the clause
// names who has it.
func (t *talk) comingZh(b *bareZh, w *when, who person, named bool, ended int64) {
	x := b.text
	if before, _, ok := strings.Cut(x, "以前"); startsWithAny(strings.TrimPrefix(x, "我"), []string{"从前", "曾经"}) || ok && len(b.whens) > 0 && before != x && t.isSubjectZh(before) {
		return // it is no more
	}
	if w.last > w.day && dueZh(x) && endsWithAny(trimZh(x), []string{"到期", "截止", "过期", "失效"}) {
		w.day, w.last, ended = w.last, 0, 0 // 年检月底到期: on the last day
	}
	if !named && who.key == t.self.key && startsWithAny(x, []string{"来我", "来找我", "来看我", "来陪我", "来接我"}) {
		return // who?
	}
	attr, word := eventInZh(x)
	kind := "appointment"
	if raw := strings.TrimRight(b.s.raw(), "。！! ，"); endsWithAny(raw, []string{"吧", "呗"}) && (!strings.HasPrefix(stripLeadZh(raw), "我") || strings.HasPrefix(raw, "我们")) || strings.HasPrefix(raw, "要不") && !strings.Contains(raw, "要不是") || proposedZh(raw, w) {
		return // it is proposed
	}
	if strings.HasPrefix(x, "第") && containsAny(x, "次约在", "回约在", "针约在") {
		return // of what, and whose?
	}
	if before, _, _ := strings.Cut(x, word); attr != "" && strings.Contains(before, "不") && !strings.Contains(before, "不得不") {
		attr, word = "", "" // 明天我不回去吃饭了
	}
	if attr == "" {
		switch will := t.willZh(x); {
		case named && containsAny(strings.ReplaceAll(x, "最近", ""), "心情", "脾气", "意思", "想法", "很", "最"), // how somebody is
			w.byPart && !will && w.unix() <= t.ev.At-2*3600_000, // 今早我量血压
			!will && !strings.Contains(x, "我") && !comesZh(x) && !(named && kinPrefixZh(x) != ""),
			containsAny(x, "天气", "下雨", "不知道", "热", "冷"):
			return
		}
		if !named && t.rumourZh(b, w) {
			return
		}
		kind = "plan"
		attr = "计划：" + trimZh(trimHeads(x, "我们", "我", "的"))
		if s := shiftedZh(x); s != "" {
			attr = "计划：" + s
		} else if s := b.movedZh(x); s != "" {
			attr = "计划：" + s
		}
	} else if whose := t.whoseZh(x, word); t.other(whose) && whose.known && !named {
		who, named = whose.person, true
	} else if attr == "party" && !whose.named && !strings.HasPrefix(x, "我") && strings.Contains(x, "的"+word) {
		kind, attr = "plan", "计划："+trimZh(x) // 小贝的生日会 is not one's own
	}
	p := plan{subject: who.key, attribute: attr, what: word, day: w.day, minute: w.minute, clock: w.clock, chinese: true, label: trimZh(x)}
	if kind == "plan" && containsAny(attr, "他", "她", "它") {
		p.attribute += " " + p.value() // whom 去看她 means changes from one line to the next
	}
	text := t.rewriteZh(b.s, b.whens, false)
	switch {
	case named:
		text = ofWhomZh(text, who)
	case strings.Contains(text, t.self.name) || word == "" && (containsAny(x, outagesZh...) || strings.HasPrefix(x, "上门") || comesZh(x) && !strings.Contains(x, "我")):
	case word == "" && !strings.Contains(x, "我") && (startsWithAny(x, placesOpenZh[:]) || startsWithAny(x, belongingsZh[:])):
	case strings.HasPrefix(x, "说"), leadPersonZh(x):
	case word == "" && (dueZh(x) || shiftedZh(x) != ""):
		text = t.self.name + "的" + text
	case !eventLeadsZh(x, word):
		text = t.self.name + text
	case strings.HasPrefix(text, word):
		text = t.self.name + "的" + text
	}
	t.another(&p, definiteZh(x, word) || shiftedZh(x) != "")
	a := t.emit(p, text, kind, 0.86, b.s, false)
	a.Actor, a.Ended = who.name, ended
}

// happenedZh proposes what took place at a time; start is that time, without an hour at midnight, and ended when it was over.
func (t *talk) happenedZh(b *bareZh, w *when, who person, named bool, start when, ended int64) {
	x := b.text
	attribute, _ := eventInZh(x)
	if startsWithAny(x, []string{"太", "好累", "真"}) || strings.Contains(x, "没") || !strings.Contains(x, "了") && !strings.Contains(x, "过") && attribute == "" && !strings.Contains(x, "在") && !strings.Contains(x, "去") && !toldZh(x) && !goesOnZh(b.s.raw()) {
		return
	}
	bare := strings.TrimPrefix(x, "我")
	if to, ok := strings.CutPrefix(bare, "答应了"); bare == "去了" || bare == "来了" || bare == "看了" || ok && (to == "" || kinPrefixZh(to) == to) {
		return // where? the whole sentence says it
	}
	a := t.baseZh(b, "episodic", "event", who, 0.82)
	a.Text = t.rewriteZh(b.s, b.whens, !w.weekday || !calledOffZh(x))
	if !named && !strings.Contains(a.Text, t.self.name) && !strings.Contains(x, "他") && !strings.Contains(x, "她") && strings.Contains("去回吃看买见和跟在我把做打踩骑跑捡", string([]rune(x)[:1])) {
		a.Text = t.self.name + a.Text
	}
	if named {
		a.Text = ofWhomZh(a.Text, who)
	}
	a.EventType, a.Actor = "event", who.name
	a.Started = start.unix()
	if !w.clock {
		a.Started = moment{start.day, 0, t.now.offset}.unix()
	}
	a.Ended = ended
	t.out.Candidates = append(t.out.Candidates, a)
}
