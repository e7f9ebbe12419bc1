package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// reschedule takes "we moved the dentist to Friday", "the dentist has been
// pushed to Friday", "I cancelled the meeting".
func reschedule(t *discourse.Talk, c *discourse.Clause) bool {
	i := c.Vi
	verb := c.Verb
	if verb == "be" || c.Kind == 't' && (verb == "get" || verb == "have") {
		for k := i; k < min(len(c.Words), i+5); k++ {
			if l, past, _ := syntax.Lemma(c.W(k)); past && timex.Moves(l) {
				verb, i = l, k
			}
		}
	}
	if verb == "call" && c.W(i+1) == "off" {
		verb = "cancel"
	}
	if !timex.Moves(verb) && verb != "cancel" || c.Neg || c.Intend && (verb != "cancel" || c.Past) || c.Modal || discourse.Conditioned(c.Sentence) || discourse.Relocates(c.Sentence, c.Whens) {
		return false
	}
	attr, noun := c.EventIn()
	if who := provider(c, c.Words[i].Tok); noun == "appointment" && who != "" {
		attr, noun = who+"_appointment", who
	}
	if (c.W(i+1) == "to" || c.W(i+1) == "into") && i+2 < len(c.Words) && attr == "" {
		return false // "Anna is moving to Berlin in March", like somebody before her
	}
	if attr != "" && verb != "cancel" && i == c.Vi && discourse.MovesOther(c.Sentence, c.Words[i].Tok, c.Whens) {
		return false
	}
	whose := t.Whose(c)
	it := c.Find(0, len(c.Words), "it") >= 0 || c.Find(0, len(c.Words), "that") >= 0
	words := []string{}
	with := c.WithWhom()
	if attr != "" {
		head := noun
		if h, _, cut := strings.Cut(noun, " "); cut && (len(with.Words) > 0 || h != "meeting" && h != "call") {
			head = h
		}
		words = []string{attr, noun, head}
	} else if !it {
		for k := i + 1; k < len(c.Words); k++ { // "moved the slides to Friday": a word of the plan's
			if w := c.W(k); len(w) > 3 && !syntax.Determiner(w) && !syntax.Auxiliary(w) && !syntax.Adverb(w) {
				words = append(words, w)
			}
		}
		if c.Kind == 't' {
			words = append(words, c.Thing)
		}
		if len(words) == 0 {
			return false
		}
	}
	if verb == "cancel" {
		p, known := t.Ends(c, attr, c.Words[i].Tok, len(c.Toks), words...)
		switch {
		case !known && whose.Named && !whose.Known:
			t.AsSaid(c)
			return true
		case !known && attr == "":
			return false
		case !known && c.Kind == 'p' && hosted[attr]: // "my sister called off the wedding"
			p.Subject, p.Shown = c.Subj.Key, c.Subj.Name
		}
		t.Emit(p, t.Rewrite(c), "cancellation", 0.85, c.Sentence, true)
		return true
	}
	for k := range c.Whens {
		if c.Whens[k].Habit {
			return false // "my Wednesday meeting's been moved to Thursdays"
		}
	}
	sort, _, _ := strings.Cut(noun, " ")
	fits := discourse.WithThem(sort, with)
	was := dayBefore(c.Whens, c.Words[i].Tok)
	p, known := t.FindOf(whose, func(p *discourse.Plan) bool {
		return discourse.MayBe(was, p.Day, t.Now.Day) && (fits == nil || fits(p))
	}, words...)
	to := discourse.Together(ahead(t, c.Whens))
	if to != nil && len(c.Whens) == 1 && to.Weekday && c.Past && c.At(to.First) == "on" {
		to = nil // "they changed it on Wednesday": that is when they changed it
	}
	switch {
	case !known && (whose.Named && !whose.Known || len(with.Words) > 0 && !strings.Contains(noun, " ")) && (to != nil || attr != ""):
		t.AsSaid(c) // with whom, or which appointment at the bank?
		return true
	case to == nil || !known && attr == "":
		return false
	case !known:
		p = discourse.Plan{Subject: t.Self.Key, Attribute: attr, What: noun, Label: t.Label(c), Day: t.Now.Day}
		if was != nil && knowsPlan(t, attr) {
			other := discourse.Plan{Day: was.Day}
			p.Attribute += " " + other.Value() // one on another day is another appointment
		}
		switch {
		case whose.Named:
			p.Subject, p.Shown = whose.Key, whose.Name
		case c.Kind == 'p' && hosted[attr]: // "Jule's moving the party to Friday"
			p.Subject, p.Shown = c.Subj.Key, c.Subj.Name
		}
	}
	discourse.Moved(t, p.Move(to), c.Sentence, 0.88)
	if !known && !whose.Named && p.Shown == "" && ofAnybody(c) {
		a := &t.Out.Candidates[len(t.Out.Candidates)-1]
		if rest, ok := strings.CutPrefix(a.Text, discourse.Possessive(t.Self.Name)+" "); ok {
			a.Text = "The " + rest // "the meeting has been moved": it is not known whose it is
		}
	}
	return true
}

// provider returns who moved an appointment, of those with whom people have one: "my optician's moved
// my appointment". tok is the verb's token.
func provider(c *discourse.Clause, tok int) string {
	for i := tok - 1; i >= 0; i-- {
		if who, _ := syntax.Contraction(c.At(i)); syntax.Profession(who) && (c.At(i-1) == "my" || c.At(i-1) == "our" || c.At(i-1) == "the") {
			return who
		}
	}
	return ""
}

// ahead returns the times that are not over: "the meeting was moved to the big room yesterday" says
// when it was moved.
func ahead(t *discourse.Talk, whens []timex.When) []timex.When {
	return slices.DeleteFunc(slices.Clone(whens), func(w timex.When) bool {
		return w.HasDay && !w.Weekday && !w.Habit && w.Day < t.Now.Day && w.Ends() < t.Ev.At
	})
}

// ofAnybody reports whether an event is only "the meeting", and not a visit of the speaker's.
func ofAnybody(c *discourse.Clause) bool {
	i := c.EventAt()
	for k := i - 1; k >= max(0, i-3); k-- {
		if c.W(k) == "the" {
			return !syntax.Profession(c.W(i)) && c.W(i) != "appointment"
		}
	}
	return false
}

// hosted are events that belong to their host.
var hosted = syntax.Set("party wedding housewarming barbecue exhibition concert show")

// dayBefore returns the day before a token: for "my appointment tomorrow was moved to Friday" the
// first; nil if there is none.
func dayBefore(whens []timex.When, tok int) *timex.When {
	for i := range whens {
		if w := &whens[i]; w.Next <= tok && w.HasDay && !w.Habit && w.Grain == 'd' {
			return w
		}
	}
	return nil
}

// knowsPlan reports whether an appointment with that name is known.
func knowsPlan(t *discourse.Talk, attr string) bool {
	return slices.ContainsFunc(t.Plans, func(p discourse.Plan) bool { return p.Attribute == attr })
}
