package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// owns takes what somebody has, gets, drives, and no longer has.
func owns(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "have", "own", "get", "adopt":
		if !getsOn(t, c, i) {
			has(t, c, i)
		}
	case "buy":
		o := discourse.ObjectOf(c, i)
		if w := c.W(i); c.Neg || food(o) || !c.Past && !c.Perfect && !c.Ing || w != "a" && w != "an" && w != "my" && w != "our" && (w != "that" && w != "the" && w != "some" || !discourse.ThingWord(discourse.Last(o))) {
			return true
		}
		if k := c.Find(i, 8, "for"); k > 0 && (discourse.WordsOwn[c.W(k+1)] && syntax.Kin(c.W(k+2)) || c.Capital(k+1) && syntax.NameWord(c.W(k+1))) {
			return true // a car for my mum
		}
		for _, tail := range [...]string{" to ", " for ", " off ", " from ", " on ", " at "} { // what it is for, and where it was bought
			o, _, _ = strings.Cut(o, tail)
		}
		if f := t.Fact(c, "possession", "owns", o, true, 0.8); f != nil && c.Subj.Key == "" {
			f.Confidence -= 0.1
		}
	case "drive", "ride":
		drives(t, c, i)
	case "sell", "lose":
		loses(t, c, i)
	default:
		return false
	}
	return true
}

// drives takes what somebody drives: their own vehicle, or a bus, which is their work.
func drives(t *discourse.Talk, c *discourse.Clause, i int) {
	if c.W(i) != "a" && c.W(i) != "an" || c.Past || c.Neg {
		return
	}
	what := discourse.ObjectOf(c, i)
	for _, tail := range [...]string{" for ", " in ", " to ", " from "} { // where to
		what, _, _ = strings.Cut(what, tail)
	}
	switch noun := strings.ToLower(discourse.Last(what)); {
	case driven[noun] && c.Verb == "drive":
		t.Fact(c, "work", "job", noun+" driver", false, 0.8)
	case noun != "bargain":
		t.Fact(c, "possession", "owns", ownedName(what), true, 0.75)
	}
}

// driven are vehicles that people drive for a living.
var driven = syntax.Set("bus taxi cab lorry tram train ambulance coach minicab tanker")

// getsOn notes with whom somebody gets on.
func getsOn(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Verb != "get" || c.Past || c.W(i) != "on" && c.W(i) != "along" || t.Part != discourse.Facts {
		return false
	}
	with, ok := c.After(i+1, 3, "with")
	if ok = ok && (syntax.Kin(discourse.Last(strings.ToLower(with))) || c.Capital(len(c.Words)-1)); ok {
		noted.NoteClause(t, c, c.Sentence, false, false, discourse.NotedSure)
	}
	return ok
}

// loses takes a job or a thing that somebody no longer has: "I lost my job at Acme", "we sold the
// car".
func loses(t *discourse.Talk, c *discourse.Clause, i int) {
	theirs := c.Kind == 'p' && c.Verb == "lose" && (c.W(i) == "his" || c.W(i) == "her" || c.W(i) == "their") && c.W(i+1) == "job"
	if t.AtOtherAge(c) || leftPost(t, c, i) || c.W(i) != "my" && c.W(i) != "our" && c.W(i) != "the" && !theirs || c.Neg || !c.Past && !c.Perfect {
		return
	}
	o := discourse.ObjectOf(c, i)
	job, firm, at := strings.Cut(o, " at ")
	attribute := "job"
	switch {
	case at && strings.HasSuffix(job, "job"):
		attribute, job = "employer", firm
	case job == "job", theirs && !at:
		outOfWork(t, c)
		return
	case discourse.Last(job) == "job" || strings.HasPrefix(job, "job "):
		job = strings.TrimPrefix(job, "job as ")
	case c.Verb == "lose": // it may be found again, and a game or one's way is not a thing
		return
	default:
		if what := hadOwn(c, i, o); what != "" {
			c.Neg = true
			t.Fact(c, "possession", "owns", what, true, 0.75)
		}
		return
	}
	c.Neg = true
	t.Fact(c, "work", attribute, job, false, 0.85)
}

// has reads "a dog called Rufus", "two brothers", "a dentist appointment".
func has(t *discourse.Talk, c *discourse.Clause, i int) {
	for syntax.Adverb(c.W(i)) || c.W(i) == "got" || c.W(i) == "had" && c.Perfect {
		i++
	}
	if hasSeveral(t, c, i) {
		return
	}
	o, next := c.Object(i)
	if o == "" || discourse.Vague(o) {
		return
	}
	timed := c.FirstTime()
	post, _, _ := strings.Cut(o, " at ")
	switch {
	case strings.HasSuffix(o, "sweet tooth"):
		t.Fact(c, "preference", "likes", "sweet things", true, 0.8)
	case c.Verb == "get" && c.W(i) == "married":
		if to, ok := c.After(i, 2, "to"); ok && !nobodysSpouse[discourse.Last(strings.ToLower(to))] {
			t.Fact(c, "relation", "spouse", to, false, 0.9)
		} else if c.Past || c.Perfect {
			t.Fact(c, "relation", "marital_status", "married", false, 0.85)
		}
	case timed != nil && planned(t, c, timed):
	case strings.HasSuffix(post, "job") && (c.Verb == "get" || c.Verb == "have"):
		past := c.Past
		c.Past = false
		if at, ok := c.After(i, 4, "at", "with"); ok && (strings.HasPrefix(post, "second ") || strings.HasPrefix(post, "side ")) && !discourse.Vague(at) {
			t.Fact(c, "work", "second_job", cutTail(at), true, 0.85)
		} else {
			work(t, c, i)
		}
		c.Past = past
	case c.Can && c.Neg && c.Verb == "have":
		c.Neg = false
		t.Fact(c, "diet", "avoids", o, true, 0.8)
	case c.Past && !c.UsedTo && c.Verb == "have": // "I had a great day": what happened
	default:
		hasOne(t, c, i, o, next)
	}
}

// hasOne takes a relative, an animal, an illness or a thing that somebody has: the object o, words i to next.
func hasOne(t *discourse.Talk, c *discourse.Clause, i int, o string, next int) {
	if what, end := c.Object(i + 1); c.W(i) == "had" && syntax.Pet(discourse.Last(strings.ToLower(what))) { // "I've had the cat for six years"
		i, o, next = i+1, what, end
	}
	words := strings.Fields(strings.ToLower(o))
	name := ""
	for k := i; k < len(c.Words); k++ {
		if (c.W(k) == "called" || c.W(k) == "named") && c.Capital(k+1) {
			name, _ = c.Object(k + 1)
			o = c.Trim(i, min(k, next))
			words = strings.Fields(strings.ToLower(o))
		}
	}
	if name == "" && c.W(next) == "," && c.Capital(next+1) && syntax.NameWord(c.W(next+1)) && (next+2 == len(c.Words) || c.W(next+2) == ",") && (syntax.Pet(discourse.Last(strings.ToLower(o))) || syntax.Kin(discourse.Last(strings.ToLower(o)))) { // "a cat, Minou"
		name = c.Cased(next + 1)
	}
	for k, w := range words { // "a love for horses" is about a love
		if k > 0 && (syntax.Preposition(w) && w != "of" || strings.HasSuffix(w, "ing") && w != "evening") { // but parents' evening
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
		allergy(t, c, what)
	case noun == "allergy" && len(words) > 1 && !c.Past:
		if what := strings.Join(words[syntax.BoolInt(severe[words[0]]):len(words)-1], " "); what != "" && !severe[what] {
			if eaten[what] {
				what += "s"
			}
			allergy(t, c, what)
		}
	case (syntax.Kin(single) || syntax.Kin(noun)) && (c.W(next) == "is" || strings.Contains(o, "'s ") || len(c.Whens) > 0 && c.Whens[0].Clock):
		return // "I've got my niece's christening", "we have the maths teacher at ten to seven"
	case (syntax.Kin(single) || noun == "children" || noun == "kids") && (c.W(i) == "the" || c.W(i) == "my" || c.W(i) == "our"):
		return // "Raj has got the kids tonight"
	case c.Ing && (syntax.Kin(single) || syntax.Kin(noun)):
		return // "we're having both sets of parents"
	case name == "" && (syntax.Profession(single) || discourse.Trade(single)):
		return // "we've had the same doctor for years"
	case syntax.Kin(single) || syntax.Kin(noun) || noun == "children" || noun == "kids":
		if name != "" {
			t.Relation(c, c.Subj, noun, name, 0.9)
			return
		}
		t.Fact(c, "family", "relatives", o, true, 0.85)
		if also, _ := c.Object(next + 1); c.W(next) == "and" && syntax.Kin(strings.TrimSuffix(discourse.Last(strings.ToLower(also)), "s")) {
			t.Fact(c, "family", "relatives", also, true, 0.85)
		}
	case (syntax.Pet(single) || syntax.Pet(noun)) && (c.W(i) == "had" || strings.Contains(o, " to ") || strings.Contains(o, " of a ")):
		return // "a dog to walk", "I have had two cats in my life"
	case syntax.Pet(noun) && len(words) == 1 && name == "" && c.Words[next-1].Tok > 0 && c.W(i) == noun:
		return // "we have fish on a Friday": a meal
	case (syntax.Pet(single) || syntax.Pet(noun)) && c.Verb == "get" && (words[0] == "few" || c.W(i) == "some" || c.W(i+1) == "few"):
		return // caught, or eaten
	case syntax.Pet(single) || syntax.Pet(noun):
		if name != "" {
			if f := t.Fact(c, "family", "pets", name, true, 0.92); f != nil {
				f.Object = name + ", " + o
			}
			return
		}
		t.Fact(c, "family", "pets", o, true, 0.85)
	case discourse.Condition[noun] || (words[0] == "bad" || words[0] == "weak" || words[0] == "sore") && bodyPart[noun]:
		if f := t.Fact(c, "health", "condition", o, true, 0.85); f != nil {
			f.Sensitivity = "private"
		}
	case illnesses[noun] && !c.Neg && !c.Past && !c.Modal && !c.Conditional() && (c.Kind == 's' || c.Kind == 'p'):
		a := t.Base(c, "episodic", "event", 0.65)
		a.EventType, a.Actor, a.Started, a.Sensitivity = "event", c.Subj.Name, noted.ToldAt(t, c.Sentence), "private"
		t.Out.Candidates = append(t.Out.Candidates, a)
	case c.Verb == "have" && carried[single] && holds(t, c, i):
	case noun == "degree" || noun == "phd" || noun == "master's":
		t.Fact(c, "biography", "education", o, true, 0.85)
	case c.Verb == "have" && (c.W(i) == "a" || c.W(i) == "an") && !c.Past && !c.Neg && next == len(c.Words) && next-i <= 3 && c.Capital(next-1) && syntax.NameWord(noun) && c.FirstTime() == nil:
		t.Fact(c, "possession", "owns", ownedName(o), true, 0.7)
	case c.Verb == "own" || c.Verb == "have" && (c.W(i) == "a" || c.W(i) == "an") && !c.Past && discourse.ThingWord(noun):
		t.Fact(c, "possession", "owns", o, true, 0.75)
	case c.Verb == "get" && (c.W(i) == "a" || c.W(i) == "an") && discourse.ThingWord(noun) && !food(o):
		o, _, _ = strings.Cut(o, " for ")
		t.Fact(c, "possession", "owns", o, true, 0.7)
	}
}

// carried are things that go from one person to the other.
var carried = syntax.Set("key ladder drill charger umbrella book passport remote toolbox screwdriver pump suitcase helmet car bike bicycle scooter van trailer tent camera laptop tablet phone drone guitar kayak projector torch")

// holds takes "Tom has the spare key" as the place of the key: with Tom.
func holds(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if w := c.W(i); w != "the" && w != "my" && w != "our" && c.W(i+1) != "'s" || c.Past || c.Neg || c.Modal || c.Conditional() || c.Subj.Name == "" || c.FirstTime() != nil {
		return false
	}
	what, owner, next := goodsAt(t, c, i)
	if what == "" || next < len(c.Words) || owner.Key != "" && owner.Key == c.Subj.Key {
		return false
	}
	of, who := *c, c.Subj.Name
	of.Thing, of.Own, of.Subj = what, owner.Key != "", owner
	return factOf(t, &of, "place", "location", "with "+who, false, 0.8) != nil
}

// illnesses are over after some days or weeks.
var illnesses = syntax.Set("tonsillitis chickenpox flu measles mumps shingles pneumonia bronchitis covid norovirus conjunctivitis impetigo croup laryngitis sinusitis cystitis gastroenteritis infection poisoning concussion")

// hasSeveral reads a list of animals or relatives with their names: "a dog called
// Rex and a cat called Minka", "two dogs, Rex and Bello".
func hasSeveral(t *discourse.Talk, c *discourse.Clause, i int) bool {
	type named struct {
		noun, name string
		counted    bool // "two cats, Miso and Tofu"
	}
	var all []named
	noun, counted, titled := "", false, false
	for k := i; k < len(c.Words); {
		switch w := c.W(k); {
		case w == "," || w == "and":
			k++
		case noun != "" && c.Capital(k) && syntax.NameWord(w):
			n := 1 + syntax.BoolInt(discourse.Titles[w] && c.Capital(k+1))
			if titled = n > 1; !titled || !counted && !syntax.Pet(noun) && noun != "children" { // "I have two children, Mrs. Lund": she is called
				all = append(all, named{noun, c.Join(k, k+n), counted})
			}
			k += n
		default:
			end := k
			for end < min(len(c.Words), k+4) && c.W(end) != "called" && c.W(end) != "named" && c.W(end) != "," && c.W(end) != "and" {
				end++
			}
			one := strings.TrimSuffix(c.W(end-1), "s")
			if end == k || !syntax.Pet(one) && !syntax.Kin(one) {
				return false
			}
			noun, counted = one, one != c.W(end-1)
			if c.W(end) == "called" || c.W(end) == "named" {
				end++
			}
			k = end
		}
	}
	if len(all) < 2 && !(titled && len(all) == 1) || c.Past || c.Neg {
		return false
	}
	for _, n := range all {
		if syntax.Pet(n.noun) {
			if f := t.Fact(c, "family", "pets", n.name, true, 0.92); f != nil {
				f.Object = n.name + ", " + n.noun
				if n.counted {
					f.Text, f.Object = n.name+" is "+discourse.Possessive(c.Subj.Name)+" "+n.noun+".", n.name
				}
			}
			continue
		}
		t.Relation(c, c.Subj, n.noun, n.name, 0.9)
	}
	return true
}

var bodyPart = syntax.Set("knee knees back hip hips shoulder heart ankle wrist neck eyes eyesight hearing stomach lungs tooth teeth ear ears throat foot feet leg legs arm elbow thumb finger toe jaw head chest eye ribs")

// Possession are things that people lose or have lost, besides those of [discourse.ThingWord].
var Possession = syntax.Set("wallet keys key purse passport glasses umbrella ring earring necklace scarf gloves hat bag backpack luggage ticket card headphones earbuds charger bracelet")

// severe are words for how bad an allergy is or of what kind, and eaten are words for foods in the
// plural before it: "a nut allergy".
var severe = syntax.Set("bad severe serious mild slight terrible food skin seasonal new strong nasty awful")

var eaten = syntax.Set("nut peanut walnut hazelnut almond cashew egg cat dog bee wasp")

func allergy(t *discourse.Talk, c *discourse.Clause, what string) {
	if f := t.Fact(c, "allergy", "allergies", what, true, 0.93); f != nil {
		f.Sensitivity = "private"
	}
}
