package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// taste takes what somebody is fond of or not, expressed with "be": "crazy about", "not keen on",
// "a cat person". It is at word i.
func taste(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Past {
		return false
	}
	attr, k := "", 0
	switch w, next := c.W(i), c.W(i+1); {
	case (w == "crazy" || w == "mad" || w == "passionate" || w == "nuts" || w == "wild") && next == "about",
		w == "keen" && next == "on", w == "obsessed" && next == "with", w == "hooked" && next == "on", w == "addicted" && next == "to", w == "big" && next == "on":
		attr, k = "likes", i+2
	case w == "sick" && next == "of", w == "averse" && next == "to":
		attr, k = "dislikes", i+2
	case w == "a" || w == "an" || w == "more" || w == "not" || w == "much":
		for j := i; j < min(len(c.Words), i+7); j++ {
			if c.W(j) == "person" && j > i+1 && !c.Neg && j == len(c.Words)-1 || c.W(j) == "owl" && c.W(j-1) == "night" {
				what := strings.TrimPrefix(strings.TrimPrefix(c.Trim(i, j+1), "more of a "), "more of an ")
				return t.Fact(c, "preference", "is", what, true, 0.8) != nil
			}
			if c.W(j) == "sucker" && c.W(j+1) == "for" {
				return t.Fact(c, "preference", "likes", discourse.ObjectOf(c, j+2), true, 0.85) != nil
			}
		}
		return false
	default:
		return false
	}
	if c.Neg && !c.NoLonger {
		attr, c.Neg = map[string]string{"likes": "dislikes", "dislikes": "likes"}[attr], false
	}
	return t.Fact(c, "preference", attr, discourse.ObjectOf(c, k), true, 0.85) != nil
}

// rather takes a preference: "I'd take trains over planes", "I'd rather walk than drive", "I prefer
// tea to coffee".
func rather(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 's' && c.Kind != 'p' && c.Kind != 'w' || c.Past || c.Neg || c.Ends == "?" {
		return false
	}
	i := c.Vi + 1
	between := ""
	if w := c.W(c.Vi - 1); c.Modal && (w == "rather" || w == "sooner") {
		if once(c) {
			return false
		}
		between = "than"
		switch c.Verb { // for "walk" and "text", the verb is what is liked
		case "have", "take", "get":
		case "be", "not":
			return false
		default:
			i = c.Vi
		}
	}
	switch c.Verb {
	case "take", "choose", "pick", "have":
		if !c.Modal || between != "" {
			break
		}
		between = "over"
	case "like", "love", "enjoy":
		if k := c.Find(i, 6, "more"); k > i && c.W(k+1) == "than" && !c.Modal {
			return liking(t, c, c.Trim(i, k), discourse.ObjectOf(c, k+2))
		}
	case "prefer":
		for k := i; k < len(c.Words); k++ {
			if w := c.W(k); w == "to" || w == "over" {
				if l, _, ing := syntax.Lemma(c.W(k + 1)); w == "to" && (k == i || l != "" && !ing) {
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
	for k := i + 1; k+1 < len(c.Words); k++ {
		if c.W(k) == between {
			if i == c.Vi && c.Trim(i, k) != c.Join(i, k) {
				return false // "stay in" is not "stay"
			}
			return liking(t, c, c.Trim(i, k), discourse.ObjectOf(c, k+1))
		}
	}
	return false
}

// once reports whether a wish is only for this time: "I'd rather walk than get that bus again".
func once(c *discourse.Clause) bool {
	for i := c.Vi; i < len(c.Words); i++ {
		switch c.W(i) {
		case "this", "that", "these", "those", "again", "another", "now", "today", "tonight", "tomorrow", "here", "there", "it", "them", "him", "her", "you":
			return true
		}
	}
	return false
}

// liking proposes that one thing is liked better than another.
func liking(t *discourse.Talk, c *discourse.Clause, what, than string) bool {
	first, _, _ := strings.Cut(strings.ToLower(what), " ")
	if base, _ := syntax.Contraction(first); what == "" || than == "" || discourse.Vague(what) || discourse.Vague(than) || syntax.SubjectPronoun(base) {
		return false
	}
	f := t.Fact(c, "preference", "likes", what, true, 0.85)
	if f != nil {
		f.Object = what + " over " + than
	}
	return f != nil
}

// attribute takes "my blood type is O negative", for a property of which people have one, and
// "olives aren't my thing".
func attribute(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Verb != "be" || c.Past || c.Modal || c.Ends == "?" {
		return false
	}
	o, _ := c.Object(i)
	if c.Kind == 'p' && !c.Own { // a thing that looks like a name: "Olives aren't my thing"
		c.Thing = strings.ToLower(c.Subj.Name)
	}
	if rest := strings.ToLower(c.Join(i, len(c.Words))); !c.Own && !discourse.Pronoun(c.Thing) && c.Thing != "" {
		attr := ""
		switch {
		case rest == "my thing" || rest == "my cup of tea" || rest == "for me":
			attr = "likes"
			if c.Neg {
				attr = "dislikes"
			}
			if rest == "for me" && !c.Neg {
				return false
			}
		case strings.HasPrefix(rest, "my favourite") || strings.HasPrefix(rest, "my favorite") || strings.HasPrefix(rest, "my fave"):
			if c.Neg {
				return false
			}
			attr = "likes"
		default:
			return false
		}
		what := c.Thing
		c.Neg = false
		c.Subj = t.Self
		return t.Fact(c, "preference", attr, what, true, 0.85) != nil
	}
	if !c.Own || c.Neg || o == "" || discourse.Vague(o) || c.FirstTime() != nil && c.FirstTime().HasDay {
		return false
	}
	kind, attr := "biography", strings.ReplaceAll(c.Thing, " ", "_")
	switch c.Thing {
	case "surname", "last name", "middle name", "first name", "nickname", "blood type", "blood group", "star sign", "zodiac sign", "nationality", "religion", "middle initial", "height", "weight", "age",
		"major", "pronouns", "eye colour", "eye color", "hair colour", "hair color":
	case "mother tongue", "native language", "first language":
		attr = "speaks"
		return t.Fact(c, "biography", attr, o, true, 0.9) != nil
	case "desk", "car", "bike", "locker", "seat", "room", "parking space", "parking spot":
		return false
	default:
		return false
	}
	if strings.HasPrefix(c.Thing, "blood") { // "A positive", whose A is not an article
		_, next := c.Object(i)
		o = c.Join(i, next)
	}
	f := t.Fact(c, kind, attr, o, false, 0.88)
	if f != nil && (strings.HasPrefix(c.Thing, "blood") || c.Thing == "weight") {
		f.Sensitivity = "private"
	}
	return f != nil
}

// reacts takes "shellfish makes me break out", "dairy gives me a stomach ache".
func reacts(t *discourse.Talk, c *discourse.Clause) bool {
	i := c.Vi + 1
	if c.Kind == 'p' && !c.Own {
		c.Thing = strings.ToLower(c.Subj.Name)
	}
	if c.Kind != 't' && c.Kind != 'p' || c.Neg || c.Past || discourse.Pronoun(c.Thing) || c.Thing == "" || c.W(i) != "me" {
		return false
	}
	if who := c.Thing; c.Verb == "call" && (who == "everyone" || who == "everybody" || who == "people" || who == "friends" || who == "my friends") && c.Capital(i+1) {
		c.Subj = t.Self
		return t.Fact(c, "biography", "called", discourse.ObjectOf(c, i+1), false, 0.85) != nil
	}
	if c.Verb != "make" && c.Verb != "give" {
		return false
	}
	switch rest := c.Join(i+1, len(c.Words)); {
	case strings.HasPrefix(rest, "ill"), strings.HasPrefix(rest, "sick"), strings.HasPrefix(rest, "break out"), strings.HasPrefix(rest, "itch"), strings.HasPrefix(rest, "sneeze"), strings.HasPrefix(rest, "wheeze"),
		strings.Contains(rest, "rash"), strings.Contains(rest, "hives"), strings.Contains(rest, "headache"), strings.Contains(rest, "migraine"), strings.Contains(rest, "stomach"), rest == "the runs", strings.HasPrefix(rest, "bloat"), strings.Contains(rest, "heartburn"), strings.Contains(rest, "reflux"), strings.Contains(rest, "cramps"), strings.HasPrefix(rest, "swell"):
		c.Subj = t.Self
		f := t.Fact(c, "health", "reacts_to", c.Thing, true, 0.85)
		if f != nil {
			f.Sensitivity = "private"
		}
		return f != nil
	}
	return false
}

// likes reads what someone likes or not; a list is split.
func likes(t *discourse.Talk, c *discourse.Clause, i int) {
	for syntax.Adverb(c.W(i)) {
		i++
	}
	if c.W(i) == "to" {
		i++
	}
	if c.Past && !c.UsedTo {
		return
	}
	switch c.W(i) {
	case "how", "what", "when", "where", "why", "who", "seeing", "being", "all", "these", "those", "this", "your", "his", "her", "their", "everyone", "everything":
		if c.W(i) != "being" || c.W(i+1) == "able" {
			return // something just seen or heard is not what somebody likes
		}
	}
	attr := "likes"
	switch c.Verb {
	case "hate", "dislike", "loathe":
		attr = "dislikes"
	}
	if c.Neg && !c.NoLonger && c.Verb != "hate" {
		attr, c.Neg = "dislikes", false
	}
	for k := 0; k < 4; k++ {
		o, next := c.Object(i)
		if o == "" || discourse.Vague(o) || syntax.SubjectPronoun(strings.ToLower(o)) || strings.HasPrefix(strings.ToLower(o), "you") || strings.HasPrefix(strings.ToLower(o), "it ") || strings.HasPrefix(strings.ToLower(o), "that ") {
			return
		}
		if strings.Contains(o, " it ") || strings.Contains(o, " you ") {
			return
		}
		t.Fact(c, "preference", attr, o, true, 0.9)
		if c.W(next) == "," && c.W(next+1) == "and" {
			next++
		}
		if c.W(next) != "and" && c.W(next) != "or" && c.W(next) != "," || c.W(next+1) == "tastes" || c.W(next+1) == "smells" || syntax.Verbish(c.W(next+1)) && !strings.HasSuffix(c.W(next+1), "ing") || len(c.Words)-next > 5 {
			return
		}
		i = next + 1
	}
}
