// Package edit adds, changes and settles memories for a person. Its function assertions turns a
// person's request to change a memory into assertions. It is pure: it takes what is known, and
// returns either all assertions of the request or an error.
package edit

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Known is what an edit may need to know beside the memory.
type Known struct {
	// Past reports whether a superseded memory says this line.
	Past func(line string) (bool, error)
	// ID returns the id of the memory that a line of a block becomes when it is moved.
	ID func(block *memory.Memory, c *memory.Candidate) memory.ID
	// Reread, if set, is what the memory's extractor finds in its old and in its new text.
	Reread *Reread
	Zone   *time.Location
}

// assertions returns the assertions, in order, that turn m into what p asks for. Memory, act,
// content and reason of each are set. Errors wrap memory.ErrInvalid and name the field of the
// request, or serve.ErrChanged.
func assertions(m *memory.Memory, p *serve.UpdateRequest, known Known) ([]memory.Assertion, error) {
	if err := stillSays(m, p.Was); err != nil {
		return nil, err
	}
	var out []memory.Assertion
	say := func(act memory.Act, a memory.Assertion) {
		a.Memory, a.Act = m.ID, act
		a.Reason = cmp.Or(a.Reason, p.Reason)
		out = append(out, a)
	}
	patch := memory.Patch{Text: p.Text, Value: p.Value, Fields: p.Fields, Metadata: p.Metadata, Sensitivity: p.Sensitivity, Validity: p.Validity}
	text, err := newText(m, p)
	if err != nil {
		return nil, err
	}
	if text != nil && *text == m.Text && p.Text == nil {
		text = nil // the block already has this line
	}
	patch.Text = text
	reason := p.Reason
	if len(p.Steps) > 0 {
		if patch.Fields, err = newSteps(m, p.Steps); err != nil {
			return nil, err
		}
		if told := memory.ReplaceSteps(m.Text, m.Fields.Procedural.Steps, patch.Fields.Procedural.Steps); patch.Text == nil && told != m.Text {
			patch.Text = &told
		}
		if reason == "" {
			words := make([]string, len(p.Steps))
			for i, e := range p.Steps {
				words[i] = e.String()
			}
			reason = strings.Join(words, ", ")
		}
	}
	follow(m, &patch, &known)
	if patch != (memory.Patch{}) {
		if err := check(m, &patch); err != nil {
			return nil, err
		}
		say(memory.ActCorrect, memory.Assertion{Patch: &patch, Reason: reason})
		if patch.Text != nil && m.Type == memory.Core {
			more, err := condense(m, &patch, known)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	if p.Archived != nil {
		act := memory.ActRestore
		if *p.Archived {
			act = memory.ActArchive
		}
		say(act, memory.Assertion{})
	}
	if len(p.Tag) > 0 {
		say(memory.ActTag, memory.Assertion{Tags: p.Tag})
	}
	if len(p.Untag) > 0 {
		say(memory.ActUntag, memory.Assertion{Tags: p.Untag})
	}
	return out, nil
}

// stillSays returns serve.ErrChanged if m no longer says what it was.
func stillSays(m *memory.Memory, was *serve.Was) error {
	value := ""
	if m.Slot != nil {
		value = m.Slot.Value
	}
	switch {
	case was == nil:
	case was.Text != nil && *was.Text != m.Text:
		return fmt.Errorf("%w: its text has changed", serve.ErrChanged)
	case was.Value != nil && *was.Value != value:
		return fmt.Errorf("%w: its value has changed", serve.ErrChanged)
	}
	return nil
}

// newText returns the requested text, or nil if the text stays.
func newText(m *memory.Memory, p *serve.UpdateRequest) (*string, error) {
	var s string
	var err error
	switch {
	case p.Append != nil:
		if m.Type != memory.Core {
			return nil, fmt.Errorf("%w: append: is for a core block, and this memory is %s", memory.ErrInvalid, m.Type)
		}
		s, err = memory.AppendLine(m.Text, *p.Append)
	case p.Replace != nil:
		s, err = memory.ReplaceText(m.Text, p.Replace.Old, p.Replace.With)
	default:
		return p.Text, nil
	}
	return &s, err
}

func newSteps(m *memory.Memory, edits []memory.StepEdit) (*memory.Fields, error) {
	f := m.Fields.Procedural
	if f == nil {
		return nil, fmt.Errorf("%w: steps: are for a procedure, and this memory is %s", memory.ErrInvalid, m.Type)
	}
	steps, err := memory.EditSteps(f.Steps, edits...)
	if err != nil {
		return nil, err
	}
	g := *f
	g.Steps = steps
	return &memory.Fields{Procedural: &g}, nil
}

// check checks the changed memory against the rules of its type.
func check(m *memory.Memory, p *memory.Patch) error {
	c := m.Candidate
	if p.Text != nil {
		c.Text = *p.Text
	}
	if p.Value != nil {
		if c.Slot == nil {
			return fmt.Errorf("%w: value: the memory is about nothing that has one", memory.ErrInvalid)
		}
		s := *c.Slot
		s.Value, c.Slot = *p.Value, &s
	}
	if p.Fields != nil {
		c.Fields = *p.Fields
	}
	if p.Metadata != nil {
		c.Metadata = *p.Metadata
	}
	if p.Sensitivity != nil {
		c.Sensitivity = *p.Sensitivity
	}
	if v := p.Validity; v != nil {
		c.TrueFrom, c.TrueTo = v.From, v.To
	}
	return c.Validate()
}

// condense shortens a block that becomes too long with its new text. Repeated and outdated lines
// are removed, and the oldest lines become semantic memories.
func condense(m *memory.Memory, p *memory.Patch, known Known) ([]memory.Assertion, error) {
	f := m.Fields.Core
	if p.Fields != nil {
		f = p.Fields.Core
	}
	n := utf8.RuneCountInString(*p.Text)
	if !f.Full(n) {
		return nil, nil
	}
	texts := strings.Split(*p.Text, "\n")
	lines := make([]memory.CoreLine, len(texts))
	for i, t := range texts {
		past, err := known.Past(t)
		if err != nil {
			return nil, err
		}
		lines[i] = memory.CoreLine{Text: t, Past: past}
		if f.Full(utf8.RuneCountInString(t)) {
			return nil, fmt.Errorf("%w: text: a line of %d characters, and the block %s holds %d: a line may fill 90 %% of it", memory.ErrInvalid, utf8.RuneCountInString(t), f.Block, f.Limit)
		}
	}
	c := memory.Condense(lines, f.Limit)
	pick := func(at []int) []string {
		out := make([]string, len(at))
		for i, k := range at {
			out[i] = texts[k]
		}
		return out
	}
	short := strings.Join(pick(c.Keep), "\n")
	out := []memory.Assertion{{Memory: m.ID, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &short},
		Reason: fmt.Sprintf("rewritten: %d of %d characters were over 90 %%; %d lines dropped that stand elsewhere, %d moved to semantic memories", n, f.Limit, len(c.Drop), len(c.Move))}}
	for _, t := range pick(c.Move) {
		if strings.TrimSpace(t) == "" {
			continue
		}
		cand := movedLine(m, t)
		out = append(out, memory.Assertion{Memory: known.ID(m, &cand), Act: memory.ActPropose, Candidate: &cand, Source: cand.Source,
			Reason: "moved out of the block " + f.Block + ", which was full"})
	}
	return out, nil
}

// movedLine returns the semantic memory that a line of a block becomes.
func movedLine(block *memory.Memory, line string) memory.Candidate {
	return memory.Candidate{Type: memory.Semantic, Text: strings.TrimSpace(line), Lang: block.Lang, Owner: block.Owner, Evidence: block.Evidence,
		Links: []memory.Link{{Relation: "derived_from", To: block.ID.String()}}, Tags: []string{"core"}, Source: memory.Source{Plugin: "core"},
		Confidence: block.Confidence, Sensitivity: block.Sensitivity, TrueFrom: block.TrueFrom}
}
