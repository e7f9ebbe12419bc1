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
