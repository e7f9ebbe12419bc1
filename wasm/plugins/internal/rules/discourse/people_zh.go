package discourse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// In Chinese: what people who are not close to the speaker do or announce, and what is true for a
// time. Neighbours, 楼上邻居月底搬走; schools and firms, 学校说周五放假; 热水停到周四; 电梯周五才能修好.

// NeighbourZh returns the neighbour with whom a clause begins, in its words; "" if 楼上 and 对面 are
// places.
func NeighbourZh(x string) string {
	for _, where := range [...]string{"楼上", "楼下", "隔壁", "对门", "对面"} {
		rest, ok := strings.CutPrefix(x, where)
		if !ok {
			continue
		}
		for _, who := range [...]string{"的邻居", "邻居", "那对小夫妻", "那对夫妻", "那小两口", "小两口", "小夫妻", "的大爷", "大爷", "的大妈", "大妈", "老太太", "那家人", "人家", "那户", "的住户", "住户"} {
			if after, ok := strings.CutPrefix(rest, who); ok && !(strings.HasPrefix(after, "说") && syntax.ContainsAny(after, OutagesZh...)) { // 楼下大爷说停水: that is in our house
				return where + who
			}
		}
		if family, ok := strings.CutPrefix(rest, "那家"); ok && syntax.StartsWithAny(family, []string{"要", "会", "又", "搬", "在", "老", "总", "生", "养", "办", "装修", "半夜", "说", "有"}) {
			return where + "那家" // and not 对面那家店
		}
		if name := NamePrefixZh(rest); name != "" {
			return where + name
		}
		if where == "对门" || syntax.StartsWithAny(rest, []string{"搬", "装修", "在装修", "在施工", "在吵", "在弹", "在打", "办", "吵", "漏", "弹", "打", "要", "会", "准备", "养", "生", "又", "总", "老是", "一直", "半夜", "经常", "每"}) {
			return where
		}
	}
	return ""
}

// 我们楼下有个大爷 introduces somebody, of whom the next clause tells.

// folkZh are words for persons, besides relatives and jobs.
var folkZh = []string{"大爷", "大妈", "大叔", "大姐", "大哥", "老太太", "老头", "老头儿", "老爷爷", "老奶奶", "老人", "小伙子", "小伙儿", "小伙", "姑娘", "女孩", "男孩", "女孩子", "男孩子", "女生", "男生", "小孩", "哥们", "夫妻", "小夫妻", "学生", "客户", "亲戚", "人"}

// FolkZh reports whether s is a word for a person without a name: 小姑娘, 那个小伙子.
func FolkZh(s string) bool {
	return slices.Contains(folkZh, strings.TrimPrefix(s, "小")) || slices.Contains([]string{"小朋友", "孩子", "宝宝", "娃", "小家伙"}, s)
}

// introducedZh returns the person whom a clause introduces: 楼下的大爷 for 我们楼下有个大爷. ok is false if it
// does nothing of the kind.
func (t *Talk) introducedZh(x string) (p Person, ok bool) {
	where, who, ok := strings.Cut(TrimZhEnd(x), "有")
	if !ok || utf8.RuneCountInString(where) > 8 {
		return Person{}, false
	}
	noun, one := syntax.CutHead(who, "一个", "个", "一位", "位", "一对", "对", "一只", "只", "一条", "条")
	if !one || utf8.RuneCountInString(noun) > 8 {
		return Person{}, false
	}
	if _, of, cut := strings.Cut(noun, "的"); cut { // 有个做律师的朋友
		noun = of
	}
	kin := slices.Contains(syntax.KinZh[:], noun)
	if !kin && !slices.Contains(folkZh, noun) && !JobZh(noun) {
		return Person{}, false
	}
	place, own := CutOwnZh(syntax.TrimHeads(where, "以前", "小时候", "原来", "那时候"))
	if kin && !own && (place == "家里" || place == "家") { // 以前家里有只猫
		return Person{t.Self.Name + "的" + noun, t.Self.Key + "的" + noun}, true
	}
	if place = strings.TrimSuffix(place, "的"); place != "" {
		return Person{place + "的" + noun, place + "的" + noun}, true
	}
	if own && kin {
		return Person{t.Self.Name + "的" + noun, t.Self.Key + "的" + noun}, true
	}
	return Person{noun, noun}, own
}

// frontZh reports whether a clause of the speaker's has its object first: 那家餐厅我订了.
func frontZh(x string) bool {
	if !syntax.StartsWithAny(x, []string{"那", "这"}) {
		return false
	}
	what, deed, ok := strings.Cut(x, "我")
	return ok && utf8.RuneCountInString(what) <= 8 && !strings.ContainsAny(what, "他她说让叫给帮和跟带请把被是在") &&
		syntax.StartsWithAny(deed, []string{"订", "定", "约", "买", "放", "存", "借", "寄", "交", "已经", "都", "也", "还", "刚", "去", "用"})
}

// soundsZh are characters with which foreign names are written.
const soundsZh = "安娜保罗汤姆艾玛凯文杰克麦露西莉丽亚斯尔特德卡米诺奥利维琳达伦迪尼菲雅洛弗格蕾埃伊莎贝拉托马彼得约翰詹妮查理乔治劳丹索佛朱莱恩布鲁戴夫昂迈兰勒瑟珍佐迭哈曼萨诗苏珊蒂芬奈温琪茜玫森雷塔丝"

// Transliterated reports whether s is a foreign name of two to five characters: 保罗.
func Transliterated(s string) bool {
	n := utf8.RuneCountInString(s)
	if n > 2 { // 爱丽丝; 爱 and one more is a verb and a name
		s = strings.TrimPrefix(s, "爱")
	}
	return n >= 2 && n <= 5 && strings.Trim(s, soundsZh) == ""
}

// RolesZh are endings of roles: 班主任 is not a relative, but 我女儿的班主任 is a person.
var RolesZh = [...]string{"班主任", "老师", "教练", "医生", "牙医", "大夫", "领导", "老板", "上司", "主管", "经理", "同学", "同桌", "同事", "朋友", "闺蜜", "室友", "邻居", "保姆", "阿姨", "律师", "会计", "导师", "家教", "房东", "师傅", "校长", "园长", "辅导员", "理发师", "护士", "护工", "队友", "队长", "搭档", "助理", "秘书", "客户", "司机", "实习生", "男朋友", "女朋友", "对象", "偶像"}

// NameZh reports whether s can be somebody's name.
func NameZh(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && (n <= 4 || n == 5 && strings.HasSuffix(s, "太太")) && !syntax.CommonZh(s) && !strings.ContainsAny(strings.TrimSuffix(s, "太太"), "我你他她它了很太历") && !JobZh(s) || n >= 1 && n <= 20 && s[0] < 0x80 && s[0] >= 'A'
}

// JobZh reports whether s is a word for a job.
func JobZh(s string) bool { return slices.Contains(syntax.JobsZh[:], s) }

// TrimZhEnd removes marks and particles from the end of a Chinese text.
func TrimZhEnd(s string) string { return strings.TrimRight(s, " ，,。！!吧啊呢") }
