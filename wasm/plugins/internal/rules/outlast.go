package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What somebody gave up, sold or stopped is worth knowing also where nobody ever said that it
// was so: "I sold my car", "I used to smoke". An ending alone would end nothing then and be
// lost, so a clause that only ends something also gives a fact that stands.

// endable are the attributes whose end is a fact of the same group: not_owns opposes owns, so
// that the end takes the claim's place where there is one, and a later claim takes its place.
var endable = set("owns smokes plays does learning speaks wears likes medication")

// outlast gives a clause whose candidates, from the one at index from, all end something one
// that stands. told reports that the clause tells what happened, and does not only deny.
func (t *talk) outlast(from int, told bool) {
	made := t.out.Candidates[min(from, len(t.out.Candidates)):]
	for i := range made {
		if c := &made[i]; !c.Negates || c.Type != "semantic" || c.Slot == nil {
			return
		}
	}
	if len(made) == 0 {
		return
	}
	if a := made[0].Slot.Attribute; (endable[a] || a == "habit" || strings.HasPrefix(a, routineSlot(""))) && t.goesOn(a == "owns" && told) {
		t.out.Candidates = t.out.Candidates[:from]
		return
	}
	stood := map[string]bool{} // values, so that a list has a fact of each
	for i := range made {
		c := &made[i]
		if c.Slot.Many && endable[c.Slot.Attribute] && c.Slot.Value != "" && (len(stood) == 0 || made[0].Slot.Attribute == "not_"+c.Slot.Attribute) && !stood[c.Slot.Value] {
			stood[c.Slot.Value] = true
			c.Negates, c.Slot.Attribute = false, "not_"+c.Slot.Attribute
			c.Predicate, c.Object = c.Slot.Attribute, c.Slot.Value
		}
	}
	if len(stood) > 0 || !told {
		return
	}
	a := made[0]
	a.Negates, a.Slot, a.Predicate, a.Object = false, nil, "", ""
	a.Confidence = min(a.Confidence, 0.75)
	t.out.Candidates = append(t.out.Candidates, a)
}

// goesOn reports whether the sentence leaves open that what it ends goes on, in part, at times or
// by now again: "and I still do", "not in the house", "for the day". What somebody parted with, by
// a deed, is gone however the sentence goes on, unless it came back.
func (t *talk) goesOn(deed bool) bool {
	s := t.said
	deed = deed && !holdsWord(strings.ToLower(s.raw()), "used") // "used to have" is none
	if s.chinese() {
		return containsAny(s.raw(), "现在还", "现在更", "现在也", "现在又", "还在", "仍", "依然", "照样", "更多", "更少", "等会", "待会", "一会", "过会", "晚点", "回头", "今天", "今晚", "今早", "这周", "明天", "暂时", "先不", "又买回", "买回来", "有时", "偶尔")
	}
	for i := range s.toks {
		next := s.at(i + 1)
		switch w := s.at(i); {
		case deed:
			if w == "back" && s.at(i-1) != "way" && s.at(i-1) != "the" && s.at(i-1) != "my" || w == "again" {
				return true
			}
		case w == "more" && s.at(i-1) == "any" || w == "anymore":
			if next == "than" {
				return true
			}
		case w == "but":
			after := next
			if after == "i" || after == "we" || after == "he" || after == "she" || after == "then" {
				after = s.at(i + 2)
			}
			if after != "stopped" && after != "quit" && after != "gave" {
				return true
			}
		case w == "just":
			if next != "stopped" && next != "quit" && next != "gave" {
				return true
			}
		case w == "for":
			unit := next
			if determiner(next) {
				unit = s.at(i + 2)
			}
			if next == "now" || whiles[trimS(unit)] {
				return true
			}
		case w == "more" || w == "less" || w == "better" || w == "only" || w == "still" || w == "again" || w == "now" || w == "today" || w == "tonight" || w == "except" || w == "unless" || w == "sometimes" || w == "occasionally":
			return true
		}
	}
	return !deed && slices.ContainsFunc(findWhens(s, t.now), func(w when) bool { return w.hasDay && !w.habit && !w.since && w.grain == 'd' })
}

// whiles are times that an end may last for.
var whiles = set("day week night evening month moment season winter summer while bit")

// opined are verbs of which "used to" tells little: "I used to think so".
var opined = set("think know feel say believe get tell wonder worry see be have use")

// onceDid keeps what somebody did as a matter of course and does no more, where no rule knows
// the verb: "I used to go to church". A habit among what the rules made is none of today.
func (t *talk) onceDid(c *clause, from int) {
	for i := from; i < len(t.out.Candidates); i++ {
		if a := &t.out.Candidates[i]; !a.Negates && a.Slot != nil && strings.HasPrefix(a.Slot.Attribute, routineSlot("")) {
			a.Slot = nil
		}
	}
	if len(t.out.Candidates) > from {
		return
	}
	o := c.trim(c.vi+1, len(c.words))
	if c.neg || c.ends == "?" || c.kind != 's' && c.kind != 'p' || opined[c.verb] || c.conditional() || vague(o) || len(strings.Fields(o)) > 8 {
		return
	}
	t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", "biography", 0.7))
}

// beforeZh begin what was so and is so no more.
var beforeZh = [...]string{"以前", "曾经", "过去", "从前", "原来"}

// onceZh takes 我以前抽烟, 我曾经弹钢琴.
func (t *talk) onceZh(b *bareZh, x string) bool {
	own, ok := strings.CutPrefix(x, "我")
	for _, k := range beforeZh {
		what, found := strings.CutPrefix(own, k)
		often := strings.TrimPrefix(strings.TrimPrefix(what, "经常"), "常常")
		if k == "过去" && often == what {
			continue // 我过去跑步: I'm going over there
		}
		what = often
		switch {
		case !ok || !found || what == "":
		case smokingZh[what]:
			t.endedZh(b, "diet", "smokes", what, true)
			return true
		case activityZh(what):
			t.endedZh(b, "habit", routineSlot(what), "", true)
			return true
		}
	}
	return false
}

var smokingZh = set("抽烟 吸烟 抽过烟 吸过烟")

// soldZh takes 我把车卖了, 我卖掉了自行车, 我的车卖掉了.
func (t *talk) soldZh(b *bareZh, x string) bool {
	for _, k := range [...]string{"卖掉了", "卖了", "送人了", "扔了", "扔掉了"} {
		what, ok := "", false
		for _, pre := range [...]string{"我把", "我们把", "我已经把"} {
			if what, ok = strings.CutPrefix(x, pre); ok {
				what, ok = strings.CutSuffix(what, k)
				break
			}
		}
		if !ok && k == "卖掉了" {
			what, ok = strings.CutPrefix(x, "我"+k)
		}
		what, mine := strings.CutPrefix(what, "我的")
		what = strings.TrimPrefix(strings.TrimPrefix(what, "那"), "辆")
		had := !notHadZh(what) && (mine || k[:3] == "卖" && (utf8.RuneCountInString(what) > 1 || endsWithAny(what, belongingsZh[:]) || endsWithAny(what, thingsZh[:])))
		if n := utf8.RuneCountInString(what); ok && had && n > 0 && n <= 8 && !vagueZh(what) {
			t.endedZh(b, "possession", "owns", what, true)
			return true
		}
	}
	return false
}

// notHadZh reports what one throws or gives away and did not own as a thing: 垃圾, 剩饭, 心思.
func notHadZh(what string) bool {
	return containsAny(what, "垃圾", "饭", "菜", "纸", "票", "心", "灵魂", "时间", "机会", "位置", "座位", "号码", "作业", "命", "水果", "苹果", "快递", "货", "批", "这些", "那些")
}

// hadOwn is the thing of the speaker's own that they parted with: the object o at word i; "" where
// it may never have been theirs, or is nothing that one has. "The" is enough only of a thing that
// one has one of, the car.
func (c *clause) hadOwn(i int, o string) string {
	o = cutTail(o)
	words := strings.Fields(strings.ToLower(o))
	if c.kind != 's' && c.kind != 'w' || len(words) == 0 || kin(words[0]) || food(o) || meal(o) {
		return ""
	}
	for k, w := range words {
		if k > 0 && determiner(w) || w == "last" {
			return "" // "my mother a lamp"
		}
	}
	noun := words[len(words)-1]
	switch c.w(i) {
	case "my", "our":
		if one := trimS(noun); kin(noun) || kin(one) || intangible[noun] || intangible[one] || unplaceable[noun] || unplaceable[one] {
			return ""
		}
	case "the":
		if !thingWord(noun) && !capitalised(last(o)) {
			return ""
		}
	default:
		return ""
	}
	return ownedName(o)
}

// intangible are what one sells or gives away and did not own as a thing.
var intangible = set("soul seat number place spot secret ending email address password life body blood hair data dignity principle talent skill service share vote position role identity advice opinion kid baby half rest part all everything cold cough flu headache fear stress worry pain habit accent debt problem leftover copy")

// ownedName is the name under which a thing is had: of one that has a name of its own, "a blue
// Skoda", without what it looks like.
func ownedName(o string) string {
	words := strings.Fields(o)
	for len(words) > 1 && capitalised(words[len(words)-1]) && looks[strings.ToLower(words[0])] {
		words = words[1:]
	}
	if o = strings.Join(words, " "); utf8.RuneCountInString(o) < 2 || personal(strings.ToLower(o)) {
		return ""
	}
	return o
}

var looks = set("red blue green black white grey gray silver yellow brown orange purple pink dark light old new used second-hand secondhand little big small lovely nice electric")
