package rules

import (
	"cmp"
	"slices"
	"strings"
)

// personal tries the verbs that say what someone is, has, likes, does: each family knows its own. It
// reports whether one knew the verb, though it may have proposed nothing.
func (t *talk) personal(c *clause) bool {
	i := c.vi + 1
	if c.kind != 's' && c.kind != 'p' && c.kind != 'y' && c.kind != 'w' {
		return false
	}
	return t.earns(c, i) || t.gaveNotice(c, i) || t.joins(c, i) ||
		t.dwells(c, i) || t.employed(c, i) || t.learns(c, i) || t.eats(c, i) || t.owns(c, i) || t.fancies(c, i) || t.does(c, i)
}

// learns takes what somebody studies, learns and speaks.
func (t *talk) learns(c *clause, i int) bool {
	switch c.verb {
	case "study", "graduate", "major":
		if at, ok := c.after(i, 4, "at", "from", "in"); ok {
			t.fact(c, "biography", "education", at, true, 0.85)
		} else if o := o2(c, i); o != "hard" && o != "late" && o != "enough" {
			t.fact(c, "biography", "education", o, true, 0.8)
		}
	case "do":
		if !c.past || c.neg || !personalDegree(c, i) {
			return false
		}
		what, at := o2(c, i), ""
		what, at, _ = strings.Cut(what, " at ")
		if at == "" {
			what, at, _ = strings.Cut(what, " in ")
		}
		t.fact(c, "biography", "education", cmp.Or(at, what), true, 0.8)
	case "go":
		if !c.past || c.w(i) != "to" || !schools[c.w(i+1)] {
			return false
		}
		in, _ := c.after(i, 3, "in", "at")
		t.fact(c, "biography", "education", in, true, 0.8)
	case "train", "retrain", "qualify":
		if c.w(i) != "as" || !c.ing || c.past || c.neg || !determiner(c.w(i+1)) {
			return false
		}
		t.fact(c, "habit", "training_as", o2(c, i+1), false, 0.8)
	case "learn":
		if o := o2(c, i); !c.past && !strings.HasPrefix(o, "to ") {
			t.fact(c, "habit", "learning", o, true, 0.75)
		}
	case "speak":
		k := i
		for partly[c.w(k)] {
			k++
		}
		for !c.past && c.capital(k) {
			o, next := c.object(k)
			if o == "" {
				break
			}
			for _, of := range [...]string{" with ", " at ", " to "} { // whom one speaks it with
				o, _, _ = strings.Cut(o, of)
			}
			t.fact(c, "biography", "speaks", o, true, 0.85)
			for k = next + 1; c.w(k) == "and" || partly[c.w(k)]; k++ {
			}
			if c.w(k-1) == "," && k == len(c.words)-1 && !strings.HasSuffix(c.w(k), "ish") && !strings.HasSuffix(c.w(k), "ese") {
				break // "I speak German, Tom"
			}
		}
	default:
		return false
	}
	return true
}

// personalDegree reports a degree of somebody's own at word i: "my PhD", "a master's".
func personalDegree(c *clause, i int) bool {
	w := strings.ReplaceAll(c.w(i+1), ".", "")
	return determiner(c.w(i)) && (w == "phd" || w == "master" || w == "master's" || w == "masters" || w == "bachelor" || w == "bachelor's" || w == "degree" || w == "mba" || w == "apprenticeship" || w == "internship" || w == "doctorate" || w == "residency")
}

// partly are words for how much one speaks of a language: "German and a bit of Polish".
var partly = set("a some bit little of also basic decent broken fluent conversational")

var schools = set("school university college uni")

// fancies takes what somebody likes, and what they don't.
func (t *talk) fancies(c *clause, i int) bool {
	switch c.verb {
	case "like", "love", "enjoy", "adore", "prefer", "hate", "dislike", "loathe":
		if !c.someone(i) {
			t.likes(c, i)
		}
	case "stand":
		if c.neg && !c.someone(i) {
			c.neg = false
			t.fact(c, "preference", "dislikes", o2(c, i), true, 0.85)
		}
	case "care":
		if o, ok := c.after(i, 2, "for"); ok && c.neg && !c.past {
			c.neg = false
			t.fact(c, "preference", "dislikes", o, true, 0.85)
		}
	case "go": // "I've gone right off coffee"
		if c.w(i) == "right" || c.w(i) == "completely" {
			i++
		}
		if c.w(i) == "off" && (c.past || c.perfect) && c.firstTime() == nil && !determiner(c.w(i+1)) && !preposition(c.w(i+1)) {
			t.fact(c, "preference", "dislikes", o2(c, i+1), true, 0.75)
		}
	case "support", "follow":
		if !c.past && c.capital(i) {
			t.fact(c, "preference", "supports", o2(c, i), true, 0.75)
		}
	default:
		return false
	}
	return true
}

// someone reports "the man" at word i, of whom the words do not say who it is.
func (c *clause) someone(i int) bool {
	return (c.w(i) == "the" || c.w(i) == "that") && i+2 == len(c.words) && whoever[c.w(i+1)]
}

var whoever = set("man woman guy bloke fella chap lad girl boy lady person people place thing")

// does takes what somebody is, and what they play, wear, pay and put somewhere.
func (t *talk) does(c *clause, i int) bool {
	switch c.verb {
	case "be":
		for adverb(c.w(i)) {
			i++
		}
		if in, ok := c.after(i+1, 0, "in"); ok && c.w(i) == "based" && !c.past {
			t.settles(c, in, 0.85)
		} else {
			t.is(c, c.vi+1)
		}
	case "weigh":
		t.weighs(c, i)
	case "turn":
		if w := c.firstTime(); isAge(c, i) && (c.past || c.perfect) && !c.neg && (w == nil || w.hasDay && w.day > t.now.day-366) {
			t.fact(c, "biography", "age", c.w(i), false, 0.85)
		}
	case "marry":
		if c.past && !preposition(c.w(i)) && !nobodysSpouse[last(strings.ToLower(o2(c, i)))] {
			t.fact(c, "relation", "spouse", o2(c, i), false, 0.9)
		}
	case "play":
		if o := o2(c, i); !c.past && !manner[strings.ToLower(o)] && !preposition(c.w(i)) {
			t.fact(c, "habit", "plays", cutTail(o), true, 0.8)
		}
	case "wear":
		if !c.past {
			t.fact(c, "habit", "wears", o2(c, i), true, 0.65)
		}
	case "mentor", "coach", "tutor", "babysit", "foster":
		if !c.past {
			t.fact(c, "habit", third(c.verb), o2(c, i), true, 0.75)
		}
	case "take":
		t.takes(c, i)
	case "forget":
		t.leftBehind(c, i)
	case "park", "put", "keep", "hide", "store", "stash", "hang", "stick":
		t.whereabouts(c, i)
	case "pay", "earn", "owe":
		if !t.owes(c) && (c.verb != "owe" || c.priced()) && !c.past && !c.neg && !c.perfect && c.amount() && !c.conditional() {
			t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", map[bool]string{true: "debt", false: "habit"}[c.verb == "owe"], 0.7))
		}
	default:
		return false
	}
	return true
}

// amount reports whether a clause names a number after its verb.
func (c *clause) amount() bool {
	return slices.ContainsFunc(c.words[min(c.vi+1, len(c.words)):], func(w word) bool { return counts(w.s) || c.toks[w.tok].kind == 'n' })
}

// manner says how somebody plays, and not what.
var manner = set("hard well fair safe dumb dead along around together nice rough outside inside alone badly it tricks games house")

// nobodysSpouse is what "marry" takes and is nobody.
var nobodysSpouse = set("young late early well up rich money man woman pope job work career again")
