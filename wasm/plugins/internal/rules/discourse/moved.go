package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Shifted proposes a new time of a plan: n units later, or earlier if n is negative. The units are
// minute, hour, day, week, fortnight and month. It reports whether that is a time to come, and on the
// same day if only the hour changes.
func Shifted(t *Talk, p Plan, n int, unit string, s syntax.Sentence) bool {
	w := p.When(t.Now.Offset)
	switch unit {
	case "day":
		w.Day += n
	case "week":
		w.Day += 7 * n
	case "fortnight":
		w.Day += 14 * n
	case "month":
		w.Day = timex.AddMonths(w.Day, n)
	case "hour", "minute":
		if unit == "hour" {
			n *= 60
		}
		if w.Minute += n; !w.Clock || w.Minute < 0 || w.Minute >= 24*60 {
			return false
		}
	default:
		return false
	}
	if w.Day < t.Now.Day {
		return false
	}
	Moved(t, p.Move(&w), s, 0.86)
	return true
}

// Moved proposes the new time of a plan.
func Moved(t *Talk, p Plan, s syntax.Sentence, confidence float64) {
	w := p.When(t.Now.Offset)
	text, name := "", p.Shown
	if head, _, ok := strings.Cut(p.Label, "'s "+p.What); name == "" && ok && p.What != "" && Capitalised(Last(head)) {
		name = Last(head) // "Mei is going to Anna's wedding"
	}
	if name == "" {
		name = nameOf(t, p.Subject)
	}
	if p.Chinese || s.Chinese() {
		text = name + "的" + strings.TrimPrefix(p.What, "的") + "改到" + w.Chinese() + "。"
		if p.What == "" || p.What == "plan" || p.What == "promise" {
			text = p.Label + "：改到" + w.Chinese() + "。"
		}
		p.Chinese = true
	} else {
		what := p.What
		if what == "" || what == "plan" || what == "promise" {
			text = strings.TrimRight(p.Label, " .,") + ", now on " + w.English() + "."
		} else {
			if p.Attribute == strings.ReplaceAll(what, " ", "_")+"_appointment" {
				what += " appointment"
			}
			text = ofMany(name) + " " + what + " is now on " + w.English() + "."
		}
	}
	a := t.Emit(p, sentenceCase(text), "change", confidence, s, false)
	a.EventType = "appointment"
	if p.Shown != "" {
		a.Actor = p.Shown
	}
	a.Tags = append(a.Tags, "correction")
}

// Together returns the last day and the last time of day of several expressions: "from Tuesday to
// Friday, four fifteen in the afternoon"; nil if there is neither.
func Together(whens []timex.When) *timex.When {
	var to *timex.When
	for k := range whens {
		w := whens[k]
		if w.Habit || !w.HasDay && !w.Clock {
			continue
		}
		if to != nil {
			if !w.HasDay {
				w.Day, w.HasDay, w.Grain = to.Day, to.HasDay, to.Grain
			}
			if !w.Clock || w.ByPart && to.Clock {
				w.Minute, w.Clock, w.ByPart = to.Minute, to.Clock, to.ByPart
			}
		}
		to = &w
	}
	return to
}

// nameOf returns the name of a slot's subject.
func nameOf(t *Talk, subject string) string {
	switch {
	case subject == t.Self.Key:
		return t.Self.Name
	case subject == "user" || strings.HasPrefix(subject, "user's ") || strings.HasPrefix(subject, "user的"):
		return SpeakerOf(t.Ev, "").Name + strings.TrimPrefix(subject, "user")
	case subject != "" && subject[0] >= 'a' && subject[0] <= 'z':
		return string(subject[0]-32) + subject[1:]
	}
	return subject
}

func sentenceCase(s string) string {
	if strings.HasSuffix(s, "。") {
		return s
	}
	return SentenceCase(s)
}
