package discourse

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// maxPlans is how many appointments are kept for "we moved it to Friday".
const maxPlans = 24

// Plan is an appointment or promise that may be changed later.
type Plan struct {
	Subject, Attribute string
	Label              string // the statement without its time
	What               string // event type
	Day, Minute        int
	Clock              bool
	Chinese            bool
	At                 int64  // when it was last mentioned, ms since 1970
	Shown              string // whose it is in words, if a sentence says so; not stored
}

// Value returns the value of the plan's slot: the time, in the speaker's zone.
func (p *Plan) Value() string {
	y, m, d := timex.Date(p.Day)
	s := strconv.Itoa(y) + "-" + timex.Pad2(m) + "-" + timex.Pad2(d)
	if p.Clock {
		s += " " + timex.Pad2(p.Minute/60) + ":" + timex.Pad2(p.Minute%60)
	}
	return s
}

// When returns the plan's time, in the zone that is zone minutes east of UTC.
func (p *Plan) When(zone int) timex.When {
	return timex.When{Day: p.Day, Minute: p.Minute, Clock: p.Clock, HasDay: true, Grain: 'd', Zone: zone}
}

// Emit proposes an episodic memory of the plan, and keeps the plan.
func (t *Talk) Emit(p Plan, text, kind string, confidence float64, s syntax.Sentence, negates bool) *abi.Candidate {
	w := p.When(t.Now.Offset)
	confidence -= Doubt(s)
	a := abi.Candidate{
		Type: "episodic", Kind: kind, Text: text, Confidence: confidence, Sensitivity: "personal", Lang: "en",
		Spans: []abi.Span{{Start: s.Start, End: s.End}}, Tags: []string{kind}, Negates: negates,
		Slot: &abi.Slot{Subject: p.Subject, Attribute: p.Attribute, Value: p.Value()}, EventType: kind, Details: p.What, Actor: t.Self.Name,
	}
	if p.Chinese {
		a.Lang = "zh"
	}
	if p.Day != 0 {
		a.Started = w.Unix()
		if !p.Clock {
			a.Started = t.Now.Begins(p.Day)
		}
	} else {
		a.Slot.Value = "open"
	}
	if negates {
		a.Slot.Value = ""
		a.Started = 0
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	if p.Day != 0 {
		t.keep(p, negates)
	}
	return &t.Out.Candidates[len(t.Out.Candidates)-1]
}

// keep puts a plan last, and replaces the one that it changes.
func (t *Talk) keep(p Plan, gone bool) {
	kept := t.Plans[:0:0]
	for _, o := range t.Plans {
		if o.Subject != p.Subject || o.Attribute != p.Attribute {
			kept = append(kept, o)
		}
	}
	if !gone {
		p.At, p.Shown = t.Ev.At, ""
		kept = append(kept, p)
	}
	t.Plans, t.Replanned = kept[max(0, len(kept)-maxPlans):], true
}

// Find returns the latest plan whose attribute or label has one of the words; any plan if there are
// no words.
func (t *Talk) Find(words ...string) (Plan, bool) { return t.findThat(nil, words...) }

// findThat is Find among the plans for which fits returns true; nil: all.
func (t *Talk) findThat(fits func(*Plan) bool, words ...string) (Plan, bool) {
	for i := len(t.Plans) - 1; i >= 0; i-- {
		if fits != nil && !fits(&t.Plans[i]) {
			continue
		}
		if len(words) == 0 {
			return t.Plans[i], true
		}
		hay := t.Plans[i].Hay()
		for _, w := range words {
			if len(w) > 3 && strings.Contains(hay, w) || w != "" && HoldsWord(hay, w) {
				return t.Plans[i], true
			}
		}
	}
	return Plan{}, false
}

// Move returns p with the known parts of w.
func (p Plan) Move(w *timex.When) Plan {
	if w.HasDay {
		// "To the 10th" for a plan on the third of December is the tenth of December.
		y, m, _ := timex.Date(p.Day)
		_, _, d := timex.Date(w.Day)
		if same := timex.DayOf(y, m, d); w.Assumed == 1 && same > w.Day && d <= timex.MonthLength(y, m) {
			p.Day = same
		} else {
			p.Day = w.Day
		}
	}
	if w.Clock && (!w.ByPart || !p.Clock) {
		p.Minute, p.Clock = w.Minute, true
	}
	return p
}

// The state: a byte 2 for the version, then for each plan, oldest first, five
// strings (subject, attribute, label, what, and flags with day, minute and time),
// each after its length in two bytes, big endian.
const stateVersion = 2

// EncodePlans encodes plans as the state that a plugin keeps between texts; [DecodePlans] decodes
// it.
func EncodePlans(plans []Plan) []byte {
	b := make([]byte, 1, 1+128*len(plans))
	b[0] = stateVersion
	for _, p := range plans {
		flags := "."
		if p.Clock {
			flags = "c"
		}
		if p.Chinese {
			flags += "z"
		} else {
			flags += "."
		}
		for _, s := range [...]string{p.Subject, p.Attribute, p.Label, p.What, flags + strconv.Itoa(p.Day) + " " + strconv.Itoa(p.Minute) + " " + strconv.FormatInt(p.At, 10)} {
			s = syntax.Cut(s, 400)
			b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

// DecodePlans decodes what [EncodePlans] wrote; it stops at the first part that it does not
// understand, and all reports whether it understood everything.
func DecodePlans(b []byte) (plans []Plan, all bool) {
	if len(b) == 0 || b[0] != stateVersion {
		return nil, false
	}
	s := string(b[1:])
	for len(plans) < maxPlans {
		var f [5]string
		for i := range f {
			if s == "" && i == 0 {
				return plans, true
			}
			if len(s) < 2 {
				return plans, false
			}
			n := int(s[0])<<8 | int(s[1])
			if len(s) < 2+n {
				return plans, false
			}
			f[i], s = s[2:2+n], s[2+n:]
		}
		if len(f[4]) < 3 || f[0] == "" || f[1] == "" {
			return plans, false
		}
		day, minute, _ := strings.Cut(f[4][2:], " ")
		minute, at, _ := strings.Cut(minute, " ")
		p := Plan{Subject: f[0], Attribute: f[1], Label: f[2], What: f[3], Clock: f[4][0] == 'c', Chinese: f[4][1] == 'z'}
		var e1, e2, e3 error
		p.Day, e1 = strconv.Atoi(day)
		p.Minute, e2 = strconv.Atoi(minute)
		p.At, e3 = strconv.ParseInt(at, 10, 64)
		if e1 != nil || e2 != nil || e3 != nil || p.Day < -1e6 || p.Day > 1e6 || p.Minute < 0 || p.Minute >= 1440 {
			return plans, false
		}
		plans = append(plans, p)
	}
	return plans, s == ""
}
