package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// HasYear reports whether t can be written in RFC 3339: its year in UTC is 1 to 9999.
func HasYear(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 1 && y <= 9999
}

func checkYear(field string, t time.Time) error {
	if !HasYear(t) {
		return fmt.Errorf("%w: %s: the year in UTC is %d, and not 1 to 9999", ErrInvalid, field, t.UTC().Year())
	}
	return nil
}

// Validate reports the first rule that c breaks, naming the field.
func (c *Candidate) Validate() error {
	if err := checkText("text", c.Text, MaxText); err != nil {
		return err
	}
	if c.Text == "" {
		return fmt.Errorf("%w: text: empty", ErrInvalid)
	}
	if c.Owner.User == "" {
		return fmt.Errorf("%w: owner.user: empty", ErrInvalid)
	}
	if math.IsNaN(c.Confidence) || c.Confidence < 0 || c.Confidence > 1 {
		return fmt.Errorf("%w: confidence: %v is not between 0 and 1", ErrInvalid, c.Confidence)
	}
	if c.Sensitivity > Secret {
		return fmt.Errorf("%w: sensitivity: %d", ErrInvalid, c.Sensitivity)
	}
	if err := cmp.Or(checkYear("true_from", c.TrueFrom), checkYear("true_to", c.TrueTo), checkYear("expires", c.Expires)); err != nil {
		return err
	}
	if !c.TrueTo.IsZero() && c.TrueTo.Before(c.TrueFrom) {
		return fmt.Errorf("%w: true_to: before true_from", ErrInvalid)
	}
	if s := c.Slot; s != nil {
		if Normal(s.Subject) == "" || Normal(s.Attribute) == "" {
			return fmt.Errorf("%w: slot: subject and attribute are needed", ErrInvalid)
		}
		if Normal(s.Value) == "" && !c.Negates {
			return fmt.Errorf("%w: slot.value: empty", ErrInvalid)
		}
	}
	for i, e := range c.Evidence {
		if err := checkYear(fmt.Sprintf("evidence[%d].at", i), e.At); err != nil {
			return err
		}
		if err := checkText(fmt.Sprintf("evidence[%d].excerpt", i), e.Excerpt, MaxExcerpt); err != nil {
			return err
		}
	}
	for i, t := range c.Tags {
		if err := checkText(fmt.Sprintf("tags[%d]", i), t, MaxName); err != nil {
			return err
		}
	}
	if err := c.Metadata.Validate(); err != nil {
		return err
	}
	return c.validateFields()
}

func (c *Candidate) validateFields() error {
	if !slices.Contains(Types[:], c.Type) {
		return fmt.Errorf("%w: type: %q is not one of the six", ErrInvalid, c.Type)
	}
	if t := c.Fields.other(c.Type); t != "" {
		return fmt.Errorf("%w: fields.%s: set on a memory of type %s", ErrInvalid, t, c.Type)
	}
	return c.Fields.validate(c.Type)
}

// other returns a type whose fields are set although the memory is of type than, or "" if
// there is none.
func (f *Fields) other(than Type) Type {
	for t, set := range map[Type]bool{
		Core: f.Core != nil, Episodic: f.Episodic != nil, Semantic: f.Semantic != nil,
		Procedural: f.Procedural != nil, Resource: f.Resource != nil, Vault: f.Vault != nil,
	} {
		if set && t != than {
			return t
		}
	}
	return ""
}

// Of reports whether a memory of that type may have these fields.
func (f *Fields) Of(t Type) bool { return f.other(t) == "" && f.validate(t) == nil }

func (f *Fields) validate(t Type) error {
	switch t {
	case Core:
		return f.Core.validate()
	case Episodic:
		return f.Episodic.validate()
	case Semantic:
		return f.Semantic.validate()
	case Procedural:
		return f.Procedural.validate()
	case Resource:
		return f.Resource.validate()
	default:
		return f.Vault.validate()
	}
}

// wrong returns the error for a field that breaks a rule of its type.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf("%w: fields.%s: %s", ErrInvalid, field, fmt.Sprintf(format, args...))
}

// names checks that each of a type's short fields is a valid name.
func names(of Type, fields ...[2]string) error {
	for _, f := range fields {
		if err := checkText("fields."+string(of)+"."+f[0], f[1], MaxName); err != nil {
			return err
		}
	}
	return nil
}

// Validate reports the first rule that a breaks.
func (a *Assertion) Validate() error {
	if a.Dot.Seq == 0 {
		return fmt.Errorf("%w: dot.seq: starts at 1", ErrInvalid)
	}
	if a.Memory.IsZero() || a.Space.IsZero() {
		return fmt.Errorf("%w: memory and space are needed", ErrInvalid)
	}
	if a.Rank < RankCloud || a.Rank > RankPerson {
		return fmt.Errorf("%w: rank: %d", ErrInvalid, a.Rank)
	}
	if !a.Into.IsZero() && (a.Act != ActArchive || a.Into == a.Memory) {
		return fmt.Errorf("%w: into: is for archive, and names another memory", ErrInvalid)
	}
	switch a.Act {
	case ActPropose:
		if a.Candidate == nil {
			return fmt.Errorf("%w: propose: candidate is needed", ErrInvalid)
		}
		return a.Candidate.Validate()
	case ActCorrect, ActClose:
		if a.Patch == nil || a.Act == ActClose && a.Patch.Validity == nil {
			return fmt.Errorf("%w: %s: patch is needed", ErrInvalid, a.Act)
		}
		if v := a.Patch.Validity; v != nil {
			return cmp.Or(checkYear("validity.from", v.From), checkYear("validity.to", v.To))
		}
	case ActErase:
		if a.Rank != RankPerson {
			return fmt.Errorf("%w: erase: only a person may do this", ErrInvalid)
		}
	case ActWithdraw:
		if len(a.Seen) == 0 {
			return fmt.Errorf("%w: withdraw: seen: names nothing", ErrInvalid)
		}
	case ActReinforce, ActPin, ActUnpin, ActArchive, ActRestore, ActTag, ActUntag:
	default:
		return fmt.Errorf("%w: act: %q is not known", ErrInvalid, a.Act)
	}
	return nil
}
