// Package noted keeps a sentence, or a clause of it, that no rule takes and that somebody would
// want to find. A sum of readable marks ([view]) decides; worth_en.go and worth_zh.go have their
// weights.
package noted

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A noted memory is a sentence that no rule takes and that somebody would still want to find. It
// has the speaker's own words, with its subject and its computed dates, no slot, and at most half
// of a rule's confidence, so that it replaces nothing and everything can replace it. The whole
// sentence is kept; worth.go decides which.

// Note proposes a sentence that is worth keeping and that gave nothing to any rule.
func Note(t *discourse.Talk, s syntax.Sentence) bool {
	if s = uncalled(t, s); hollow(s) || passing(s) || s.Ends == "?" || s.Ends == "？" || len(s.Toks) > 60 || len(s.Toks) < 4 || discourse.Conditioned(s) || Orders(s) || refuse.Idiomatic(s) {
		return false
	}
	if s.Chinese() {
		return noteZh(t, s)
	}
	if hangs(t, s) {
		return false
	}
	if strings.ContainsAny(s.Raw(), `"“”`) || Reasons[s.At(0)] && s.At(1) != "of" {
		return false
	}
	for _, part := range syntax.Clauses(s) {
		if refuse.Quotes(s, part) {
			return false
		}
	}
	for i := range s.Toks {
		if s.At(i) == "whoever" || s.At(i) == "whatever" {
			return false // about whom?
		}
	}
	if what, is := syntax.Contraction(s.At(0)); Meal(what) && is == "is" && syntax.Placing(s.At(1)) {
		return false // "soup's on the hob, dig in": soon it is gone
	}
	v := ViewOf(t, s)
	if v.slotted() || v.General() || v.fragmentary() {
		return false
	}
	ofFirm := v.ofEmployer()
	likely := worthOf(v, WorthEn)
	lasts := v.lasts(t.Now)
	if likely < worthPerson && !lasts {
		return false
	}
	t.Noting = true
	defer func() { t.Noting = false }()
	c, ok := t.Parse(s)
	lasts = lasts && ok && c.State()
	if likely < WorthNoting && !lasts && (likely < worthPerson || !ok || c.Kind != 'p') {
		return false
	}
	if ok && (refuse.Unreal(&c) || c.Past && c.Future || discourse.MovedOn(&c, t.Plain) || c.Neg && unheard[c.Verb] || CallsBack(&c, c.FirstTime(), t.Now) || LeavesOpen(t, &c) || refused(t, &c)) {
		return false
	}
	if ok && (c.Kind == 't' && !c.Own && !lasts && (v.content < 3 || c.Thing == "it" || c.Thing == "that" || c.Thing == "this") || c.Elided() || c.Almost() || c.Offers() || Dangling(&c) || Nowhere(t, &c)) {
		return false
	}
	if !ok {
		c = refuse.Unparsed(t, s)
		if w := c.W(0); w == "" || w == "his" || w == "her" || w == "their" || w == "its" || discourse.Owners[w] || syntax.SubjectPronoun(w) && w != "i" && w != "we" && w != "they" || deictics[w] || syntax.Preposition(w) || wheres[w] || !v.states(w) {
			return false // about whom?
		}
	}
	past := c.Past || c.Perfect || !ok && v.anyTimes(func(i int) bool {
		_, past, _ := syntax.Lemma(v.words[i])
		fitted := syntax.PastForm(v.words[i]) && i > 0 && syntax.Determiner(v.at(i+1)) && !syntax.Determiner(v.at(i-1)) // "the plumber fitted a tap"
		return (past || fitted) && !syntax.Auxiliary(v.words[i]) && !v.state(i)
	}) > 0
	past = past && !perPeriod(&c)
	if n := len(c.Whens); ok && past && n > 1 && postponed(&c) {
		past, c.Past, c.Perfect = false, false, false
		c.Whens = timex.FindWhens(s, t.Now)[n-1:]
	}
	if past && comesLater(t, &c, s) {
		past, c.Past, c.Perfect = false, false, false
		c.Whens = timex.FindWhens(s, t.Now)
	}
	if w := c.FirstTime(); ofFirm && !past && !v.ahead || w != nil && w.HasDay && w.Grain == 'd' && w.Last == 0 && !past && w.Day < t.Now.Day && c.Verb == "be" {
		return false // "bins are on Wednesday this week", on a Friday
	}
	if elapsed(t, &c, c.FirstTime()) || SoonOver(t, &c, c.FirstTime()) {
		return false
	}
	NoteClause(t, &c, s, past, v.ahead, discourse.NotedSure)
	return true
}

// NoteClause proposes a clause of a sentence as a noted memory.
func NoteClause(t *discourse.Talk, c *discourse.Clause, s syntax.Sentence, past, ahead bool, sure float64) {
	w := c.FirstTime()
	happened := past && !c.UsedTo && !ahead
	if w != nil {
		if in := c.InnerOf(w); in.ToCome && in.Denied {
			w = nil // "said the wedding isn't on Monday"
		}
	}
	if w != nil && w.Weekday && c.Perfect && timex.Until(&c.Sentence, w) {
		happened = false
	}
	to := c.MovedTo(t.Now)
	if to != nil {
		w = to
	}
	typ := "semantic"
	if c.Episode(w, happened, ahead) {
		typ = "episodic"
	}
	a := t.Base(c, typ, "noted", sure)
	if typ == "episodic" {
		a.EventType, a.Actor = "noted", c.Subj.Name
		switch {
		case w != nil && w.HasDay:
			if happened && to == nil {
				c.PastTime(w, t.Now)
				c.Past = true
				a.Text = t.Rewrite(c)
			}
			a.Started = t.Now.Begins(w.Day)
			if w.Clock {
				a.Started = w.Unix()
			}
			a.Ended = timex.Closed(s, c.Whens, w, t.Now, happened && to == nil)
			if timex.Until(&c.Sentence, w) && !happened {
				a.Started, a.Ended = t.Ev.At, w.Ends()
			}
		case happened && !c.Conditional() && !c.LongAgo():
			a.Started = ToldAt(t, s)
		}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// perPeriod reports whether a clause says how much something is per month, with a verb that may be
// in the present tense: "we put 300 euros a month aside".
func perPeriod(c *discourse.Clause) bool {
	if c.W(c.Vi) != c.Verb || syntax.PastForm(c.Verb) {
		return false
	}
	for i := c.Vi; i < len(c.Words); i++ {
		if w := c.W(i + 1); c.W(i) == "a" && (w == "month" || w == "week" || w == "year" || w == "day") {
			return true
		}
	}
	return false
}

// unheard are verbs that tell nothing when they are denied: "I've never heard of it".
var unheard = syntax.Set("hear see think know feel understand believe mean care mind notice realise realize")

// states reports whether a sentence that begins with a word says something about somebody or
// something: it has a verb after a possible subject.
func (v *view) states(first string) bool {
	if _, _, ing := syntax.Lemma(first); ing || timex.Commands[first] || syntax.Askers[first] || discourse.Hosts[first] && !syntax.Determiner(first) {
		return false
	}
	return v.anyTimes(func(i int) bool { return i > v.start() && (syntax.Verbish(v.words[i]) || syntax.PastForm(v.words[i])) }) > 0
}

// slotted reports whether a sentence says where somebody lives or works. A rule that takes it gives
// it a slot, so that the next such line replaces it; as a note it would stay.
func (v *view) slotted() bool {
	if syntax.ContainsAny(v.raw, "住在", "搬到", "搬去", "上班", "就职", "定居") {
		return true
	}
	return v.anyTimes(func(i int) bool {
		switch v.words[i] {
		case "live", "lives", "living", "based", "reside", "resides", "settled", "relocated":
			return v.at(i+1) == "in" || v.at(i+1) == "at" || v.at(i+1) == "to"
		case "work", "works", "working":
			return v.at(i+1) == "at" || v.at(i+1) == "for"
		}
		return false
	}) > 0
}

// Counts reports whether w is a number in words that is more than one.
func Counts(w string) bool {
	n, ok := syntax.Number(w)
	return ok && n > 1
}

// abstract are nouns of which people speak without telling anything.
var abstract = syntax.Set("passion passions journey support dream dreams impact balance effort efforts energy life world future progress challenge challenges inspiration motivation way ways time times " +
	"fun blast point thing things stuff lot bit kind part sense idea ideas difference feeling feelings moment moments experience experiences goal goals self others people everyone someone")

// CalledOffZh reports whether something is changed before it happens: 周一的理疗取消了, 周六的班跟阿美换了.
func CalledOffZh(x string) bool {
	return syntax.ContainsAny(x, "取消", "改期", "会不开了") || syntax.ContainsAny(x, "的班", "的课") && syntax.ContainsAny(x, "换了", "调了", "换给")
}

// deedZh reports whether 我 did or has done something: not a thought, not a feeling, and not denied.
func deedZh(x string) bool {
	return strings.HasPrefix(x, "我") && discourse.ToldZh(x) && !syntax.ContainsAny(x, "不", "没", "忘", "知道", "记得", "记错", "明白", "懂", "喜欢", "累", "困", "饿", "饱")
}

// BillsZh are what has to be paid again and again.
var BillsZh = []string{"信用卡", "花呗", "房贷", "车贷", "房租", "租金", "学费", "物业费", "暖气费", "电费", "水费", "燃气费", "停车费", "保险", "月供", "车位", "补课费", "托管费", "伙食费", "宽带", "年费", "会费"}

// billZh reports whether something has to be paid for a home, a car, a school or a card:
// 这个月信用卡要还六千八.
func billZh(x string) bool {
	if what, sum, ok := strings.Cut(x, "花了"); ok && what != "" && strings.Trim(sum, syntax.DigitsZh+"多元块钱") == "" {
		return true // 换轮胎花了两千四
	}
	return syntax.ContainsAny(x, BillsZh...) && syntax.ContainsAny(x, "要还", "要交", "要付", "得还", "得交", "得付", "交了", "还了", "付了", "扣", "一个月", "每月", "一年", "一学期", "一季度")
}

// noteZh does the same for a Chinese sentence: the whole sentence is kept.
func noteZh(t *discourse.Talk, s syntax.Sentence) bool {
	raw := strings.Trim(s.Raw(), " ，,。！!")
	n := utf8.RuneCountInString(raw)
	b := t.Bare(s)
	milestone := milestoneZh(b.Text)
	if n < 6 && !milestone || syntax.ContainsAny(raw, "宁可", "宁愿") && syntax.ContainsAny(raw, "他", "她", "你", "这", "那", "再") || BidsOther(t, b.Text) || n > 60 || t.Topic.Unclear && !t.Topic.Thing || HeadlessZh(b.Text) || refuse.UnmeantZh(raw) || refuse.JokeZh(t.Said.Raw()) || UndecidedZh(raw) || syntax.ContainsAny(raw, MoodsZh[:]...) && !milestone {
		return false
	}
	alone := refuse.CompoundsZh.Replace(raw)
	if strings.Contains(alone, "正") {
		alone = strings.TrimSuffix(alone, "呢") // 我儿子正发烧呢
	}
	for _, no := range [...]string{"你", "您", "如果", "要是", "吗", "呢", "吧", "呗", "差点", "什么", "怎么", "谁", "哪", "觉得", "以为", "希望", "但愿", "想想", "看看", "这样", "那样", "多少钱", "可能", "大概", "也许", "估计", "听说", "据说", "本来想", "本来应该", "本该", "早该", "本想", "原本想", "发誓", "打赌", "简直", "我赌", "我猜", "要么", "他们", "她们",
		"“", "\"", "朋友的朋友", "不想", "天气", "我要一个", "我要一份", "我要一杯", "我要两", "全都要", "怀疑我", "谢谢", "好的", "不错", "哈哈", "说", "讲", "别", "请", "帮我", "等我", "算算", "算一下", "的电了", "手机没电", "笑得", "气得", "吓得", "急得", "馋得", "恨不得", "真想把", "真想给", "好想把", "来着", "趟洗手间", "上厕所", "去厕所", "马上回来", "马上就来", "能吃下", "能喝下"} {
		if strings.Contains(alone, no) && (no != "请" || !milestone) {
			return false
		}
	}
	if _, waited, ok := strings.Cut(raw, "了"); ok && syntax.ContainsAny(waited, "分钟", "小时", "钟头") && syntax.ContainsAny(raw, "等了", "排了", "站了", "打了", "堵了", "找了", "催了", "坐了", "送了") || syntax.ContainsAny(raw, "选错", "最慢", "倒霉", "踩雷", "打不着", "一洗车", "受够", "之间隔") || syntax.EndsWithAny(raw, []string{"给我就行", "给我就好", "给我就可以"}) || !strings.Contains(raw, "我") && syntax.ContainsAny(raw, "店庆", "打折", "五折", "八折", "半价", "特价", "促销", "满减") {
		return false // 我等了四十分钟了, 这周末商场全场五折
	}
	if syntax.ContainsAny(raw, "早上", "中午", "晚上", "刚才", "早饭", "午饭", "晚饭") && syntax.ContainsAny(raw, "吃了", "喝了") && !syntax.ContainsAny(raw, "药", "片", "粒", "颗", "一起", "跟", "和", "请", "不吃", "不喝") && !milestone && !slices.ContainsFunc(b.Whens, func(w timex.When) bool { return w.HasDay }) {
		return false // 我早上吃了两个鸡蛋
	}
	if syntax.StartsWithAny(b.Text, []string{"不对", "不是"}) || syntax.StartsWithAny(b.Text, []string{"我那是", "我这是"}) || syntax.ContainsAny(b.Text, "这只不", "那只不", "这个不", "那个不", "这只会", "那只会", "这条不", "那条不") {
		return false // which?
	}
	who, nobody := t.Self, false
	switch x := b.Text; {
	case strings.HasPrefix(x, "我"):
		if t.Topic.Known && t.Topic.Person.Key != t.Self.Key {
			who = t.Topic.Person
		}
	case strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她") || strings.HasPrefix(x, "它") || strings.HasPrefix(x, "这") || strings.HasPrefix(x, "那"):
		return false
	case (t.Topic.Known || t.Topic.Thing) && t.Topic.Person.Key != t.Self.Key:
		who = t.Topic.Person
	case strings.Contains(raw, "我"):
	case milestone && syntax.StartsWithAny(x, justZh):
	default:
		nobody = true // 水管工周四上午来: the sentence itself says who
	}
	const few = 2 // characters besides a time: 九点半最晚十点
	if nobody && weatherZh(raw) || len(b.Whens) > 1 && utf8.RuneCountInString(strings.TrimPrefix(syntax.TrimZh(b.Text), "我")) <= few && !milestone {
		return false
	}
	if v := ViewOf(t, s); v.slotted() {
		return false
	} else if likely := worthOf(v, WorthZh); !milestone && !(AmountZh(raw) && (t.Rejoined || billZh(raw))) && (nobody && likely < worthAlone || likely < worthZhSaid && (likely < worthDeedZh || nobody || !deedZh(b.Text)) && (likely < worthPerson || nobody || who.Key == t.Self.Key)) {
		return false
	}
	kind, sure := "noted", discourse.NotedSure
	if milestone {
		kind, sure = "event", discourse.EventSure
	}
	a := t.BaseZh(&b, "semantic", kind, who, sure)
	if a.Text = t.RewriteZh(s, b.Whens, false); !nobody && !strings.Contains(a.Text, t.Self.Name) {
		a.Text = discourse.Named(a.Text, who.Name)
	}
	moved := syntax.ContainsAny(b.Text, discourse.MovesZh...)
	for i := range b.Whens {
		if moved && i+1 < len(b.Whens) {
			continue // 从周六改到周日: it is on Sunday
		}
		if w := &b.Whens[i]; w.HasDay && !w.Habit && !Denies(&b, w) && !(thisYear(t, w) && !slices.ContainsFunc(b.Whens[i+1:], func(w timex.When) bool { return w.HasDay && !w.Habit })) {
			past := w.Day <= t.Now.Day && w.Last < t.Now.Day && !(w.Grain == 'w' && w.Day+6 >= t.Now.Day && !strings.Contains(b.Text, "了")) || w.Weekday && !CalledOffZh(b.Text) && (discourse.CompletedZh(b.Text) && !strings.Contains(b.Text, "不") || syntax.ContainsAny(b.Text, "买的", "放的", "收的", "拍的", "寄的", "借的")) || w.Weekday && (UndoneZh(b.Text) || FeltZh(b.Text))
			a.Type, a.EventType, a.Actor = "episodic", kind, who.Name
			if a.Text = t.RewriteZh(s, b.Whens, past); !nobody && !strings.Contains(a.Text, t.Self.Name) {
				a.Text = discourse.Named(a.Text, who.Name)
			}
			if a.Started = w.Unix(); !w.Clock {
				a.Started = t.Now.Begins(w.Day)
			}
			break
		}
	}
	if a.Type == "semantic" && (milestone || strings.Contains(b.Text, "了") && deedZh(b.Text) || strings.HasSuffix(raw, "了") && !strings.Contains(raw, "要") || strings.Contains(raw, "刚")) {
		a.Type, a.EventType, a.Actor, a.Started = "episodic", kind, who.Name, ToldAt(t, s)
		if strings.Contains(b.Text, "过") && !strings.Contains(b.Text, "了") && !strings.Contains(b.Text, "刚") {
			a.Started = 0 // 我做过手术: on some day
		}
	}
	if a.Type == "semantic" && (&view{raw: raw}).ofEmployer() {
		return false
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// Meal reports whether s is food that is ready to eat, and is soon gone.
func Meal(s string) bool { return meals[discourse.Last(s)] }

var meals = syntax.Set("coffee dinner soup lunch tea breakfast cake rice porridge stew food supper pizza beer wine milk bread")
