package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A line that names neither the owner nor the thing is about what the previous line told: "No, room
// 6." after "My appointment is in room 4.", "It's 75 mg now" after a dose, "It's in the desk
// drawer" after "My passport?".

// followUp takes an English line that gives another value for what the speaker told, or asked for,
// in the previous line.
func followUp(t *discourse.Talk, s syntax.Sentence) bool {
	n := len(t.Ev.Before)
	if s.Chinese() || s.Ends == "?" || len(s.Toks) > 14 || discourse.Conditioned(s) || s.Start > 0 || n == 0 {
		return false
	}
	b := &t.Ev.Before[n-1]
	if b.Speaker != t.Ev.Speaker || t.Ev.At-b.At > discourse.FollowWithin || refuse.Boilerplate(b.Text) != "" {
		return false
	}
	i, corrects, it := 0, false, false
	for ; i < len(s.Toks); i++ {
		switch w := s.At(i); {
		case w == "no" || w == "sorry" || w == "actually" || w == "wait" || w == "nope" || w == "correction":
			corrects = true
		case syntax.Lead(w) || s.Toks[i].Kind == 'p':
		case w == "i" && corrects && (s.At(i+1) == "parked" || s.At(i+1) == "left" || s.At(i+1) == "put") && (s.At(i+2) == "it" || s.At(i+2) == "them"):
			i += 2
		case w == "it's" || w == "they're":
			it = true
		case (w == "it" || w == "they") && (s.At(i+1) == "is" || s.At(i+1) == "are"):
			it = true
			i++
		default:
			return (corrects || it) && follows(t, s, i, len(s.Toks), b, corrects, it)
		}
	}
	return false
}

// follows reads the new value between two tokens.
func follows(t *discourse.Talk, s syntax.Sentence, i, end int, b *abi.Turn, corrects, it bool) bool {
	now := false
	for end > i && (s.At(end-1) == "now" || s.Toks[end-1].Kind == 'p') {
		now = now || s.At(end-1) == "now"
		end--
	}
	if end <= i || len(timex.FindWhens(s, t.Now)) > 0 {
		return false
	}
	said := s.Text[s.Toks[i].Start:s.Toks[end-1].End]
	var sink abi.Output
	ev := abi.Event{ID: b.ID, At: b.At, Offset: t.Ev.Offset, Speaker: b.Speaker, Wearer: t.Ev.Wearer, Text: b.Text}
	Extract(&ev, &sink, discourse.Facts)
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
		return it && foundAt(t, s, i, end, b)
	}
	value, whole, with := "", "", holder(s, i, end, it)
	switch old := strings.Fields(was.Slot.Value); {
	case was.Slot.Attribute == "location" && english.WhereWords(s, i, end):
		value = said
	case was.Slot.Attribute == "location" && with != "":
		is := " is "
		if last := discourse.Last(was.Subject); syntax.Singular(last) != last {
			is = " are "
		}
		value, whole = with, english.Stand(was.Subject)+is+with+"."
	case was.Slot.Attribute == "location" && corrects && len(old) >= 2 && end-i == 2 && strings.EqualFold(old[len(old)-2], s.At(i)) && (syntax.Numeric(s.At(i+1)) || len(s.At(i+1)) == 1):
		value = strings.Join(old[:len(old)-2], " ") + " " + said // in room 4: room 6
		value = strings.TrimSpace(value)
	case strings.HasPrefix(was.Slot.Attribute, discourse.Medication+": ") && len(old) == 2 && (now || corrects) && syntax.Numeric(s.At(i)) && end == i+2 && s.At(i+1) == strings.ToLower(old[1]): // a number alone may be the time
		value = s.At(i) + " " + old[1]
	default:
		return false
	}
	if strings.EqualFold(value, was.Slot.Value) || whole == "" && strings.Count(was.Text, was.Slot.Value) != 1 {
		return false
	}
	a := *was
	if a.Text = whole; whole == "" {
		a.Text = strings.Replace(was.Text, was.Slot.Value, value, 1)
	}
	slot := *was.Slot
	slot.Value = value
	a.Slot, a.Object = &slot, strings.Replace(was.Object, was.Slot.Value, value, 1)
	a.Confidence, a.TrueFrom = min(a.Confidence, 0.8), 0
	a.Spans = []abi.Span{{Start: s.Start, End: s.End}, {Turn: -1, Start: was.Spans[0].Start, End: was.Spans[0].End}}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// holder reads who has a thing: "Anna has it", and after "it's" "with Anna"; "" if that is not what is said.
func holder(s syntax.Sentence, i, end int, it bool) string {
	if it && s.At(i) == "with" {
		i++
	}
	name := i < end && s.Toks[i].Cap && syntax.NameWord(s.At(i))
	switch rest := end - i; {
	case !name:
		return ""
	case it && rest == 1 && s.At(i-1) == "with", !it && rest == 3 && s.At(i+1) == "has" && (s.At(i+2) == "it" || s.At(i+2) == "them"):
		return "with " + s.Text[s.Toks[i].Start:s.Toks[i].End]
	}
	return ""
}

// foundAt takes the place of the thing that the speaker asked for or missed in the previous line:
// "My passport?", "I can't find my passport".
func foundAt(t *discourse.Talk, s syntax.Sentence, i, end int, b *abi.Turn) bool {
	if !english.WhereWords(s, i, end) {
		return false
	}
	q := discourse.Asked{By: t.Self}
	for _, o := range syntax.Sentences(b.Text) {
		q.Sentence, q.Turn = o, -1
		missed := len(o.Toks)
		for k := range o.Toks {
			if w := o.At(k); (w == "find" || w == "lost" || w == "misplaced" || w == "for" && o.At(k-1) == "looking") && k+1 < len(o.Toks) {
				missed = k + 1
			}
		}
		switch base, _ := syntax.Contraction(o.At(0)); {
		case missed < len(o.Toks):
			q.Sentence = o.Sub(missed, len(o.Toks))
		case o.Ends == "?" && (base == "where" || base == "my" || base == "the"):
		default:
			return false
		}
	}
	what, ok := "", false
	if q.Toks != nil {
		what, ok = english.Thing(&q)
	}
	if !ok || !english.Findable(what) {
		return false
	}
	verb := " is "
	if s.At(0) == "they" || s.At(0) == "they're" {
		verb = " are "
	}
	where := s.Text[s.Toks[i].Start:s.Toks[end-1].End]
	english.Answered(t, &q, s, what, "location", where, english.Stand(what)+verb+where+".", "place", false)
	return true
}
