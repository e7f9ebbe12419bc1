package rules

import "strings"

// episode reports a clause that tells of something which takes place, took place or is to come, and not of how
// somebody or something is, or was for years. w is its first time or nil.
func (c *clause) episode(w *when, past, ahead bool) bool {
	dated := w != nil && w.hasDay && !w.habit
	switch {
	case c.hasHabit(), c.usedTo:
		return false
	case ahead, c.future, c.must, c.ahead():
		return true
	case past:
		return dated && !(w.grain == 'y' && years[c.verb]) || !dated && !c.lasted()
	}
	return c.ing && (dated || !ongoing[c.verb]) || c.doing() // "we're hiking this weekend", "the surveyor is coming back"
}

// doing reports what somebody is doing by a verb that no list has: "we're swapping our supplier".
func (c *clause) doing() bool {
	next := c.w(c.vi + 1)
	return c.verb == "be" && !c.past && !c.neg && len(next) > 5 && strings.HasSuffix(next, "ing") && determiner(c.w(c.vi+2))
}

// ongoing verbs say in "is …ing" what somebody does for weeks or years, or how something is.
var ongoing = set("live stay study learn train work teach look struggle suffer wear try read watch play save grow run feel think have be depend care raise date use get take do make write keep support manage build " +
	"bring drive share rent hope fight follow worry act cost bother kill hurt ache itch drip leak fail wait sleep eat drink talk say tell ask speak enjoy love miss want need know see show lack lean miss practise practice")

// ahead reports what is said to be to come without a day: "we're gonna paint the hall", "I'm going to learn Greek".
func (c *clause) ahead() bool {
	return c.future || c.must || c.verb == "gonna" || c.verb == "gotta" || c.verb == "go" && c.ing && c.w(c.vi+1) == "to" && !determiner(c.w(c.vi+2)) && !wordsOwn[c.w(c.vi+2)]
}

// lasted reports a clause of the past that tells how somebody or something was for long: "my dad was a carpenter",
// "I've never been to Scotland", "he's been a nurse for ten years", "we had a dog called Rex".
func (c *clause) lasted() bool {
	if c.find(1, c.vi, "never") > 0 {
		return true
	}
	next := c.w(c.vi + 1)
	switch c.verb {
	case "be":
		if originated[next] || next == "brought" && c.w(c.vi+2) == "up" || c.kind != 't' && c.forYears() || c.kind == 'w' && c.atSchool() || c.perfect && (c.find(c.vi, len(c.words), "for") > 0 || c.find(c.vi, len(c.words), "since") > 0) {
			return true
		}
		return (c.kind != 't' && c.aPerson() || c.own) && (next == "a" || next == "an") && c.w(c.vi+2) != "bit" && c.w(c.vi+2) != "little"
	case "have":
		return (next == "a" || next == "an") && c.find(c.vi, len(c.words), "called") > 0
	}
	return stative[c.verb] || years[c.verb] || c.verb == "work" && c.forYears()
}

// originated is how somebody or something came to be: "our house was built in 1894".
var originated = set("born built founded raised")

// forYears reports "for twenty years" and "all his life".
func (c *clause) forYears() bool {
	for i := range c.toks {
		switch c.at(i) {
		case "years", "decades":
			if c.at(i-1) == "for" || c.at(i-2) == "for" || c.at(i-3) == "for" {
				return true
			}
		case "life":
			if c.at(i-2) == "all" {
				return true
			}
		}
	}
	return false
}

// aPerson reports a clause whose subject is surely a person: "Kickboxing" may be read as a name.
func (c *clause) aPerson() bool {
	return c.kind != 'p' || c.own || thirds[c.w(0)] || sexOf("", c.subj.name) != 0
}

// stative verbs tell what is so, and no deed.
var stative = set("know own belong love like hate prefer believe contain")

// years are verbs of what one does for years: "I studied law in Leeds".
var years = set("study live grow attend raise")

// intentions are the words of an outlook that say what somebody means to do, and not what they wish or feel.
var intentions = set("thinking considering contemplating toying intend intends aim aims aiming trying planning meaning might may looking")

// intentionsZh are the same in Chinese.
var intentionsZh = set("在考虑 打算 计划 准备 在找 可能要 可能会")
