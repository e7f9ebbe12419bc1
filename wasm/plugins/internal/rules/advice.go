package rules

import (
	"slices"
	"strings"
)

// What somebody skilled says that one should do, or what is wrong: "the vet says the cat has to lose
// weight", 牙医说要拔两颗智齿. It is noted in the speaker's words, with who says so, and fills no slot: it is
// no plan before somebody makes one.

// advises are verbs by which somebody skilled says what to do, by whether whom they tell must follow.
var advises = map[string]bool{"says": false, "said": false, "thinks": false, "reckons": false, "recommends": false, "recommended": false, "suggests": false, "suggested": false, "wants": true, "told": true, "advised": true, "asked": true}

// mustWords say that something should be done.
var mustWords = set("should must needs need has have ought cannot")

// skilled reports whose word on a matter counts, beside those whom one has appointments with.
func skilled(noun string) bool {
	switch noun {
	case "specialist", "consultant", "trainer", "inspector", "adviser", "advisor", "roofer", "builder", "locksmith", "surveyor", "breeder", "osteopath", "headmaster", "headteacher", "garage", "clinic", "surgery":
		return true
	case "student", "driver", "waiter", "waitress", "postman", "cashier", "barista", "volunteer", "intern", "author", "actor", "actress", "singer", "founder", "head", "soldier", "dancer":
		return false
	}
	return profession(noun) || trade(noun)
}

// advised takes what somebody skilled told the speaker to do. It reports whether the sentence is one.
func (t *talk) advised(s sentence) bool {
	if s.ends == "?" || s.ends == "？" || conditioned(s) || orders(s) {
		return false
	}
	if s.chinese() {
		return t.advisedZh(s)
	}
	i := 0
	for i < len(s.toks) && (s.toks[i].kind == 'p' || lead(s.at(i))) {
		i++
	}
	if w := s.at(i); w != "the" && w != "my" && w != "our" {
		return false
	}
	for first := i + 1; i < first+3 && !skilled(s.at(i)); i++ {
	}
	told, known := advises[s.at(i+1)]
	if !skilled(s.at(i)) || !known {
		return false
	}
	if i += 2; told {
		if s.at(i) != "me" && s.at(i) != "us" {
			return false
		}
		i++
	}
	must := s.at(i) == "to" || s.at(i) == "not" && s.at(i+1) == "to" || strings.HasPrefix(s.at(i-1), "recommend") || strings.HasPrefix(s.at(i-1), "suggest")
	for k := i; k < len(s.toks); k++ {
		switch w, rest := contraction(s.at(k)); {
		case w == "he" || w == "she" || w == "they" || w == "you" && rest == "":
			return false // what they say of themselves, or of whom one can't tell
		case mustWords[w] && (w != "has" && w != "have" && w != "need" && w != "needs" || s.at(k+1) == "to" || strings.HasSuffix(s.at(k+1), "ing") || w[0] == 'n' && (determiner(s.at(k+1)) || s.at(k+1) == "new")), rest == "not" && mustWords[w]:
			must = true
		}
	}
	if !must || len(s.toks)-i < 3 {
		return false
	}
	c := t.unparsed(s)
	c.whens = slices.DeleteFunc(c.whens, func(w when) bool { return w.since }) // "rest for two weeks"
	a := t.base(&c, "semantic", "noted", notedSure)
	if w := c.firstTime(); w != nil && w.hasDay && w.day >= t.now.day {
		a.Type, a.EventType, a.Started = "episodic", "noted", moment{w.day, 0, t.now.offset}.unix()
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// skilledZh are whose word on a matter counts.
var skilledZh = [...]string{"主治医生", "医生", "大夫", "牙医", "兽医", "护士", "律师", "会计", "电工", "水管工", "修车师傅", "维修师傅", "装修师傅", "师傅", "教练", "老师", "班主任", "理疗师", "康复师", "营养师", "药剂师", "验光师", "心理咨询师", "咨询师", "设计师", "中介", "顾问", "专家", "技术员", "工程师", "修车的", "水电工", "修手机的", "修电脑的", "修理工", "保险公司", "售后", "装修工", "理发师", "兽医院", "医院", "药店"}

// advisedZh is the same of a Chinese sentence.
func (t *talk) advisedZh(s sentence) bool {
	x := stripLeadZh(strings.Trim(s.raw(), " ，,。！!"))
	x, own := cutOwnZh(x)
	who := longestZh(x, skilledZh[:])
	if who == "" {
		return false
	}
	rest := x[len(who):]
	for _, says := range [...]string{"建议我们", "建议我", "建议", "让我们", "让我", "叫我们", "叫我", "不让我", "跟我说", "告诉我", "说了", "说"} {
		what, ok := strings.CutPrefix(rest, says)
		if !ok {
			continue
		}
		what = strings.TrimLeft(what, "，, ")
		if strings.ContainsAny(what, "他她你您") || len([]rune(what)) < 3 || vagueZh(what) {
			return false
		}
		if strings.HasSuffix(says, "说") || strings.HasSuffix(says, "说了") || says == "告诉我" {
			if strings.HasPrefix(what, "得") || strings.HasPrefix(what, "我") && !containsAny(what, "要", "得", "该", "需要", "不能", "必须") || strings.HasPrefix(what, "咱") || !containsAny(what, "要", "得", "该", "需要", "必须", "不能", "最好", "别", "太", "不用", "可以") {
				return false
			}
		}
		b := t.bare(s)
		a := t.baseZh(&b, "semantic", "noted", t.self, notedSure)
		if a.Text = t.rewriteZh(s, b.whens, false); !own && !strings.Contains(a.Text, t.self.name) {
			a.Entities = nil
		}
		for i := range b.whens {
			if w := &b.whens[i]; w.hasDay && !w.habit && w.day >= t.now.day {
				a.Type, a.EventType, a.Started = "episodic", "noted", moment{w.day, 0, t.now.offset}.unix()
				break
			}
		}
		t.out.Candidates = append(t.out.Candidates, a)
		return true
	}
	return false
}
