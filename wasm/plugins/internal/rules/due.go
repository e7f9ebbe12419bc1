package rules

import "strings"

// What is due, ends or arrives has one day of its own: the rent is due on Monday, the rent for the
// garage on Friday, and neither takes the other's place. The same thing with a new day has moved.

// onceVerbs say of a thing what it does once.
var onceVerbs = set("end expire start begin finish arrive depart land run close open leave launch stop")

// dueOnce reports a clause about a thing that is known and happens once: "the lease ends on 31 March",
// "my report is due on Friday".
func (c *clause) dueOnce() bool {
	if c.kind != 't' || pronoun(c.thing) || c.thing == "" || c.w(0) == "a" || c.w(0) == "an" {
		return false
	}
	return onceVerbs[c.verb] && (c.verb != "run" || c.w(c.vi+1) == "out") && c.verb != "open" && c.verb != "close" || c.verb == "be" && (c.w(c.vi+1) == "due" || c.must)
}

// thingSlot begins the slot of a plan about a thing with whose and what it is; "" of anything else.
func (c *clause) thingSlot() string {
	if c.kind != 't' || pronoun(c.thing) || c.thing == "" {
		return ""
	}
	what := ""
	if c.own && c.owner != "" {
		w := c.w(0)
		_, relative, ofMine := strings.Cut(strings.ToLower(c.owner), "'s ")
		switch {
		case w != "my" && w != "our":
			what = " " + possessive(strings.ToLower(c.owner))
		case ofMine: // "my wife's contract" is not mine
			what = " " + possessive(relative)
		}
	}
	for w := range strings.FieldsSeq(c.thing) {
		if !determiner(w) && w != "'s" && w != "," {
			what += " " + w
		}
	}
	return what
}

// dueZh reports a Chinese clause that says when something is due or over: 房租周一到期.
func dueZh(x string) bool {
	x = trimHeads(strings.TrimRight(x, "。！! 了"), "之前", "以前", "前") // 周五之前得交: what?
	return len([]rune(x)) > 3 && endsWithAny(x, []string{"到期", "截止", "过期", "结束", "开始", "失效", "续费", "要交", "该交", "得交", "开售", "开学", "送到", "发货"})
}
