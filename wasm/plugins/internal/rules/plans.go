package rules

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxPlans is how many appointments are kept for "we moved it to Friday".
const maxPlans = 24

// plan is an appointment or promise that was made, as it may be changed later.
type plan struct {
	subject, attribute string
	label              string // the statement without its time
	what               string // event type
	day, minute        int
	clock              bool
	chinese            bool
	at                 int64  // when it was said last, ms since 1970
	shown              string // whose it is in words, where a sentence says so; not kept
}

// value of the plan's slot: the time, in the speaker's zone.
func (p *plan) value() string {
	y, m, d := date(p.day)
	s := itoa(y) + "-" + pad2(m) + "-" + pad2(d)
	if p.clock {
		s += " " + pad2(p.minute/60) + ":" + pad2(p.minute%60)
	}
	return s
}

func (p *plan) when(zone int) when {
	return when{day: p.day, minute: p.minute, clock: p.clock, hasDay: true, grain: 'd', zone: zone}
}

// emit proposes an episodic memory of the plan, and keeps the plan.
func (t *talk) emit(p plan, text, kind string, confidence float64, s sentence, negates bool) *abi.Candidate {
	w := p.when(t.now.offset)
	confidence -= doubt(s)
	a := abi.Candidate{
		Type: "episodic", Kind: kind, Text: text, Confidence: confidence, Sensitivity: "personal", Lang: "en",
		Spans: []abi.Span{{Start: s.start, End: s.end}}, Tags: []string{kind}, Negates: negates,
		Slot: &abi.Slot{Subject: p.subject, Attribute: p.attribute, Value: p.value()}, EventType: kind, Details: p.what, Actor: t.self.name,
	}
	if p.chinese {
		a.Lang = "zh"
	}
	if p.day != 0 {
		a.Started = w.unix()
		if !p.clock {
			a.Started = moment{p.day, 0, t.now.offset}.unix()
		}
	} else {
		a.Slot.Value = "open"
	}
	if negates {
		a.Slot.Value = ""
		a.Started = 0
	}
	t.out.Candidates = append(t.out.Candidates, a)
	if p.day != 0 {
		t.keep(p, negates)
	}
	return &t.out.Candidates[len(t.out.Candidates)-1]
}

// keep puts a plan last, in place of the one that it changes.
func (t *talk) keep(p plan, gone bool) {
	kept := t.plans[:0:0]
	for _, o := range t.plans {
		if o.subject != p.subject || o.attribute != p.attribute {
			kept = append(kept, o)
		}
	}
	if !gone {
		p.at, p.shown = t.ev.At, ""
		kept = append(kept, p)
	}
	t.plans, t.replanned = kept[max(0, len(kept)-maxPlans):], true
}

// find gives the latest plan whose attribute or label has one of the words; any
// where there are none.
func (t *talk) find(words ...string) (plan, bool) { return t.findThat(nil, words...) }

// findThat is find among the plans that fit; nil: all.
func (t *talk) findThat(fits func(*plan) bool, words ...string) (plan, bool) {
	for i := len(t.plans) - 1; i >= 0; i-- {
		if fits != nil && !fits(&t.plans[i]) {
			continue
		}
		if len(words) == 0 {
			return t.plans[i], true
		}
		hay := t.plans[i].hay()
		for _, w := range words {
			if len(w) > 3 && strings.Contains(hay, w) || w != "" && holdsWord(hay, w) {
				return t.plans[i], true
			}
		}
	}
	return plan{}, false
}

// move gives p the parts of w that are known.
func (p plan) move(w *when) plan {
	if w.hasDay {
		// "To the 10th" of what was planned for the third of December is the tenth of December.
		y, m, _ := date(p.day)
		_, _, d := date(w.day)
		if same := dayOf(y, m, d); w.assumed == 1 && same > w.day && d <= monthLength(y, m) {
			p.day = same
		} else {
			p.day = w.day
		}
	}
	if w.clock && (!w.byPart || !p.clock) {
		p.minute, p.clock = w.minute, true
	}
	return p
}

// The state: a byte 2 for the version, then for each plan, oldest first, five
// strings (subject, attribute, label, what, and flags with day, minute and time),
// each after its length in two bytes, big endian.
const stateVersion = 2

func encodePlans(plans []plan) []byte {
	b := make([]byte, 1, 1+128*len(plans))
	b[0] = stateVersion
	for _, p := range plans {
		flags := "."
		if p.clock {
			flags = "c"
		}
		if p.chinese {
			flags += "z"
		} else {
			flags += "."
		}
		for _, s := range [...]string{p.subject, p.attribute, p.label, p.what, flags + itoa(p.day) + " " + itoa(p.minute) + " " + strconv.FormatInt(p.at, 10)} {
			s = cut(s, 400)
			b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

// decodePlans reads what encodePlans wrote; it ends where it understands no more, and all
// reports whether it understood everything.
func decodePlans(b []byte) (plans []plan, all bool) {
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
		p := plan{subject: f[0], attribute: f[1], label: f[2], what: f[3], clock: f[4][0] == 'c', chinese: f[4][1] == 'z'}
		var e1, e2, e3 error
		p.day, e1 = strconv.Atoi(day)
		p.minute, e2 = strconv.Atoi(minute)
		p.at, e3 = strconv.ParseInt(at, 10, 64)
		if e1 != nil || e2 != nil || e3 != nil || p.day < -1e6 || p.day > 1e6 || p.minute < 0 || p.minute >= 1440 {
			return plans, false
		}
		plans = append(plans, p)
	}
	return plans, s == ""
}
