// Package sample makes utterances and assertions from a day, in the form that sync carries, using
// only the built-in rules for facts, plans and how-to. It is quick, and needs neither a store nor a
// sandbox. It ignores photos and sound.
package sample

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/facts"
	"github.com/locket-dev/locket/wasm/plugins/howto"
	"github.com/locket-dev/locket/wasm/plugins/plans"
)

// Ops are the operations of a day, in the order in which they arise.
type Ops struct {
	Utterances []memory.Utterance
	Assertions []memory.Assertion
}

// Of returns the utterances and the proposals of a day, said by member in
// space.
func Of(d *day.Day, space memory.SpaceID, member memory.MemberID) (Ops, error) {
	var out Ops
	rules := [...]struct {
		id, version string
		extract     func(*abi.Event, *abi.Output) error
		state       []byte
	}{{"facts", facts.Version, facts.Extract, nil}, {"plans", plans.Version, plans.Extract, nil}, {"howto", howto.Version, howto.Extract, nil}}
	for e := range d.Events() {
		if e.Kind != memory.KindText {
			continue
		}
		u := memory.Utterance{ID: memory.DeriveID(space[:], e.ID, "utterance", ""), Space: space, Event: e.ID, Session: d.Date + "-1",
			At: e.At, Zone: e.Zone, Speaker: e.Speaker, Lang: e.Lang, Text: e.Text, Source: memory.Source{Device: e.ID.Device}}
		out.Utterances = append(out.Utterances, u)
		_, offset := e.At.Zone()
		n := 0 // candidates of this event
		for r := range rules {
			rule := &rules[r]
			src := memory.Source{Device: e.ID.Device, Plugin: rule.id, Version: rule.version}
			var got abi.Output
			in := &abi.Event{ID: e.ID.String(), Kind: "text", At: e.At.UnixMilli(), Zone: e.Zone, Offset: offset, Lang: e.Lang,
				Speaker: e.Speaker, Wearer: d.Wearer, Text: e.Text, State: rule.state}
			if err := rule.extract(in, &got); err != nil {
				return out, fmt.Errorf("sample of %s: %w", e.ID, err)
			}
			rule.state = got.State
			for i := range got.Candidates {
				c := candidate(&got.Candidates[i], &u, d.Wearer, src)
				if c.Validate() != nil {
					continue
				}
				out.Assertions = append(out.Assertions, memory.Assertion{Dot: memory.Dot{Member: member, Seq: uint64(len(out.Assertions) + 1)},
					Clock: memory.Clock{Wall: e.At.UnixMilli() + wait(u.ID, n)}, Rank: memory.RankDevice, Space: space,
					Memory: memory.DeriveID(space[:], e.ID, rule.id, c.Fingerprint()), Act: memory.ActPropose, Candidate: c, Source: src})
				n++
			}
		}
	}
	return out, nil
}

// wait is how many ms after it was said something was extracted: a varying number.
func wait(id memory.ID, i int) int64 {
	h := sha256.Sum256(append(id[:], byte(i)))
	return 20 + int64(h[0])
}

func candidate(c *abi.Candidate, u *memory.Utterance, user string, src memory.Source) *memory.Candidate {
	out := &memory.Candidate{Type: memory.Type(c.Type), Text: c.Text, Lang: c.Lang, Owner: memory.Owner{User: user}, Negates: c.Negates,
		Tags: c.Tags, Source: src, Confidence: c.Confidence, Sensitivity: memory.Personal,
		TrueFrom: millis(c.TrueFrom), TrueTo: millis(c.TrueTo), Expires: millis(c.Expires)}
	if c.Kind != "" {
		out.Tags = append([]string{c.Kind}, out.Tags...)
	}
	if c.Slot != nil {
		s := memory.Slot(*c.Slot)
		out.Slot = &s
	}
	for _, e := range c.Entities {
		out.Entities = append(out.Entities, memory.Entity(e))
	}
	for _, s := range c.Spans {
		if s.Turn != 0 || s.Start < 0 || s.End < s.Start || s.End > len(u.Text) || s.End-s.Start > memory.MaxExcerpt {
			continue
		}
		out.Evidence = append(out.Evidence, memory.Evidence{Event: u.Event, Utterance: u.ID, Speaker: u.Speaker, At: u.At,
			Excerpt: u.Text[s.Start:s.End], Start: s.Start, End: s.End})
	}
	switch out.Type {
	case memory.Core:
		out.Fields.Core = &memory.CoreFields{Block: "human", Limit: 2000}
	case memory.Episodic:
		out.Fields.Episodic = &memory.EpisodicFields{EventType: c.EventType, Details: c.Details, Actor: c.Actor, Place: c.Place,
			Started: millis(c.Started), Ended: millis(c.Ended)}
	case memory.Semantic:
		out.Fields.Semantic = &memory.SemanticFields{Details: c.Details, Subject: c.Subject, Predicate: c.Predicate, Object: c.Object}
	case memory.Procedural:
		out.Fields.Procedural = &memory.ProceduralFields{EntryType: "guide", Description: c.Details, Steps: c.Steps}
	}
	return out
}

func millis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
