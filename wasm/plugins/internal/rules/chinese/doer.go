package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// AskedAfter returns the speaker's relative about whom somebody has just asked: 你妈怎么样了？
func AskedAfter(t *discourse.Talk) (discourse.Person, bool) {
	b := t.JustSaid()
	if b == nil || !syntax.HasHan(b.Text) || strings.HasPrefix(t.Ev.Text, "我") {
		return discourse.Person{}, false
	}
	q := syntax.StripLeadZh(b.Text)
	bare := strings.TrimRight(q, "？? ")
	if syntax.StartsWithAny(q, []string{"她", "他"}) && (AskersIn(bare) || len(bare) < len(q) || strings.HasSuffix(bare, "吧")) {
		if p, ok := t.LastPerson(); ok && !syntax.StartsWithAny(q, []string{"她们", "他们"}) { // 她还在银行上班吗？
			return p, true
		}
		t.Topic.Unclear = true // what the answer says is not about the speaker
		return discourse.Person{}, false
	}
	if name := askedName(q); name != "" && !syntax.StartsWithAny(t.Ev.Text, []string{"对", "是", "嗯", "没", "不", "哦", "啊", "谁"}) {
		return t.Named(name), true // 老魏怎么样了 / 出院了
	}
	if name, ok := strings.CutSuffix(bare, "呢"); ok { // 你那个同事小赵呢 / 她休产假了
		if name, _ = strings.CutPrefix(syntax.TrimHeads(name, "那", "你们", "你", "那个"), "那个"); syntax.PersonZh(name) || syntax.PersonZh(name[len(syntax.LongestZh(name, discourse.RolesZh[:])):]) {
			return t.Named(name[len(syntax.LongestZh(name, discourse.RolesZh[:])):]), true
		}
	}
	if asksOn(strings.TrimPrefix(q, "那")) { // 老韩住院了 / 那现在怎么样了 / 下周一出院
		t.Topic = earlierTopic(t)
	}
	for _, you := range [...]string{"你", "您"} {
		_, rest, ok := strings.Cut(b.Text, you)
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "家"), "的")
		if k := syntax.KinPrefixZh(rest); ok && k != "" && syntax.StartsWithAny(syntax.TrimHeads(rest[len(k):], "现在", "最近", "身体", "的身体", "的病", "病", "的腿", "的手术"), []string{"怎么样", "好点", "好些", "好了吗", "还好", "好吗", "咋样", "如何"}) {
			return discourse.Person{Name: t.Self.Name + "的" + k, Key: t.Self.Key + "的" + k}, true
		} else if more := rest[min(len(rest), len(k)):]; ok && k != "" && asksHow(more) {
			return discourse.Person{Name: t.Self.Name + "的" + k, Key: t.Self.Key + "的" + k}, true // 你妈血糖控制得怎么样
		}
	}
	return discourse.Person{}, false
}

// asksHow reports whether x is the end of a question about how somebody is.
func asksHow(x string) bool {
	const most = 10 // characters
	x = strings.TrimRight(x, "？?啊呀 ")
	return utf8.RuneCountInString(x) <= most && !strings.ContainsAny(x, "，,我你您他她") && syntax.EndsWithAny(x, []string{"怎么样", "怎么样了", "咋样", "咋样了"})
}

// askedName returns the named person about whom a question asks how they are or what they do, or
// "".
func askedName(q string) string {
	rs := []rune(q)
	for n := min(4, len(rs)-1); n >= 2; n-- {
		if strings.ContainsRune("要会也都就没不还已在现最", rs[n-1]) || n > 2 && strings.ContainsRune("小老阿", rs[0]) {
			continue
		}
		if name := string(rs[:n]); syntax.PersonZh(name) && syntax.StartsWithAny(syntax.TrimHeads(string(rs[n:]), "现在", "最近", "他", "她", "还", "要"), []string{"怎么样", "怎样", "咋样", "好点", "好些", "好了", "好吗", "出院", "忙啥", "忙什么", "干嘛", "干啥", "干什么", "在忙", "在干", "生了", "结婚"}) {
			return name
		}
	}
	return ""
}

// earlierTopic returns whom the speaker's own last turns were about, if they were about others.
func earlierTopic(t *discourse.Talk) discourse.Topic {
	sub := t.Aside()
	for i := len(t.Ev.Before) - 2; i >= max(0, len(t.Ev.Before)-4); i-- {
		if t.Ev.Before[i].Speaker != t.Ev.Speaker {
			continue
		}
		for _, s := range slices.Backward(syntax.Sentences(t.Ev.Before[i].Text)) {
			for _, c := range slices.Backward(syntax.Clauses(s)) {
				text := t.Bare(c).Text
				if _, told, says := strings.Cut(text, "说"); says && !strings.ContainsAny(told, "他她") {
					return t.Topic // 王老师说下周三开家长会: about the meeting
				}
				if sub.Attend(text); sub.Topic.Known || sub.Topic.Unclear {
					return sub.Topic
				}
			}
		}
	}
	return t.Topic
}

// whoseEvent returns whose the event of a clause is, and whether the clause names them; ok is false
// if it is the event of somebody whom no rule can name.
func whoseEvent(t *discourse.Talk, x string, habit bool) (who discourse.Person, named, ok bool) {
	if told, ok := toldTo(t, x); ok {
		return told, told.Key != t.Self.Key, true
	}
	who, named = doer(t, x)
	if both := bothIn(x); !named && both != "" {
		return discourse.Person{Name: both, Key: both}, true, true
	}
	if t.Topic.Thing && !syntax.ContainsAny(x, "他", "她") { // 我妈的手机坏了，得去给她买个新的: she is not the one who buys it
		who, named = t.Topic.Person, true
	}
	if !discourse.HasMeZh(x) && (strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她")) {
		who, ok = t.AbsentZh()
		return who, named, ok && habit
	}
	meeting := strings.Contains(x, "家长会")
	if t.Topic.Unclear && !t.Topic.Thing && !feastOf(x) && !comes(x) && !meeting || t.Topic.Known && t.Topic.Person.Key != t.Self.Key && !named && !strings.Contains(x, "我") && !meeting {
		return who, named, false
	}
	return who, named, true
}

// ofThing reports whether time k of a clause only says which thing is meant, and another day follows:
// 上周五买的烤箱今天到货了.
func ofThing(b *discourse.BareZh, k int) bool {
	for i := k + 1; i < len(b.Whens); i++ {
		if w := &b.Whens[i]; w.HasDay && !w.Habit && b.Whens[k].HasDay && w.First > b.Whens[k].Next {
			between := b.S.Text[b.S.Toks[b.Whens[k].Next-1].End:b.S.Toks[w.First].Start]
			head, thing, ok := strings.Cut(between, "的")
			return ok && head != "" && thing != "" && utf8.RuneCountInString(head) <= 3 && !strings.ContainsAny(between, "，,是改从")
		}
	}
	return false
}

// toldTo returns who is told to do something by somebody whom the talk is about: the speaker for
// 老师让周五之前交作业, his father for 我妈让我爸去体检.
func toldTo(t *discourse.Talk, x string) (discourse.Person, bool) {
	for _, verb := range [...]string{"让", "要求", "通知", "催", "叫"} {
		who, rest, ok := strings.Cut(x, verb)
		self := who == "我"
		who, _ = discourse.CutOwnZh(who)
		if !ok || !self && (who == "" || syntax.KinPrefixZh(who) != who) {
			continue
		}
		own, mine := discourse.CutOwnZh(rest)
		name := discourse.NamePrefixZh(rest)
		switch k := syntax.KinPrefixZh(own); {
		case syntax.StartsWithAny(rest, []string{"他", "她", "你", "您", "大家", "人", "做"}) || name != "" && verb == "叫":
			return discourse.Person{}, false
		case name != "":
			return t.Named(name), true
		case mine && k != "":
			return discourse.Person{Name: t.Self.Name + "的" + k, Key: t.Self.Key + "的" + k}, true
		case self || !strings.HasSuffix(t.Topic.Person.Name, who):
			continue
		}
		return t.Self, true
	}
	return discourse.Person{}, false
}

// doer returns who did something according to a clause: the person with whom it begins, and then
// named is true, or the speaker.
func doer(t *discourse.Talk, x string) (who discourse.Person, named bool) {
	if !t.Topic.Known || t.Topic.Person.Key == t.Self.Key {
		return t.Self, false
	}
	p := t.Topic.Person
	if made, ok := strings.CutPrefix(x, syntax.KinPrefixZh(x)); ok && made != x { // 老师布置的作业明天要交
		if did, thing, ok := strings.Cut(made, "的"); ok && did != "" && thing != "" && utf8.RuneCountInString(did) <= 3 && !strings.ContainsAny(did, "他她我") && discourse.NamePrefixZh(made) == "" {
			return t.Self, false
		}
	}
	for _, own := range [...]string{"我们家的", "我们家", "我们", "我家的", "我家", "我的", "我"} {
		if rest, ok := strings.CutPrefix(x, own); ok {
			if discourse.NeighbourZh(rest) == p.Name {
				return p, true
			}
			rest = discourse.TrimAgeZh(rest)
			if _, chain, _ := strings.Cut(p.Name, "的"); strings.Contains(chain, "的") && strings.HasPrefix(rest, chain) {
				return p, true // 我儿子的老师
			}
			if name := discourse.NamePrefixZh(discourse.OursZh(x)); name != "" && strings.EqualFold(t.Named(name).Key, p.Key) {
				return p, true // 我们家豆豆
			}
			if k := syntax.KinPrefixZh(rest); k != "" && !strings.HasPrefix(rest[len(k):], "的") && !withMe(rest[len(k):]) {
				return p, true
			}
			return t.Self, false
		}
	}
	if discourse.NeighbourZh(x) == p.Name || discourse.FamilyZh(x) == p.Name {
		return p, true
	}
	if k := syntax.KinPrefixZh(x); utf8.RuneCountInString(k) > 1 && k != "师傅" && k != "医生" && k != "大夫" { // 老公下周去北京
		after := x[len(k):]
		_, word := EventIn(x)
		if strings.HasPrefix(after, "的") || strings.HasPrefix(after, "我") || withMe(after) || discourse.OfVisitZh(after) || word != "" && strings.HasPrefix(after, word) && groupWords[k] {
			return t.Self, false
		}
		return p, true
	}
	if name := discourse.NamePrefixZh(x); name != "" && strings.EqualFold(t.Named(name).Key, p.Key) && !withMe(x[len(name):]) {
		return p, true
	}
	if syntax.StartsWithAny(x, []string{"带我", "送我", "陪我", "请我", "接我", "帮我", "教我"}) { // 老公又忘了，周五带我去吃饭
		return p, true
	}
	return t.Self, false
}

// ofWhom returns a statement that names whom it is about.
func ofWhom(text string, who discourse.Person) string {
	if strings.Contains(text, who.Name) {
		return text
	}
	return discourse.Named(text, who.Name)
}

// withMe reports whether the speaker does it, too, or alone: 我老婆和我, 老婆让我.
func withMe(after string) bool {
	return syntax.StartsWithAny(after, []string{"和我", "跟我", "与我", "让我", "叫我", "要我"})
}

// eventLeads reports whether a clause is about an event, 牙医预约在…, 去柏林的航班…, and not about what the
// speaker does.
func eventLeads(x, word string) bool {
	before, after, ok := strings.Cut(x, word)
	if !ok || word == "" {
		return false
	}
	if strings.HasSuffix(before, "的") {
		return true
	}
	return before == "" && syntax.StartsWithAny(after, []string{"预约", "在", "是", "定在", "约在", "安排", "改在"})
}

// isSubject reports whether x names whom a clause is about. An empty x is the speaker.
func isSubject(t *discourse.Talk, x string) bool {
	_, ok := t.SubjectZh(x)
	return ok || x == ""
}
