package facts

import (
	"github.com/locket-dev/locket/wasm/abi"
	"strings"
)

// english applies the rule of the clause's verb.
func (t *talk) english(c *clause) {
	if c.modal && c.verb != "be" && !(c.kind == 't' && c.verb == "be") { // a wish, a possibility
		return
	}
	if t.reschedule(c) {
		return
	}
	if c.kind == 't' {
		t.aboutThing(c)
		return
	}
	if c.ends == "?" {
		return
	}
	timed := c.firstTime()
	switch {
	case c.intend && !c.past || c.future || c.must && !c.past:
		t.plan(c, timed)
		return
	case c.ing && !c.past && !c.perfect && timed != nil && timed.unix() > t.ev.At:
		t.plan(c, timed)
		return
	}
	before := len(t.out.Candidates)
	t.personal(c)
	if len(t.out.Candidates) > before {
		return
	}
	switch {
	case c.must && c.past: // promised to, decided to
		t.plan(c, timed)
	case (c.past || c.perfect && timed != nil) && !c.neg:
		t.happened(c, timed)
	case timed != nil && timed.hasDay && timed.unix() > t.ev.At && !c.neg:
		t.plan(c, timed)
	case !c.past && !c.neg && !c.perfect && c.kind != 'y':
		t.habit(c)
	}
}

// firstTime is the first time in the clause that is a single one.
func (c *clause) firstTime() *when {
	for i := range c.whens {
		w := &c.whens[i]
		if w.habit || w.since {
			continue
		}
		for k := i + 1; k < len(c.whens) && w.hasDay && !w.clock; k++ {
			if o := c.whens[k]; o.clock && !o.byPart && o.day == w.day {
				m := *w
				m.clock, m.minute, m.sure = true, o.minute, o.sure
				return &m
			}
		}
		return w
	}
	return nil
}

// personal knows the verbs that say what someone is, has, likes, does.
func (t *talk) personal(c *clause) {
	i := c.vi + 1
	who := c.kind == 's' || c.kind == 'p' || c.kind == 'y' || c.kind == 'w'
	if !who {
		return
	}
	switch c.verb {
	case "live", "reside":
		if o, ok := c.after(i, 2, "in", "at", "on", "near", "above"); ok {
			if c.past && !c.usedTo {
				t.fact(c, "biography", "lived_in", o, true, 0.75)
				return
			}
			t.fact(c, "residence", "home", o, false, 0.92)
		} else if o, ok := c.after(i, 2, "with"); ok {
			t.fact(c, "relation", "lives_with", o, true, 0.8)
		}
	case "stay":
		if o, ok := c.after(i, 2, "in", "at"); ok && c.ing && !c.past {
			t.fact(c, "place", "staying_at", o, false, 0.7)
		}
	case "move", "relocate":
		if o, ok := c.after(i, 5, "to", "into"); ok && !c.neg && !vague(o) && (c.past || c.perfect) {
			if inner, ok := c.after(i, 9, "in"); ok && strings.Contains(o, " in ") {
				o = inner
			}
			if f := t.fact(c, "residence", "home", o, false, 0.85); f != nil {
				f.EventType = "move"
			}
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
		case c.w(i) == "working" || c.w(i) == "a" && strings.HasPrefix(c.join(i, i+3), "a new job") || c.w(i) == "my" && c.w(i+1) == "job":
			t.work(c, i)
		case c.verb == "join" && c.past:
			if o, _ := c.object(i); o != "" {
				t.fact(c, "work", "employer", o, false, 0.65)
			}
		case c.verb == "start" && strings.HasSuffix(c.w(i), "ing"):
			o, _ := c.object(i)
			t.fact(c, "habit", "does", o, true, 0.7)
		}
	case "leave", "quit":
		if o, _ := c.object(i); o != "" && (c.past || c.perfect) && c.firstTime() == nil {
			if at, ok := c.after(i, 4, "at", "with"); ok && c.w(i) != "at" && (c.w(i) == "my" || c.w(i+1) == "job") {
				c.neg = true
				t.fact(c, "work", "employer", at, false, 0.85)
			} else if strings.HasSuffix(o, "job") || c.w(i) == "smoking" || strings.HasSuffix(c.w(i), "ing") {
				c.neg = true
				attr := "does"
				if strings.HasSuffix(o, "job") {
					attr = "employer"
				}
				t.fact(c, "work", attr, o, attr == "does", 0.8)
			}
		}
	case "retire":
		if c.past || c.perfect || c.ing {
			t.fact(c, "work", "job", "retired", false, 0.85)
		}
	case "teach":
		if o, _ := c.object(i); !c.past {
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
		} else if o, _ := c.object(i); o != "" {
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
		if o, _ := c.object(k); o != "" && !c.neg && (c.past || c.perfect || c.verb == "avoid") {
			t.fact(c, "diet", "avoids", o, true, 0.8)
		}
	case "have", "own", "get", "adopt":
		t.has(c, i)
	case "buy":
		if o, _ := c.object(i); o != "" && !c.neg && (c.w(i) == "a" || c.w(i) == "an" || c.w(i) == "my" || c.w(i) == "our") && !food(o) {
			if f := t.fact(c, "possession", "owns", o, true, 0.8); f != nil && c.subj.key == "" {
				f.Confidence -= 0.1
			}
		}
	case "drive", "ride":
		if o, _ := c.object(i); (c.w(i) == "a" || c.w(i) == "an") && !c.past && !c.neg {
			t.fact(c, "possession", "owns", o, true, 0.75)
		}
	case "sell", "lose":
		if o, _ := c.object(i); (c.w(i) == "my" || c.w(i) == "our" || c.w(i) == "the") && !c.neg && (c.past || c.perfect) {
			c.neg = true
			t.fact(c, "possession", "owns", o, true, 0.75)
		}
	case "marry":
		if o, _ := c.object(i); o != "" && c.past {
			t.fact(c, "relation", "spouse", o, false, 0.9)
		}
	case "speak":
		if o, _ := c.object(i); o != "" && !c.past && c.capital(i) {
			t.fact(c, "biography", "speaks", o, true, 0.85)
		}
	case "play":
		if o, _ := c.object(i); !c.past {
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
	case "park", "put", "leave ", "keep", "hide", "store":
		t.whereabouts(c, i)
	case "be":
		t.is(c, i)
	}
	if c.verb == "leave" && c.past {
		t.whereabouts(c, i)
	}
}

func food(s string) bool {
	for _, w := range [...]string{"coffee", "tea", "sandwich", "beer", "ticket", "drink", "milk", "bread", "cake", "pizza", "bottle", "round", "lunch", "snack", "ice cream", "croissant"} {
		if strings.Contains(strings.ToLower(s), w) {
			return true
		}
	}
	return false
}

// work reads "at X", "as a Y" after a verb of working.
func (t *talk) work(c *clause, i int) {
	if c.past && !c.usedTo && c.verb == "work" && !c.perfect {
		if at, ok := c.after(i, 4, "at", "for"); ok && !vague(at) && c.firstTime() == nil {
			t.fact(c, "biography", "worked_at", at, true, 0.75)
		}
		return
	}
	if at, ok := c.after(i, 6, "at", "for"); ok && !vague(at) {
		t.fact(c, "work", "employer", at, false, 0.92)
		c.neg = c.neg && false
	}
	if as, ok := c.after(i, 8, "as"); ok {
		if before, _, cut := strings.Cut(as, " in "); cut {
			as = before
		}
		if before, _, cut := strings.Cut(as, " at "); cut {
			as = before
		}
		t.fact(c, "work", "job", as, false, 0.88)
	}
	if in, ok := c.after(i, 1, "in"); ok && c.verb == "work" {
		t.fact(c, "work", "works_in", in, false, 0.8)
	}
	if from, ok := c.after(i, 1, "from"); ok && c.verb == "work" && from != "" {
		t.fact(c, "work", "works_from", from, false, 0.75)
	}
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

// has reads "a dog called Rufus", "two brothers", "a dentist appointment".
func (t *talk) has(c *clause, i int) {
	for adverb(c.w(i)) || c.w(i) == "got" {
		i++
	}
	o, next := c.object(i)
	if o == "" || vague(o) {
		return
	}
	if c.verb == "get" && c.w(i) == "married" {
		if to, ok := c.after(i, 2, "to"); ok {
			t.fact(c, "relation", "spouse", to, false, 0.9)
		} else if c.past || c.perfect {
			t.fact(c, "relation", "marital_status", "married", false, 0.85)
		}
		return
	}
	if timed := c.firstTime(); timed != nil && t.planned(c, timed) {
		return
	}
	if c.verb == "get" && strings.HasSuffix(o, "job") || strings.HasSuffix(o, "job") && c.verb == "have" {
		c.past = false
		t.work(c, i)
		return
	}
	if c.can && c.neg && c.verb == "have" {
		c.neg = false
		t.fact(c, "diet", "avoids", o, true, 0.8)
		return
	}
	words := strings.Fields(strings.ToLower(o))
	name := ""
	for k := i; k < len(c.words); k++ {
		if (c.w(k) == "called" || c.w(k) == "named") && c.capital(k+1) {
			name, _ = c.object(k + 1)
			o = c.trim(i, min(k, next))
			words = strings.Fields(strings.ToLower(o))
		}
	}
	if len(words) == 0 {
		return
	}
	noun := words[len(words)-1]
	single := strings.TrimSuffix(noun, "s")
	if noun == "children" {
		single = "child"
	}
	for _, w := range words { // "a sister in Leeds"
		if kin(w) || kin(strings.TrimSuffix(w, "s")) {
			single = strings.TrimSuffix(w, "s")
			noun = w
			break
		}
	}
	switch {
	case strings.Contains(o, "allergy to ") || strings.Contains(o, "allergies to "):
		_, what, _ := strings.Cut(o, " to ")
		t.allergy(c, what)
	case kin(single) || kin(noun) || noun == "children" || noun == "kids":
		if name != "" {
			t.relation(c, c.subj, noun, name, 0.9)
			return
		}
		t.fact(c, "family", "relatives", o, true, 0.85)
	case pet(single) || pet(noun):
		if name != "" {
			if f := t.fact(c, "family", "pets", name, true, 0.92); f != nil {
				f.Object = name + ", " + o
			}
			return
		}
		t.fact(c, "family", "pets", o, true, 0.85)
	case condition(noun):
		if f := t.fact(c, "health", "condition", o, true, 0.85); f != nil {
			f.Sensitivity = "private"
		}
	case noun == "degree" || noun == "phd" || noun == "master's":
		t.fact(c, "biography", "education", o, true, 0.85)
	case c.verb == "own" || c.verb == "have" && (c.w(i) == "a" || c.w(i) == "an") && !c.past && thingWord(noun):
		t.fact(c, "possession", "owns", o, true, 0.75)
	case c.verb == "get" && (c.w(i) == "a" || c.w(i) == "an") && thingWord(noun) && !food(o):
		t.fact(c, "possession", "owns", o, true, 0.7)
	}
}

func condition(s string) bool {
	switch s {
	case "asthma", "diabetes", "migraines", "epilepsy", "arthritis", "eczema", "anaemia", "anemia", "hypertension", "adhd", "depression", "insomnia", "pressure", "celiac", "coeliac", "tinnitus":
		return true
	}
	return false
}

func thingWord(s string) bool {
	switch s {
	case "car", "bike", "bicycle", "motorbike", "scooter", "boat", "house", "flat", "apartment", "laptop", "phone", "camera", "piano", "guitar", "violin", "garden", "van", "tesla", "kayak",
		"tent", "printer", "drone", "tablet", "watch", "allotment", "cottage", "cabin", "telescope", "keyboard", "drum", "cello", "sofa", "machine", "truck", "e-bike", "caravan", "ukulele", "flute", "surfboard", "kindle", "shop", "company", "car,":
		return true
	}
	return false
}

func (t *talk) allergy(c *clause, what string) {
	if f := t.fact(c, "allergy", "allergies", what, true, 0.93); f != nil {
		f.Sensitivity = "private"
	}
}

// is reads what someone is: allergic, married, from somewhere, so old, a baker.
func (t *talk) is(c *clause, i int) {
	for c.w(i) == "not" || adverb(c.w(i)) || c.w(i) == "no" || c.w(i) == "longer" || c.w(i) == "never" || c.w(i) == "very" {
		i++
	}
	w := c.w(i)
	o, next := c.object(i)
	if c.past && w != "born" {
		if w == "married" || w == "diagnosed" {
			t.fact(c, "biography", "history", o, true, 0.7)
		}
		return
	}
	switch {
	case w == "allergic":
		k := i + 2
		for n := 0; n < 4; n++ {
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
	case w == "intolerant" || c.w(i+1) == "intolerant":
		t.allergy(c, o)
	case w == "vegetarian" || w == "vegan" || w == "pescatarian" || w == "coeliac" || w == "celiac" || w == "teetotal" || (w == "a" || w == "an") && (c.w(i+1) == "vegetarian" || c.w(i+1) == "vegan"):
		t.fact(c, "diet", "diet", strings.TrimPrefix(strings.TrimPrefix(o, "a "), "an "), false, 0.9)
	case w == "from":
		t.fact(c, "biography", "origin", o2(c, i+1), false, 0.88)
	case w == "born":
		if in, ok := c.after(i, 2, "in"); ok {
			t.fact(c, "biography", "birthplace", in, false, 0.9)
		}
		if timed := c.firstTime(); timed != nil && timed.hasDay {
			t.birthday(c, timed)
		}
	case w == "married" || w == "engaged":
		if to, ok := c.after(i, 2, "to"); ok {
			t.fact(c, "relation", map[string]string{"married": "spouse", "engaged": "fiancé"}[w], to, false, 0.9)
		} else {
			t.fact(c, "relation", "marital_status", w, false, 0.85)
		}
	case w == "single" || w == "divorced" || w == "widowed" || w == "retired" || w == "pregnant" || w == "unemployed" || w == "left-handed" || w == "colour-blind" || w == "color-blind" || w == "diabetic":
		attr := map[string]string{"retired": "job", "unemployed": "job", "pregnant": "health", "left-handed": "handedness", "diabetic": "condition"}[w]
		if attr == "" {
			attr = "marital_status"
		}
		t.fact(c, "biography", attr, w, false, 0.85)
	case w == "called" || w == "named":
		if c.own && c.kind == 'p' {
			owner, noun := ownerOf(c.subj, t)
			t.relation(c, owner, noun, o2(c, i+1), 0.92)
		}
	case w == "into" || w == "fond" || strings.HasPrefix(c.join(i, i+4), "a big fan of") || strings.HasPrefix(c.join(i, i+3), "a fan of") || strings.HasPrefix(c.join(i, i+4), "a huge fan of"):
		k := i + 1
		for c.w(k) == "big" || c.w(k) == "huge" || c.w(k) == "fan" || c.w(k) == "of" || c.w(k) == "a" {
			k++
		}
		attr := "likes"
		if c.neg && !c.noLonger {
			attr, c.neg = "dislikes", false
		}
		t.fact(c, "preference", attr, o2(c, k), true, 0.85)
	case w == "scared" || w == "afraid" || w == "terrified":
		t.fact(c, "preference", "afraid_of", o2(c, i+2), true, 0.85)
	case w == "my" || w == "our" || c.capital(i) && c.w(i+1) == "'s" || w == "his" || w == "her":
		owner := t.self
		k := i + 1
		if c.capital(i) && c.w(i+1) == "'s" {
			owner, k = t.named(c.cased(i)), i+2
		}
		noun := strings.ToLower(o2(c, k))
		head := noun[strings.LastIndexByte(noun, ' ')+1:]
		if c.kind == 'p' && kin(head) && !c.neg {
			t.relation(c, owner, noun, c.subj.name, 0.9)
		}
	case w == "turning" || isAge(c, i):
		if w == "turning" {
			i++
		}
		if n, ok := number(c.w(i)); ok && n > 0 && n < 120 {
			t.fact(c, "biography", "age", c.w(i), false, 0.85)
		}
	case (w == "a" || w == "an") && !c.neg || w == "the" && role(c, i) || w == "head" || w == "in" && c.w(i+1) == "charge":
		if c.kind == 'p' && c.own && c.thing != "" && !role(c, i) {
			return
		}
		if role(c, i) {
			job := c.trim(i, next)
			if at := strings.Index(job, " at "); at > 0 {
				t.fact(c, "work", "employer", job[at+4:], false, 0.85)
				job = job[:at]
			}
			t.fact(c, "work", "job", job, false, 0.85)
		}
	case c.kind == 's' && c.capital(i) && nameWord(w) && next-i <= 2 && !strings.HasSuffix(w, "n") && c.vi == 1 && strings.EqualFold(o, t.self.name):
		t.core(c, "human", o)
	case w == "on" || w == "at" || w == "in":
		if timed := c.firstTime(); timed != nil && timed.hasDay {
			t.plan(c, timed)
		}
	case c.ing:
	}
}

func o2(c *clause, i int) string {
	o, _ := c.object(i)
	return o
}

func isAge(c *clause, i int) bool {
	n, ok := number(c.w(i))
	if !ok || n < 1 || n > 119 || c.w(i) == "a" || c.w(i) == "an" {
		return false
	}
	next := c.w(i + 1)
	return next == "" || next == "years" || next == "now" || next == "," || next == "and"
}

// role reports whether words from i name a profession or position.
func role(c *clause, i int) bool {
	for k := i; k < min(len(c.words), i+6); k++ {
		w := c.w(k)
		switch w {
		case "nurse", "doctor", "teacher", "engineer", "designer", "lawyer", "chef", "cook", "baker", "pilot", "student", "accountant", "architect", "artist", "writer", "author", "musician",
			"carpenter", "plumber", "electrician", "mechanic", "journalist", "scientist", "researcher", "professor", "consultant", "translator", "interpreter", "waiter", "waitress", "barista",
			"programmer", "developer", "dentist", "vet", "midwife", "paramedic", "firefighter", "farmer", "gardener", "photographer", "librarian", "freelancer", "lecturer", "surgeon", "pharmacist",
			"physicist", "chemist", "biologist", "analyst", "director", "ceo", "cto", "cfo", "founder", "head", "secretary", "clerk", "cashier", "tailor", "actor", "actress", "singer", "dancer", "coach",
			"psychologist", "therapist", "producer", "manager", "editor", "driver", "butcher", "florist", "violinist", "pianist", "intern", "apprentice", "postman", "soldier", "policeman", "volunteer", "tutor", "estate-agent", "agent", "technician", "curator", "optician":
			return true
		}
		if w == "at" || w == "in" || w == "for" || w == "of" || w == "," || w == "who" {
			return false
		}
	}
	return false
}

func ownerOf(p person, t *talk) (person, string) {
	name, noun, _ := strings.Cut(p.name, "'s ")
	if name == t.self.name {
		return t.self, noun
	}
	return t.named(name), noun
}

func (t *talk) birthday(c *clause, w *when) {
	y, m, d := date(w.day)
	value := ""
	switch {
	case w.grain == 'y':
		t.fact(c, "biography", "birth_year", itoa(y), false, 0.85)
		return
	case w.grain == 'M':
		value = monthNames[m-1]
	default:
		value = monthNames[m-1] + " " + itoa(d)
	}
	t.fact(c, "biography", "birthday", value, false, 0.93)
}

// core proposes what is always worth knowing of the wearer.
func (t *talk) core(c *clause, block, value string) {
	if t.self.key != "user" {
		t.fact(c, "biography", "name", value, false, 0.85)
		return
	}
	a := t.base(c, "core", "identity", 0.9)
	a.Block = block
	a.Slot = &abi.Slot{Subject: "user", Attribute: "name", Value: value}
	t.out.Candidates = append(t.out.Candidates, a)
}
