package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// A line that names neither whose nor which thing means what the line before it told: "No, room
// 6." after "My appointment is in room 4.", "It's 75 mg now" after a dose, "It's in the desk
// drawer" after "My passport?".

// followWithin is how long, in ms, a line may mean the one before it.
const followWithin = 2 * 60 * 1000

// followUp takes an English line that says another value of what the speaker told, or asked
// for, in the line before.
func (t *talk) followUp(s sentence) bool {
	n := len(t.ev.Before)
	if s.chinese() || s.ends == "?" || len(s.toks) > 14 || conditioned(s) || s.start > 0 || n == 0 {
		return false
	}
	b := &t.ev.Before[n-1]
	if b.Speaker != t.ev.Speaker || t.ev.At-b.At > followWithin || boilerplate(b.Text) != "" {
		return false
	}
	i, corrects, it := 0, false, false
	for ; i < len(s.toks); i++ {
		switch w := s.at(i); {
		case w == "no" || w == "sorry" || w == "actually" || w == "wait" || w == "nope" || w == "correction":
			corrects = true
		case lead(w) || s.toks[i].kind == 'p':
		case w == "it's" || w == "they're":
			it = true
		case (w == "it" || w == "they") && (s.at(i+1) == "is" || s.at(i+1) == "are"):
			it = true
			i++
		default:
			return (corrects || it) && t.follows(s, i, len(s.toks), b, corrects, it)
		}
	}
	return false
}

// follows reads the new value between two tokens.
func (t *talk) follows(s sentence, i, end int, b *abi.Turn, corrects, it bool) bool {
	now := false
	for end > i && (s.at(end-1) == "now" || s.toks[end-1].kind == 'p') {
		now = now || s.at(end-1) == "now"
		end--
	}
	if end <= i || len(findWhens(s, t.now)) > 0 {
		return false
	}
	said := s.text[s.toks[i].start:s.toks[end-1].end]
	var sink abi.Output
	ev := abi.Event{ID: b.ID, At: b.At, Offset: t.ev.Offset, Speaker: b.Speaker, Wearer: t.ev.Wearer, Text: b.Text}
	Extract(&ev, &sink, Facts)
	var was *abi.Candidate
	for k := range sink.Candidates {
		c := &sink.Candidates[k]
		if c.Slot == nil || c.Negates || c.Slot.Many {
			continue
		}
		if was != nil {
			return false // which of them?
		}
		was = c
	}
	if was == nil {
		return it && t.foundAt(s, i, end, b)
	}
	value := ""
	switch old := strings.Fields(was.Slot.Value); {
	case was.Slot.Attribute == "location" && whereWords(s, i, end):
		value = said
	case was.Slot.Attribute == "location" && corrects && len(old) >= 2 && end-i == 2 && strings.EqualFold(old[len(old)-2], s.at(i)) && (numeric(s.at(i+1)) || len(s.at(i+1)) == 1):
		value = strings.Join(old[:len(old)-2], " ") + " " + said // in room 4: room 6
		value = strings.TrimSpace(value)
	case strings.HasPrefix(was.Slot.Attribute, medication+": ") && len(old) == 2 && (now || corrects) && numeric(s.at(i)) && end == i+2 && s.at(i+1) == strings.ToLower(old[1]): // a number alone may be the time
		value = s.at(i) + " " + old[1]
	default:
		return false
	}
	if strings.EqualFold(value, was.Slot.Value) || strings.Count(was.Text, was.Slot.Value) != 1 {
		return false
	}
	a := *was
	a.Text = strings.Replace(was.Text, was.Slot.Value, value, 1)
	slot := *was.Slot
	slot.Value = value
	a.Slot, a.Object = &slot, strings.Replace(was.Object, was.Slot.Value, value, 1)
	a.Confidence, a.TrueFrom = min(a.Confidence, 0.8), 0
	a.Spans = []abi.Span{{Start: s.start, End: s.end}, {Turn: -1, Start: was.Spans[0].Start, End: was.Spans[0].End}}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

func placing(w string) bool {
	switch w {
	case "in", "on", "under", "behind", "at", "next", "inside", "near", "above", "beside", "below":
		return true
	}
	return false
}

// foundAt takes the place of the thing that the speaker asked for or missed in the line before:
// "My passport?", "I can't find my passport".
func (t *talk) foundAt(s sentence, i, end int, b *abi.Turn) bool {
	if !whereWords(s, i, end) {
		return false
	}
	q := asked{by: t.self}
	for _, o := range sentences(b.Text) {
		q.sentence, q.turn = o, -1
		missed := len(o.toks)
		for k := range o.toks {
			if w := o.at(k); (w == "find" || w == "lost" || w == "misplaced" || w == "for" && o.at(k-1) == "looking") && k+1 < len(o.toks) {
				missed = k + 1
			}
		}
		switch base, _ := contraction(o.at(0)); {
		case missed < len(o.toks):
			q.sentence = o.sub(missed, len(o.toks))
		case o.ends == "?" && (base == "where" || base == "my" || base == "the"):
		default:
			return false
		}
	}
	what, ok := "", false
	if q.toks != nil {
		what, ok = q.thing()
	}
	if !ok || !findable(what) {
		return false
	}
	verb := " is "
	if s.at(0) == "they" || s.at(0) == "they're" {
		verb = " are "
	}
	where := s.text[s.toks[i].start:s.toks[end-1].end]
	t.answered(&q, s, what, "location", where, stand(what)+verb+where+".", "place", false)
	return true
}
