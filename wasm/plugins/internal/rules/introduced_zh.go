package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// 我们楼下有个大爷 says that there is somebody, of whom the next clause tells.

// folkZh are words for persons, besides relatives and jobs.
var folkZh = []string{"大爷", "大妈", "大叔", "大姐", "大哥", "老太太", "老头", "老头儿", "老爷爷", "老奶奶", "老人", "小伙子", "小伙儿", "小伙", "姑娘", "女孩", "男孩", "女孩子", "男孩子", "女生", "男生", "小孩", "哥们", "夫妻", "小夫妻", "学生", "客户", "亲戚", "人"}

// introducedZh is whom a clause says that there is: 楼下的大爷 of 我们楼下有个大爷. ok is false where it says nothing of
// the kind.
func (t *talk) introducedZh(x string) (p person, ok bool) {
	where, who, ok := strings.Cut(trimZhEnd(x), "有")
	if !ok || utf8.RuneCountInString(where) > 8 {
		return person{}, false
	}
	noun, one := cutHead(who, "一个", "个", "一位", "位", "一对", "对", "一只", "只", "一条", "条")
	if !one || utf8.RuneCountInString(noun) > 8 {
		return person{}, false
	}
	if _, of, cut := strings.Cut(noun, "的"); cut { // 有个做律师的朋友
		noun = of
	}
	kin := slices.Contains(kinZh[:], noun)
	if !kin && !slices.Contains(folkZh, noun) && !jobZh(noun) {
		return person{}, false
	}
	place, own := cutOwnZh(where)
	if place = strings.TrimSuffix(place, "的"); place != "" {
		return person{place + "的" + noun, place + "的" + noun}, true
	}
	if own && kin {
		return person{t.self.name + "的" + noun, t.self.key + "的" + noun}, true
	}
	return person{noun, noun}, own
}

// frontZh reports a clause of the speaker's whose object stands first: 那家餐厅我订了.
func frontZh(x string) bool {
	if !startsWithAny(x, []string{"那", "这"}) {
		return false
	}
	what, deed, ok := strings.Cut(x, "我")
	return ok && utf8.RuneCountInString(what) <= 8 && !strings.ContainsAny(what, "他她说让叫给帮和跟带请把被是在") &&
		startsWithAny(deed, []string{"订", "定", "约", "买", "放", "存", "借", "寄", "交", "已经", "都", "也", "还", "刚", "去", "用"})
}

// storesZh end where things are kept.
var storesZh = []string{"抽屉里", "柜子里", "柜里", "箱子里", "箱里", "盒子里", "盒里", "包里", "袋子里", "架子上", "柜子上", "储物间", "储藏室", "储物间里", "衣柜里", "书柜里", "床底下"}

// storedZh reports a thing in a place where things are kept, 吸尘器在阳台柜子里, and no food.
func storedZh(what, where string) bool {
	n := utf8.RuneCountInString(what)
	return n >= 2 && n <= 5 && endsWithAny(where, storesZh) && !strings.ContainsAny(what, "我你他她它谁这那人的是有说都被把了们还不没糕饭菜肉奶果饼糖汤茶面粥") && !personZh(what) && !endsWithAny(what, kinZh[:])
}
