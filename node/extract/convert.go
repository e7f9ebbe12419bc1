package extract

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// turn is a text that a plugin may quote: that of the event, or an earlier one.
type turn struct {
	event     memory.EventID
	utterance memory.ID
	at        time.Time
	speaker   string
	text      string
	user      string // the other user of an app who said it; empty: the wearer, or somebody around
}

// turnOf returns the turn of an utterance.
func turnOf(u *memory.Utterance) turn {
	return turn{u.Event, u.ID, u.At, u.Speaker, u.Text, memory.OtherUser(u.User)}
}

// convert makes a domain candidate of a plugin's candidate. turns[0] is the event's
// own text, turns[1] the turn before it. The secret of a vault candidate is sealed
// here and passed on no further.
func (x *Extractor) convert(c *abi.Candidate, turns []turn, src memory.Source, lang string) (memory.Candidate, error) {
	out := memory.Candidate{
		Type: memory.Type(c.Type), Text: c.Text, Lang: c.Lang, Owner: memory.Owner{User: x.cfg.Owner},
		Negates: c.Negates, Tags: c.Tags, Source: src, Confidence: c.Confidence,
		TrueFrom: FromMillis(c.TrueFrom), TrueTo: FromMillis(c.TrueTo), Expires: FromMillis(c.Expires),
		Sensitivity: memory.Personal,
	}
	out.Lang = cmp.Or(out.Lang, lang)
	if c.Sensitivity != "" {
		if err := out.Sensitivity.UnmarshalText([]byte(c.Sensitivity)); err != nil {
			return out, err
		}
	}
	if c.Kind != "" && !slices.Contains(out.Tags, c.Kind) {
		out.Tags = append([]string{c.Kind}, out.Tags...)
	}
	// Only Locket decides whether a statement is hearsay.
	out.Tags = slices.DeleteFunc(slices.Clone(out.Tags), func(t string) bool { return t == memory.HearsayTag })
	if c.Slot != nil {
		out.Slot = new(memory.Slot(*c.Slot))
	}
	for _, e := range c.Entities {
		out.Entities = append(out.Entities, memory.Entity{Name: e.Name, Kind: e.Kind})
	}
	for i, s := range c.Spans {
		if i == memory.MaxEvidence {
			break
		}
		e, err := evidence(s, turns)
		if err != nil {
			return out, fmt.Errorf("spans[%d]: %w", i, err)
		}
		out.Evidence = append(out.Evidence, e)
	}
	if len(out.Evidence) == 0 {
		out.Evidence = []memory.Evidence{{Event: turns[0].event, Utterance: turns[0].utterance, At: turns[0].at, Speaker: turns[0].speaker}}
	}
	if err := x.fields(c, &out, x.me(turns[0].user)); err != nil {
		return out, err
	}
	return out, out.Validate()
}

// fields sets the fields of a memory. me is the name of the person who is "I".
func (x *Extractor) fields(c *abi.Candidate, out *memory.Candidate, me string) error {
	switch out.Type {
	case memory.Core:
		block := cmp.Or(c.Block, "human")
		out.Fields.Core = &memory.CoreFields{Block: block, Limit: memory.CoreLimit}
	case memory.Episodic:
		out.Fields.Episodic = &memory.EpisodicFields{EventType: c.EventType, Details: c.Details, Actor: c.Actor, Place: c.Place,
			Started: FromMillis(c.Started), Ended: FromMillis(c.Ended)}
	case memory.Semantic:
		out.Fields.Semantic = &memory.SemanticFields{Name: nameOf(c, me), Details: c.Details, Subject: c.Subject, Predicate: c.Predicate, Object: c.Object}
	case memory.Procedural:
		out.Fields.Procedural = &memory.ProceduralFields{EntryType: cmp.Or(c.EntryType, "guide"), Description: c.Details, Steps: c.Steps}
	case memory.Resource:
		out.Fields.Resource = &memory.ResourceFields{Title: cmp.Or(c.Title, c.Text), MediaType: cmp.Or(c.MediaType, "text/plain")}
	case memory.Vault:
		if c.Secret == "" {
			return fmt.Errorf("%w: secret: empty", memory.ErrInvalid)
		}
		sealed, err := x.keys.SealToVault([]byte(c.Secret))
		if err != nil {
			return fmt.Errorf("seal to the vault: %w", err)
		}
		out.Fields.Vault = &memory.VaultFields{EntryType: cmp.Or(c.EntryType, "password"), Label: cmp.Or(c.Label, c.Text), Sealed: sealed}
		out.Sensitivity = memory.Secret
	}
	return nil
}

// nameOf returns a name for the topic of a fact: its title; or its subject; or, for a
// fact about "me", its object. If the fact has none of these, it is the first
// thing or person that it names.
func nameOf(c *abi.Candidate, me string) string {
	name := c.Title
	switch {
	case name != "":
	case c.Subject != "" && c.Subject != me:
		name = c.Subject
	case c.Object != "":
		name = c.Object
	default:
		for _, e := range c.Entities {
			if e.Name != me {
				name = e.Name
				break
			}
		}
	}
	return memory.Cut(name, memory.MaxName)
}

// evidence makes evidence of a span. It checks the span against the text that it
// quotes.
func evidence(s abi.Span, turns []turn) (memory.Evidence, error) {
	n := -s.Turn
	if n < 0 || n >= len(turns) {
		return memory.Evidence{}, fmt.Errorf("%w: turn %d is not one of %d", memory.ErrInvalid, s.Turn, len(turns))
	}
	t := turns[n]
	if s.Start < 0 || s.End < s.Start || s.End > len(t.text) {
		return memory.Evidence{}, fmt.Errorf("%w: %d to %d of a text of %d bytes", memory.ErrInvalid, s.Start, s.End, len(t.text))
	}
	e := memory.Evidence{Event: t.event, Utterance: t.utterance, At: t.at, Speaker: t.speaker, Start: s.Start, End: s.End}
	e.Excerpt = memory.Cut(t.text[s.Start:s.End], memory.MaxExcerpt)
	return e, nil
}

// FromMillis is the instant of a candidate's time, which is in ms since 1970; 0 is no time.
func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
