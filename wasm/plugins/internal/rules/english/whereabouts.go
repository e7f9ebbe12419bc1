package english

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// This file decides whether words after a preposition name a place in which a thing can be: "in the
// desk drawer", "in room 6". "In bad shape" and "on the line" don't.

// spots are rooms and furniture, besides storage, passings, dwellings and organisations.
var spots = syntax.Set("bedroom kitchen garage hallway hall attic study cellar balcony room corner basement bathroom shed loft corridor lounge porch entrance lobby pantry utility-room terrace garden yard " +
	"desk sofa couch piano bookshelf bookcase chair armchair bench stool rug mat stove hob worktop tray cooker oven sink sideboard dresser mantelpiece fireplace nightstand printer plants stairs " +
	"safe box suitcase backpack rucksack handbag purse wallet pocket pouch jar pot tin bowl vase envelope folder binder locker compartment glovebox rack hanger bin trolley kettle bed pillow mattress tv television " +
	"jacket coat trousers jeans apron car van bus bike kayak tent trunk boot roof door doormat gate fence platform building floor level deck row cloakroom reception canteen classroom auditorium pool")

// numbered are rooms and the like that are distinguished by a number or a letter.
var numbered = syntax.Set("room hall level floor deck row building gate platform locker flat unit box drawer bay aisle seat cabin")

// WhereWords reports whether the tokens from i to end are a preposition and a place, and nothing
// else: a determiner and a noun of a room, a container or furniture, a numbered room, or a name.
func WhereWords(s syntax.Sentence, i, end int) bool {
	if !syntax.Placing(s.At(i)) {
		return false
	}
	if i++; s.At(i-1) == "next" {
		if s.At(i) != "to" {
			return false
		}
		i++
	}
	k := i // the noun phrase ends before words that describe it
	for k < end && s.Toks[k].Kind != 'p' && (k == i || !syntax.Placing(s.At(k)) && s.At(k) != "of") {
		k++
	}
	if k == i || k < end && s.Toks[k].Kind == 'p' || k-i > 4 {
		return false
	}
	noun := s.At(k - 1)
	switch {
	case k-i == 2 && numbered[s.At(i)] && (syntax.Numeric(noun) || len(noun) == 1 && noun != "a" && noun != "i"):
	case k-i <= 2 && s.Toks[i].Cap && s.Toks[k-1].Cap && (syntax.NameWord(s.At(i)) || strings.HasSuffix(s.At(i), "'s")):
		if syntax.Tongues[s.At(i)] || syntax.WeekdayOf(s.At(i), false) >= 0 || syntax.MonthOf(s.At(i)) > 0 {
			return false
		}
	case syntax.Determiner(s.At(i)) && s.At(i) != "no" && s.At(i) != "any" && k-i >= 2:
		one := strings.TrimSuffix(noun, "s")
		if numbered[s.At(k-2)] && (syntax.Numeric(noun) || len(noun) == 1) {
			break
		}
		if noun == "state" || noun == "family" || noun == "practice" || noun == "charge" || noun == "case" {
			return false
		}
		if !spots[noun] && !spots[one] && !storage[noun] && !storage[one] && !discourse.Passings[noun] && !organisations[noun] && !organisations[one] && noun != "flat" && noun != "house" && noun != "apartment" {
			return false
		}
	default:
		return false
	}
	if k == end {
		return true
	}
	if s.At(k) == "of" { // the top drawer of my desk
		return k+2 < end && syntax.Determiner(s.At(k+1)) && end-k <= 4
	}
	return WhereWords(s, k, end)
}

// locatedAt proposes where the thing of a clause is.
func locatedAt(t *discourse.Talk, c *discourse.Clause, where string) bool {
	if head, more, ok := strings.Cut(where, ", "); ok {
		if first, _, _ := strings.Cut(strings.ToLower(more), " "); syntax.Determiner(first) || syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(first))) {
			where = head // "in the garage, the gearbox went"
		}
	}
	if last := discourse.Last(strings.ToLower(where)); calendar.Named(last) != nil || last == "quarter" || strings.Contains(where, "per cent") || strings.Contains(where, "percent") {
		return false // "my wedding is in the summer"
	} else if last == "name" {
		return false // "the sofa is in my name"
	} else if busy[last] {
		return false // "the boss and the intern are in a meeting"
	}
	if strings.HasPrefix(where, "in for ") || taken(where) || ofNumbers(where) || shown[discourse.Last(c.Thing)] && !c.Own {
		return false // "the car's in for its MOT"; "my blood pressure is under 130"; "the bathroom is upstairs": a visitor is shown the way
	}
	one, other, two := strings.Cut(c.Thing, " and the ")
	if !two || c.Own {
		return factOf(t, c, "place", "location", where, false, 0.8) != nil
	}
	each := *c // the keys and the wallet
	each.Thing = one
	made := factOf(t, &each, "place", "location", where, false, 0.8) != nil
	each.Thing = other
	return factOf(t, &each, "place", "location", where, false, 0.8) != nil || made
}

// taken reports whether "on" and a bare noun say what somebody takes or how something is, and not where:
// "the cat's on antibiotics", "the trousers are on sale". "On top of the fridge" and "on level 4" are places.
func taken(where string) bool {
	words := strings.Fields(where)
	if len(words) < 2 || words[0] != "on" {
		return false
	}
	w := strings.ToLower(words[1])
	return !syntax.Determiner(w) && !discourse.Owners[w] && w == words[1] && !numbered[w] && w != "top" && !spots[w] && !spots[strings.TrimSuffix(w, "s")] && !strings.Contains(w, "'s") && (len(words) == 2 || words[2] == "for" || words[2] == "since" || words[2] == "until" || words[2] == "till")
}

// busy are what people are in for an hour, which is no place.
var busy = syntax.Set("meeting call interview class session lesson")

// shown are rooms to which visitors are shown the way.
var shown = syntax.Set("bathroom toilet toilets loo kitchen bedroom lounge lift lifts stairs exit reception canteen cloakroom")

// ofNumbers reports whether the words after the preposition are only numbers: "between 60 and 65".
func ofNumbers(where string) bool {
	words := strings.Fields(strings.ToLower(where))
	for i, w := range words {
		if _, ok := syntax.Number(w); i > 0 && !ok && !syntax.Numeric(w) && w != "and" && w != "to" && w != "over" && w != "about" {
			return false
		}
	}
	return len(words) > 1
}

// factOf proposes a fact about the thing of a clause, or about its owner, if it has one.
func factOf(t *discourse.Talk, c *discourse.Clause, kind, attribute, value string, many bool, confidence float64) *abi.Candidate {
	of := *c
	of.Subj = discourse.Person{Name: c.Thing, Key: c.Thing}
	if c.Own {
		of.Subj = discourse.Person{Name: discourse.Possessive(c.Subj.Name) + " " + c.Thing, Key: discourse.Possessive(c.Subj.Key) + " " + c.Thing}
	}
	f := t.Fact(&of, kind, attribute, value, many, confidence)
	if f != nil && len(f.Entities) > 0 && f.Entities[0].Name == of.Subj.Name {
		f.Entities[0].Kind = "" // it is not a person
	}
	return f
}

// keepers are people with whom things are left, besides relatives and trades: "the keys are with
// the concierge".
var keepers = syntax.Set("concierge caretaker porter neighbour neighbor neighbours neighbors receptionist landlord landlady janitor doorman guard babysitter nanny childminder cleaner boss colleague colleagues")

// leftBehind takes "I forgot my umbrella on the bus": somebody's thing, and where it is. A name
// that somebody forgets at a party is not a thing.
func leftBehind(t *discourse.Talk, c *discourse.Clause, i int) {
	if !c.Past && !c.Perfect || !discourse.WordsOwn[c.W(i)] && c.W(i) != "the" && c.W(i) != "his" && c.W(i) != "her" {
		return
	}
	for k := i + 1; k < len(c.Words); k++ {
		if syntax.Placing(c.W(k)) {
			if end := c.Words[len(c.Words)-1].Tok + 1; Findable(c.Join(i, k)) && WhereWords(c.Sentence, c.Words[k].Tok, end) {
				whereabouts(t, c, i)
			}
			return
		}
	}
}

// unplaceable are things that people lose or ask about and find in no drawer.
var unplaceable = syntax.Set("temper job mind way nerve nerves patience weight faith hope voice appetite balance interest trust respect heart soul life youth health sleep time money game match bet case election war " +
	"childhood innocence virginity confidence memory sight hearing sense love friend friendship marriage career work manners lines line words title status reputation turn birthday name age plan idea future past question answer problem")

// Findable reports whether a thing can be somewhere: it is neither a relative nor an abstract noun.
func Findable(what string) bool {
	noun := discourse.Last(strings.ToLower(what))
	return !syntax.Kin(noun) && !syntax.Kin(syntax.Singular(noun)) && !syntax.Profession(noun) && !unplaceable[noun] && !unplaceable[syntax.Singular(noun)]
}

// dated reports whether words name a date, even one that does not exist, and so are not a place.
func dated(where string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(where)) {
		switch strings.Trim(w, ".,") {
		case "percent", "%", "degrees", "kmh", "mph", "volts":
			return true
		}
		if strings.HasSuffix(w, "%") {
			return true
		}
		if _, day := timex.Ordinal(w); syntax.WeekdayOf(w, false) >= 0 || syntax.MonthOf(w) > 0 || day && w[0] <= '9' {
			return true
		}
		if h, m, ok := strings.Cut(w, ":"); ok && syntax.Numeric(h) && syntax.Numeric(m) {
			return true
		}
		if _, p := syntax.Digits(strings.Trim(w, ".,")); len(p) == 3 || len(p) == 2 && strings.HasPrefix(where, "on ") {
			return true
		}
	}
	return false
}
