package discourse

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// DenialZh is whom a Chinese clause has just said not to be somebody: the next clause may say what
// they are instead.
type DenialZh struct {
	Person Person // of 乐乐不是我儿子: 乐乐
	Noun   string // of 我表弟不是乐乐: 表弟
	Start  int    // where the clause begins; a zero person and noun: there is none
}

// SeveralOfZh reports whether people have several relatives of this kind.
func SeveralOfZh(noun string) bool {
	return strings.Contains("朋友同事同学邻居室友哥哥弟弟姐姐妹妹", noun)
}

// OfAllergyZh removes 不是 from the person whose allergy is denied, 小雨不是对青霉素过敏, and words that only
// stress it from the allergen, 对青霉素其实不过敏; denies reports the former.
func OfAllergyZh(attribute, who, object string) (whose, what string, denies bool) {
	if attribute != "allergies" {
		return who, object, false
	}
	who = strings.TrimPrefix(who, "不是是") // 不是是对腰果过敏
	for _, k := range [...]string{"不", "没有", "并非"} {
		if rest, ok := strings.CutSuffix(syntax.TrimAdverbsZh(who), k); ok {
			who, denies = rest, true
		}
	}
	if strings.HasSuffix(object, "不是") {
		return who, "", denies // 我对海鲜不是过敏，就是不爱吃
	}
	return who, syntax.TrimAdverbsZh(object), denies
}

// withOfZh inserts 对 before an allergen if it is missing: 我花生过敏, 我爸海鲜过敏.
func withOfZh(x string) string {
	said, ok := strings.CutSuffix(TrimZhEnd(x), "过敏")
	rest, own := CutOwnZh(said)
	rest = strings.TrimPrefix(rest, syntax.KinPrefixZh(rest))
	if n := utf8.RuneCountInString(rest); !ok || !own || n < 2 || n > 4 || syntax.ContainsAny(rest, "对", "不", "没", "有", "会", "又", "是", "很", "易", "皮肤", "鼻", "春", "秋", "换季", "什么", "开始", "总", "常", "说", "好像", "体质", "这", "那", "也", "都") {
		return x
	}
	return said[:len(said)-len(rest)] + "对" + rest + "过敏"
}

// allergicZh returns the person who has an allergy, or none, according to a clause, if only this
// shows that it is a name: 小雨对青霉素过敏. It returns "" if there is none.
func allergicZh(x string) string {
	who, rest, ok := strings.Cut(x, "对")
	if !ok || !strings.Contains(rest, "过敏") {
		return ""
	}
	who, _, _ = OfAllergyZh("allergies", syntax.TrimAdverbsZh(who), "")
	who = syntax.TrimAdverbsZh(who)
	if n := utf8.RuneCountInString(who); n < 2 || n > 3 || !NameZh(who) || syntax.CommonNounsZh[who] || strings.ContainsAny(who, "人们己肤眼身体客") || syntax.EndsWithAny(who, syntax.JobsZh[:]) {
		return ""
	}
	return who
}

// AllergenZh reports whether s is a single noun that may cause an allergy.
func AllergenZh(s string) bool {
	n := utf8.RuneCountInString(s)
	if n == 1 {
		return strings.Contains("虾蟹鱼蛋奶麦酒桃姜蒜", s)
	}
	return n >= 2 && n <= 6 && !strings.ContainsAny(s, "我你他她对不没有会又是很易总常说这那了过着因所但如最从以平季每年天候也都在就") && !syntax.ContainsAny(s, "皮肤", "鼻", "什么", "开始", "好像", "体质", "突然", "现在", "严重")
}

// frontedZh inserts 对 before an allergen that comes first: 花生我过敏.
func frontedZh(x string) string {
	said, ok := strings.CutSuffix(TrimZhEnd(x), "过敏")
	what, who, cut := strings.Cut(said, "我")
	if !ok || !cut || !AllergenZh(strings.TrimRight(what, "，, ")) {
		return x
	}
	if k := syntax.KinPrefixZh(who); syntax.TrimHeads(who[len(k):], "都", "也", "严重", "特别") == "" {
		return "我" + k + "对" + strings.TrimRight(what, "，, ") + "过敏"
	}
	return x
}

// AbsentZh returns whom 他 or 她 means: a relative about whom the other has just asked, else the
// person who was named last.
func (t *Talk) AbsentZh() (Person, bool) {
	if b := t.JustSaid(); b != nil {
		for _, you := range [...]string{"你", "您"} {
			for _, rest, ok := strings.Cut(b.Text, you); ok; _, rest, ok = strings.Cut(rest, you) {
				if k := syntax.KinPrefixZh(strings.TrimPrefix(rest, "的")); k != "" {
					return Person{t.Self.Name + "的" + k, t.Self.Key + "的" + k}, true
				}
			}
		}
	}
	return t.LastPerson()
}
