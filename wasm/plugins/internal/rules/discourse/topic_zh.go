package discourse

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A Chinese clause often has no subject: its subject is then the person whom the previous clause
// names. Topic is that person; unclear is set if the previous clause is about somebody whom no rule
// can name, so that nothing is said about the speaker.
type Topic struct {
	Person  Person
	Beside  Person // the other one of two of whom a clause told, if there is one
	Known   bool
	Unclear bool
	Thing   bool // unclear, and about a thing of the person's: 我女儿的学校
}

// SubjectlessZh returns whom a clause without a subject is about.
func (t *Talk) SubjectlessZh() (Person, bool) {
	switch {
	case t.Topic.Unclear:
		return Person{}, false
	case t.Topic.Known:
		return t.Topic.Person, true
	}
	return t.Self, true // Chinese drops "I"
}

// About makes Chinese clauses without a subject be about somebody.
func (t *Talk) About(p Person) {
	t.Topic = Topic{Person: p, Known: true}
	if p.Key != t.Self.Key {
		t.Spoken(Met{p, -1})
	}
}

// Attend finds with whom a clause begins, and keeps that person in mind for the following clauses.
func (t *Talk) Attend(x string) {
	x = syntax.StripLeadZh(x)
	for again := true; again; {
		again = false
		for _, a := range [...]string{"现在", "以前", "目前", "最近", "已经", "平时", "今年", "去年"} {
			if r, ok := strings.CutPrefix(x, a); ok {
				x, again = r, true
			}
		}
	}
	rest, own := CutOwnZh(strings.TrimPrefix(x, "新"))
	if own {
		rest = TrimAgeZh(rest)
	}
	k := syntax.KinPrefixZh(rest)
	there, introduced := t.introducedZh(x)
	switch {
	case !own && OrderedZh(x) != "":
		t.attendPatient(OrderedZh(x))
	case introduced:
		t.About(there)
	case frontZh(x):
		t.About(t.Self)
	case own && NeighbourZh(rest) != "":
		t.About(Person{NeighbourZh(rest), NeighbourZh(rest)})
	case !own && HasMeZh(x):
		t.About(t.Self)
	case !own && (strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她")):
		sex, she := syntax.SexZh(t.Topic.Person.Name), strings.HasPrefix(x, "她")
		switch {
		case !t.Topic.Known || sex == 0 || (sex == syntax.Female) == she:
		case t.Topic.Beside.Key != "": // 凯莉跟志明分开了。他搬到长沙去了
			t.About(t.Topic.Beside)
		case she: // speech recognition writes 他 for both
			t.Topic = Topic{Unclear: true}
			return
		}
		if !t.Topic.Known || t.Topic.Person.Key == t.Self.Key { // 她是绵阳的，在医院当护士: not the speaker
			p, ok := t.AbsentZh()
			t.Topic = Topic{Person: p, Known: ok, Unclear: !ok}
		}
	case !own && (strings.HasPrefix(x, "你") || strings.HasPrefix(x, "您")):
		p, ok := t.Addressee()
		t.Topic = Topic{Person: p, Known: ok, Unclear: !ok}
	case !own && k != "" && strings.ContainsAny(x[len(k):], "你您"):
		t.Topic = Topic{Unclear: true} // 外婆送你上学: whose?
	case k != "" && (own || utf8.RuneCountInString(k) > 1 && k != "师傅"):
		p := Person{t.Self.Name + "的" + k, t.Self.Key + "的" + k}
		after := rest[len(k):]
		for strings.HasPrefix(after, "的") { // 我姐夫的老板: whose, and what
			k = syntax.KinPrefixZh(after[len("的"):])
			if k == "" {
				t.Topic = Topic{Person: p, Unclear: true, Thing: true}
				return
			}
			p = Person{p.Name + "的" + k, p.Key + "的" + k}
			after = after[len("的")+len(k):]
		}
		if name := NamePrefixZh(after); name != "" {
			p = t.Named(name)
		}
		t.About(p)
	case own && NamePrefixZh(OursZh(x)) != "": // 我们家豆豆对鸡肉过敏
		t.About(t.Named(NamePrefixZh(OursZh(x))))
	case own || strings.HasPrefix(x, "轮到我") || strings.HasPrefix(x, "新家"):
		t.About(t.Self)
	case afterwardsZh(x):
		t.About(t.Self) // 下班后我要去接孩子
	case FamilyZh(x) != "":
		t.About(Person{FamilyZh(x), FamilyZh(x)})
	case NeighbourZh(x) != "":
		t.About(Person{NeighbourZh(x), NeighbourZh(x)})
	default:
		if name := NamePrefixZh(x); name != "" {
			t.About(t.Named(name))
			return
		}
		if name := allergicZh(x); name != "" {
			t.About(t.Named(name))
			return
		}
		head := x
		for _, verb := range [...]string{"是", "在", "叫", "姓", "对", "有", "说", "住", "不"} {
			head, _, _ = strings.Cut(head, verb)
		}
		if of := strings.LastIndex(head, "的"); of > 0 && syntax.PersonZh(head[of+len("的"):]) { // 隔壁的小陈
			t.About(t.Named(head[of+len("的"):]))
			return
		}
		if r, _ := utf8.DecodeRuneInString(head); strings.ContainsRune(VerbStartsZh+"给帮陪约见接送向找问带替为得应可先再等跟请", r) {
			return // what is done, and not who does it
		}
		for _, who := range [...]string{"他", "她", "人", "谁", "家"} {
			if strings.Contains(head, who) {
				t.Topic = Topic{Unclear: true}
			}
		}
		for _, list := range [...][]string{syntax.KinZh[:], syntax.JobsZh[:]} {
			for _, who := range list {
				_, after, there := strings.Cut(head, who)
				if utf8.RuneCountInString(who) > 1 && there && !OfVisitZh(after) && !(who == "同学" && strings.HasPrefix(after, "会")) {
					t.Topic = Topic{Unclear: true}
				}
			}
		}
	}
}

// HasMeZh reports whether others make the speaker do something: 他们让我二月一号开始上班.
func HasMeZh(x string) bool {
	who, _, ok := strings.Cut(x, "让我")
	return ok && (who == "他们" || who == "她们" || who == "公司" || who == "学校" || who == "医院")
}

// FamilyZh returns the family with which a clause begins: 米勒一家来吃饭.
func FamilyZh(x string) string {
	for _, both := range [...]string{"两口子", "夫妻俩", "夫妇"} {
		if who, what, ok := strings.Cut(x, both); ok && what != "" && syntax.PersonZh(who) {
			return who + both
		}
	}
	who, what, ok := strings.Cut(x, "一家")
	what = strings.TrimPrefix(what, "人")
	if !ok || !syntax.PersonZh(who) && !ForeignZh(who) || !syntax.StartsWithAny(what, []string{"来", "去", "要", "搬", "住", "不", "下", "明", "周", "今", "都", "会"}) {
		return ""
	}
	return who + "一家"
}

// afterwardsZh reports whether a clause of the speaker's comes after a point of the day: 下班后我.
func afterwardsZh(x string) bool {
	when, _, ok := strings.Cut(x, "我")
	return ok && utf8.RuneCountInString(when) <= 5 && syntax.KinPrefixZh(when) == "" && syntax.EndsWithAny(when, []string{"后", "前", "时候"})
}

// OfVisitZh reports whether what follows a person's job makes it a visit there, by the speaker:
// 牙医预约.
func OfVisitZh(after string) bool {
	after = strings.TrimPrefix(after, "的")
	return syntax.StartsWithAny(after, []string{"预约", "约", "诊所", "那儿", "那里", "那边", "电话"})
}

// VerbStartsZh are characters with which a predicate begins.
const VerbStartsZh = "是在住叫姓对有不喜爱的也去来搬说要会今昨明从把被跟和很都就还已最刚没今年想能养买卖做学教开吃喝怕讨戒毕出生退结离怀过快病走回到打换辞跳升"

// NamePrefixZh returns the name at the beginning of s, before a predicate: 小王, 老李, 阿强, 李娜, 王小明. It
// returns "" if there is none.
func NamePrefixZh(s string) string {
	if !utf8.ValidString(s) {
		return ""
	}
	rs := []rune(s)
	for n := min(4, len(rs)-1); n >= 2; n-- {
		if ForeignZh(string(rs[:n])) && (n > 2 && strings.ContainsRune(VerbStartsZh, rs[n]) || syntax.StartsWithAny(string(rs[n:]), []string{"来不了", "去不了", "来吃", "来家", "要来", "生了", "怀孕", "发烧", "病了", "住院", "住在", "结婚", "离婚"})) {
			return string(rs[:n])
		}
	}
	for _, n := range [...]int{3, 2} {
		if n == 3 && len(rs) > n && strings.ContainsRune("要会也都就没不还已在对被把跟说换辞跳开", rs[2]) {
			continue // 王伟要来
		}
		if n == 3 && len(rs) > n && strings.ContainsRune("小老阿", rs[0]) && strings.ContainsRune(VerbStartsZh+"办请送约带接搬出入", rs[2]) && syntax.PersonZh(string(rs[:2])) {
			continue // 小王回来, 老张办婚礼
		}
		if len(rs) > n && (strings.ContainsRune(VerbStartsZh+"请送帮约陪带告为", rs[n]) || syntax.StartsWithAny(string(rs[n:]), []string{"调到", "调去", "转到", "转去", "考上", "当上", "值班", "值夜班", "加班", "休息", "休假", "放假", "上班", "上夜班", "上早班", "上晚班", "上课", "轮休", "调休", "开会", "补课", "考试", "入职", "办婚礼", "办酒席", "相亲", "产检"})) && syntax.PersonZh(string(rs[:n])) {
			return string(rs[:n])
		}
	}
	return ""
}

// notForeignZh are also written with [soundsZh], but are not persons.
var notForeignZh = syntax.Set("罗马 米兰 利马 安卡拉 布拉格 特斯拉 奥迪 雷克萨斯 特拉维夫 达拉斯 丹佛 芬兰 罗马尼亚 尼斯 拉萨 苏格兰 奥利奥 伊利 温布利 马拉 保安 保姆 安保 雷达 达菲 萨克斯 卡罗拉 雷诺 保利 安利 奥特曼 达利 德文 丹麦 伊拉克 佛罗伦萨 德克萨斯 伊斯兰 保温 伦理 拉菲 芬达 凯迪拉克 劳斯莱斯 玛莎拉蒂 蕾丝 丝丝")

// ForeignZh reports whether s is the name of somebody from another country: 奥斯卡, 玛丽.
func ForeignZh(s string) bool {
	return Transliterated(s) && utf8.RuneCountInString(s) <= 4 && !notForeignZh[s] && !CitiesZh[s]
}
