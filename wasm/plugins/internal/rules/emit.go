package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// base begins a candidate of a clause: its words in the third person, its
// evidence, its times.
func (t *talk) base(c *clause, typ, kind string, confidence float64) abi.Candidate {
	confidence -= doubt(c.sentence)
	if t.ev.Speaker == "" {
		confidence -= 0.05
	}
	return abi.Candidate{
		Type: typ, Kind: kind, Text: t.rewrite(c), Lang: "en", Confidence: confidence, Sensitivity: "personal",
		Spans: []abi.Span{{Start: c.start, End: c.end}}, Entities: t.entities(c), Tags: []string{kind},
	}
}

// stillTag is memory.StillTag: what is so now, and has been for a while.
const stillTag = "still"

// fact proposes a semantic candidate with a slot.
func (t *talk) fact(c *clause, kind, attribute, value string, many bool, confidence float64) *abi.Candidate {
	if attribute == "employer" { // "Siemens in Munich"
		value, _, _ = strings.Cut(value, " in ")
	}
	if strings.TrimSpace(value) == "" || vague(value) || attribute == "owns" && (strings.HasSuffix(value, " one") || strings.HasSuffix(value, " ones")) || courtesy[strings.ToLower(value)] {
		return nil
	}
	if c.neg && many && !c.noLonger && !c.usedTo && !c.past && deniable[attribute] { // nobody need have claimed it
		d := *c
		d.neg = false
		if attribute == "owns" || attribute == "pets" || attribute == "relatives" {
			value = strings.TrimPrefix(strings.TrimPrefix(value, "a "), "any ")
		}
		return t.fact(&d, kind, "not_"+attribute, value, true, confidence-0.05)
	}
	value, _, _ = strings.Cut(value, " when ")
	if c.past && !c.usedTo && (unsettled[attribute] || strings.HasPrefix(attribute, "favourite_")) && t.atOtherAge(c) {
		was := onceWas[attribute]
		died := attribute == "pets" && c.neg
		switch gaveUp := attribute == "avoids" && (c.verb == "stop" || c.verb == "quit" || c.verb == "give"); {
		case died || gaveUp: // it is so today, too
		case was != "" && !c.neg:
			kind, attribute, many, confidence = "biography", was, true, 0.75
		default:
			return t.atThatAge(c)
		}
	}
	if c.perfect && !c.ing {
		c.pastTimes(t.now) // "has moved to Graz in January": the last one, also in its words
	}
	a := t.base(c, "semantic", kind, confidence)
	a.Negates = c.neg || c.usedTo
	if attribute == "employer" && c.subj.key == t.self.key && !a.Negates {
		t.firm = value
	}
	if s, ok := t.sinceDay(c); ok {
		a.Text = s
	}
	a.Slot = &abi.Slot{Subject: c.subj.key, Attribute: attribute, Value: value, Many: many}
	a.Subject, a.Predicate, a.Object = c.subj.name, attribute, value
	for i := range c.whens {
		if w := &c.whens[i]; w.hasDay && !w.habit && !a.Negates && attribute != "birthday" {
			if w.unix() <= t.ev.At && !c.innerOf(w).toCome { // the time that its words have
				a.TrueFrom = w.unix()
				if w.since && !c.past && !slices.Contains(a.Tags, stillTag) {
					a.Tags = append(a.Tags, stillTag)
				}
			}
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return &t.out.Candidates[len(t.out.Candidates)-1]
}

// unsettled are attributes that may no longer hold if somebody tells of another age.
var unsettled = set("home employer owns pets likes dislikes loves lives_with does plays drives never eats drinks avoids afraid_of wears")

// deniable are the attributes of which it is worth knowing that something is not so: "I'm
// not allergic to nuts". The denial has a slot of its own, not_ATTRIBUTE, that is opposed to
// the claim: what is said last holds.
var deniable = set("allergies owns speaks plays pets relatives wears")

// never takes what somebody has never done: "I've never been to Japan", "I never smoked".
func (t *talk) never(c *clause) bool {
	i := c.vi
	for k := i - 1; k > 0 && c.w(k) != "never"; k-- {
		if !adverb(c.w(k)) && c.w(k) != "been" {
			return false
		}
	}
	if c.find(0, i-1, "never") < 0 || !c.past && !c.perfect || c.ing || c.kind != 's' && c.kind != 'p' && c.kind != 'w' || c.conditional() || c.ends == "?" {
		return false
	}
	if c.verb == "smoke" {
		d := *c
		d.neg = false
		return t.fact(&d, "diet", "avoids", "smoking", true, 0.85) != nil
	}
	o := c.trim(i, len(c.words))
	for _, w := range strings.Fields(strings.ToLower(o)) {
		switch w {
		case "it", "that", "this", "them", "anything", "anyone", "anybody", "like", "such", "so", "as", "how", "what", "him", "her", "you", "before", "than", "happier", "better", "worse":
			return false
		}
	}
	switch c.verb {
	case "be":
		if c.w(i+1) != "to" || !c.capital(i+2) {
			return false
		}
	case "eat", "drink", "try", "break", "own", "drive", "fly", "play", "live", "ride", "swim", "climb", "learn", "ski", "vote", "have":
		if c.verb == "have" && !condition[last(strings.ToLower(o))] && !thingWord(last(strings.ToLower(o))) && !pet(last(strings.ToLower(o))) && c.w(i+1) != "an" {
			return false
		}
	default:
		return false
	}
	if len(strings.Fields(o)) < 2 && c.verb != "fly" && c.verb != "ski" && c.verb != "vote" || len(strings.Fields(o)) > 6 {
		return false
	}
	d := *c
	d.neg = false
	return t.fact(&d, "biography", "never", o, true, 0.8) != nil
}

// once proposes what "used to" tells of the past, beside what it says is no longer so.
func (t *talk) once(c *clause, attribute, value string) {
	past := *c
	past.usedTo, past.neg = false, false
	t.fact(&past, "biography", attribute, value, true, 0.75)
}

// sinceDay puts the day of "as of today I work for Acme" last, where a date
// reads well.
func (t *talk) sinceDay(c *clause) (string, bool) {
	if len(c.whens) == 0 || len(c.words) == 0 || c.whens[0].next > c.words[0].tok || c.whens[0].habit {
		return "", false
	}
	w := c.whens[0]
	if !w.hasDay || w.grain != 'd' || w.clock {
		return "", false
	}
	d := *c
	d.whens = c.whens[1:]
	return strings.TrimSuffix(t.rewrite(&d), ".") + ", as of " + w.english() + ".", true
}

// courtesy ends a sentence and is no member of its list: "I'm allergic to latex, yes".
var courtesy = set("course yes yeah yep no nope right please thanks cheers sure ok okay sorry indeed exactly true")

// vague objects say nothing by themselves.
func vague(s string) bool {
	if first, _, more := strings.Cut(strings.ToLower(s), " "); more && (first == "it" || first == "that" || first == "this" || first == "them") {
		return true
	}
	switch strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:]) {
	case "it", "them", "him", "that", "this", "those", "these", "you", "me":
		return true
	}
	switch strings.ToLower(s) {
	case "few", "ton", "tons", "it", "that", "this", "them", "him", "her", "you", "me", "us", "there", "here", "one", "so", "to", "how", "what", "these", "those", "everything", "something", "anything", "nothing", "thing", "things", "idea", "time", "lot", "bit", "way", "fun", "look", "problem", "question", "point", "sense", "no idea", "minute", "moment", "second", "feeling", "chance", "same", "all", "both", "more", "less", "together", "out", "up", "sound", "sound of that", "your", "home", "chat", "headache", "good time", "great time", "good day", "nice day", "plan", "stuff", "blast", "ball", "ones", "rest", "part", "moments", "kind", "world", "best", "say", "hold", "touch":
		return true
	}
	return false
}

// habitual reports what is said of any day: "I don't drink coffee after noon".
func (c *clause) habitual() bool {
	if c.past || c.perfect || c.ing || c.future || c.modal || c.must || c.intend || c.can || c.kind == 't' || c.verb == "be" {
		return false
	}
	often := c.neg || c.hasHabit()
	for k := 0; k < c.vi && k < len(c.words); k++ {
		switch c.w(k) {
		case "not", "never", "always", "usually", "often", "normally":
			often = true
		}
	}
	return often
}

// dates reports whether the words of a time are a whole date with its year, which
// needs no other beside it.
func (c *clause) dates(w *when) bool {
	if w.grain != 'd' && w.grain != 'M' || w.clock || w.last > 0 {
		return false
	}
	y, _, _ := date(w.day)
	for i := w.first; i < w.next; i++ {
		if c.at(i) == itoa(y) {
			return true
		}
	}
	return false
}

// pastBefore reports whether a weekday stands right after a verb of the past that
// is not the clause's own: "…, the old one died on Monday".
func (c *clause) pastBefore(w *when) bool {
	if !w.weekday || c.future || c.modal || c.must || c.intend {
		return false
	}
	switch c.at(w.first) {
	case "for", "to", "by", "until", "till", "from", "before":
		return false
	}
	switch c.at(w.first - 2) {
	case "gets", "get", "getting":
		return false // "the heating gets fixed on Tuesday"
	}
	if c.says(w) || presentState(c.at(w.first-2), c.at(w.first-3)) {
		return false
	}
	_, past, _ := lemma(c.at(w.first - 1))
	return (past || pastForm(c.at(w.first-1))) && !auxiliary(c.at(w.first-1)) && c.at(w.first-1) != "got" && c.at(w.first-1) != "booked" && c.at(w.first-1) != "set"
}

// entities are the persons and capitalised things that a clause names.
func (t *talk) entities(c *clause) []abi.Entity {
	var all []abi.Entity
	if c.subj.name != "" && !strings.Contains(c.subj.name, " and ") {
		all = append(all, abi.Entity{Name: c.subj.name, Kind: "person"})
	}
	for i := 0; i < len(c.words); i++ {
		if !c.capital(i) || !nameWord(c.w(i)) || c.w(i) == "i" {
			continue
		}
		k := i + 1
		for k < len(c.words) && c.capital(k) && nameWord(c.w(k)) && k < i+4 {
			k++
		}
		kind := ""
		switch c.w(i - 1) {
		case "in", "near":
			kind = "place"
		case "to", "from", "into": // not "engaged to Hanna", "a letter from Ann", "bumped into Marta"
			if l, _, _ := lemma(c.w(i - 2)); journeys[l] || journeys[c.w(i-2)] {
				kind = "place"
			}
		case "with", "and", "meet", "met", "see", "call":
			kind = "person"
		}
		if c.w(k) == "'s" && kind == "place" {
			kind = "" // "in Emma's class"
		}
		name := c.join(i, k)
		if name != c.subj.name && (i > 0 || strings.Contains(c.subj.name, " and ")) {
			all = append(all, abi.Entity{Name: name, Kind: kind})
		}
		i = k - 1
	}
	for i := range c.words { // whom "you" means is named in the text, too
		if w := c.w(i); w == "you" || w == "your" {
			if p, ok := t.addressee(); ok && p.name != c.subj.name && !slices.ContainsFunc(all, func(e abi.Entity) bool { return e.Name == p.name }) {
				all = append(all, abi.Entity{Name: p.name, Kind: "person"})
			}
			break
		}
	}
	return all[:min(len(all), 8)]
}

// journeys stand before "to", "from" or "into" and a place.
var journeys = set("go move fly travel drive come return walk ride cycle sail get head relocate be back flight train bus ferry ticket tickets trip way journey")

// relation proposes "Anna is Mei's sister".
func (t *talk) relation(c *clause, owner person, noun, name string, confidence float64) {
	if vague(name) || name == "" || strings.EqualFold(name, owner.name) {
		return
	}
	a := t.base(c, "semantic", "relation", confidence)
	if a.Negates = c.usedTo; !a.Negates { // "my dentist used to be Dr Moss" stays as it was said
		a.Text = name + " is " + possessive(owner.name) + " " + oneOf(noun) + "."
	}
	noun = oneOf(strings.TrimPrefix(noun, "new ")) // who comes in the place of another
	a.Slot = &abi.Slot{Subject: owner.key, Attribute: noun, Value: name, Many: many(noun)}
	a.Subject, a.Predicate, a.Object = name, noun+" of", owner.name
	if a.Negates {
		a.Subject, a.Predicate, a.Object = owner.name, noun, name // as its words have it
	}
	a.Entities = []abi.Entity{{Name: name, Kind: "person"}, {Name: owner.name, Kind: "person"}}
	t.out.Candidates = append(t.out.Candidates, a)
}

// oneOf is one of several relatives or animals: "kid" of "two kids".
func oneOf(noun string) string {
	if n, rest, ok := strings.Cut(noun, " "); ok {
		if _, counted := number(n); counted || n == "both" || n == "all" {
			noun = rest
		}
	}
	if noun == "children" {
		return "child"
	}
	if one := trimS(noun); kin(last(one)) || pet(last(one)) {
		return one
	}
	return noun
}

// many tells relations of which a person has several from those of one.
func many(noun string) bool {
	switch noun {
	case "wife", "husband", "mother", "father", "mum", "mom", "dad", "boss", "partner", "girlfriend", "boyfriend", "landlord", "landlady", "fiancé", "fiancée", "manager":
		return false
	}
	return true
}

// tidy keeps what belongs to the part, drops what is said twice, and refusals of
// a text that gave candidates and says nothing else of interest.
func (t *talk) tidy(part Part) {
	seen := map[string]bool{}
	gave := len(t.out.Candidates) > 0
	kept := t.out.Candidates[:0]
	for _, c := range t.out.Candidates {
		if partOf(&c) != part {
			continue
		}
		key := c.Type + "\x1f" + c.Text
		if c.Slot != nil {
			withOneName(c.Slot)
			key = c.Type + "\x1f" + c.Slot.Subject + "\x1f" + c.Slot.Attribute + "\x1f" + strings.ToLower(c.Slot.Value)
		}
		if c.Text == "" || seen[key] || len(kept) == maxCandidates || !brief(&c) {
			continue
		}
		seen[key] = true
		kept = append(kept, c)
	}
	t.out.Candidates = apartLists(kept)
	t.out.Refusals = t.out.Refusals[:min(len(t.out.Refusals), maxRefusals)]
	if part != Facts {
		t.out.Refusals = nil
	} else if gave {
		left := t.out.Refusals[:0]
		for _, r := range t.out.Refusals {
			if r.Kind != "nothing" && r.Kind != "filler" && r.Kind != "greeting" {
				left = append(left, r)
			}
		}
		t.out.Refusals = left
	}
}

// brief cuts the names in a candidate, and reports whether its slot is one: a
// value of many words is no value.
func brief(c *abi.Candidate) bool {
	for _, s := range [...]*string{&c.Actor, &c.Place, &c.Subject, &c.Predicate, &c.Title} {
		*s = cut(*s, maxName)
	}
	for i := range c.Entities {
		c.Entities[i].Name = cut(c.Entities[i].Name, maxName)
	}
	c.Steps = c.Steps[:min(len(c.Steps), abi.MaxSteps)]
	return c.Slot == nil || len(c.Slot.Subject) <= maxName && len(c.Slot.Attribute) <= maxName && len(c.Slot.Value) <= maxName
}
