package rules

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
	return dated && c.ing // "we're hiking this weekend"
}

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
		if next == "born" || c.kind == 'w' && c.atSchool() || c.perfect && (c.find(c.vi, len(c.words), "for") > 0 || c.find(c.vi, len(c.words), "since") > 0) {
			return true
		}
		return (c.kind != 't' && c.aPerson() || c.own) && (next == "a" || next == "an") && c.w(c.vi+2) != "bit" && c.w(c.vi+2) != "little"
	case "have":
		return (next == "a" || next == "an") && c.find(c.vi, len(c.words), "called") > 0
	}
	return stative[c.verb] || years[c.verb]
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
