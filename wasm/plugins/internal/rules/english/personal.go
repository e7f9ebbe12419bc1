package english

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// personal tries the verbs that say what someone is, has, likes, does: each family of verbs knows
// its own. It reports whether one of them knew the verb, even if it proposed nothing.
func personal(t *discourse.Talk, c *discourse.Clause) bool {
	i := c.Vi + 1
	return earns(t, c, i) || gaveNotice(t, c, i) || joins(t, c, i) ||
		dwells(t, c, i) || employed(t, c, i) || learns(t, c, i) || eats(t, c, i) || owns(t, c, i) || fancies(t, c, i) || does(t, c, i)
}

// learns takes what somebody studies, learns and speaks.
func learns(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "study", "graduate", "major":
		if at, ok := c.After(i, 4, "at", "from", "in"); ok {
			t.Fact(c, "biography", "education", at, true, 0.85)
		} else if o := discourse.ObjectOf(c, i); o != "hard" && o != "late" && o != "enough" {
			t.Fact(c, "biography", "education", o, true, 0.8)
		}
	case "do":
		if !c.Past || c.Neg || !personalDegree(c, i) {
			return false
		}
		what, at := discourse.ObjectOf(c, i), ""
		what, at, _ = strings.Cut(what, " at ")
		if at == "" {
			what, at, _ = strings.Cut(what, " in ")
		}
		t.Fact(c, "biography", "education", cmp.Or(at, what), true, 0.8)
	case "go":
		if !c.Past || c.W(i) != "to" || !schools[c.W(i+1)] {
			return false
		}
		in, _ := c.After(i, 3, "in", "at")
		t.Fact(c, "biography", "education", in, true, 0.8)
	case "train", "retrain", "qualify":
		if c.W(i) != "as" || !c.Ing || c.Past || c.Neg || !syntax.Determiner(c.W(i+1)) {
			return false
		}
		t.Fact(c, "habit", "training_as", discourse.ObjectOf(c, i+1), false, 0.8)
	case "learn":
		if o := discourse.ObjectOf(c, i); !c.Past && !strings.HasPrefix(o, "to ") {
			t.Fact(c, "habit", "learning", o, true, 0.75)
		}
	case "speak":
		k := i
		for partly[c.W(k)] {
			k++
		}
		for !c.Past && c.Capital(k) {
			o, next := c.Object(k)
			if o == "" {
				break
			}
			for _, of := range [...]string{" with ", " at ", " to "} { // with whom somebody speaks it
				o, _, _ = strings.Cut(o, of)
			}
			t.Fact(c, "biography", "speaks", o, true, 0.85)
			for k = next + 1; c.W(k) == "and" || partly[c.W(k)]; k++ {
			}
			if c.W(k-1) == "," && k == len(c.Words)-1 && !strings.HasSuffix(c.W(k), "ish") && !strings.HasSuffix(c.W(k), "ese") {
				break // "I speak German, Tom"
			}
		}
	default:
		return false
	}
	return true
}

// personalDegree reports whether a degree of somebody's own is at word i: "my PhD", "a master's".
func personalDegree(c *discourse.Clause, i int) bool {
	w := strings.ReplaceAll(c.W(i+1), ".", "")
	return syntax.Determiner(c.W(i)) && (w == "phd" || w == "master" || w == "master's" || w == "masters" || w == "bachelor" || w == "bachelor's" || w == "degree" || w == "mba" || w == "apprenticeship" || w == "internship" || w == "doctorate" || w == "residency")
}

// partly are words for how well somebody speaks a language: "German and a bit of Polish".
var partly = syntax.Set("a some bit little of also basic decent broken fluent conversational")

var schools = syntax.Set("school university college uni")

// fancies takes what somebody likes, and what they don't.
func fancies(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "like", "love", "enjoy", "adore", "prefer", "hate", "dislike", "loathe":
		if !someone(c, i) {
			likes(t, c, i)
		}
	case "stand":
		if c.Neg && !someone(c, i) && !syntax.Preposition(c.W(i)) && c.W(i) != "up" && c.W(i) != "still" && c.W(i) != "straight" {
			c.Neg = false
			t.Fact(c, "preference", "dislikes", discourse.ObjectOf(c, i), true, 0.85)
		}
	case "care":
		if o, ok := c.After(i, 2, "for"); ok && c.Neg && !c.Past {
			c.Neg = false
			t.Fact(c, "preference", "dislikes", o, true, 0.85)
		}
	case "go": // "I've gone right off coffee"
		if c.W(i) == "right" || c.W(i) == "completely" {
			i++
		}
		if c.W(i) == "off" && (c.Past || c.Perfect) && c.FirstTime() == nil && !syntax.Determiner(c.W(i+1)) && !syntax.Preposition(c.W(i+1)) {
			t.Fact(c, "preference", "dislikes", discourse.ObjectOf(c, i+1), true, 0.75)
		}
	case "support", "follow":
		if !c.Past && c.Capital(i) {
			t.Fact(c, "preference", "supports", discourse.ObjectOf(c, i), true, 0.75)
		}
	default:
		return false
	}
	return true
}

// someone reports whether "the man" is at word i, and the words do not say who it is.
func someone(c *discourse.Clause, i int) bool {
	return (c.W(i) == "the" || c.W(i) == "that") && i+2 == len(c.Words) && whoever[c.W(i+1)]
}

var whoever = syntax.Set("man woman guy bloke fella chap lad girl boy lady person people place thing")

// does takes what somebody is, and what they play, wear, pay and put somewhere.
func does(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "be":
		for syntax.Adverb(c.W(i)) {
			i++
		}
		if in, ok := c.After(i+1, 0, "in"); ok && c.W(i) == "based" && !c.Past {
			settles(t, c, in, 0.85)
		} else {
			is(t, c, c.Vi+1)
		}
	case "weigh":
		weighs(t, c, i)
	case "turn":
		if w := c.FirstTime(); isAge(c, i) && (c.Past || c.Perfect) && !c.Neg && (w == nil || w.HasDay && w.Day > t.Now.Day-366) {
			t.Fact(c, "biography", "age", c.W(i), false, 0.85)
		}
	case "marry":
		if c.Past && !syntax.Preposition(c.W(i)) && !nobodysSpouse[discourse.Last(strings.ToLower(discourse.ObjectOf(c, i)))] {
			t.Fact(c, "relation", "spouse", discourse.ObjectOf(c, i), false, 0.9)
		}
	case "play":
		if o := discourse.ObjectOf(c, i); !c.Past && !manner[strings.ToLower(o)] && !syntax.Preposition(c.W(i)) && !noted.Counts(c.W(i)) { // "three chords"
			t.Fact(c, "habit", "plays", cutTail(o), true, 0.8)
		}
	case "wear":
		if !c.Past {
			t.Fact(c, "habit", "wears", discourse.ObjectOf(c, i), true, 0.65)
		}
	case "mentor", "coach", "tutor", "babysit", "foster":
		if !c.Past {
			t.Fact(c, "habit", syntax.Third(c.Verb), discourse.ObjectOf(c, i), true, 0.75)
		}
	case "take":
		takes(t, c, i)
	case "use", "inject":
		return applies(c, i) && takes(t, c, i)
	case "forget":
		leftBehind(t, c, i)
	case "park", "put", "keep", "hide", "store", "stash", "hang", "stick":
		whereabouts(t, c, i)
	case "pay", "earn", "owe":
		if !owes(t, c) && (c.Verb != "owe" || priced(c)) && !c.Past && !c.Neg && !c.Perfect && amount(c) && !c.Conditional() {
			t.Out.Candidates = append(t.Out.Candidates, t.Base(c, "semantic", map[bool]string{true: "debt", false: "habit"}[c.Verb == "owe"], 0.7))
		}
	default:
		return false
	}
	return true
}

// amount reports whether a clause names a number after its verb.
func amount(c *discourse.Clause) bool {
	return slices.ContainsFunc(c.Words[min(c.Vi+1, len(c.Words)):], func(w discourse.Word) bool { return noted.Counts(w.S) || c.Toks[w.Tok].Kind == 'n' || notes[w.S] })
}

// manner are words for how somebody plays, and not what.
var manner = syntax.Set("hard well fair safe dumb dead along around together nice rough outside inside alone badly it tricks games house")

// nobodysSpouse are words after "marry" that are not a person.
var nobodysSpouse = syntax.Set("young late early well up rich money man woman pope job work career again")
