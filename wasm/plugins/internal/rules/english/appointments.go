package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// recentTalk is how long, in ms, "make it four" may refer to what was talked about.
const recentTalk = 3 * 60 * 1000

// noun returns the word by which an appointment is known: who or what it is with.
func noun(p *discourse.Plan) string {
	if who, ok := strings.CutSuffix(p.Attribute, "_appointment"); ok && !p.Chinese {
		return strings.ReplaceAll(who, "_", " ")
	}
	switch p.What {
	case "plan", "promise":
		return ""
	}
	return p.What
}

// Meant returns the appointment that the talk is about: the one that was named in the last turns,
// or the one that was made in them.
func Meant(t *discourse.Talk) (discourse.Plan, bool) {
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-6); i-- {
		b := &t.Ev.Before[i]
		if t.Ev.At-b.At > recentTalk {
			break
		}
		text := strings.ToLower(b.Text)
		for k := len(t.Plans) - 1; k >= 0; k-- {
			if discourse.HoldsWord(text, noun(&t.Plans[k])) {
				return t.Plans[k], true
			}
		}
		if discourse.HoldsWord(text, "appointment") {
			return onlyVisit(t)
		}
		if n := len(t.Plans); n > 0 && t.Plans[n-1].At == b.At {
			return t.Plans[n-1], true // made in that turn: "dinner with Priya on Friday"
		}
		for _, tok := range syntax.Lex(text) {
			if _, event := syntax.EventNoun(tok.S); event {
				return discourse.Plan{}, false // about one that is not known yet
			}
		}
	}
	if n := len(t.Plans); n > 0 && t.Ev.At-t.Plans[n-1].At <= recentTalk {
		return t.Plans[n-1], true
	}
	return discourse.Plan{}, false
}

// onlyVisit returns the only future appointment, if it is a visit.
func onlyVisit(t *discourse.Talk) (discourse.Plan, bool) {
	var found []discourse.Plan
	for _, p := range t.Plans {
		if strings.HasSuffix(p.Attribute, "appointment") && p.Day >= t.Now.Day {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return discourse.Plan{}, false
	}
	return found[0], true
}

// Resettled takes a sentence that names a known appointment and gives it another time, in any
// words: "no dentist tomorrow after all, I'm going on Friday at two instead", "you're down at the
// vet for Friday at five".
func Resettled(t *discourse.Talk, s syntax.Sentence) bool {
	if len(t.Plans) == 0 || s.Chinese() || s.Ends == "?" {
		return false
	}
	marked, yours, verb := false, false, 0
	for i := range s.Toks {
		switch w := s.At(i); w {
		case "if", "could", "would", "might", "unless", "should", "whether", "maybe":
			return false
		case "instead", "now", "anymore", "actually", "rather":
			marked = true
		case "any", "no":
			marked = marked || s.At(i+1) == "more" || s.At(i+1) == "longer"
		case "after":
			marked = marked || s.At(i+1) == "all"
		case "you", "your":
			yours = true
		default:
			if base, _ := syntax.Contraction(w); base == "you" {
				yours = true
			} else if l, past, _ := syntax.Lemma(w); past && timex.Moves(l) {
				marked, verb = true, i
			}
		}
	}
	if !marked && tells(s) {
		return false
	}
	p, ok := settled(t, s, marked, yours)
	if !ok {
		return false
	}
	whens := timex.FindWhens(s, t.Now)
	if verb > 0 && (discourse.Relocates(s, whens) || discourse.MovesOther(s, verb, whens)) || !discourse.MayBe(dayBefore(whens, verb), p.Day, t.Now.Day) {
		return false
	}
	to, ok := settledFor(t, s)
	if !ok || to.HasDay && to.Unix() < t.Ev.At && (to.Clock || to.Day < t.Now.Day) || !to.Clock && (to.Day == p.Day || !marked) {
		return false
	}
	discourse.Moved(t, p.Move(to), s, 0.86)
	return true
}

// tells reports whether a sentence tells what happened.
func tells(s syntax.Sentence) bool {
	for i := range s.Toks {
		if l, past, _ := syntax.Lemma(s.At(i)); past {
			switch l {
			case "get", "call", "say", "tell", "put", "have", "book", "write", "hear", "agree", "forget":
			case "be":
				if s.At(i) != "been" {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}

// settled returns the known appointment that a sentence names.
func settled(t *discourse.Talk, s syntax.Sentence, marked, yours bool) (discourse.Plan, bool) {
	at, others := -1, 0
	for i := range s.Toks {
		w, _ := syntax.Contraction(s.At(i))
		if _, event := syntax.EventNoun(w); !event || discourse.OfEvents[s.At(i+1)] || w == "appointment" || w == "call" {
			continue
		}
		if discourse.Apart(s.At(i-1)) || discourse.Apart(s.At(i-2)) {
			return discourse.Plan{}, false
		}
		if at >= 0 && s.At(at) != s.At(i) {
			others++
		}
		at = i
	}
	if at < 0 || others > 0 {
		return discourse.Plan{}, false
	}
	word, _ := syntax.Contraction(s.At(at))
	switch before := s.At(at - 1); {
	case discourse.Owned(s, at) || strings.HasSuffix(before, "'s") || before == "his" || before == "her" || before == "their":
		return discourse.Plan{}, false // my son's dentist
	case !marked && (before == "a" || before == "an" || before == "another"):
		return discourse.Plan{}, false
	}
	var best discourse.Plan
	found := false
	for k := len(t.Plans) - 1; k >= 0; k-- {
		p := t.Plans[k]
		if noun(&p) != word && !(word == "flight" && p.What == "plan" && discourse.HoldsWord(p.Hay(), word)) || p.Day < t.Now.Day || !syntax.Profession(word) && !marked || discourse.MineAt(s, at) && p.Subject != t.Self.Key {
			continue
		}
		if p.Subject == t.Self.Key && !yours {
			return p, true // the speaker's own, before anybody else's
		}
		if to, ok := t.Addressee(); !found && (yours && (!ok || p.Subject == to.Key) || marked) {
			best, found = p, true
		}
	}
	return best, found
}

// settledFor returns the day and time that a sentence makes valid from now on: the last of those
// that it doesn't deny.
func settledFor(t *discourse.Talk, s syntax.Sentence) (*timex.When, bool) {
	var to *timex.When
	whens := timex.FindWhens(s, t.Now)
	for k := range whens {
		w := &whens[k]
		switch {
		case w.Habit || w.Since:
			return nil, false
		case w.HasDay && denied(s, w):
		case w.HasDay && (w.Grain == 'd' || w.Grain == 0):
			to = w
		case to == nil && w.Clock && !w.ByPart && !w.HasDay && standsNow(s, w):
			to = w
		case to != nil && w.Clock && !to.Clock:
			to.Minute, to.Clock, to.ByPart, to.Sure = w.Minute, w.Clock, w.ByPart, w.Sure
		}
	}
	return to, to != nil
}

// standsNow reports whether a time of day is the new one of something that was changed: "they changed my
// flight, it's at nine fifteen now".
func standsNow(s syntax.Sentence, w *timex.When) bool {
	changed := false
	for i := range w.First {
		l, past, _ := syntax.Lemma(s.At(i))
		changed = changed || past && timex.Moves(l)
	}
	for i := max(0, w.First-3); i < w.First && changed; i++ {
		if s.At(i) == "it's" || s.At(i) == "it" || s.At(i) == "now" {
			return true
		}
	}
	return false
}

// denied reports whether a time is no longer valid: "not on Tuesday", "isn't tomorrow any more",
// "from Tuesday".
func denied(s syntax.Sentence, w *timex.When) bool {
	if s.At(w.First) == "from" {
		return true
	}
	for i := w.First - 1; i >= max(0, w.First-4) && s.Toks[i].Kind != 'p'; i-- {
		if _, rest := syntax.Contraction(s.At(i)); rest == "not" || slices.Contains([]string{"not", "no", "never", "than", "was", "of"}, s.At(i)) {
			return true
		}
	}
	return false
}

// Agreed reports whether a sentence repeats the day that the other has just proposed in a question:
// "Friday at four works".
func Agreed(t *discourse.Talk, whens []timex.When) bool {
	n := len(t.Ev.Before)
	if n == 0 {
		return false
	}
	b := &t.Ev.Before[n-1]
	if b.Speaker == t.Ev.Speaker || t.Ev.At-b.At > recentTalk || !strings.ContainsAny(b.Text, "?？") {
		return false
	}
	for _, s := range syntax.Sentences(b.Text) {
		for _, w := range timex.FindWhens(s, timex.MomentOf(b.At, t.Ev.Offset)) {
			for k := range whens {
				if w.HasDay && !w.Habit && whens[k].HasDay && whens[k].Day == w.Day {
					return true
				}
			}
		}
	}
	return false
}
