package rules

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/ellipsis"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// dayProposing are the words of a question that proposes a day and nothing else: "I could do Thursday?",
// "does Thursday work for you?", "shall we say Thursday at four?".
var dayProposing = syntax.Set("i we could can do does how about what shall should say make it work works working suit suits for you is would be good ok okay fine best better on at then so well maybe that free are let's")

// dayOffering are those of them of which one makes a question a proposal: "is it Thursday?" is none.
var dayOffering = syntax.Set("could can do does about shall should say make work works working suit suits free let's would maybe")

// agreedDay proposes that two people have agreed on a day, if one only proposes it and the other repeats it:
// "I could do Thursday?", "Thursday works". They do not say what for.
func agreedDay(t *discourse.Talk, asked, s syntax.Sentence, day *timex.When, other discourse.Person) bool {
	if day == nil || day.Last > 0 || day.Grain != 'd' || asked.Ends != "?" && asked.At(0) != "let's" || !agrees(s, false) || !discourse.Capitalised(other.Name) {
		return false
	}
	clock, part := day, timex.FindWhens(asked, t.Now)
	timed := map[int]bool{}
	for i := range part {
		for k := part[i].First; k < part[i].Next; k++ {
			timed[k] = true
		}
		if part[i].Clock {
			clock = &part[i]
		}
	}
	offers := false
	for k := range asked.Toks {
		w := asked.At(k)
		if asked.Toks[k].Kind != 'p' && !timed[k] && !dayProposing[w] {
			return false
		}
		offers = offers || dayOffering[w]
	}
	if !offers {
		return false
	}
	same := false
	for _, w := range timex.FindWhens(s, t.Now) {
		if w.HasDay && w.Day != day.Day || w.Habit || w.Since {
			return false
		}
		same = same || w.HasDay
		if w.Clock {
			clock = &w
		}
	}
	for k := range s.Toks {
		base, rest := syntax.Contraction(s.At(k))
		same = same || rest == "is" && (syntax.WeekdayOf(base, false) == timex.Moment{Day: day.Day}.Weekday() || base == "tomorrow" && day.Day == t.Now.Day+1) // "Friday's fine"
	}
	if !same {
		return false
	}
	if t.Part == discourse.Plans {
		p := discourse.Plan{Subject: t.Self.Key, Attribute: "plan: with " + other.Name, What: "plan", Label: t.Self.Name + " and " + other.Name + " meet", Day: day.Day, Minute: clock.Minute, Clock: clock.Clock}
		if other.Key == "user" {
			p.Subject = other.Key
		}
		on, from := p.When(t.Now.Offset), len(t.Out.Candidates)
		t.Emit(p, t.Self.Name+" and "+other.Name+" agreed on "+on.English()+".", "plan", chinese.AnsweredSure, s, false)
		ellipsis.CitesBoth(t, from, s, 0, len(t.JustSaid().Text))
	}
	return true
}
