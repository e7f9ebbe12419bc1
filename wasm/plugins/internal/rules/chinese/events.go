package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

var events = [...]struct{ word, attribute string }{
	{"牙医", "dentist_appointment"}, {"看牙", "dentist_appointment"}, {"洗牙", "dentist_appointment"}, {"医生", "doctor_appointment"}, {"体检", "checkup"}, {"面试", "interview"},
	{"开会", "meeting"}, {"会议", "meeting"}, {"的会", "meeting"}, {"考试", "exam"}, {"航班", "flight"}, {"飞机", "flight"}, {"高铁", "train"}, {"火车", "train"}, {"聚会", "party"}, {"同学会", "party"}, {"派对", "party"}, {"生日宴", "party"}, {"生日会", "party"}, {"婚礼", "wedding"},
	{"演唱会", "concert"}, {"音乐会", "concert"}, {"家长会", "parents_meeting"}, {"晚饭", "dinner"}, {"饭局", "dinner"}, {"午饭", "lunch"}, {"吃饭", "dinner"}, {"预约", "appointment"}, {"理发", "haircut"},
	{"电影", "film"}, {"比赛", "match"}, {"培训", "training"}, {"上课", "class"}, {"复查", "checkup"}, {"手术", "operation"}, {"展览", "exhibition"}, {"例会", "meeting"}, {"评审", "review"}, {"约会", "date"}, {"聚餐", "dinner"}, {"剪头发", "haircut"}, {"话剧", "play"}, {"讲座", "lecture"}, {"答辩", "thesis_defence"}, {"驾考", "driving_test"}, {"看病", "doctor_appointment"}, {"看医生", "doctor_appointment"}, {"打疫苗", "vaccination"}, {"年会", "party"}, {"野餐", "picnic"}, {"排练", "rehearsal"}, {"彩排", "rehearsal"}, {"出差", "business_trip"},
	{"meeting", "meeting"}, {"interview", "interview"}, {"flight", "flight"}, {"dinner", "dinner"}, {"lunch", "lunch"},
}

// EventIn finds the word for an event in a text, and the attribute of its slot; both are "" if
// there is none.
func EventIn(s string) (attribute, word string) {
	if who, what, ok := strings.Cut(s, "把"); ok && syntax.EndsWithAny(who, []string{"医生", "牙医", "大夫", "兽医", "医院"}) { // 医生把复查改到周五: who did it
		if attribute, word = EventIn(what); attribute != "" {
			return attribute, word
		}
	}
	if strings.HasPrefix(s, "新") && comes(s) {
		return "", "" // 新来的医生到岗
	}
	if strings.Contains(s, "会议室") || syntax.ContainsAny(s, "刚下飞机", "刚下火车", "刚下高铁", "带午饭", "带晚饭", "做晚饭", "做午饭", "热午饭") {
		return "", "" // a room, what is over, and what somebody brings
	}
	if x := strings.TrimSpace(s); x == "会是" || syntax.StartsWithAny(x, []string{"会定在", "会改到", "会改在", "会推到"}) {
		return "meeting", "会"
	}
	for _, e := range events {
		if before, after, ok := strings.Cut(s, e.word); ok && !escorted(before, e.attribute) && !syntax.StartsWithAny(after, []string{"纪念", "周年"}) && !shut(after) && !(e.word == "的会" && syntax.StartsWithAny(after, []string{"计", "员", "所"})) {
			return e.attribute, e.word
		}
	}
	return "", ""
}

// change takes 把牙医改到周五, 会议推迟到三点, 取消了周四的面试.
func change(t *discourse.Talk, b *discourse.BareZh) bool {
	x := b.Text
	if notBut(t, b) {
		return true
	}
	if strings.Contains(x, "纪念日") {
		return false // a yearly day is not a plan
	}
	if movedOff(t, b) || shiftedBy(t, b) {
		return true
	}
	_, gone := EventIn(x)
	if (gone != "" && syntax.ContainsAny(x, "我去不了", "我来不了", "我去不成了", "我不去了") || strings.Contains(x, "取消") || strings.Contains(x, "cancel") || strings.Contains(x, "会不开了")) && !strings.Contains(x, "不取消") && !strings.Contains(x, "不cancel") {
		attr, word := EventIn(x)
		p, ok := meant(t, b, attr, word, true)
		switch whose := possessorOf(t, x, word); {
		case !ok && whose.Named && !whose.Known:
			asSaid(t, b)
			return true
		case !ok && attr == "":
			if word = courseOff(x); word == "" {
				return false
			}
			p.Attribute, p.What = word, word
		}
		p.Chinese = true
		t.Emit(p, t.RewriteZh(b.S, b.Whens, false), "cancellation", 0.85, b.S, true)
		off(t, b, p, attr)
		return true
	}
	moved := syntax.ContainsAny(x, discourse.MovesZh...)
	attr, word := EventIn(x)
	now := !moved && attr != "" && len(b.Whens) == 1 && b.Whens[0].Clock && !b.Whens[0].HasDay && syntax.ContainsAny(b.S.Raw(), "现在是", "现在定在") // 航班现在是七点一刻
	if moved && len(b.Whens) == 0 && attr != "" && strings.Contains(x, "改在") {                                                                 // 生日宴改在我们家办了
		asSaid(t, b)
		return true
	}
	if !moved && !now || len(b.Whens) == 0 || attr == "" && b.Whens[len(b.Whens)-1].Grain == 'y' {
		return false // 我改到明年了: what?
	}
	p, ok := meant(t, b, attr, word, false)
	if !ok && now {
		return false
	}
	if !ok {
		if attr == "" {
			return false
		}
		whose := possessorOf(t, x, word)
		if whose.Named && !whose.Known || (!whose.Named || whose.Key == t.Self.Key) && slices.ContainsFunc(t.Plans, func(p discourse.Plan) bool {
			return p.Subject == t.Self.Key && p.Attribute == attr && p.Day >= t.Now.Day
		}) {
			asSaid(t, b) // not clear whose, or another 预约 than the known one
			return true
		}
		p = discourse.Plan{Subject: t.Self.Key, Attribute: attr, What: word, Label: x, Day: t.Now.Day}
		if whose.Named {
			p.Subject, p.Shown = whose.Key, whose.Name
		}
	}
	p.Chinese = true
	if word != "" {
		p.What = word
	}
	discourse.Moved(t, p.Move(&b.Whens[len(b.Whens)-1]), b.S, 0.88)
	if with, _, _ := strings.Cut(x, word); !ok && word != "" && syntax.StartsWithAny(with, []string{"跟", "和", "与", "同"}) && strings.HasSuffix(with, "的") { // 跟小佩的午饭
		a := &t.Out.Candidates[len(t.Out.Candidates)-1]
		a.Text = strings.Replace(a.Text, "的"+word, with+word, 1)
	}
	return true
}

// Event takes what happened or will happen at a time.
func Event(t *discourse.Talk, b *discourse.BareZh) {
	w, habit := single(b)
	x := b.Text
	attr, word := EventIn(x)
	if syntax.ContainsAny(x, "你帮我", "帮我") && strings.Contains(x, "一下") || open(x) || utf8.RuneCountInString(x) < 2 || noted.UndecidedZh(x) || word != "" && strings.Contains(x, "没有"+word) {
		return
	}
	if syntax.ContainsAny(x, "改时间了", "换时间了", "改日子了", "写成", "记成", "看成", "听成", "说成", "印成", "填成") || bids(t, x) {
		return // to when? And 写成八号了 names a wrong day
	}
	if w != nil {
		w = lastOf(b, w, word)
	}
	if w != nil && !habit && w.HasDay && (said(t, b, w) || until(t, b, w)) {
		return
	}
	if syntax.ContainsAny(x, noted.MoodsZh[:]...) || noted.UndoneZh(x) || attr == "" && syntax.ContainsAny(x, "记得是", "记得好像", "印象中是") || syntax.ContainsAny(x, "不想", "不愿", "懒得", "以为", "本来", "原来约", "原来定", "原来订", "原定", "原本", "上次说", "这都", "不一定", "可能参加不", "可能去不", "可能来不") {
		return
	}
	who, named, ok := whoseEvent(t, x, habit)
	if !ok || attr == "" && !strings.Contains(x, "我") && syntax.StartsWithAny(x, countries) {
		return // 美国下个月要大选
	}
	if habit && syntax.StartsWithAny(x, []string{"很多人", "好多人", "许多人", "大家", "有人", "一群"}) {
		return // 我家附近有个公园，每天晚上很多人跳舞
	}
	if w != nil && w.Days != nil && syntax.ContainsAny(x, "一定要", "都要", "总要", "都会", "总会", "都得") && !syntax.ContainsAny(b.S.Raw(), "今年", "明年") { // 我们家过年一定要吃汤圆
		habitual(t, b, who, 0.65)
		return
	}
	if habit && (strings.Contains(x, "我") || utf8.RuneCountInString(x) > 3 || syntax.StartsWithAny(x, Bills[:])) && !strings.Contains(x, "你") {
		if asRule := syntax.ContainsAny(b.S.Raw(), "每", "天天", "常", "都", "总", "一般", "通常", "平时"); asRule || !syntax.ContainsAny(x, "想", "打算", "以前", "了", "过") { // 周一三五我去过
			head := beforeHabit(b)
			if p, found := t.SubjectZh(head); found && !named {
				who = p // 小王每天跑步
			}
			made := len(t.Out.Candidates)
			habitual(t, b, who, 0.65)
			if n := utf8.RuneCountInString(head); who.Key == t.Self.Key && len(t.Out.Candidates) > made && n >= 3 && n <= 6 && !strings.ContainsAny(head, "我咱") && (syntax.EndsWithAny(strings.TrimSuffix(head, "从"), nobodys) || syntax.EndsWithAny(head, discourse.RolesZh[:])) {
				a := &t.Out.Candidates[made]
				a.Text = strings.TrimPrefix(a.Text, t.Self.Name) // 垃圾车每周二来: it is nobody's
			}
		}
		return
	}
	errand := IsErrand(x)
	if w == nil || !w.HasDay && (!w.Clock || attr == "" && !errand && !syntax.ContainsAny(x, "要去接", "要接", "得去接", "要去送", "要送", "要去取", "要去开", "要交", "要见", "得见", "要去见", "去医院", "去看病", "去打针", "带它去", "带他去", "带她去") && !today(x) && !pledged(x)) {
		promise(t, b, errand && (!named || who.Key == t.Self.Key))
		return
	}
	done := syntax.ContainsAny(discourse.GuoZh.Replace(x), "了", "过")
	if bare := strings.TrimRight(x, "。，！! "); !strings.HasSuffix(bare, "了") && !strings.Contains(bare, "过") && w.OverToday(t.Now) {
		w.Ahead12(t.Now)
	}
	if !w.HasDay {
		w.Set(t.Now.Day, 'd')
	}
	start := *w
	if !start.Clock {
		start.Minute = 0
	}
	if start.Grain != 'd' && start.Grain != 0 && start.Day <= t.Now.Day && !done && !(start.Grain == 'w' && shift(x)) {
		return
	}
	if w.Grain != 'y' && start.Day > t.Now.Day && w.Assumed > 0 && (t.BygoneZh(x, b.S.Raw(), w) || longSince(t, b)) {
		w.Past(t.Now) // 五月份认识了: the last one
		start.Day = w.Day
	}
	if !done && will(t, x) {
		w.Rest(t.Now)
		start = *w
		if !start.Clock {
			start.Minute = 0
		}
	}
	if past := past(t, x, b.S.Raw(), &start); !past {
		coming(t, b, w, who, named, timex.Closed(b.S, b.Whens, w, t.Now, false))
		return
	}
	if w.Weekday && !noted.CalledOffZh(x) {
		w.Past(t.Now)
		start = *w
	}
	happened(t, b, w, who, named, start, timex.Closed(b.S, b.Whens, w, t.Now, true))
}

// beforeHabit returns the part of a clause before the words for how often: 小王 for 小王每天跑步.
func beforeHabit(b *discourse.BareZh) string {
	for i := range b.Whens {
		if w := &b.Whens[i]; w.Habit {
			return b.S.Text[b.S.Start:b.S.Toks[w.First].Start]
		}
	}
	return ""
}

// single returns the most complete time of a clause that is not a habit; nil if there is none. It
// also reports whether another time is a habit.
func single(b *discourse.BareZh) (w *timex.When, habit bool) {
	before, what, told := strings.Cut(b.S.Raw(), "说")
	said := -1 // the byte after which the reported part begins
	if told && strings.Contains(what, "要") && (syntax.KinPrefixZh(before) != "" || syntax.ContainsAny(before, syntax.KinZh[:]...)) {
		said = b.S.Start + len(before)
	}
	for k := range b.Whens {
		switch o := &b.Whens[k]; {
		case o.Habit:
			habit = true
		case said > 0 && b.S.Toks[o.First].Start < said && slices.ContainsFunc(b.Whens[k:], func(w timex.When) bool { return w.HasDay && b.S.Toks[w.First].Start > said }): // 今天老师说下周四要开家长会
		case noted.Denies(b, o), ofThing(b, k):
		case w == nil || !w.HasDay && o.HasDay || !w.Clock && o.Clock && o.Day == w.Day:
			w = o
		}
	}
	if to := movedTo(b); to != nil {
		w = to
	}
	return w, habit
}

// promise takes what the speaker has to do or will do, without a day: 我得去取包裹, 我会把书还给你.
func promise(t *discourse.Talk, b *discourse.BareZh, errand bool) {
	what, will := strings.CutPrefix(b.Text, "我会")
	switch {
	case undertaken(b.Text) && !(strings.HasPrefix(b.Text, "我给") && syntax.StartsWithAny(b.S.Text[b.S.End:], []string{"，", ","})): // 我给前台打电话，没人接
		what = strings.TrimPrefix(b.Text, "我")
	case pledged(b.Text):
		what = syntax.TrimHeads(syntax.TrimHeads(b.Text, soonZh...), "我")
	case mixedDeed(b.Text):
		what = strings.TrimPrefix(strings.TrimPrefix(b.Text, "我"), "会")
	case errand:
		_, what, _ = strings.Cut(b.Text, "我")
		what = syntax.TrimHeads(what, "们", "还得", "还要", "必须", "需要", "得", "要")
	case !will || utf8.RuneCountInString(what) <= 4 || !syntax.ContainsAny(what, "给", "把", "帮"):
		return
	}
	t.Emit(discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + syntax.TrimZh(what), What: "promise", Chinese: true}, t.RewriteZh(b.S, b.Whens, false), "promise", 0.65, b.S, false)
}

// past reports whether a clause tells of something that is over; w is its beginning.
func past(t *discourse.Talk, x, raw string, w *timex.When) bool {
	if obliged(x) && w.Day >= t.Now.Day {
		return false // 今天得把作业交了
	}
	if w.Weekday && syntax.ContainsAny(x, discourse.MovesZh...) {
		return false // 英语课换到周日了
	}
	if w.Weekday && syntax.ContainsAny(x, "就该", "就应该", "早该") && strings.HasSuffix(strings.TrimRight(x, "。，"), "了") {
		return true // 房租周五就该交了
	}
	if w.Weekday && discourse.WasDoneZh(x) || w.ByPart && w.Day == t.Now.Day && w.Unix() <= t.Ev.At-2*3600_000 && strings.Contains(x, "去") && !syntax.ContainsAny(x, "要", "会", "打算", "准备", "得", "约") {
		return true // 今早去菜市场
	}
	begun := w.Unix() < t.Ev.At
	return begun && w.Day < t.Now.Day || strings.Contains(x, "刚才") || begun && w.Day == t.Now.Day && (done(x) || w.Clock && w.Sure && syntax.ContainsAny(x, "了", "才")) || // 今天早上八点我吃了药
		w.Day <= t.Now.Day && strings.HasSuffix(strings.TrimRight(x, "。"), "了") ||
		w.Weekday && (strings.Contains(raw, "从") && discourse.GoesOnZh(raw) || discourse.CompletedZh(x) && !agreed(x) && !strings.Contains(x, "不") || done(x) || noted.FeltZh(x))
}

// will reports whether x has words for the future.
func will(t *discourse.Talk, x string) bool {
	return discourse.NeighbourZh(x) != "" || takesAlong(x) || strings.HasPrefix(x, "在") && syntax.EndsWithAny(discourse.TrimZhEnd(x), []string{"集合", "碰头", "见面", "会合", "见"}) || syntax.ContainsAny(x, "要", "会", "打算", "准备", "约", "去", "不上班", "休息", "放假", "请假", "休假", "值班", "加班", "不在家", "出院", "住院", "搬家", "开学", "上门", "团建", "夜班", "早班", "晚班", "来不了", "去不了", "让我", "叫我", "离职", "入职", "搬进", "搬走") ||
		syntax.ContainsAny(x, discourse.OutagesZh...) || vowed(x) || due(x) || dueBefore(x) || discourse.ShiftedZh(x) != "" || strings.HasPrefix(x, "得") && !t.Topic.Known
}

// placesOpen are places that do things by themselves, which the speaker does not do: 学校23号放假.
var placesOpen = [...]string{"学校", "公司", "幼儿园", "单位", "银行", "医院", "超市", "图书馆", "商场", "小区", "餐厅", "食堂", "药店", "药房", "邮局", "菜市场", "便利店", "健身房", "游泳馆", "博物馆", "咖啡店", "咖啡馆", "面包店", "书店", "诊所", "理发店", "干洗店"}

// coming proposes an appointment or a plan at a time, and its end; named says that the clause names
// who has it.
func coming(t *discourse.Talk, b *discourse.BareZh, w *timex.When, who discourse.Person, named bool, ended int64) {
	x := b.Text
	if before, _, ok := strings.Cut(x, "以前"); b.Until || syntax.StartsWithAny(strings.TrimPrefix(x, "我"), []string{"从前", "曾经"}) || ok && len(b.Whens) > 0 && before != x && isSubject(t, before) {
		return // it no longer exists
	}
	if w.Last > w.Day && due(x) && syntax.EndsWithAny(syntax.TrimZh(x), []string{"到期", "截止", "过期", "失效"}) {
		w.Day, w.Last, ended = w.Last, 0, 0 // 年检月底到期: on the last day
	}
	if !named && who.Key == t.Self.Key && syntax.StartsWithAny(x, []string{"来我", "来找我", "来看我", "来陪我", "来接我"}) {
		return // who?
	}
	attr, word := EventIn(x)
	if takesMe(x, attr) {
		who, named = t.Self, false
	}
	kind := "appointment"
	raw := strings.TrimRight(b.S.Raw(), "。！! ，")
	if syntax.EndsWithAny(raw, []string{"吧", "呗"}) && (!strings.HasPrefix(syntax.StripLeadZh(raw), "我") || strings.HasPrefix(raw, "我们")) || strings.HasPrefix(raw, "要不") && !strings.Contains(raw, "要不是") || proposed(raw, w) {
		return // it is proposed
	}
	if attr == "" && len(x) <= 18 && !strings.Contains(x, "我") && syntax.EndsWithAny(discourse.TrimZhEnd(x), []string{"约的", "定的", "订的"}) || syntax.ContainsAny(raw, "我赌", "我猜", "总觉得", "要么", "之间隔", "了一天", "了一整天", "了一上午", "了一下午", "了半天", "了一晚上", "除了", "以外都", "之外都") || syntax.ContainsAny(x, "退了", "退掉") || syntax.EndsWithAny(raw, []string{"给我就行", "给我就好", "给我就可以", "给我即可", "发我就行", "发我就好"}) {
		return // 中介约的上午十点, 我赌他们年底会复合, 今天又开了一天会, 我退了周五的票
	}
	if slices.Contains([]string{"定的是", "订的是", "约的是", "说的是", "定的", "约的"}, syntax.TrimHeads(discourse.TrimZhEnd(x), "我们", "我")) {
		return // 我们定的是三月五号到八号: what?
	}
	if strings.HasPrefix(x, "第") && syntax.ContainsAny(x, "次约在", "回约在", "针约在") {
		return // of what, and whose?
	}
	if before, _, _ := strings.Cut(x, word); attr != "" && strings.Contains(before, "不") && !strings.Contains(before, "不得不") {
		attr, word = "", "" // 明天我不回去吃饭了
	}
	if attr == "" {
		switch will := will(t, x); {
		case named && syntax.ContainsAny(strings.ReplaceAll(x, "最近", ""), "心情", "脾气", "意思", "想法", "很", "最"), // somebody's state
			w.ByPart && !will && w.Unix() <= t.Ev.At-2*3600_000, // 今早我量血压
			!will && !strings.Contains(x, "我") && !comes(x) && !(named && syntax.KinPrefixZh(x) != ""),
			syntax.ContainsAny(strings.ReplaceAll(x, "热水", ""), "天气", "下雨", "下雪", "降温", "升温", "刮风", "有雨", "有雪", "不知道", "热", "冷"):
			return
		}
		if !named && rumour(t, b, w) {
			return
		}
		kind, attr = "plan", "计划："+syntax.TrimZh(syntax.TrimHeads(x, "我们", "我", "的"))
		if s := discourse.ShiftedZh(x); s != "" {
			attr = "计划：" + s
		} else if s := whatMoves(b, x); s != "" {
			attr = "计划：" + s
		}
	} else if whose := possessorOf(t, x, word); t.Other(whose) && whose.Known && !named {
		who, named = whose.Person, true
	} else if attr == "party" && !whose.Named && !strings.HasPrefix(x, "我") && strings.Contains(x, "的"+word) {
		kind, attr = "plan", "计划："+syntax.TrimZh(x) // 小贝的生日会 is not the speaker's own
	}
	p := discourse.Plan{Subject: who.Key, Attribute: attr, What: word, Day: w.Day, Minute: w.Minute, Clock: w.Clock, Chinese: true, Label: syntax.TrimZh(x)}
	if kind == "plan" && syntax.ContainsAny(attr, "他", "她", "它") {
		p.Attribute += " " + p.Value() // whom 去看她 means changes from one line to the next
	}
	text := t.RewriteZh(b.S, b.Whens, false)
	switch {
	case named:
		text = ofWhom(text, who)
	case strings.Contains(text, t.Self.Name) || word == "" && (syntax.ContainsAny(x, discourse.OutagesZh...) || strings.HasPrefix(x, "上门") || comes(x) && !strings.Contains(x, "我")):
	case word == "" && !strings.Contains(x, "我") && (syntax.StartsWithAny(x, placesOpen[:]) || shutPlace(x) || syntax.StartsWithAny(x, Belongings[:])):
	case strings.HasPrefix(x, "说"), leadPerson(x):
	case word == "" && (due(x) || discourse.ShiftedZh(x) != ""):
		text = t.Self.Name + "的" + text
	case discourse.OrderedZh(text) != "":
		text, _ = discourse.PatientNamed(text, t.Self.Name)
	case !eventLeads(x, word):
		text = t.MineZh(text)
	case strings.HasPrefix(text, word):
		text = t.Self.Name + "的" + text
	}
	t.Another(&p, definite(x, word) || discourse.ShiftedZh(x) != "")
	a := t.Emit(p, text, kind, 0.86, b.S, false)
	a.Actor, a.Ended = who.Name, ended
}

// happened proposes what took place at a time; start is that time, at midnight if there is no hour,
// and ended is its end.
func happened(t *discourse.Talk, b *discourse.BareZh, w *timex.When, who discourse.Person, named bool, start timex.When, ended int64) {
	x := b.Text
	attribute, _ := EventIn(x)
	if asks := strings.HasSuffix(strings.TrimRight(b.S.Raw(), "。！ "), "吧"); asks && !strings.Contains(x, "我") || w.Grain != 'd' && syntax.ContainsAny(x, "不回了", "不去了", "不来了", "不回去了", "不买了", "不办了") {
		return // 那今年四十了吧; 今年不回了
	}
	if syntax.StartsWithAny(x, []string{"太", "好累", "真"}) || !strings.Contains(x, "我") && syntax.ContainsAny(x, "股票", "大盘", "股市", "油价") || strings.Contains(x, "没") || !strings.Contains(x, "了") && !strings.Contains(x, "过") && attribute == "" && !strings.Contains(x, "在") && !strings.Contains(x, "去") && !discourse.ToldZh(x) && !discourse.GoesOnZh(b.S.Raw()) {
		return
	}
	bare := strings.TrimPrefix(x, "我")
	if to, ok := strings.CutPrefix(bare, "答应了"); bare == "去了" || bare == "来了" || bare == "看了" || ok && (to == "" || syntax.KinPrefixZh(to) == to) {
		return // where? the whole sentence says it
	}
	a := t.BaseZh(b, "episodic", "event", who, 0.82)
	a.Text = t.RewriteZh(b.S, b.Whens, !w.Weekday || !noted.CalledOffZh(x))
	if !named && !strings.Contains(a.Text, t.Self.Name) && !strings.Contains(x, "他") && !strings.Contains(x, "她") && strings.Contains("去回吃看买见和跟在我把做打踩骑跑捡踢扭摔撞", string([]rune(x)[:1])) {
		a.Text = t.Self.Name + a.Text
	}
	if named {
		a.Text = ofWhom(a.Text, who)
	}
	a.EventType, a.Actor = "event", who.Name
	a.Started = start.Unix()
	if !w.Clock {
		a.Started = t.Now.Begins(start.Day)
	}
	a.Ended = ended
	t.Out.Candidates = append(t.Out.Candidates, a)
}
