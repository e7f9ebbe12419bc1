package rules

import "strings"

// eats takes what somebody eats, drinks and smokes, and what they keep away from.
func (t *talk) eats(c *clause, i int) bool {
	switch c.verb {
	case "eat", "drink", "smoke":
		o := "smoking"
		if c.verb != "smoke" {
			o = o2(c, i)
		}
		switch {
		case preposition(c.w(i)): // "we mostly eat at home"
		case (c.can || c.future) && mealtime(o): // "I can't eat lunch today"
		case c.neg && !c.past && o != "":
			c.neg = false
			t.fact(c, "diet", "avoids", o, true, 0.85)
		case c.usedTo:
			t.fact(c, "diet", c.verb+"s", o, true, 0.7)
		case !c.past && !c.ing && !c.perfect:
			t.fact(c, "diet", c.verb+"s", o, true, 0.65)
		}
	case "go": // "I've gone vegan"
		if !diets[c.w(i)] || c.neg || !c.past && !c.perfect {
			return false
		}
		t.fact(c, "diet", "diet", c.w(i), false, 0.85)
	case "stop", "avoid":
		t.foregoes(c, i)
	case "give":
		if o := o2(c, i+1); c.w(i) == "up" && (foregone(o) || !determiner(c.w(i+1)) && !wordsOwn[c.w(i+1)] && !notFood[last(strings.ToLower(o))] && !notFood[c.w(i+1)]) {
			t.foregoes(c, i+1)
		}
	case "cut":
		if o := o2(c, i+1); c.w(i) == "out" && foregone(o) && !c.neg {
			t.fact(c, "diet", "avoids", o, true, 0.8)
		}
	default:
		return false
	}
	return true
}

// foregoes takes what somebody gave up or avoids, which is at word i: "gave up meat", "stopped eating meat".
func (t *talk) foregoes(c *clause, i int) {
	if c.w(i) == "eating" || c.w(i) == "drinking" {
		i++
	}
	if l, _, ing := lemma(c.w(i)); ing && l != "smoke" && c.verb != "avoid" || c.w(i) == "doing" || c.verb == "stop" && preposition(c.w(i)) {
		return // what ends is a habit, or "I stopped at the shop"
	}
	o, _, _ := strings.Cut(o2(c, i), " for ") // Lent
	switch {
	case c.neg || !c.past && !c.perfect && c.verb != "avoid":
	case medicineNamed(o) && c.verb != "avoid": // "I stopped the antibiotics"
		t.noMedicine(c, c.subj, o)
	default:
		t.fact(c, "diet", "avoids", o, true, 0.8)
	}
}

// restricted takes what somebody takes as a medicine, can't take, and doesn't eat: "on metformin", "allergic
// to nuts", "vegan".
func (t *talk) restricted(c *clause, i int) bool {
	w, next := c.w(i), c.w(i+1)
	switch {
	case w == "on" && t.takes(c, i+1):
	case w == "off" && foregone(o2(c, i+1)):
		t.fact(c, "diet", "avoids", o2(c, i+1), true, 0.85)
	case w == "allergic":
		k := i + 2
		for range 4 {
			what, next := c.object(k)
			t.allergy(c, what)
			if c.w(next) != "and" && c.w(next) != "," {
				break
			}
			k = next + 1
			if c.w(k) == "and" {
				k++
			}
		}
	case w == "intolerant" || next == "intolerant":
		t.allergy(c, o2(c, i))
	case diets[w] && c.partly(i):
	case diets[w] || (w == "a" || w == "an") && (next == "vegetarian" || next == "vegan"):
		if t.fact(c, "diet", "diet", strings.TrimPrefix(strings.TrimPrefix(o2(c, i), "a "), "an "), false, 0.9); (c.again || c.back) && !c.neg {
			t.ended(c, c.subj, "diet", "eats", "meat", true)
		}
	default:
		return false
	}
	return true
}

// partly reports whether the diet at word i holds only at some hours, on some days or in some places: "vegan before six".
func (c *clause) partly(i int) bool {
	next := c.w(i + 1)
	if next == "at" || next == "during" || next == "on" {
		return true
	}
	for k := range c.whens {
		if w := &c.whens[k]; w.first == c.words[i].tok+1 && (w.habit || w.clock && !w.hasDay) {
			return true
		}
	}
	_, hour := number(c.w(i + 2))
	return hour && (next == "before" || next == "after" || next == "until" || next == "till")
}

var diets = set("vegetarian vegan pescatarian coeliac celiac teetotal")

// cannotHave takes what somebody won't eat, or can't take: "my husband won't touch
// coriander", "I can't take penicillin".
func (t *talk) cannotHave(c *clause) bool {
	if c.kind != 's' && c.kind != 'p' && c.kind != 'w' || c.past || c.firstTime() != nil || c.conditional() {
		return false
	}
	i := c.vi + 1
	kind := "diet"
	switch c.verb {
	case "eat", "drink", "touch":
	case "take", "tolerate":
		if !c.can {
			return false
		}
		kind = "health"
		if determiner(c.w(i)) || c.verb == "take" && len(c.words) > i+2 {
			return false // "I can't take the noise"
		}
	default:
		return false
	}
	for _, with := range [...]string{"anything with", "anything", "things with"} {
		if n := len(strings.Fields(with)); c.join(i, i+n) == with {
			i += n
			break
		}
	}
	o, _ := c.object(i)
	o = trimTails(o, " in it", " in them")
	if o == "" || vague(o) || o == "much" || mealtime(o) {
		return false
	}
	if kind == "health" && !drugWord(last(strings.ToLower(o))) && !foregone(o) {
		if c.verb == "take" {
			return false // "I can't take calls"
		}
		c.neg = false // "I can't tolerate rudeness"
		return t.fact(c, "preference", "dislikes", o, true, 0.85) != nil
	}
	c.neg = false
	f := t.fact(c, kind, "avoids", o, true, 0.85)
	if f != nil && kind == "health" {
		f.Sensitivity = "private"
	}
	return f != nil
}

// foregone is what one is "off", and lives without.
func foregone(s string) bool { return foregones[last(strings.ToLower(s))] }

var foregones = set("dairy gluten sugar caffeine alcohol wheat meat coffee chocolate bread carbs lactose eggs nuts soy milk cheese pork beef fish shellfish seafood salt nicotine cigarettes sweets beer wine soda")

// notFood is what one gives up and neither eats nor drinks.
var notFood = set("hope trying fighting power control custody citizenship everything work football running politics ownership waiting looking")

// mealtime reports what is eaten at some hour, whatever it is.
func mealtime(s string) bool { return mealtimes[last(strings.ToLower(s))] }

var mealtimes = set("breakfast brunch lunch dinner supper")

func food(s string) bool {
	return containsAny(strings.ToLower(s), "coffee", "tea", "sandwich", "beer", "ticket", "drink", "milk", "bread", "cake", "pizza", "bottle", "round", "lunch", "snack", "ice cream", "croissant")
}
