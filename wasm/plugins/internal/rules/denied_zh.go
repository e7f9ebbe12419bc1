package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// belongingsZh are what one has or has not, besides thingsZh.
var belongingsZh = [...]string{"车", "汽车", "自行车", "摩托车", "电动车", "驾照", "驾驶证", "房子", "房", "电视", "相机", "钢琴", "吉他", "电脑", "微波炉", "烤箱", "洗碗机", "空调", "信用卡", "护照", "签证", "宠物", "狗", "猫",
	"孩子", "小孩", "兄弟姐妹", "哥哥", "姐姐", "弟弟", "妹妹", "女朋友", "男朋友", "对象", "微信", "保险"}

// severalZh takes the names after 我有两个孩子: a clause of nothing else.
func (t *talk) severalZh(b *bareZh) bool {
	noun := t.several
	t.several = ""
	if what, ok := strings.CutPrefix(strings.TrimPrefix(b.text, "我们"), "我"); ok || what != b.text {
		if what, ok := strings.CutPrefix(what, "有"); ok {
			for _, k := range [...]string{"孩子", "儿子", "女儿", "哥哥", "姐姐", "弟弟", "妹妹"} {
				if strings.HasSuffix(trimZhEnd(what), k) {
					t.several = k
				}
			}
			if w := trimZhEnd(what); w == "一儿一女" || w == "一对儿女" {
				t.several = "孩子"
			}
		}
	}
	if noun == "" {
		return false
	}
	names := strings.FieldsFunc(strings.TrimPrefix(strings.TrimPrefix(trimZhEnd(b.text), "分别"), "叫"), func(r rune) bool { return r == '和' || r == '、' || r == ' ' })
	for _, n := range names {
		if !nameZh(n) {
			return false
		}
	}
	for _, n := range names {
		t.relationZh(b, t.self, noun, n)
	}
	return len(names) > 0
}

// deniedZh takes what somebody says that they have not or never do, whether or not anybody
// had claimed it: 我没有车, 我从来不抽烟, 我没去过日本.
func (t *talk) deniedZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	if len(b.whens) > 0 || strings.Contains(x, "你") {
		return false
	}
	for _, k := range [...]string{"从来不抽烟", "从来没抽过烟", "从没抽过烟", "从不抽烟", "没抽过烟", "不会抽烟", "不抽烟"} {
		if who, ok := strings.CutSuffix(x, k); ok {
			if p, ok := t.subjectZh(who); ok {
				t.factZh(b, p, "diet", "avoids", "烟", true, false, 0.88)
				return true
			}
		}
	}
	for _, k := range [...]string{"没有", "没养", "没"} {
		who, what, ok := strings.Cut(x, k)
		what, gone := strings.CutSuffix(what, "了")
		if !ok || !slices.Contains(belongingsZh[:], what) {
			continue
		}
		p, ok := t.subjectZh(who)
		if !ok {
			return false
		}
		if gone {
			t.factZh(b, p, "possession", "owns", what, true, true, 0.8)
		} else {
			t.factZh(b, p, "possession", "not_owns", what, true, false, 0.82)
		}
		return true
	}
	for _, k := range [...]string{"从来没有", "从来没", "从没", "一次也没", "没"} {
		who, what, ok := strings.Cut(x, k)
		if !ok || strings.HasSuffix(what, "了") || utf8.RuneCountInString(what) > 12 {
			continue
		}
		for _, did := range [...]string{"去过", "坐过", "吃过", "喝过", "学过", "养过", "住过", "开过"} {
			if rest, ok := strings.CutPrefix(what, did); ok && utf8.RuneCountInString(rest) >= 2 && !vagueZh(rest) && !strings.ContainsAny(rest, "这那么") {
				if p, ok := t.subjectZh(who); ok {
					t.factZh(b, p, "biography", "never", what, true, false, 0.8)
					return true
				}
			}
		}
	}
	return false
}
