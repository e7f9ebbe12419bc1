package rules

import "strings"

// owns takes what somebody has, gets, drives, and has no more.
func (t *talk) owns(c *clause, i int) bool {
	switch c.verb {
	case "have", "own", "get", "adopt":
		if !t.getsOn(c, i) {
			t.has(c, i)
		}
	case "buy":
		o := o2(c, i)
		if w := c.w(i); c.neg || food(o) || w != "a" && w != "an" && w != "my" && w != "our" && (w != "that" && w != "the" && w != "some" || !thingWord(last(o))) {
			return true
		}
		if k := c.find(i, 8, "for"); k > 0 && (wordsOwn[c.w(k+1)] && kin(c.w(k+2)) || c.capital(k+1) && nameWord(c.w(k+1))) {
			return true // a car for my mum
		}
		for _, tail := range [...]string{" to ", " for "} { // what it is for
			o, _, _ = strings.Cut(o, tail)
		}
		if f := t.fact(c, "possession", "owns", o, true, 0.8); f != nil && c.subj.key == "" {
			f.Confidence -= 0.1
		}
	case "drive", "ride":
		t.drives(c, i)
	case "sell", "lose":
		t.loses(c, i)
	default:
		return false
	}
	return true
}

// drives takes what somebody drives: their own, or a bus, which is their work.
func (t *talk) drives(c *clause, i int) {
	if c.w(i) != "a" && c.w(i) != "an" || c.past || c.neg {
		return
	}
	what, _, _ := strings.Cut(o2(c, i), " for ")
	switch noun := strings.ToLower(last(what)); {
	case driven[noun] && c.verb == "drive":
		t.fact(c, "work", "job", noun+" driver", false, 0.8)
	case noun != "bargain":
		t.fact(c, "possession", "owns", ownedName(what), true, 0.75)
	}
}

// driven are what is driven for a living.
var driven = set("bus taxi cab lorry tram train ambulance coach minicab tanker")

// getsOn notes whom somebody gets on with.
func (t *talk) getsOn(c *clause, i int) bool {
	if c.verb != "get" || c.past || c.w(i) != "on" && c.w(i) != "along" || t.part != Facts {
		return false
	}
	with, ok := c.after(i+1, 3, "with")
	if ok = ok && (kin(last(strings.ToLower(with))) || c.capital(len(c.words)-1)); ok {
		t.noteClause(c, c.sentence, false, false, notedSure)
	}
	return ok
}

// loses takes a job or a thing that somebody has no more: "I lost my job at Acme", "we sold the car".
func (t *talk) loses(c *clause, i int) {
	theirs := c.kind == 'p' && c.verb == "lose" && (c.w(i) == "his" || c.w(i) == "her" || c.w(i) == "their") && c.w(i+1) == "job"
	if t.atOtherAge(c) || t.leftPost(c, i) || c.w(i) != "my" && c.w(i) != "our" && c.w(i) != "the" && !theirs || c.neg || !c.past && !c.perfect {
		return
	}
	o := o2(c, i)
	job, firm, at := strings.Cut(o, " at ")
	attribute := "job"
	switch {
	case at && strings.HasSuffix(job, "job"):
		attribute, job = "employer", firm
	case job == "job", theirs && !at:
		t.outOfWork(c)
		return
	case last(job) == "job" || strings.HasPrefix(job, "job "):
		job = strings.TrimPrefix(job, "job as ")
	case c.verb == "lose": // it may be found again, and a game or one's way is no thing
		return
	default:
		if what := c.hadOwn(i, o); what != "" {
			c.neg = true
			t.fact(c, "possession", "owns", what, true, 0.75)
		}
		return
	}
	c.neg = true
	t.fact(c, "work", attribute, job, false, 0.85)
}

// has reads "a dog called Rufus", "two brothers", "a dentist appointment".
func (t *talk) has(c *clause, i int) {
	for adverb(c.w(i)) || c.w(i) == "got" {
		i++
	}
	if t.hasSeveral(c, i) {
		return
	}
	o, next := c.object(i)
	if o == "" || vague(o) {
		return
	}
	timed := c.firstTime()
	post, _, _ := strings.Cut(o, " at ")
	switch {
	case strings.HasSuffix(o, "sweet tooth"):
		t.fact(c, "preference", "likes", "sweet things", true, 0.8)
	case c.verb == "get" && c.w(i) == "married":
		if to, ok := c.after(i, 2, "to"); ok && !nobodysSpouse[last(strings.ToLower(to))] {
			t.fact(c, "relation", "spouse", to, false, 0.9)
		} else if c.past || c.perfect {
			t.fact(c, "relation", "marital_status", "married", false, 0.85)
		}
	case timed != nil && t.planned(c, timed):
	case strings.HasSuffix(post, "job") && (c.verb == "get" || c.verb == "have"):
		past := c.past
		c.past = false
		if at, ok := c.after(i, 4, "at", "with"); ok && (strings.HasPrefix(post, "second ") || strings.HasPrefix(post, "side ")) && !vague(at) {
			t.fact(c, "work", "second_job", cutTail(at), true, 0.85)
		} else {
			t.work(c, i)
		}
		c.past = past
	case c.can && c.neg && c.verb == "have":
		c.neg = false
		t.fact(c, "diet", "avoids", o, true, 0.8)
	case c.past && !c.usedTo && c.verb == "have": // "I had a great day": what happened
	default:
		t.hasOne(c, i, o, next)
	}
}

// hasOne takes a relative, an animal, an illness or a thing that somebody has: the object o, words i to next.
func (t *talk) hasOne(c *clause, i int, o string, next int) {
	words := strings.Fields(strings.ToLower(o))
	name := ""
	for k := i; k < len(c.words); k++ {
		if (c.w(k) == "called" || c.w(k) == "named") && c.capital(k+1) {
			name, _ = c.object(k + 1)
			o = c.trim(i, min(k, next))
			words = strings.Fields(strings.ToLower(o))
		}
	}
	if name == "" && c.w(next) == "," && c.capital(next+1) && nameWord(c.w(next+1)) && (next+2 == len(c.words) || c.w(next+2) == ",") && (pet(last(strings.ToLower(o))) || kin(last(strings.ToLower(o)))) { // "a cat, Minou"
		name = c.cased(next + 1)
	}
	for k, w := range words { // "a love for horses" is a love
		if k > 0 && (preposition(w) && w != "of" || strings.HasSuffix(w, "ing") && w != "evening") { // but parents' evening
			words = words[:k]
			break
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
	switch {
	case strings.Contains(o, "allergy to ") || strings.Contains(o, "allergies to "):
		_, what, _ := strings.Cut(o, " to ")
		t.allergy(c, what)
	case noun == "allergy" && len(words) > 1 && !c.past:
		if what := strings.Join(words[boolInt(severe[words[0]]):len(words)-1], " "); what != "" && !severe[what] {
			if eaten[what] {
				what += "s"
			}
			t.allergy(c, what)
		}
	case (kin(single) || kin(noun)) && (c.w(next) == "is" || strings.Contains(o, "'s ") || len(c.whens) > 0 && c.whens[0].clock):
		return // "I've got my niece's christening", "we have the maths teacher at ten to seven"
	case (kin(single) || noun == "children" || noun == "kids") && c.w(i) == "the":
		return // "Raj has got the kids tonight"
	case kin(single) || kin(noun) || noun == "children" || noun == "kids":
		if name != "" {
			t.relation(c, c.subj, noun, name, 0.9)
			return
		}
		t.fact(c, "family", "relatives", o, true, 0.85)
		if also, _ := c.object(next + 1); c.w(next) == "and" && kin(strings.TrimSuffix(last(strings.ToLower(also)), "s")) {
			t.fact(c, "family", "relatives", also, true, 0.85)
		}
	case (pet(single) || pet(noun)) && (strings.Contains(o, " to ") || strings.Contains(o, " of a ")):
		return // "a dog to walk"
	case pet(noun) && len(words) == 1 && name == "" && c.words[next-1].tok > 0 && c.w(i) == noun:
		return // "we have fish on a Friday": a meal
	case (pet(single) || pet(noun)) && c.verb == "get" && (words[0] == "few" || c.w(i) == "some" || c.w(i+1) == "few"):
		return // caught, or eaten
	case pet(single) || pet(noun):
		if name != "" {
			if f := t.fact(c, "family", "pets", name, true, 0.92); f != nil {
				f.Object = name + ", " + o
			}
			return
		}
		t.fact(c, "family", "pets", o, true, 0.85)
	case condition[noun] || (words[0] == "bad" || words[0] == "weak" || words[0] == "sore") && bodyPart[noun]:
		if f := t.fact(c, "health", "condition", o, true, 0.85); f != nil {
			f.Sensitivity = "private"
		}
	case noun == "degree" || noun == "phd" || noun == "master's":
		t.fact(c, "biography", "education", o, true, 0.85)
	case c.verb == "have" && (c.w(i) == "a" || c.w(i) == "an") && !c.past && !c.neg && next == len(c.words) && next-i <= 3 && c.capital(next-1) && nameWord(noun) && c.firstTime() == nil:
		t.fact(c, "possession", "owns", ownedName(o), true, 0.7)
	case c.verb == "own" || c.verb == "have" && (c.w(i) == "a" || c.w(i) == "an") && !c.past && thingWord(noun):
		t.fact(c, "possession", "owns", o, true, 0.75)
	case c.verb == "get" && (c.w(i) == "a" || c.w(i) == "an") && thingWord(noun) && !food(o):
		o, _, _ = strings.Cut(o, " for ")
		t.fact(c, "possession", "owns", o, true, 0.7)
	}
}

// hasSeveral reads a list of animals or relatives with their names: "a dog called
// Rex and a cat called Minka", "two dogs, Rex and Bello".
func (t *talk) hasSeveral(c *clause, i int) bool {
	type named struct {
		noun, name string
		counted    bool // "two cats, Miso and Tofu"
	}
	var all []named
	noun, counted, titled := "", false, false
	for k := i; k < len(c.words); {
		switch w := c.w(k); {
		case w == "," || w == "and":
			k++
		case noun != "" && c.capital(k) && nameWord(w):
			n := 1 + boolInt(titles[w] && c.capital(k+1))
			if titled = n > 1; !titled || !counted && !pet(noun) && noun != "children" { // "I have two children, Mrs. Lund": she is called
				all = append(all, named{noun, c.join(k, k+n), counted})
			}
			k += n
		default:
			end := k
			for end < min(len(c.words), k+4) && c.w(end) != "called" && c.w(end) != "named" && c.w(end) != "," && c.w(end) != "and" {
				end++
			}
			one := strings.TrimSuffix(c.w(end-1), "s")
			if end == k || !pet(one) && !kin(one) {
				return false
			}
			noun, counted = one, one != c.w(end-1)
			if c.w(end) == "called" || c.w(end) == "named" {
				end++
			}
			k = end
		}
	}
	if len(all) < 2 && !(titled && len(all) == 1) || c.past || c.neg {
		return false
	}
	for _, n := range all {
		if pet(n.noun) {
			if f := t.fact(c, "family", "pets", n.name, true, 0.92); f != nil {
				f.Object = n.name + ", " + n.noun
				if n.counted {
					f.Text, f.Object = n.name+" is "+possessive(c.subj.name)+" "+n.noun+".", n.name
				}
			}
			continue
		}
		t.relation(c, c.subj, n.noun, n.name, 0.9)
	}
	return true
}

var condition = set("asthma diabetes migraines epilepsy arthritis eczema anaemia anemia hypertension adhd depression insomnia pressure celiac coeliac tinnitus cancer anxiety pacemaker dyslexia autism cholesterol gout sciatica psoriasis endometriosis")

var bodyPart = set("knee knees back hip hips shoulder heart ankle wrist neck eyes eyesight hearing stomach lungs tooth teeth ear ears throat foot feet leg legs arm elbow thumb finger toe jaw head chest eye ribs")

// possession words are what one loses and has lost, besides what thingWord knows.
var possession = set("wallet keys key purse passport glasses umbrella ring earring necklace scarf gloves hat bag backpack luggage ticket card headphones earbuds charger bracelet")

func thingWord(s string) bool {
	switch s {
	case "car", "bike", "bicycle", "motorbike", "scooter", "boat", "house", "flat", "apartment", "laptop", "phone", "camera", "piano", "guitar", "violin", "garden", "van", "tesla", "kayak", "television", "tv", "dishwasher", "microwave", "freezer", "fridge", "dryer", "oven", "computer", "bathtub", "balcony", "pool", "garage", "cellar", "driveway", "smartphone", "smartwatch",
		"tent", "printer", "drone", "tablet", "watch", "allotment", "cottage", "cabin", "telescope", "keyboard", "drum", "cello", "sofa", "machine", "truck", "e-bike", "caravan", "ukulele", "flute", "surfboard", "kindle", "shop", "company", "car,":
		return true
	}
	return false
}

// severe are words for how bad an allergy is or what kind of one, and eaten those that stand for several before it: "a nut
// allergy".
var (
	severe = set("bad severe serious mild slight terrible food skin seasonal new strong nasty awful")
	eaten  = set("nut peanut walnut hazelnut almond cashew egg cat dog bee wasp")
)

func (t *talk) allergy(c *clause, what string) {
	if f := t.fact(c, "allergy", "allergies", what, true, 0.93); f != nil {
		f.Sensitivity = "private"
	}
}
