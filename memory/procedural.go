package memory

import (
	"fmt"
	"slices"
	"strings"
)

// ProceduralFields describe how a thing is done.
type ProceduralFields struct {
	EntryType   string   `json:"entry_type"` // workflow, guide, script
	Description string   `json:"description,omitempty"`
	Steps       []string `json:"steps"`
}

// MaxSteps is how many steps a procedure may have.
const MaxSteps = 256

func (f *ProceduralFields) validate() error {
	if f == nil || len(f.Steps) == 0 {
		return wrong("procedural.steps", "at least one is needed")
	}
	if len(f.Steps) > MaxSteps {
		return wrong("procedural.steps", "%d of them, at most %d", len(f.Steps), MaxSteps)
	}
	for i, s := range f.Steps {
		name := fmt.Sprintf("procedural.steps[%d]", i)
		if strings.TrimSpace(s) == "" {
			return wrong(name, "empty")
		}
		if err := checkText("fields."+name, s, MaxText); err != nil {
			return err
		}
	}
	if err := checkText("fields.procedural.description", f.Description, MaxText); err != nil {
		return err
	}
	return names(Procedural, [2]string{"entry_type", f.EntryType})
}

// What a [StepEdit] does.
const (
	StepInsert = "insert" // Text becomes step At; that step and those after it move down. 0: at the end
	StepRevise = "revise" // step At becomes Text
	StepRemove = "remove" // step At is removed
	StepMove   = "move"   // step At becomes step To
)

// StepEdit changes one step of a procedure. Steps are counted from 1, in the list as the earlier
// edits left it.
type StepEdit struct {
	Op   string `json:"op"`
	At   int    `json:"at"`
	To   int    `json:"to,omitempty"`
	Text string `json:"text,omitempty"`
}

// String describes the edit, for a history.
func (e StepEdit) String() string {
	switch e.Op {
	case StepInsert:
		if e.At == 0 {
			return "step added"
		}
		return fmt.Sprintf("step %d inserted", e.At)
	case StepRevise:
		return fmt.Sprintf("step %d revised", e.At)
	case StepRemove:
		return fmt.Sprintf("step %d removed", e.At)
	default:
		return fmt.Sprintf("step %d moved to %d", e.At, e.To)
	}
}

// EditSteps applies the edits one after the other and returns the new steps; steps itself does not
// change. Either all edits are applied or none: the error names the edit and its field.
func EditSteps(steps []string, edits ...StepEdit) ([]string, error) {
	out := slices.Clone(steps)
	for i, e := range edits {
		bad := func(field, format string, args ...any) ([]string, error) {
			return nil, fmt.Errorf("%w: steps[%d].%s: %s", ErrInvalid, i, field, fmt.Sprintf(format, args...))
		}
		last := len(out)
		if e.Op == StepInsert {
			if last++; e.At == 0 {
				e.At = last
			}
		}
		if e.At < 1 || e.At > last {
			return bad("at", "%d, want 1 to %d", e.At, last)
		}
		text := strings.TrimSpace(e.Text)
		if writes := e.Op == StepInsert || e.Op == StepRevise; writes && text == "" {
			return bad("text", "empty")
		} else if !writes && text != "" {
			return bad("text", "is for insert and revise")
		}
		if e.Op != StepMove && e.To != 0 {
			return bad("to", "is for move")
		}
		switch e.Op {
		case StepInsert:
			out = slices.Insert(out, e.At-1, text)
		case StepRevise:
			out[e.At-1] = text
		case StepRemove:
			out = slices.Delete(out, e.At-1, e.At)
		case StepMove:
			if e.To < 1 || e.To > last {
				return bad("to", "%d, want 1 to %d", e.To, last)
			}
			s := out[e.At-1]
			out = slices.Insert(slices.Delete(out, e.At-1, e.At), e.To-1, s)
		default:
			return bad("op", "%q, want insert, revise, remove or move", e.Op)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: steps: none would be left; delete the memory instead", ErrInvalid)
	}
	if len(out) > MaxSteps {
		return nil, fmt.Errorf("%w: steps: %d of them, at most %d", ErrInvalid, len(out), MaxSteps)
	}
	return out, nil
}

// ReplaceSteps replaces the old steps in a procedure's text by new ones, if the text ends with them
// as the extractors write it: "title: one; two." or 标题：一；二。 Any other text stays as it is, because
// a person wrote it.
func ReplaceSteps(text string, old, now []string) string {
	for _, marks := range [...][3]string{{": ", "; ", "."}, {"：", "；", "。"}} {
		if title, ok := strings.CutSuffix(text, marks[0]+strings.Join(old, marks[1])+marks[2]); ok && title != "" {
			return title + marks[0] + strings.Join(now, marks[1]) + marks[2]
		}
	}
	return text
}

// ContainsSteps reports whether a procedure's text already contains its steps.
func ContainsSteps(text string, steps []string) bool {
	at := 0
	for _, s := range steps {
		n := strings.Index(text[at:], s)
		if n < 0 {
			return false
		}
		at += n + len(s)
	}
	return len(steps) > 0
}
