package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What is said every day with plain verbs: what others want somebody to do, what a thing needs, who
// expects a child, what a pet is called, and what has run out.

// wantsMe takes "they want me to start on the first of February".
func wantsMe(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.FirstTime()
	if c.Verb != "want" && c.Verb != "need" || c.Past || c.Neg || c.Modal || c.W(i) != "me" && c.W(i) != "us" || c.W(i+1) != "to" || w == nil || !w.HasDay || w.Habit || w.Unix() <= t.Ev.At || c.Conditional() {
		return false
	}
	d := *c
	d.Kind, d.Thing, d.Subj, d.Own, d.Vi = 's', "", t.Self, false, i+2
	d.Verb, _, _ = syntax.Lemma(c.W(d.Vi))
	made := len(t.Out.Candidates)
	if t.PlanAt(&d, w); len(t.Out.Candidates) > made {
		t.Out.Candidates[made].Text = t.Rewrite(c)
	}
	return true
}

// needed takes what a thing needs, or that it is due, without a day: "the car needs new brakes",
// "my tetanus jab is due".
func needed(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Past || c.Neg || c.Modal || c.Future || discourse.Pronoun(c.Thing) || c.Conditional() || c.FirstTime() != nil || c.Own && c.Subj.Key != t.Self.Key || !c.Own && (c.W(0) != "the" || !ofHome(discourse.Last(c.Thing))) {
		return false
	}
	switch {
	case c.Verb == "be" && c.W(i) == "due" && c.Own && i+1 == len(c.Words):
	case c.Verb == "need" && upkeep[c.W(i)] && i+1 == len(c.Words):
	case c.Verb == "need" && c.W(i) == "new" && discourse.ThingWord(discourse.Last(c.Thing)):
	case c.Verb == "need" && c.W(i) == "a" && upkeep[c.W(len(c.Words)-1)]:
	default:
		return false
	}
	a := t.Emit(discourse.Plan{Subject: t.Self.Key, Attribute: c.SlotName(), What: "promise"}, t.Rewrite(c), "promise", 0.65, c.Sentence, false)
	a.Entities = t.Entities(c)
	return true
}

// ofHome reports whether noun is a household thing.
func ofHome(noun string) bool {
	return discourse.ThingWord(noun) || household[noun] || noted.AboutThings[noun] && !syntax.Kin(noun) && !discourse.Trade(noun)
}

// upkeep are things that a household thing needs now and then.
var upkeep = syntax.Set("washing fixing replacing cleaning painting watering feeding walking mending defrosting servicing repairing changing charging ironing emptying mowing descaling sharpening tuning " +
	"service wash clean repair haircut walk bath battery filter bulb tyre tire")

// choreDay takes the weekday of a weekly chore: "bin day is Thursday", "bin day's changed to
// Thursdays".
func choreDay(t *discourse.Talk, c *discourse.Clause, i int) bool {
	what, ok := strings.CutSuffix(strings.TrimSuffix(c.Thing, "'s"), " day")
	changed := (c.Verb == "change" || c.Verb == "move" || c.Verb == "switch") && len(c.Whens) == 1 && c.Whens[0].Habit
	if !ok || !weeklyChores[what] || !changed && (c.Verb != "be" || c.Past || i < len(c.Words)) || c.Neg || c.Modal || len(c.Whens) != 1 || changed && i+1 < len(c.Words) && c.W(i) != "to" || c.Own && c.Subj.Key != t.Self.Key || c.Whens[0].Next-c.Whens[0].First > 2 || c.At(c.Whens[0].First) == "next" {
		return false
	}
	day := c.At(c.Whens[0].Next - 1)
	if syntax.WeekdayOf(syntax.Singular(day), false) < 0 {
		return false
	}
	d := *c
	d.Whens, d.Subj = nil, t.Self
	weekday := timex.DayNames[syntax.WeekdayOf(syntax.Singular(day), false)]
	if f := t.Fact(&d, "habit", what+"_day", weekday, false, 0.8); f != nil {
		f.Text = discourse.Possessive(t.Self.Name) + " " + what + " day is " + weekday + "."
	}
	return true
}

// weeklyChores are words that name a weekly day.
var weeklyChores = syntax.Set("bin rubbish trash garbage recycling laundry washing market cleaning collection")

// expects takes who is going to have a child: "Marta's expecting twins".
func expects(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Verb != "expect" || !c.Ing || c.Past || c.Neg || c.Kind != 'p' && c.Kind != 's' && c.Kind != 'w' || c.Ends == "?" || c.FirstTime() != nil {
		return false
	}
	switch what := c.Trim(c.Vi+1, len(c.Words)); strings.ToLower(what) {
	case "twins", "triplets", "baby", "another baby", "her first", "her second", "her third", "first", "second", "third":
	case "":
		if c.Kind != 'p' {
			return false
		}
	default:
		return false
	}
	return t.Fact(c, "biography", "expecting", c.Join(c.Vi, len(c.Words)), false, 0.8) != nil
}

// christens takes the name that an animal or a child is given: "we named the puppy Otto", and
// "we're calling him Otto" after a sentence about one.
func christens(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Verb != "call" && c.Verb != "name" || c.Kind != 's' && c.Kind != 'w' || c.Neg || c.Modal || c.Ends == "?" {
		return false
	}
	i, noun := c.Vi+1, ""
	if n := len(c.Words) - 1; !c.Capital(n) || !syntax.NameWord(c.W(n)) {
		return false
	}
	switch w := c.W(i); w {
	case "him", "her", "it":
		noun = newcomer(t, c.Start)
	case "the", "our", "my":
		i++
		noun = c.W(i)
	}
	if i++; !syntax.Pet(noun) && noun != "baby" || i+1 != len(c.Words) {
		return false
	}
	d := *c
	d.Subj = t.Self
	if noun == "baby" {
		t.Relation(&d, t.Self, noun, c.Cased(i), 0.9)
	} else if f := t.Fact(&d, "family", "pets", c.Cased(i), true, 0.9); f != nil {
		f.Object = c.Cased(i) + ", " + noun
		f.Text = discourse.SentenceCase(discourse.Possessive(t.Self.Name) + " " + noun + " is called " + c.Cased(i) + ".")
	}
	return true
}

// newcomer returns the animal or baby of which the text before a byte tells last, or the speaker's
// previous line.
func newcomer(t *discourse.Talk, start int) (noun string) {
	said := syntax.Cut(t.Ev.Text, start)
	if n := len(t.Ev.Before); n > 0 && t.Ev.Before[n-1].Speaker == t.Ev.Speaker {
		said = t.Ev.Before[n-1].Text + " " + said
	}
	if low := strings.ToLower(said); !syntax.ContainsAny(low, "we got", "we've got", "i got", "i've got", "we have", "i have", "adopted", "we bought", "i bought", "our new", "my new") {
		return "" // whose?
	}
	for _, tok := range syntax.Lex(said) {
		if syntax.Pet(tok.S) || tok.S == "baby" {
			noun = tok.S
		}
	}
	return noun
}

// runsOut takes what has run out at home: "we're out of milk", "I've run out of contact lenses".
func runsOut(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 's' && c.Kind != 'w' || c.Neg || c.Modal || c.Future || c.Conditional() || c.Ends == "?" || c.FirstTime() != nil || c.End > t.Said.End || strings.Count(t.Said.Text[c.End:t.Said.End], " ") > 1 { // more than a name follows
		return false
	}
	i := c.Vi + 1
	if c.W(i) != "out" || c.W(i+1) != "of" || (c.Verb != "be" || c.Past || c.Kind != 'w') && c.Verb != "run" {
		return false
	}
	what := strings.ToLower(discourse.ObjectOf(c, i+2))
	if what == "" || discourse.Vague(what) || endless[discourse.Last(what)] || syntax.Determiner(c.W(i+2)) || c.Capital(i+2) || len(strings.Fields(what)) > 3 {
		return false
	}
	t.Out.Candidates = append(t.Out.Candidates, t.Base(c, "semantic", "possession", 0.6)) // no slot, because nothing says when some is bought
	return true
}

// endless are words after "out of" that are not supplies at home: "out of luck".
var endless = syntax.Set("luck time breath patience ideas town office work control hand hospital bed shape touch order reach sight options words energy place date season line practice school bounds danger money cash steam love fashion print service business range")

// PartnerMet takes "I'm seeing someone, his name is Oskar", also with the name in the next
// sentence.
func PartnerMet(t *discourse.Talk, s syntax.Sentence) bool {
	const most = 120 // bytes
	said := s.Text[s.Start:min(len(s.Text), s.Start+most)]
	low := strings.ToLower(said)
	rest, ok := syntax.CutHead(low, "i'm seeing someone", "i am seeing someone", "i'm dating someone", "i am dating someone")
	if !ok || len(low) != len(said) {
		return false
	}
	for _, k := range [...]struct{ says, noun string }{{"his name is ", "boyfriend"}, {"his name's ", "boyfriend"}, {"he's called ", "boyfriend"}, {"her name is ", "girlfriend"}, {"her name's ", "girlfriend"}, {"she's called ", "girlfriend"}} {
		between, _, ok := strings.Cut(rest, k.says)
		if !ok || strings.Trim(strings.ReplaceAll(between, "and", ""), " ,.!;-\n") != "" {
			continue
		}
		at := strings.Index(low, k.says) + len(k.says)
		end := at + strings.IndexAny(said[at:]+".", " .,!?;\n")
		if name := said[at:end]; syntax.NameWord(low[at:end]) && (discourse.Capitalised(name) || t.Plain) {
			s.End = max(s.End, s.Start+end)
			c := discourse.Clause{Sentence: s, Subj: t.Self, Kind: 's'}
			t.Relation(&c, t.Self, k.noun, name, 0.85)
			return true
		}
	}
	return false
}
