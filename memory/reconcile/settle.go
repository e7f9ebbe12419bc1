package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Settlement is a person's decision about a conflict. Exactly one of Choose,
// Both and Write is set.
type Settlement struct {
	Choose int    `json:"choose,omitempty"` // this side, from 1
	Both   bool   `json:"both,omitempty"`   // all of them
	Write  string `json:"write,omitempty"`  // neither: the value of the field, or of the slot
	Text   string `json:"text,omitempty"`   // with Write, of a slot: the statement; empty: the shown statement with the new value in place of its own
}

// errSettle is the error for a decision that does not fit the conflict.
func errSettle(format string, args ...any) error {
	return fmt.Errorf("%w: %s", memory.ErrInvalid, fmt.Sprintf(format, args...))
}

// settledReason stands in the assertions of a settlement.
const settledReason = "two stood against each other; the wearer settled it"

// Settle returns the assertions, with a person's rank, that settle a conflict.
// Memory, act, content, source and reason of each are set. The source names the
// conflict, so that a person can take the settlement back ([Unsettle]). Because their author knows
// the whole group ([Overrules], [SeenDots]), the conflict ends on every replica.
// Two settlements that do not know of each other are a conflict again, and one
// of them is shown, so nothing is lost.
//
// A value of a slot is proposed again in the person's name, under the id that
// newID returns, with evidence for what the person writes now. Whatever would
// be shown in its place is closed.
func Settle(group []memory.Assertion, c *Conflict, s Settlement, evidence memory.Evidence, newID func(*memory.Candidate) memory.ID) ([]memory.Assertion, error) {
	said := 0
	for _, set := range []bool{s.Choose != 0, s.Both, s.Write != ""} {
		if set {
			said++
		}
	}
	switch {
	case said != 1:
		return nil, errSettle("choose, both or write: want one of them")
	case s.Choose < 0 || s.Choose > len(c.Sides):
		return nil, errSettle("choose: %d: want 1 to %d", s.Choose, len(c.Sides))
	case s.Text != "" && (s.Write == "" || c.Field != ""):
		return nil, errSettle("text: goes with write, of a slot")
	}
	var out []memory.Assertion
	var err error
	if c.Field != "" {
		out, err = settleField(c, s)
	} else {
		out, err = settleValues(group, c, s, evidence, newID)
	}
	for i := range out {
		out[i].Rank, out[i].Reason = memory.RankPerson, settledReason
		out[i].Source = memory.Source{Plugin: memory.PersonPlugin, Version: c.ID}
	}
	return out, err
}

// ErrSaidSince is the error for a settlement that can't be taken back alone, because
// a person has said something later about one of its memories.
var ErrSaidSince = errors.New("you have said something about it since you settled it")

// Unsettle returns the withdrawal, with a person's rank, of what a settlement has said about one
// memory; as is everything that was said about that memory. ok is false if the settlement said
// nothing about it.
func Unsettle(as []memory.Assertion, conflict string) (w memory.Assertion, ok bool, err error) {
	all := make([]*memory.Assertion, len(as))
	for i := range as {
		all[i] = &as[i]
	}
	left := standing(all)
	var last memory.Clock
	for _, a := range left {
		if a.Settles() == conflict {
			w.Memory, w.Seen = a.Memory, append(w.Seen, a.Dot)
			if last.Compare(a.Clock) < 0 {
				last = a.Clock
			}
		}
	}
	for _, a := range left {
		if len(w.Seen) > 0 && a.Rank == memory.RankPerson && a.Settles() != conflict && last.Compare(a.Clock) < 0 {
			return w, false, ErrSaidSince
		}
	}
	w.Act, w.Rank, w.Source = memory.ActWithdraw, memory.RankPerson, memory.Source{Plugin: memory.PersonPlugin}
	w.Reason = "what the wearer had settled was taken back"
	return w, len(w.Seen) > 0, nil
}

func settleField(c *Conflict, s Settlement) ([]memory.Assertion, error) {
	a := memory.Assertion{Memory: c.Sides[0].Memory, Act: memory.ActCorrect}
	switch {
	case s.Choose == 1 && c.as[0] == nil: // the value from before the machines changed it
		return []memory.Assertion{keepAssertion(&a, c)}, nil
	case s.Choose > 0:
		as := c.as[s.Choose-1][0]
		a.Act, a.Into = as.Act, as.Into
		if as.Patch != nil {
			a.Patch = c.only(as.Patch)
		}
	case s.Write != "":
		p, err := written(c.Field, s.Write)
		if err != nil {
			return nil, err
		}
		a.Patch = &p
	default:
		p, err := together(c)
		if err != nil {
			return nil, err
		}
		if first := c.was; len(c.with) > 0 { // one value can't be joined with another
			if c.as[0] != nil {
				first = c.as[0][0].Patch
			}
			rest := c.only(first)
			p.Value, p.Fields = rest.Value, rest.Fields
		}
		a.Patch = &p
	}
	return []memory.Assertion{a}, nil
}

// keepAssertion returns an assertion that keeps a pinned memory as it is.
func keepAssertion(a *memory.Assertion, c *Conflict) memory.Assertion {
	if c.Field == stateField {
		a.Act = memory.ActRestore
		return *a
	}
	a.Patch = c.was
	return *a
}

// only returns the part of a patch that sets what the conflict is about.
func (c *Conflict) only(p *memory.Patch) *memory.Patch {
	out := only(c.Field, p)
	for _, field := range c.with {
		switch field {
		case "value":
			out.Value = p.Value
		case "fields":
			out.Fields = p.Fields
		}
	}
	return &out
}

// only returns the part of a patch that sets one field.
func only(field string, p *memory.Patch) memory.Patch {
	switch field {
	case "text":
		return memory.Patch{Text: p.Text}
	case "value":
		return memory.Patch{Value: p.Value}
	case "fields":
		return memory.Patch{Fields: p.Fields}
	case "metadata":
		return memory.Patch{Metadata: p.Metadata}
	case "sensitivity":
		return memory.Patch{Sensitivity: p.Sensitivity}
	}
	return memory.Patch{Validity: p.Validity}
}

// written returns a patch that sets a field to what a person wrote.
func written(field, text string) (p memory.Patch, err error) {
	switch field {
	case "text":
		p.Text = &text
	case "value":
		p.Value = &text
	case "sensitivity":
		p.Sensitivity = new(memory.Sensitivity)
		err = p.Sensitivity.UnmarshalText([]byte(text))
	default:
		err = errSettle("write: %s is not written as a text: choose a side, and edit it then", field)
	}
	return p, err
}

// together returns a patch that keeps the values of all sides, if they can be joined.
func together(c *Conflict) (p memory.Patch, err error) {
	switch c.Field {
	case "text":
		var texts []string
		for _, s := range c.Sides {
			texts = append(texts, s.Value)
		}
		text := strings.Join(texts, " / ")
		p.Text = &text
	case "metadata":
		all := memory.Metadata{}
		for i := len(c.as) - 1; i >= 0; i-- { // the first side, which is shown, is copied last and wins
			if c.as[i] != nil {
				maps.Copy(all, *c.as[i][0].Patch.Metadata)
			} else if c.was.Metadata != nil {
				maps.Copy(all, *c.was.Metadata)
			}
		}
		p.Metadata = &all
	default:
		err = errSettle("both: %s has one value: choose a side", c.Field)
	}
	return p, err
}

func settleValues(group []memory.Assertion, c *Conflict, s Settlement, evidence memory.Evidence, newID func(*memory.Candidate) memory.ID) ([]memory.Assertion, error) {
	chosen := max(s.Choose, 1) - 1
	if s.Choose == 0 && c.Slot == nil {
		return nil, errSettle("a pinned statement conflicts with its denial: choose a side")
	}
	if s.Choose == 0 && c.Slot.Many {
		return nil, errSettle("it is so or it is not: choose a side")
	}
	from := itemOf(group, c.Sides[chosen].Memory)
	if from == nil {
		return nil, errors.New("settle: the conflict is of another group")
	}
	cand, at := from.mem.Candidate, from.from
	cand.TrueTo = time.Time{}
	if s.Write != "" {
		slot := *cand.Slot
		old := slot.Value
		slot.Value = s.Write
		text := s.Text
		if text == "" {
			if old == "" || !strings.Contains(cand.Text, old) {
				return nil, errSettle("text: is needed: the value %q is not in %q", old, cand.Text)
			}
			text = strings.ReplaceAll(cand.Text, old, s.Write)
		}
		cand.Slot, cand.Text, cand.Negates, cand.Fields = &slot, text, false, memory.Fields{}
		cand.Evidence, cand.Entities, cand.Links, cand.TrueFrom = []memory.Evidence{evidence}, nil, nil, time.Time{}
		at = evidence.At
	}
	out := []memory.Assertion{propose(cand, newID)}
	if s.Both {
		for _, side := range c.Sides[1:] {
			it := itemOf(group, side.Memory)
			if side.Negates || it == nil {
				return nil, errSettle("both: one denies the other: choose a side")
			}
			second, slot := it.mem.Candidate, *it.mem.Slot
			slot.Many = true
			second.Slot, second.TrueTo = &slot, time.Time{}
			out = append(out, propose(second, newID))
		}
	}
	return append(out, closeAfter(group, &cand, at)...), nil
}

// propose returns an assertion that proposes a candidate again, in a person's name.
func propose(c memory.Candidate, newID func(*memory.Candidate) memory.ID) memory.Assertion {
	c.Source = memory.Source{Plugin: memory.PersonPlugin}
	c.Confidence = 1
	return memory.Assertion{Memory: newID(&c), Act: memory.ActPropose, Candidate: &c}
}

// closeAfter closes the memories that would be shown instead of a candidate that is ordered at the
// given time. These are the memories of the group that are ordered after it and have another value.
func closeAfter(group []memory.Assertion, cand *memory.Candidate, at time.Time) []memory.Assertion {
	value := valueOf(&memory.Memory{Candidate: *cand})
	items, pinned := []*item{}, map[string]bool{}
	for _, id := range memoriesOf(group) {
		if it := itemOf(group, id); it != nil {
			items = append(items, it)
			pinned[it.value] = pinned[it.value] || it.mem.Pinned // of several memories with one value, any may be the pinned one
		}
	}
	var out []memory.Assertion
	for _, it := range items {
		if it.mem.State != memory.Active && it.mem.State != memory.Archived || it.value == value && it.mem.Negates == cand.Negates {
			continue
		}
		to := it.mem.TrueFrom
		if it.from.Before(at) {
			if !pinned[it.value] {
				continue // the candidate ends it
			}
			to = at // an earlier memory with the candidate's value did not end it because of the pin
		}
		out = append(out, memory.Assertion{Memory: it.mem.ID, Act: memory.ActClose, Patch: &memory.Patch{Validity: &memory.Validity{From: to, To: to}}})
	}
	return out
}

func memoriesOf(group []memory.Assertion) []memory.ID {
	items := map[memory.ID]*item{}
	for i := range group {
		items[group[i].Memory] = nil
	}
	return sorted(items)
}

// itemOf folds one memory of a group. It is nil if nobody has proposed the memory.
func itemOf(group []memory.Assertion, id memory.ID) *item {
	var as []*memory.Assertion
	seen := map[memory.Dot]bool{}
	for i := range group {
		if a := &group[i]; a.Memory == id && !seen[a.Dot] {
			seen[a.Dot] = true
			as = append(as, a)
		}
	}
	return fold(id, as)
}
