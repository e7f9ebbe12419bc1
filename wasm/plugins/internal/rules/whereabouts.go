package rules

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/abi"
)

// Whether words after a preposition name a place that a thing can be in: "in the desk drawer",
// "in room 6". "In bad shape" and "on the line" name none.

// spots are rooms and furniture, besides storage, passings, dwellings and organisations.
var spots = set("bedroom kitchen garage hallway hall attic study cellar balcony room corner basement bathroom shed loft corridor lounge porch entrance lobby pantry utility-room terrace garden yard " +
	"desk sofa couch piano bookshelf bookcase chair armchair bench stool rug mat stove hob worktop tray cooker oven sink sideboard dresser mantelpiece fireplace nightstand printer plants stairs " +
	"safe box suitcase backpack rucksack handbag purse wallet pocket pouch jar pot tin bowl vase envelope folder binder locker compartment glovebox rack hanger bin trolley kettle bed pillow mattress tv television " +
	"jacket coat trousers jeans apron car van bus bike kayak tent trunk boot roof door doormat gate fence platform building floor level deck row cloakroom reception canteen classroom auditorium pool")

// numbered are the rooms that a number or a letter tells apart.
var numbered = set("room hall level floor deck row building gate platform locker flat unit box drawer bay aisle seat cabin")

// tongues follow "in" and are no places.
var tongues = set("chinese english german french spanish dutch italian polish arabic welsh portuguese russian japanese korean turkish greek latin swedish danish norwegian finnish hindi czech hungarian ukrainian hebrew mandarin cantonese")

// whereWords reports whether the tokens from i to end are a preposition and a place, and nothing
// else: a determiner and a noun of a room, a container or furniture, a numbered room, or a name.
func whereWords(s sentence, i, end int) bool {
	if !placing(s.at(i)) {
		return false
	}
	if i++; s.at(i-1) == "next" {
		if s.at(i) != "to" {
			return false
		}
		i++
	}
	k := i // the noun phrase ends before words that describe it
	for k < end && s.toks[k].kind != 'p' && (k == i || !placing(s.at(k)) && s.at(k) != "of") {
		k++
	}
	if k == i || k < end && s.toks[k].kind == 'p' || k-i > 4 {
		return false
	}
	noun := s.at(k - 1)
	switch {
	case k-i == 2 && numbered[s.at(i)] && (numeric(noun) || len(noun) == 1 && noun != "a" && noun != "i"):
	case k-i <= 2 && s.toks[i].cap && s.toks[k-1].cap && (nameWord(s.at(i)) || strings.HasSuffix(s.at(i), "'s")):
		if tongues[s.at(i)] || weekdayOf(s.at(i), false) >= 0 || monthOf(s.at(i)) > 0 {
			return false
		}
	case determiner(s.at(i)) && s.at(i) != "no" && s.at(i) != "any" && k-i >= 2:
		one := strings.TrimSuffix(noun, "s")
		if numbered[s.at(k-2)] && (numeric(noun) || len(noun) == 1) {
			break
		}
		if noun == "state" || noun == "family" || noun == "practice" || noun == "charge" || noun == "case" {
			return false
		}
		if !spots[noun] && !spots[one] && !storage[noun] && !storage[one] && !passings[noun] && !organisations[noun] && !organisations[one] && noun != "flat" && noun != "house" && noun != "apartment" {
			return false
		}
	default:
		return false
	}
	if k == end {
		return true
	}
	if s.at(k) == "of" { // the top drawer of my desk
		return k+2 < end && determiner(s.at(k+1)) && end-k <= 4
	}
	return whereWords(s, k, end)
}

// locatedAt proposes where the thing of a clause is.
func (t *talk) locatedAt(c *clause, where string) bool {
	if last := last(strings.ToLower(where)); calendar.Named(last) != nil || last == "quarter" || strings.Contains(where, "per cent") || strings.Contains(where, "percent") {
		return false // "my wedding is in the summer"
	}
	return t.factOf(c, "place", "location", where, false, 0.8) != nil
}

// factOf proposes a fact of the thing of a clause: of its owner's, where it has one.
func (t *talk) factOf(c *clause, kind, attribute, value string, many bool, confidence float64) *abi.Candidate {
	of := *c
	of.subj = person{c.thing, c.thing}
	if c.own {
		of.subj = person{possessive(c.subj.name) + " " + c.thing, possessive(c.subj.key) + " " + c.thing}
	}
	f := t.fact(&of, kind, attribute, value, many, confidence)
	if f != nil && len(f.Entities) > 0 && f.Entities[0].Name == of.subj.name {
		f.Entities[0].Kind = "" // it is no person
	}
	return f
}

// keepers, besides relatives and trades, are with whom things are: "the keys are with the concierge".
var keepers = set("concierge caretaker porter neighbour neighbor neighbours neighbors receptionist landlord landlady janitor doorman guard babysitter nanny childminder cleaner boss colleague colleagues")

// leftBehind takes "I forgot my umbrella on the bus": a thing of somebody's, and where it is. A name
// that one forgets at a party is none.
func (t *talk) leftBehind(c *clause, i int) {
	if !c.past && !c.perfect || !wordsOwn[c.w(i)] && c.w(i) != "the" && c.w(i) != "his" && c.w(i) != "her" {
		return
	}
	for k := i + 1; k < len(c.words); k++ {
		if placing(c.w(k)) {
			if end := c.words[len(c.words)-1].tok + 1; findable(c.join(i, k)) && whereWords(c.sentence, c.words[k].tok, end) {
				t.whereabouts(c, i)
			}
			return
		}
	}
}

// unplaceable are what one loses or asks after and finds in no drawer.
var unplaceable = set("temper job mind way nerve nerves patience weight faith hope voice appetite balance interest trust respect heart soul life youth health sleep time money game match bet case election war " +
	"childhood innocence virginity confidence memory sight hearing sense love friend friendship marriage career work manners lines line words title status reputation turn birthday name age plan idea future past question answer problem")

// findable reports a thing that can lie somewhere: neither a relative nor an abstract noun.
func findable(what string) bool {
	noun := last(strings.ToLower(what))
	return !kin(noun) && !kin(trimS(noun)) && !profession(noun) && !unplaceable[noun] && !unplaceable[trimS(noun)]
}

// dated reports words that name a date, if one that does not exist: they are no place.
func dated(where string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(where)) {
		switch strings.Trim(w, ".,") {
		case "percent", "%", "degrees", "kmh", "mph", "volts":
			return true
		}
		if strings.HasSuffix(w, "%") {
			return true
		}
		if _, day := ordinal(w); weekdayOf(w, false) >= 0 || monthOf(w) > 0 || day && w[0] <= '9' {
			return true
		}
		if h, m, ok := strings.Cut(w, ":"); ok && numeric(h) && numeric(m) {
			return true
		}
		if _, p := digits(strings.Trim(w, ".,")); len(p) == 3 || len(p) == 2 && strings.HasPrefix(where, "on ") {
			return true
		}
	}
	return false
}
