package rules

import "strings"

// personal knows the verbs that say what someone is, has, likes, does.
func (t *talk) personal(c *clause) {
	i := c.vi + 1
	who := c.kind == 's' || c.kind == 'p' || c.kind == 'y' || c.kind == 'w'
	if !who {
		return
	}
	if t.earns(c, i) || t.gaveNotice(c, i) {
		return
	}
	switch c.verb {
	case "live", "reside":
		if o, ok := c.after(i, 2, "in", "at", "on", "near", "above"); ok {
			if c.past && !c.usedTo {
				t.fact(c, "biography", "lived_in", o, true, 0.75)
				return
			}
			if c.usedTo {
				t.once(c, "lived_in", o)
				if abodeOf(o, t.plain) != dwelling {
					return
				}
			}
			if k := c.find(i, 2, "on"); k >= 0 && !c.capital(k+1) && abodeOf(o, false) != dwelling {
				return // on coffee
			}
			t.settles(c, o, 0.92)
		} else if o, ok := c.after(i, 2, "with"); ok {
			t.fact(c, "relation", "lives_with", o, true, 0.8)
		}
	case "stay":
		if o, ok := c.after(i, 2, "in", "at"); ok && c.ing && !c.past {
			t.fact(c, "place", "staying_at", o, false, 0.7)
		}
	case "move", "relocate":
		if o, ok := c.after(i, 2, "from"); ok && !c.neg && c.w(i) == "here" {
			t.fact(c, "biography", "lived_in", o, true, 0.8)
			return
		}
		if o, ok := c.wentTo(i); ok && !c.neg && !vague(o) && (c.past || c.perfect) {
			if abodeOf(o, t.plain) != dwelling {
				return
			}
			if inner, ok := c.after(i, 9, "in"); ok && strings.Contains(o, " in ") {
				o = inner
			}
			before := len(t.out.Candidates)
			t.settles(c, o, 0.85)
			if len(t.out.Candidates) > before {
				t.out.Candidates[before].EventType = "move"
			}
		}
	case "weigh":
		t.weighs(c, i)
	case "turn":
		if w := c.firstTime(); isAge(c, i) && (c.past || c.perfect) && !c.neg && (w == nil || w.hasDay && w.day > t.now.day-366) {
			t.fact(c, "biography", "age", c.w(i), false, 0.85)
		}
	case "come":
		if o, ok := c.after(i, 1, "from"); ok && !c.past {
			t.fact(c, "biography", "origin", o, false, 0.85)
		}
	case "grow":
		if o, ok := c.after(i, 3, "in", "on"); ok && c.w(i) == "up" {
			t.fact(c, "biography", "grew_up_in", o, false, 0.9)
		}
	case "work", "volunteer", "freelance":
		t.work(c, i)
	case "start", "begin", "join":
		switch {
		case c.neg:
		case c.w(i) == "working" || c.newJob(i):
			t.work(c, i)
		case c.verb == "start" && t.started(c, i):
		case c.verb == "join" && (c.past || c.perfect):
			t.joined(c, i, 0.65)
		case c.verb == "start" && strings.HasSuffix(c.w(i), "ing"):
			o, _ := c.object(i)
			t.fact(c, "habit", "does", o, true, 0.7)
		}
	case "leave", "quit":
		if strings.HasSuffix(c.w(i), "ing") && c.verb == "quit" && (c.past || c.perfect) && !c.neg {
			o, _ := c.object(i)
			if o == "smoking" {
				return // stopped says so
			}
			c.neg = true
			t.fact(c, "habit", "does", o, true, 0.85)
			return
		}
		if t.leftPost(c, i) || t.changedFirm(c, i) || t.leftFirm(c, i) {
			return
		}
		if o, _ := c.object(i); o != "" && (c.past || c.perfect) && c.firstTime() == nil {
			if at, ok := c.after(i, 4, "at", "with"); ok && endsInJob(c, i) && employs(at, t.plain) {
				c.neg = true
				t.fact(c, "work", "employer", at, false, 0.85)
			} else if strings.HasSuffix(o, "job") || c.w(i) == "smoking" || strings.HasSuffix(c.w(i), "ing") {
				if o == "job" || o == "day job" {
					t.outOfWork(c)
					return
				}
				c.neg = true
				t.fact(c, "work", "does", o, true, 0.8)
			}
		}
	case "retire":
		if c.past || c.perfect || c.ing {
			t.fact(c, "work", "job", "retired", false, 0.85)
		}
	case "teach":
		if o, _ := c.object(i); !c.past && !c.can && o != "" && o != "others" && o != "people" && !c.capital(i) && !personal(c.w(i)) {
			t.fact(c, "work", "job", "teaches "+o, false, 0.8)
		}
	case "run", "manage", "lead", "found":
		if o, _ := c.object(i); c.w(i) == "a" || c.w(i) == "the" || c.w(i) == "my" || c.w(i) == "an" {
			if !c.past {
				t.fact(c, "work", "job", c.verb+"s "+o, false, 0.75)
			}
		}
	case "study", "graduate", "major":
		if o, ok := c.after(i, 4, "at", "from", "in"); ok {
			t.fact(c, "biography", "education", o, true, 0.85)
		} else if o, _ := c.object(i); o != "" && o != "hard" && o != "together" && o != "late" && o != "enough" && o != "a lot" && o != "lot" {
			t.fact(c, "biography", "education", o, true, 0.8)
		}
	case "learn":
		if o, _ := c.object(i); o != "" && !c.past && !strings.HasPrefix(o, "to ") {
			t.fact(c, "habit", "learning", o, true, 0.75)
		}
	case "like", "love", "enjoy", "adore", "prefer", "hate", "dislike", "loathe":
		t.likes(c, i)
	case "stand":
		if c.neg {
			c.neg = false
			o, _ := c.object(i)
			t.fact(c, "preference", "dislikes", o, true, 0.85)
		}
	case "eat", "drink", "smoke":
		o, _ := c.object(i)
		if c.verb == "smoke" {
			o = "smoking"
		}
		if (c.can || c.future) && mealtime(o) {
			return // "I can't eat lunch today"
		}
		if c.neg && !c.past && o != "" {
			c.neg = false
			t.fact(c, "diet", "avoids", o, true, 0.85)
		} else if c.usedTo {
			t.fact(c, "diet", c.verb+"s", o, true, 0.7)
		} else if !c.past && !c.ing && !c.perfect && o != "" {
			t.fact(c, "diet", c.verb+"s", o, true, 0.65)
		}
	case "stop", "give", "avoid":
		k := i
		if c.verb == "give" {
			if c.w(i) != "up" {
				return
			}
			k++
		}
		if c.w(k) == "eating" || c.w(k) == "drinking" {
			k++
		}
		if l, _, ing := lemma(c.w(k)); ing && l != "smoke" && c.verb != "avoid" {
			return // what ends is a habit
		}
		if preposition(c.w(k)) && c.verb == "stop" {
			return // "I stopped at the shop"
		}
		if o, _ := c.object(k); o != "" && !c.neg && (c.past || c.perfect || c.verb == "avoid") {
			t.fact(c, "diet", "avoids", o, true, 0.8)
		}
	case "cut":
		if o := o2(c, i+1); c.w(i) == "out" && foregone(o) && !c.neg {
			t.fact(c, "diet", "avoids", o, true, 0.8)
		}
	case "have", "own", "get", "adopt":
		if on := c.verb == "get" && (c.w(i) == "on" || c.w(i) == "along"); on && !c.past {
			if o, ok := c.after(i+1, 3, "with"); ok && (kin(last(strings.ToLower(o))) || c.capital(len(c.words)-1)) && t.part == Facts {
				t.noteClause(c, c.sentence, false, false, notedSure)
				return
			}
		}
		t.has(c, i)
	case "take":
		t.takes(c, i)
	case "buy":
		if o, _ := c.object(i); o != "" && !c.neg && (c.w(i) == "a" || c.w(i) == "an" || c.w(i) == "my" || c.w(i) == "our" || (c.w(i) == "that" || c.w(i) == "the" || c.w(i) == "some") && thingWord(last(o))) && !food(o) {
			for _, tail := range [...]string{" to ", " for "} { // what it is for
				o, _, _ = strings.Cut(o, tail)
			}
			if f := t.fact(c, "possession", "owns", o, true, 0.8); f != nil && c.subj.key == "" {
				f.Confidence -= 0.1
			}
		}
	case "drive", "ride":
		if o, _ := c.object(i); (c.w(i) == "a" || c.w(i) == "an") && !c.past && !c.neg {
			t.fact(c, "possession", "owns", ownedName(o), true, 0.75)
		}
	case "sell", "lose":
		if t.leftPost(c, i) {
			return
		}
		if o, _ := c.object(i); (c.w(i) == "my" || c.w(i) == "our" || c.w(i) == "the") && !c.neg && (c.past || c.perfect) {
			if job, at, ok := strings.Cut(o, " at "); ok && strings.HasSuffix(job, "job") {
				c.neg = true
				t.fact(c, "work", "employer", at, false, 0.85)
				return
			} else if job == "job" {
				t.outOfWork(c)
				return
			} else if last(job) == "job" || strings.HasPrefix(job, "job ") {
				c.neg = true
				t.fact(c, "work", "job", strings.TrimPrefix(job, "job as "), false, 0.85)
				return
			}
			if c.verb == "lose" && !thingWord(last(o)) && !possession(last(o)) {
				return // a game, weight, one's way
			}
			if what := c.hadOwn(i, o); what != "" {
				c.neg = true
				t.fact(c, "possession", "owns", what, true, 0.75)
			}
		}
	case "marry":
		if o, _ := c.object(i); o != "" && c.past {
			t.fact(c, "relation", "spouse", o, false, 0.9)
		}
	case "speak":
		for k := i; !c.past && c.capital(k); {
			o, next := c.object(k)
			if o == "" {
				break
			}
			t.fact(c, "biography", "speaks", o, true, 0.85)
			if k = next + 1; c.w(next) == "," && c.w(k) == "and" {
				k++
			}
		}
	case "play":
		if o, _ := c.object(i); !c.past && !manner[strings.ToLower(o)] {
			t.fact(c, "habit", "plays", o, true, 0.8)
		}
	case "support", "follow":
		if o, _ := c.object(i); !c.past && c.capital(i) {
			t.fact(c, "preference", "supports", o, true, 0.75)
		}
	case "wear":
		if o, _ := c.object(i); !c.past {
			t.fact(c, "habit", "wears", o, true, 0.65)
		}
	case "forget":
		t.leftBehind(c, i)
	case "park", "put", "keep", "hide", "store", "stash", "hang", "stick":
		t.whereabouts(c, i)
	case "pay", "earn", "owe":
		if t.owes(c) || c.verb == "owe" && !c.priced() {
			return
		}
		if !c.past && !c.neg && !c.perfect && c.amount() && !c.conditional() {
			t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", "habit", 0.7))
		}
	case "go":
		off := i
		if c.w(off) == "right" || c.w(off) == "completely" {
			off++
		}
		if c.w(off) == "off" && (c.past || c.perfect) && c.firstTime() == nil && off+1 < len(c.words) && !determiner(c.w(off+1)) && !preposition(c.w(off+1)) {
			if o, _ := c.object(off + 1); o != "" {
				t.fact(c, "preference", "dislikes", o, true, 0.75)
			}
			return
		}
		if in, ok := c.after(i, 3, "in", "at"); ok && c.past && c.w(i) == "to" && (c.w(i+1) == "school" || c.w(i+1) == "university" || c.w(i+1) == "college" || c.w(i+1) == "uni") {
			t.fact(c, "biography", "education", in, true, 0.8)
		}
	case "care":
		if o, ok := c.after(i, 2, "for"); ok && c.neg && !c.past {
			c.neg = false
			t.fact(c, "preference", "dislikes", o, true, 0.85)
		}
	case "mentor", "coach", "tutor", "babysit", "foster":
		if o, _ := c.object(i); o != "" && !c.past {
			t.fact(c, "habit", c.verb+"s", o, true, 0.75)
		}
	case "be":
		for adverb(c.w(i)) {
			i++
		}
		if o, ok := c.after(i+1, 0, "in"); ok && c.w(i) == "based" && !c.past {
			t.settles(c, o, 0.85)
			return
		}
		t.is(c, c.vi+1)
	}
	if c.verb == "leave" && c.past {
		t.whereabouts(c, i)
	}
}

// amount reports whether a clause names a number after its verb.
func (c *clause) amount() bool {
	for i := c.vi + 1; i < len(c.words); i++ {
		if counts(c.w(i)) || c.toks[c.words[i].tok].kind == 'n' {
			return true
		}
	}
	return false
}

func food(s string) bool {
	for _, w := range [...]string{"coffee", "tea", "sandwich", "beer", "ticket", "drink", "milk", "bread", "cake", "pizza", "bottle", "round", "lunch", "snack", "ice cream", "croissant"} {
		if strings.Contains(strings.ToLower(s), w) {
			return true
		}
	}
	return false
}

// manner says how somebody plays, and not what.
var manner = set("hard well fair safe dumb dead along around together nice rough outside inside alone badly it tricks games house")
