package discourse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Base begins a candidate from a clause: its words in the third person, its evidence, its times.
func (t *Talk) Base(c *Clause, typ, kind string, confidence float64) abi.Candidate {
	confidence -= Doubt(c.Sentence)
	if t.Ev.Speaker == "" {
		confidence -= 0.05
	}
	return abi.Candidate{
		Type: typ, Kind: kind, Text: t.Rewrite(c), Lang: "en", Confidence: confidence, Sensitivity: "personal",
		Spans: []abi.Span{{Start: c.Start, End: c.End}}, Entities: t.Entities(c), Tags: []string{kind},
	}
}

// stillTag is memory.StillTag: true now, and for a while.
const stillTag = "still"

// Fact proposes a semantic candidate with a slot.
func (t *Talk) Fact(c *Clause, kind, attribute, value string, many bool, confidence float64) *abi.Candidate {
	if attribute == "employer" { // "Siemens in Munich"
		value, _, _ = strings.Cut(value, " in ")
	}
	if strings.TrimSpace(value) == "" || Vague(value) || (attribute == "owns" || attribute == "location") && (strings.HasSuffix(value, " one") || strings.HasSuffix(value, " ones") || strings.Contains(value, " one,")) || courtesy[strings.ToLower(value)] {
		return nil
	}
	if c.Neg && many && !c.NoLonger && !c.UsedTo && !c.Past && deniable[attribute] { // it need not have been claimed before
		d := *c
		d.Neg = false
		if attribute == "owns" || attribute == "pets" || attribute == "relatives" {
			value = strings.TrimPrefix(strings.TrimPrefix(value, "a "), "any ")
		}
		return t.Fact(&d, kind, "not_"+attribute, value, true, confidence-0.05)
	}
	value, _, _ = strings.Cut(value, " when ")
	if c.Past && !c.UsedTo && (unsettled[attribute] || strings.HasPrefix(attribute, "favourite_")) && t.AtOtherAge(c) {
		was := onceWas[attribute]
		died := attribute == "pets" && c.Neg
		switch gaveUp := attribute == "avoids" && (c.Verb == "stop" || c.Verb == "quit" || c.Verb == "give"); {
		case died || gaveUp: // it is true today, too
		case was != "" && !c.Neg:
			kind, attribute, many, confidence = "biography", was, true, 0.75
		default:
			return t.atThatAge(c)
		}
	}
	if c.Perfect && !c.Ing {
		c.pastTimes(t.Now) // "has moved to Graz in January": the last January, also in its words
	}
	a := t.Base(c, "semantic", kind, confidence)
	a.Negates = c.Neg || c.UsedTo
	if attribute == "employer" && c.Subj.Key == t.Self.Key && !a.Negates {
		t.firm = value
	}
	if s, ok := t.sinceDay(c); ok {
		a.Text = s
	}
	a.Slot = &abi.Slot{Subject: c.Subj.Key, Attribute: attribute, Value: value, Many: many}
	a.Subject, a.Predicate, a.Object = c.Subj.Name, attribute, value
	for i := range c.Whens {
		if w := &c.Whens[i]; w.HasDay && !w.Habit && !a.Negates && attribute != "birthday" {
			if w.Unix() <= t.Ev.At && !c.InnerOf(w).ToCome { // the time in its words
				a.TrueFrom = w.Unix()
				if w.Since && !c.Past && !slices.Contains(a.Tags, stillTag) {
					a.Tags = append(a.Tags, stillTag)
				}
			}
		}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return &t.Out.Candidates[len(t.Out.Candidates)-1]
}

// unsettled are attributes that may no longer be true if somebody tells of an earlier age.
var unsettled = syntax.Set("home employer owns pets likes dislikes loves lives_with does plays drives never eats drinks avoids afraid_of wears")

// deniable are the attributes for which it is worth knowing that something is not true: "I'm not
// allergic to nuts". The denial has a slot of its own, not_ATTRIBUTE, that is opposed to the claim:
// the last statement counts.
var deniable = syntax.Set("allergies owns speaks plays pets relatives wears")

// Never takes what somebody has never done: "I've never been to Japan", "I never smoked".
func (t *Talk) Never(c *Clause) bool {
	i := c.Vi
	for k := i - 1; k > 0 && c.W(k) != "never"; k-- {
		if !syntax.Adverb(c.W(k)) && c.W(k) != "been" {
			return false
		}
	}
	if c.Find(0, i-1, "never") < 0 || !c.Past && !c.Perfect || c.Ing || c.Kind != 's' && c.Kind != 'p' && c.Kind != 'w' || c.Conditional() || c.Ends == "?" {
		return false
	}
	if c.Verb == "smoke" {
		d := *c
		d.Neg = false
		return t.Fact(&d, "diet", "avoids", "smoking", true, 0.85) != nil
	}
	o := c.Trim(i, len(c.Words))
	for _, w := range strings.Fields(strings.ToLower(o)) {
		switch w {
		case "it", "that", "this", "them", "anything", "anyone", "anybody", "like", "such", "so", "as", "how", "what", "him", "her", "you", "before", "than", "happier", "better", "worse":
			return false
		}
	}
	switch c.Verb {
	case "be":
		if c.W(i+1) != "to" || !c.Capital(i+2) {
			return false
		}
	case "eat", "drink", "try", "break", "own", "drive", "fly", "play", "live", "ride", "swim", "climb", "learn", "ski", "vote", "have":
		if c.Verb == "have" && !Condition[Last(strings.ToLower(o))] && !ThingWord(Last(strings.ToLower(o))) && !syntax.Pet(Last(strings.ToLower(o))) && c.W(i+1) != "an" {
			return false
		}
	default:
		return false
	}
	if len(strings.Fields(o)) < 2 && c.Verb != "fly" && c.Verb != "ski" && c.Verb != "vote" || len(strings.Fields(o)) > 6 {
		return false
	}
	d := *c
	d.Neg = false
	return t.Fact(&d, "biography", "never", o, true, 0.8) != nil
}

// Once proposes what "used to" tells about the past, besides that it is no longer true.
func (t *Talk) Once(c *Clause, attribute, value string) {
	past := *c
	past.UsedTo, past.Neg = false, false
	t.Fact(&past, "biography", attribute, value, true, 0.75)
}

// sinceDay moves the day of "as of today I work for Acme" to the end, where a date reads well.
func (t *Talk) sinceDay(c *Clause) (string, bool) {
	if len(c.Whens) == 0 || len(c.Words) == 0 || c.Whens[0].Next > c.Words[0].Tok || c.Whens[0].Habit {
		return "", false
	}
	w := c.Whens[0]
	if !w.HasDay || w.Grain != 'd' || w.Clock {
		return "", false
	}
	d := *c
	d.Whens = c.Whens[1:]
	return strings.TrimSuffix(t.Rewrite(&d), ".") + ", as of " + w.English() + ".", true
}

// courtesy are words that end a sentence and are not part of its list: "I'm allergic to latex,
// yes".
var courtesy = syntax.Set("course yes yeah yep no nope right please thanks cheers sure ok okay sorry indeed exactly true")

// Vague reports whether an object says nothing by itself.
func Vague(s string) bool {
	if first, _, more := strings.Cut(strings.ToLower(s), " "); more && (first == "it" || first == "that" || first == "this" || first == "them") {
		return true
	}
	switch strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:]) {
	case "it", "them", "him", "that", "this", "those", "these", "you", "me":
		return true
	}
	switch strings.ToLower(s) {
	case "few", "ton", "tons", "it", "that", "this", "them", "him", "her", "you", "me", "us", "there", "here", "one", "so", "to", "how", "what", "these", "those", "everything", "something", "anything", "nothing", "thing", "things", "idea", "time", "lot", "bit", "way", "fun", "look", "problem", "question", "point", "sense", "no idea", "minute", "moment", "second", "feeling", "chance", "same", "all", "both", "more", "less", "together", "out", "up", "sound", "sound of that", "your", "home", "chat", "headache", "good time", "great time", "good day", "nice day", "plan", "stuff", "blast", "ball", "ones", "rest", "part", "moments", "kind", "world", "best", "say", "hold", "touch", "each other", "one another":
		return true
	}
	return false
}

// habitual reports whether a clause is about any day: "I don't drink coffee after noon".
func (c *Clause) habitual() bool {
	if c.Past || c.Perfect || c.Ing || c.Future || c.Modal || c.Must || c.Intend || c.Can || c.Kind == 't' || c.Verb == "be" {
		return false
	}
	often := c.Neg || c.HasHabit()
	for k := 0; k < c.Vi && k < len(c.Words); k++ {
		switch c.W(k) {
		case "not", "never", "always", "usually", "often", "normally":
			often = true
		}
	}
	for i := len(c.Toks) - 1; i > 0 && !often; i-- { // "at seven on weekends"
		switch c.At(i) {
		case "weekends", "weekdays", "workdays":
			often = true
		case "days":
			often = c.At(i-1) == "school" || c.At(i-1) == "work" || c.At(i-1) == "most"
		}
	}
	return often
}

// dates reports whether the words of a time are a whole date with its year, which needs no date
// next to it.
func (c *Clause) dates(w *timex.When) bool {
	if w.Grain != 'd' && w.Grain != 'M' || w.Clock || w.Last > 0 {
		return false
	}
	y, _, _ := timex.Date(w.Day)
	for i := w.First; i < w.Next; i++ {
		if c.At(i) == strconv.Itoa(y) {
			return true
		}
	}
	return false
}

// pastBefore reports whether a weekday is directly after a verb in the past tense that is not the
// clause's own: "…, the old one died on Monday".
func (c *Clause) pastBefore(w *timex.When) bool {
	if !w.Weekday || c.Future || c.Modal || c.Must || c.Intend {
		return false
	}
	switch c.At(w.First) {
	case "for", "to", "by", "until", "till", "from", "before":
		return false
	}
	switch c.At(w.First - 2) {
	case "gets", "get", "getting":
		return false // "the heating gets fixed on Tuesday"
	}
	if c.Says(w) || timex.PresentState(c.At(w.First-2), c.At(w.First-3)) {
		return false
	}
	_, past, _ := syntax.Lemma(c.At(w.First - 1))
	return (past || syntax.PastForm(c.At(w.First-1))) && !syntax.Auxiliary(c.At(w.First-1)) && c.At(w.First-1) != "got" && c.At(w.First-1) != "booked" && c.At(w.First-1) != "set"
}

// Entities returns the persons and capitalised things that a clause names.
func (t *Talk) Entities(c *Clause) []abi.Entity {
	var all []abi.Entity
	if c.Subj.Name != "" && !strings.Contains(c.Subj.Name, " and ") {
		all = append(all, abi.Entity{Name: c.Subj.Name, Kind: "person"})
	}
	for i := 0; i < len(c.Words); i++ {
		if !c.Capital(i) || !syntax.NameWord(c.W(i)) || c.W(i) == "i" {
			continue
		}
		k := i + 1
		for k < len(c.Words) && c.Capital(k) && syntax.NameWord(c.W(k)) && k < i+4 {
			k++
		}
		kind := ""
		switch c.W(i - 1) {
		case "in", "near":
			kind = "place"
		case "to", "from", "into": // not "engaged to Hanna", "a letter from Ann", "bumped into Marta"
			if l, _, _ := syntax.Lemma(c.W(i - 2)); journeys[l] || journeys[c.W(i-2)] {
				kind = "place"
			}
		case "with", "and", "meet", "met", "see", "call":
			kind = "person"
		}
		if c.W(k) == "'s" && kind == "place" {
			kind = "" // "in Emma's class"
		}
		name := c.Join(i, k)
		if name != c.Subj.Name && (i > 0 || strings.Contains(c.Subj.Name, " and ")) {
			all = append(all, abi.Entity{Name: name, Kind: kind})
		}
		i = k - 1
	}
	for i := range c.Words { // the person whom "you" means is named in the text, too
		if w := c.W(i); w == "you" || w == "your" {
			if p, ok := t.Addressee(); ok && p.Name != c.Subj.Name && !slices.ContainsFunc(all, func(e abi.Entity) bool { return e.Name == p.Name }) {
				all = append(all, abi.Entity{Name: p.Name, Kind: "person"})
			}
			break
		}
	}
	return all[:min(len(all), 8)]
}

// journeys are words before "to", "from" or "into" and a place.
var journeys = syntax.Set("go move fly travel drive come return walk ride cycle sail get head relocate be back flight train bus ferry ticket tickets trip way journey")

// Relation proposes "Anna is Mei's sister".
func (t *Talk) Relation(c *Clause, owner Person, noun, name string, confidence float64) {
	if Vague(name) || name == "" || strings.EqualFold(name, owner.Name) {
		return
	}
	own := *c
	own.Whens = slices.Clone(c.Whens) // writing its words gives an hour a day, which the clause's other statements must not have
	a := t.Base(&own, "semantic", "relation", confidence)
	if a.Negates = c.UsedTo; !a.Negates { // "my dentist used to be Dr Moss" stays as it was said
		a.Text = name + " is " + Possessive(owner.Name) + " " + oneOf(noun) + "."
	}
	noun = oneOf(strings.TrimPrefix(noun, "new ")) // a person who replaces another
	a.Slot = &abi.Slot{Subject: owner.Key, Attribute: noun, Value: name, Many: many(noun)}
	a.Subject, a.Predicate, a.Object = name, noun+" of", owner.Name
	if a.Negates {
		a.Subject, a.Predicate, a.Object = owner.Name, noun, name // in the form of its words
	}
	a.Entities = []abi.Entity{{Name: name, Kind: "person"}, {Name: owner.Name, Kind: "person"}}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// oneOf returns the word for one of several relatives or animals: "kid" for "two kids".
func oneOf(noun string) string {
	if n, rest, ok := strings.Cut(noun, " "); ok {
		if _, counted := syntax.Number(n); counted || n == "both" || n == "all" {
			noun = rest
		}
	}
	if noun == "children" {
		return "child"
	}
	if one := syntax.Singular(noun); syntax.Kin(Last(one)) || syntax.Pet(Last(one)) {
		return one
	}
	return noun
}

// many reports whether a person can have several of a relation.
func many(noun string) bool {
	switch noun {
	case "wife", "husband", "mother", "father", "mum", "mom", "dad", "boss", "partner", "girlfriend", "boyfriend", "landlord", "landlady", "fiancé", "fiancée", "manager":
		return false
	}
	return true
}

// Tidy keeps what belongs to the part. It drops what is said twice, and the refusals of a text that
// gave candidates and has nothing else of interest.
func (t *Talk) Tidy(part Part) {
	seen := map[string]bool{}
	gave := len(t.Out.Candidates) > 0
	kept := t.Out.Candidates[:0]
	for _, c := range t.Out.Candidates {
		if PartOf(&c) != part {
			continue
		}
		key := c.Type + "\x1f" + c.Text
		if c.Slot != nil {
			if strings.HasSuffix(c.Slot.Subject, "的") {
				continue // 我在图书馆三楼
			}
			withOneName(c.Slot)
			if head, _, ok := strings.Cut(c.Slot.Value, "（"); ok && head != "" && strings.HasSuffix(c.Slot.Value, "）") {
				c.Slot.Value = head
			}
			key = c.Type + "\x1f" + c.Slot.Subject + "\x1f" + c.Slot.Attribute + "\x1f" + strings.ToLower(c.Slot.Value)
		}
		if c.Slot != nil && c.Slot.Value == "open" && syntax.ContainsAny(c.Text, " need to ", " needs to ") && HoldsWord(c.Text, "your") {
			continue // "we need to find your goggles": whose?
		}
		if c.Text == "" || seen[key] || len(kept) == MaxCandidates || !brief(&c) {
			continue
		}
		seen[key] = true
		if hidingPlace(&c) {
			c.Sensitivity = "private"
		}
		kept = append(kept, c)
	}
	t.Out.Candidates = apartLists(lastHomes(kept))
	t.Out.Refusals = t.Out.Refusals[:min(len(t.Out.Refusals), maxRefusals)]
	if part != Facts {
		t.Out.Refusals = nil
	} else if gave {
		left := t.Out.Refusals[:0]
		for _, r := range t.Out.Refusals {
			if r.Kind != "nothing" && r.Kind != "filler" && r.Kind != "greeting" {
				left = append(left, r)
			}
		}
		t.Out.Refusals = left
	}
}

// brief shortens the names in a candidate, and reports whether its slot is valid: a value of many
// words is not.
func brief(c *abi.Candidate) bool {
	for _, s := range [...]*string{&c.Actor, &c.Place, &c.Subject, &c.Predicate, &c.Title} {
		*s = syntax.Cut(*s, MaxName)
	}
	for i := range c.Entities {
		c.Entities[i].Name = syntax.Cut(c.Entities[i].Name, MaxName)
	}
	c.Steps = c.Steps[:min(len(c.Steps), abi.MaxSteps)]
	return c.Slot == nil || len(c.Slot.Subject) <= MaxName && len(c.Slot.Attribute) <= MaxName && len(c.Slot.Value) <= MaxName
}

// StandsFor makes the candidates from index from on cite the whole sentence. They were made from
// its words in another order.
func StandsFor(t *Talk, from int, s syntax.Sentence) {
	for i := from; i < len(t.Out.Candidates); i++ {
		for k := range t.Out.Candidates[i].Spans {
			if span := &t.Out.Candidates[i].Spans[k]; span.Turn == 0 {
				span.Start, span.End = s.Start, s.End
			}
		}
	}
}
