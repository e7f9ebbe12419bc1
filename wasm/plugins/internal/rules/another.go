package rules

import "strings"

// "I have a meeting on Monday" and "I have a meeting on Tuesday" are two
// meetings, and neither ends the other: a slot is of one appointment. Only what
// is spoken of as known ("my flight", "the review") and is still to come can have
// got another time.

// another gives a new plan the slot of the appointment that it is, where that is
// known, or one of its own.
func (t *talk) another(p *plan, definite bool) {
	base := p.attribute
	var taken, open *plan
	for i := len(t.plans) - 1; i >= 0; i-- {
		o := &t.plans[i]
		if o.subject != p.subject || o.attribute != base && !strings.HasPrefix(o.attribute, base+" 2") {
			continue
		}
		if o.day == p.day && (o.minute == p.minute || !o.clock || !p.clock) {
			p.attribute = o.attribute // said again, perhaps with its hour
			return
		}
		taken = o
		if open == nil && o.day >= t.now.day {
			open = o
		}
	}
	switch {
	case taken == nil || p.day == 0:
	case definite && open != nil:
		p.attribute = open.attribute
	default:
		p.attribute = base + " " + p.value()
	}
}

// definite reports whether what is planned is spoken of as known: "the review",
// "my flight", "Ben's party".
func (c *clause) definite() bool {
	if c.dueOnce() {
		return true
	}
	for i := range c.words {
		if _, event := eventNoun(oneEvent(c.w(i))); !event {
			continue
		}
		for k := i - 1; k >= max(0, i-4); k-- {
			switch w := c.w(k); {
			case w == "the" || w == "my" || w == "our" || w == "your" || w == "his" || w == "her" || w == "their" || w == "this" || w == "that" || w == "'s":
				return true
			case verbish(w) || preposition(w) || determiner(w):
				k = -1
			}
		}
	}
	switch c.verb {
	case "visit", "call", "phone", "text", "email", "cook", "help", "ask", "feed", "water", "buy":
		return false
	}
	for i := c.vi + 1; errand[c.verb] && i < len(c.words); i++ {
		switch c.w(i) {
		case "the", "my", "our", "your", "his", "her", "their":
			return true // sending the report is done once
		}
	}
	return false
}

// definiteZh reports the same of a Chinese clause with the event word.
func definiteZh(x, word string) bool {
	if dueZh(x) || containsAny(x, "我的", "你的", "这个", "那个", "这场", "那场", "把") {
		return true
	}
	_, after, ok := strings.Cut(x, word)
	return ok && word != "" && startsWithAny(after, []string{"是", "在", "定在", "安排在"})
}
