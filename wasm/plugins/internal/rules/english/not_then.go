package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "My birthday isn't in June, it's on July 12th": "it" is what the sentence has just named, and
// nothing that the talk was about before.

// NotThen takes a sentence that denies one time of its subject and gives another: the known plan on
// the denied day moves, and for anything else it says when it is.
func NotThen(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || discourse.Conditioned(s) || len(s.Toks) > 40 {
		return false
	}
	if named, ok := eventFirst(t, s); ok {
		made := len(t.Out.Candidates)
		if !NotThen(t, named) {
			return false
		}
		discourse.StandsFor(t, made, s)
		return true
	}
	head, is, not := deniedBe(s)
	if not == 0 {
		return false
	}
	if w := s.At(not); w == "until" || w == "till" {
		return onlyFrom(t, s, s.Text[s.Toks[head].Start:is], not+1)
	}
	wrong, ok := timex.WhenAt(s, not, t.Now)
	if !ok || !wrong.HasDay || wrong.Habit {
		return false
	}
	at := instead(s, wrong.Next)
	right, ok := timex.WhenAt(s, at, t.Now)
	if at == 0 || !ok || right.Void || right.Habit || !right.HasDay && !right.Clock || !closes(s, right.Next) {
		return false
	}
	made := len(t.Out.Candidates)
	time := s.Text[s.Toks[at].Start:s.Toks[right.Next-1].End]
	if hour := timex.HourIn(s, &wrong, t.Now); hour > 0 && right.HasDay && !right.Clock && right.Grain == 'd' {
		time += " " + s.Text[s.Toks[hour].Start:s.Toks[wrong.Next-1].End] // the hour is still the same
	}
	isThen(t, s, s.Text[s.Toks[head].Start:is], time, &wrong)
	if len(t.Out.Candidates) == made && t.Part == discourse.Facts {
		noteThen(t, s, &right)
	}
	return true // in each part: no other plan is meant
}

// onlyFrom takes "the rehearsal isn't till seven": the subject is then. The time is at token at.
func onlyFrom(t *discourse.Talk, s syntax.Sentence, subject string, at int) bool {
	for _, w := range timex.FindWhens(s, t.Now) {
		if w.First > at || w.Next <= at || w.Habit || !(closes(s, w.Next) || s.At(w.Next) == "," || s.At(w.Next) == "now") {
			continue
		}
		time := s.Text[s.Toks[at].Start:s.Toks[w.Next-1].End]
		if w.Clock && !w.HasDay && s.At(at) != "at" {
			time = "at " + time
		}
		isThen(t, s, subject, time, nil)
		return true
	}
	return false
}

// eventFirst returns "it isn't Wednesday, the dentist, it's Thursday" with its event as the subject: "the
// dentist isn't Wednesday, it's Thursday".
func eventFirst(t *discourse.Talk, s syntax.Sentence) (syntax.Sentence, bool) {
	not := 0
	for syntax.Lead(s.At(not)) || s.At(not) == "," || s.At(not) == "no" {
		not++
	}
	switch base, rest := syntax.Contraction(s.At(not)); {
	case base == "it" && (rest == "is" && s.At(not+1) == "not" || rest == "" && (s.At(not+1) == "isn't" || s.At(not+1) == "wasn't")):
		not += 2
	case base == "it" && rest == "" && s.At(not+1) == "is" && s.At(not+2) == "not":
		not += 3
	default:
		return s, false
	}
	day, ok := timex.WhenAt(s, not, t.Now)
	k := day.Next
	if s.At(k) == "," {
		k++
	}
	if _, event := syntax.EventNoun(s.At(k + 1)); !ok || !event || !syntax.Determiner(s.At(k)) || s.At(k+2) != "," {
		return s, false
	}
	all := syntax.Sentences(s.Text[s.Toks[k].Start:s.Toks[k+1].End] + " isn't " + s.Text[s.Toks[not].Start:s.Toks[day.Next-1].End] + s.Text[s.Toks[k+2].Start:s.End])
	return all[0], len(all) == 1
}

// noteThen notes a sentence at the time that it states, and not at the one that it denies.
func noteThen(t *discourse.Talk, s syntax.Sentence, w *timex.When) {
	if !noted.Note(t, s) {
		t.Refuse("nothing", "says nothing that a rule knows", s.Start, s.End)
		return
	}
	a := &t.Out.Candidates[len(t.Out.Candidates)-1]
	if a.Ended = 0; a.Started != 0 {
		a.Started = began(w)
	}
}

// began returns when a day begins, or its hour if that is known, in ms since 1970.
func began(w *timex.When) int64 {
	if w.Clock {
		return w.Unix()
	}
	return timex.Moment{Day: w.Day, Minute: 0, Offset: w.Zone}.Unix()
}

// namedBefore returns the subject of the clause before c in this text, if that is a thing with a
// name of its own: "the deadline" for "the deadline is tight, it's on Tuesday".
func namedBefore(t *discourse.Talk, c *discourse.Clause) string {
	var before syntax.Sentence
	for _, s := range t.Own {
		for _, o := range syntax.Clauses(s) {
			if o.End <= c.Start {
				before = o
			}
		}
	}
	for i := range before.Toks { // "the hospital's moved my scan"
		if l, past, _ := syntax.Lemma(before.At(i)); past && timex.Moves(l) && (before.At(i+1) == "my" || before.At(i+1) == "our") && i+3 == len(before.Toks) && before.At(i+2) != "appointment" {
			return before.Text[before.Toks[i+1].Start:before.Toks[i+2].End]
		}
	}
	o, ok := discourse.Clause{}, false
	if len(before.Toks) > 0 {
		o, ok = t.Parse(before)
	}
	if !ok || o.Kind != 't' || discourse.Pronoun(o.Thing) || schedule[discourse.Last(o.Thing)] {
		return ""
	}
	end := o.Start
	for i := 1; i < len(o.Words) && end == o.Start; i++ {
		if tok := o.Toks[o.Words[i].Tok]; syntax.Auxiliary(o.W(i)) || o.W(i) == o.W(o.Vi) {
			if end = tok.Start; o.Words[i-1].Tok == o.Words[i].Tok {
				end += len(o.W(i - 1)) // the deadline's
			}
		}
	}
	return o.Text[o.Toks[o.Words[0].Tok].Start:end]
}

// schedule are words for when something is, and not for what it is.
var schedule = syntax.Set("time date day plan plans schedule change news problem thing")

// deniedBe finds "is not" after the subject of a sentence: the token with which the subject begins,
// the byte at which it ends, and the token after "not"; not is 0 if there is none.
func deniedBe(s syntax.Sentence) (head, end, not int) {
	for syntax.Lead(s.At(head)) || s.At(head) == "," {
		head++
	}
	if thought := s.At(head) == "i" && s.At(head+1) == "thought"; thought { // "I thought the party was on Saturday, but it's on Sunday"
		head += 2 + syntax.BoolInt(s.At(head+2) == "that")
		for i := head + 1; i < len(s.Toks) && i < head+8 && s.Toks[i].Kind != 'p'; i++ {
			if s.At(i) == "was" {
				return head, s.Toks[i].Start, i + 1
			}
		}
		return 0, 0, 0
	}
	if base, _ := syntax.Contraction(s.At(head)); syntax.SubjectPronoun(base) || discourse.Pronoun(base) {
		return 0, 0, 0
	}
	for i := head; i < len(s.Toks) && i < head+8; i++ {
		base, rest := syntax.Contraction(s.At(i))
		if i == head && rest != "is" {
			continue
		}
		if once := wasOnceAt(s, head, i); once > 0 {
			return head, s.Toks[i].Start, once
		}
		switch {
		case rest == "not" && base == "is":
			return head, s.Toks[i].Start, i + 1
		case rest == "is" && s.At(i+1) == "not":
			return head, s.Toks[i].Start + len(discourse.Written(s.Text[s.Toks[i].Start:s.Toks[i].End], base)), i + 2
		case s.At(i) == "is" && s.At(i+1) == "not":
			return head, s.Toks[i].Start, i + 2
		case s.Toks[i].Kind == 'p' || syntax.Auxiliary(s.At(i)):
			return 0, 0, 0
		}
	}
	return 0, 0, 0
}

// wasOnceAt returns the token after "was" or "was supposed to be" at token i, if the sentence says of
// an event that it is at another time now; 0 if it does not.
func wasOnceAt(s syntax.Sentence, head, i int) int {
	const most = 24 // tokens
	if s.At(i) != "was" && (s.At(i) != "used" || s.At(i+1) != "to" || s.At(i+2) != "be") || len(s.Toks) > most {
		return 0
	}
	event, now := false, false
	for k := range s.Toks {
		_, is := syntax.EventNoun(s.At(k))
		event = event || is && head <= k && k < i
		switch s.At(k) {
		case "now", "instead", "moved", "changed", "rescheduled", "pushed", "switched":
			now = now || k > i
		}
	}
	if !event || !now {
		return 0
	}
	for k := i + 1; k < len(s.Toks); k++ {
		switch s.At(k) {
		case "originally", "supposed", "meant", "due", "going", "scheduled", "booked", "planned", "to", "be", "for":
		default:
			return k
		}
	}
	return 0
}

// instead returns the token after ", it's" or "but", from token i on; 0 if the sentence does not
// continue like that.
func instead(s syntax.Sentence, i int) int {
	said := false
	for ; i < len(s.Toks); i++ {
		switch s.At(i) {
		case ",", "-", "–", "—", "no", "actually", "rather", "is", "now":
		case "it's", "it", "that's", "but", "they", "they've", "we", "we've":
			said = true
		case "been", "moved", "changed", "rescheduled", "pushed", "switched", "back", "forward", "to", "have", "has":
			if !said {
				return 0
			}
		default:
			if said {
				return i
			}
			return 0
		}
	}
	return 0
}

// closes reports whether nothing follows from token i on.
func closes(s syntax.Sentence, i int) bool {
	for ; i < len(s.Toks); i++ {
		switch s.At(i) {
		case "instead", "actually", "now", "then", ",":
		case "same":
			if s.At(i+1) != "time" && s.At(i+1) != "place" {
				return false
			}
			i++
		default:
			return false
		}
	}
	return true
}

// isThen says when a subject is, as if the sentence were "SUBJECT is TIME". wrong is a day on which
// it is not, or nil.
func isThen(t *discourse.Talk, s syntax.Sentence, subject, time string, wrong *timex.When) {
	all := syntax.Sentences(strings.TrimSpace(subject) + " is " + time)
	if len(all) != 1 {
		return
	}
	from := len(t.Out.Candidates)
	c, ok := t.Parse(all[0])
	if p, known := plannedOn(t, &c, wrong); ok && known {
		to := discourse.Together(c.Whens)
		if to != nil && to.Clock && !to.HasDay && !to.Sure && p.Clock && p.Minute >= 12*60 && to.Minute < 12*60 && to.Minute+12*60 > p.Minute {
			to.Minute += 12 * 60 // from six in the evening to seven
		}
		discourse.Moved(t, p.Move(to), s, 0.86)
		return
	}
	Clause(t, all[0])
	if len(t.Out.Candidates) == from && t.Part == discourse.Facts {
		noted.Note(t, all[0])
	}
	discourse.StandsFor(t, from, s)
}

// itIsEvent takes "it's Mia's sports day on Friday" as "Mia's sports day is on Friday".
func itIsEvent(t *discourse.Talk, c *discourse.Clause, w *timex.When) {
	const most = 6 // words
	n := len(c.Words)
	if n-c.Vi < 2 || n-c.Vi-1 > most || t.Rejoined || w.Day < t.Now.Day || w.First < c.Words[n-1].Tok {
		return
	}
	what := c.Text[c.Toks[c.Words[c.Vi+1].Tok].Start:c.Toks[c.Words[n-1].Tok].End]
	noun := c.W(n - 1)
	if _, event := syntax.EventNoun(noun); !event && !occasions[noun] || (noun == "day" || noun == "evening") && n-c.Vi < 4 && !strings.HasPrefix(c.W(n-2), "parents") {
		return
	}
	if first := c.W(c.Vi + 1); first == "a" || first == "an" || first == "only" || first == "been" || first == "like" {
		return // "it's a party on Friday": what is?
	}
	t.Rejoined = true
	isThen(t, c.Sentence, what, c.Text[c.Toks[w.First].Start:c.Toks[c.Whens[len(c.Whens)-1].Next-1].End], nil)
	t.Rejoined = false
}

// occasions belong to somebody or to something: "Milo's nativity", "parents' evening".
var occasions = syntax.Set("birthday anniversary nativity graduation day evening")

// plannedOn returns the known plan of a clause's subject on a day; nil means any day.
func plannedOn(t *discourse.Talk, c *discourse.Clause, on *timex.When) (discourse.Plan, bool) {
	attr, noun := c.EventIn()
	words := []string{attr, noun}
	if attr == "" {
		words = []string{discourse.Last(c.Thing)}
	}
	if c.Kind != 't' && (c.Own || attr == "") || attr == "" && on == nil {
		return discourse.Plan{}, false
	}
	return t.FindOf(t.Whose(c), func(p *discourse.Plan) bool {
		return p.Day >= t.Now.Day && (on == nil || p.Day == on.Day || on.Grain == 'M' && p.Day > on.Day && p.Day < timex.AddMonths(on.Day, 1))
	}, words...)
}
