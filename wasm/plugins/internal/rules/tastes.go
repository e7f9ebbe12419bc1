package rules

import "strings"

// taste takes what somebody is fond of or not, said with "be": "crazy about",
// "not keen on", "a cat person". It is at word i.
func (t *talk) taste(c *clause, i int) bool {
	if c.past {
		return false
	}
	attr, k := "", 0
	switch w, next := c.w(i), c.w(i+1); {
	case (w == "crazy" || w == "mad" || w == "passionate" || w == "nuts" || w == "wild") && next == "about",
		w == "keen" && next == "on", w == "obsessed" && next == "with", w == "hooked" && next == "on", w == "addicted" && next == "to", w == "big" && next == "on":
		attr, k = "likes", i+2
	case w == "sick" && next == "of", w == "averse" && next == "to":
		attr, k = "dislikes", i+2
	case w == "a" || w == "an" || w == "more" || w == "not" || w == "much":
		for j := i; j < min(len(c.words), i+7); j++ {
			if c.w(j) == "person" && j > i+1 && !c.neg && j == len(c.words)-1 || c.w(j) == "owl" && c.w(j-1) == "night" {
				what := strings.TrimPrefix(strings.TrimPrefix(c.trim(i, j+1), "more of a "), "more of an ")
				return t.fact(c, "preference", "is", what, true, 0.8) != nil
			}
			if c.w(j) == "sucker" && c.w(j+1) == "for" {
				return t.fact(c, "preference", "likes", o2(c, j+2), true, 0.85) != nil
			}
		}
		return false
	default:
		return false
	}
	if c.neg && !c.noLonger {
		attr, c.neg = map[string]string{"likes": "dislikes", "dislikes": "likes"}[attr], false
	}
	return t.fact(c, "preference", attr, o2(c, k), true, 0.85) != nil
}

// rather takes a choice: "I'd take trains over planes", "I'd rather walk than
// drive", "I prefer tea to coffee".
func (t *talk) rather(c *clause) bool {
	if c.kind != 's' && c.kind != 'p' && c.kind != 'w' || c.past || c.neg || c.ends == "?" {
		return false
	}
	i := c.vi + 1
	between := ""
	if w := c.w(c.vi - 1); c.modal && (w == "rather" || w == "sooner") {
		between = "than"
		switch c.verb { // of "walk" and "text" the verb is what is liked
		case "have", "take", "get":
		case "be", "die", "starve", "not":
			return false
		default:
			i = c.vi
		}
	}
	switch c.verb {
	case "take", "choose", "pick", "have":
		if !c.modal || between != "" {
			break
		}
		between = "over"
	case "like", "love", "enjoy":
		if k := c.find(i, 6, "more"); k > i && c.w(k+1) == "than" && !c.modal {
			return t.liking(c, c.trim(i, k), o2(c, k+2))
		}
	case "prefer":
		for k := i; k < len(c.words); k++ {
			if w := c.w(k); w == "to" || w == "over" {
				if l, _, ing := lemma(c.w(k + 1)); w == "to" && (k == i || l != "" && !ing) {
					return false // "prefers to walk"
				}
				between = w
				break
			}
		}
	}
	if between == "" {
		return false
	}
	for k := i + 1; k+1 < len(c.words); k++ {
		if c.w(k) == between {
			return t.liking(c, c.trim(i, k), o2(c, k+1))
		}
	}
	return false
}

// liking proposes that one thing is liked better than another.
func (t *talk) liking(c *clause, what, than string) bool {
	first, _, _ := strings.Cut(strings.ToLower(what), " ")
	if base, _ := contraction(first); what == "" || than == "" || vague(what) || vague(than) || subjectPronoun(base) {
		return false
	}
	f := t.fact(c, "preference", "likes", what, true, 0.85)
	if f != nil {
		f.Object = what + " over " + than
	}
	return f != nil
}

// attribute takes "my blood type is O negative": what somebody has one of, and
// "olives aren't my thing".
func (t *talk) attribute(c *clause, i int) bool {
	if c.verb != "be" || c.past || c.modal || c.ends == "?" {
		return false
	}
	o, _ := c.object(i)
	if c.kind == 'p' && !c.own { // a thing that looks like a name: "Olives aren't my thing"
		c.thing = strings.ToLower(c.subj.name)
	}
	if rest := strings.ToLower(c.join(i, len(c.words))); !c.own && !pronoun(c.thing) && c.thing != "" {
		attr := ""
		switch {
		case rest == "my thing" || rest == "my cup of tea" || rest == "for me":
			attr = "likes"
			if c.neg {
				attr = "dislikes"
			}
			if rest == "for me" && !c.neg {
				return false
			}
		case strings.HasPrefix(rest, "my favourite") || strings.HasPrefix(rest, "my favorite") || strings.HasPrefix(rest, "my fave"):
			if c.neg {
				return false
			}
			attr = "likes"
		default:
			return false
		}
		what := c.thing
		c.neg = false
		c.subj = t.self
		return t.fact(c, "preference", attr, what, true, 0.85) != nil
	}
	if !c.own || c.neg || o == "" || vague(o) || c.firstTime() != nil && c.firstTime().hasDay {
		return false
	}
	kind, attr := "biography", strings.ReplaceAll(c.thing, " ", "_")
	switch c.thing {
	case "surname", "last name", "middle name", "first name", "nickname", "blood type", "blood group", "star sign", "zodiac sign", "nationality", "religion", "middle initial", "height", "weight", "age",
		"major", "pronouns", "eye colour", "eye color", "hair colour", "hair color":
	case "mother tongue", "native language", "first language":
		attr = "speaks"
		return t.fact(c, "biography", attr, o, true, 0.9) != nil
	case "desk", "car", "bike", "locker", "seat", "room", "parking space", "parking spot":
		return false
	default:
		return false
	}
	if strings.HasPrefix(c.thing, "blood") { // "A positive", whose A is no article
		_, next := c.object(i)
		o = c.join(i, next)
	}
	f := t.fact(c, kind, attr, o, false, 0.88)
	if f != nil && (strings.HasPrefix(c.thing, "blood") || c.thing == "weight") {
		f.Sensitivity = "private"
	}
	return f != nil
}

// reacts takes "shellfish makes me break out", "dairy gives me a stomach ache".
func (t *talk) reacts(c *clause) bool {
	i := c.vi + 1
	if c.kind == 'p' && !c.own {
		c.thing = strings.ToLower(c.subj.name)
	}
	if c.kind != 't' && c.kind != 'p' || c.neg || c.past || pronoun(c.thing) || c.thing == "" || c.w(i) != "me" {
		return false
	}
	if who := c.thing; c.verb == "call" && (who == "everyone" || who == "everybody" || who == "people" || who == "friends" || who == "my friends") && c.capital(i+1) {
		c.subj = t.self
		return t.fact(c, "biography", "called", o2(c, i+1), false, 0.85) != nil
	}
	if c.verb != "make" && c.verb != "give" {
		return false
	}
	switch rest := c.join(i+1, len(c.words)); {
	case strings.HasPrefix(rest, "ill"), strings.HasPrefix(rest, "sick"), strings.HasPrefix(rest, "break out"), strings.HasPrefix(rest, "itch"), strings.HasPrefix(rest, "sneeze"), strings.HasPrefix(rest, "wheeze"),
		strings.Contains(rest, "rash"), strings.Contains(rest, "hives"), strings.Contains(rest, "headache"), strings.Contains(rest, "migraine"), strings.Contains(rest, "stomach"):
		c.subj = t.self
		f := t.fact(c, "health", "reacts_to", c.thing, true, 0.85)
		if f != nil {
			f.Sensitivity = "private"
		}
		return f != nil
	}
	return false
}

// likes reads what someone likes or not, a list taken apart.
func (t *talk) likes(c *clause, i int) {
	for adverb(c.w(i)) {
		i++
	}
	if c.w(i) == "to" {
		i++
	}
	if c.past && !c.usedTo {
		return
	}
	switch c.w(i) {
	case "how", "what", "when", "where", "why", "who", "seeing", "being", "all", "these", "those", "this", "your", "his", "her", "their", "everyone", "everything":
		if c.w(i) != "being" || c.w(i+1) == "able" {
			return // what was just seen or heard, not what somebody likes
		}
	}
	attr := "likes"
	switch c.verb {
	case "hate", "dislike", "loathe":
		attr = "dislikes"
	}
	if c.neg && !c.noLonger && c.verb != "hate" {
		attr, c.neg = "dislikes", false
	}
	for k := 0; k < 4; k++ {
		o, next := c.object(i)
		if o == "" || vague(o) || subjectPronoun(strings.ToLower(o)) || strings.HasPrefix(strings.ToLower(o), "you") || strings.HasPrefix(strings.ToLower(o), "it ") || strings.HasPrefix(strings.ToLower(o), "that ") {
			return
		}
		if strings.Contains(o, " it ") || strings.Contains(o, " you ") {
			return
		}
		t.fact(c, "preference", attr, o, true, 0.9)
		if c.w(next) == "," && c.w(next+1) == "and" {
			next++
		}
		if c.w(next) != "and" && c.w(next) != "or" && c.w(next) != "," || verbish(c.w(next+1)) && !strings.HasSuffix(c.w(next+1), "ing") || len(c.words)-next > 5 {
			return
		}
		i = next + 1
	}
}
