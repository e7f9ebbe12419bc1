package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// eats takes what somebody eats, drinks and smokes, and what they avoid.
func eats(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "eat", "drink", "smoke":
		o := "smoking"
		if c.Verb != "smoke" {
			o = discourse.ObjectOf(c, i)
		}
		switch {
		case syntax.Preposition(c.W(i)): // "we mostly eat at home"
		case (c.Can || c.Future) && (mealtime(o) || c.W(i) == "another" || c.W(i) == "any" || c.W(i) == "all" || c.W(i) == "the"): // "I can't eat lunch today", "another bite"
		case c.Neg && !c.Past && o != "":
			c.Neg = false
			t.Fact(c, "diet", "avoids", o, true, 0.85)
		case c.UsedTo:
			t.Fact(c, "diet", c.Verb+"s", o, true, 0.7)
		case !c.Past && !c.Ing && !c.Perfect:
			t.Fact(c, "diet", c.Verb+"s", o, true, 0.65)
		}
	case "go": // "I've gone vegan"
		if !diets[c.W(i)] || c.Neg || !c.Past && !c.Perfect {
			return false
		}
		t.Fact(c, "diet", "diet", c.W(i), false, 0.85)
	case "stop", "avoid":
		foregoes(t, c, i)
	case "give":
		if o := discourse.ObjectOf(c, i+1); c.W(i) == "up" && (foregone(o) || !syntax.Determiner(c.W(i+1)) && !discourse.WordsOwn[c.W(i+1)] && !notFood[discourse.Last(strings.ToLower(o))] && !notFood[c.W(i+1)]) {
			foregoes(t, c, i+1)
		}
	case "cut":
		if o := discourse.ObjectOf(c, i+1); c.W(i) == "out" && foregone(o) && !c.Neg {
			t.Fact(c, "diet", "avoids", o, true, 0.8)
		}
	default:
		return false
	}
	return true
}

// foregoes takes what somebody gave up or avoids, at word i: "gave up meat", "stopped eating meat".
func foregoes(t *discourse.Talk, c *discourse.Clause, i int) {
	if c.W(i) == "eating" || c.W(i) == "drinking" {
		i++
	}
	if l, _, ing := syntax.Lemma(c.W(i)); ing && l != "smoke" && c.Verb != "avoid" || c.W(i) == "doing" || c.Verb == "stop" && syntax.Preposition(c.W(i)) {
		return // only a habit can end, unlike "I stopped at the shop"
	}
	o, _, _ := strings.Cut(discourse.ObjectOf(c, i), " for ") // Lent
	switch {
	case c.Neg || !c.Past && !c.Perfect && c.Verb != "avoid":
	case dietOf(o) != "" && c.Verb != "avoid": // "I gave up veganism"
		t.Ended(c, c.Subj, "diet", "diet", dietOf(o), false)
	case medicineNamed(o) && c.Verb != "avoid": // "I stopped the antibiotics"
		noMedicine(t, c, c.Subj, o)
	default:
		t.Fact(c, "diet", "avoids", o, true, 0.8)
	}
}

// restricted takes what somebody takes as a medicine, can't take, and doesn't eat: "on metformin",
// "allergic to nuts", "vegan".
func restricted(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w, next := c.W(i), c.W(i+1)
	switch {
	case w == "on" && takes(t, c, i+1):
	case w == "off" && foregone(discourse.ObjectOf(c, i+1)):
		t.Fact(c, "diet", "avoids", discourse.ObjectOf(c, i+1), true, 0.85)
	case w == "allergic":
		k := i + 2
		for range 4 {
			what, next := c.Object(k)
			allergy(t, c, what)
			if c.W(next) != "and" && c.W(next) != "," {
				break
			}
			k = next + 1
			for c.W(k) == "and" || c.W(k) == "to" { // "to nuts and to cats"
				k++
			}
			if l, _, _ := syntax.Lemma(c.W(k)); l != "" && l != c.W(k) && (syntax.Preposition(c.W(k+1)) || c.W(k+1) == "up" || c.W(k+1) == "out") {
				break // "allergic to penicillin, comes up in hives"
			}
		}
	case w == "intolerant" || next == "intolerant":
		allergy(t, c, discourse.ObjectOf(c, i))
	case diets[w] && partlyEats(c, i):
	case diets[w] || (w == "a" || w == "an") && (next == "vegetarian" || next == "vegan"):
		if t.Fact(c, "diet", "diet", strings.TrimPrefix(strings.TrimPrefix(discourse.ObjectOf(c, i), "a "), "an "), false, 0.9); (c.Again || c.Back) && !c.Neg {
			t.Ended(c, c.Subj, "diet", "eats", "meat", true)
		}
	default:
		return false
	}
	return true
}

// partlyEats reports whether the diet at word i applies only at some hours, on some days or in some
// places: "vegan before six".
func partlyEats(c *discourse.Clause, i int) bool {
	next := c.W(i + 1)
	if next == "at" || next == "during" || next == "on" {
		return true
	}
	for k := range c.Whens {
		if w := &c.Whens[k]; w.First == c.Words[i].Tok+1 && (w.Habit || w.Clock && !w.HasDay) {
			return true
		}
	}
	_, hour := syntax.Number(c.W(i + 2))
	return hour && (next == "before" || next == "after" || next == "until" || next == "till")
}

// dietOf returns the diet that words name: "vegan" for "veganism"; "" if they name none.
func dietOf(s string) string {
	s = strings.ToLower(s)
	diet, ism := strings.CutSuffix(s, "ism")
	if ism && diet == "vegetarian" || ism && diet == "vegan" || diets[s] {
		return diet
	}
	return ""
}

var diets = syntax.Set("vegetarian vegan pescatarian coeliac celiac teetotal")

// cannotHave takes what somebody won't eat, or can't take: "my husband won't touch
// coriander", "I can't take penicillin".
func cannotHave(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 's' && c.Kind != 'p' && c.Kind != 'w' || c.Past || c.FirstTime() != nil || c.Conditional() {
		return false
	}
	i := c.Vi + 1
	kind := "diet"
	switch c.Verb {
	case "eat", "drink", "touch":
	case "do": // "I can't do dairy"
		if !c.Can || !foregone(discourse.ObjectOf(c, i)) {
			return false
		}
	case "take", "tolerate":
		if !c.Can {
			return false
		}
		kind = "health"
		if syntax.Determiner(c.W(i)) || c.Verb == "take" && len(c.Words) > i+2 {
			return false // "I can't take the noise"
		}
	default:
		return false
	}
	for _, with := range [...]string{"anything with", "anything", "things with"} {
		if n := len(strings.Fields(with)); c.Join(i, i+n) == with {
			i += n
			break
		}
	}
	o, _ := c.Object(i)
	o = syntax.TrimTails(o, " in it", " in them")
	if o == "" || discourse.Vague(o) || o == "much" || mealtime(o) || c.W(c.Vi+1) == "another" {
		return false
	}
	if kind == "health" && !drugWord(discourse.Last(strings.ToLower(o))) && !foregone(o) {
		if c.Verb == "take" {
			return false // "I can't take calls"
		}
		c.Neg = false // "I can't tolerate rudeness"
		return t.Fact(c, "preference", "dislikes", o, true, 0.85) != nil
	}
	c.Neg = false
	f := t.Fact(c, kind, "avoids", o, true, 0.85)
	if f != nil && kind == "health" {
		f.Sensitivity = "private"
	}
	return f != nil
}

// foregone reports whether s is something that people can be "off", and live without.
func foregone(s string) bool { return foregones[discourse.Last(strings.ToLower(s))] }

var foregones = syntax.Set("dairy gluten sugar caffeine alcohol wheat meat coffee chocolate bread carbs lactose eggs nuts soy milk cheese pork beef fish shellfish seafood salt nicotine cigarettes sweets beer wine soda")

// notFood are things that people give up and neither eat nor drink.
var notFood = syntax.Set("hope trying fighting power control custody citizenship everything work football running politics ownership waiting looking")

// mealtime reports whether s is a meal, which is eaten at some hour, whatever it is.
func mealtime(s string) bool { return mealtimes[discourse.Last(strings.ToLower(s))] }

var mealtimes = syntax.Set("breakfast brunch lunch dinner supper")

func food(s string) bool {
	return syntax.ContainsAny(strings.ToLower(s), "coffee", "tea", "sandwich", "beer", "ticket", "drink", "milk", "bread", "cake", "pizza", "bottle", "round", "lunch", "snack", "ice cream", "croissant")
}
