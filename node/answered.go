package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// Relations by which a worker ties what it made to what it made it of.
const (
	transcriptOf = "transcript_of"
	printOf      = "print_of"
)

// answered looks at what workers have said. Each has scanned its answers for
// secrets; the node does not take its word for it, and erases one that holds
// one after all. A recording that now has its transcript waits no longer. The
// caller holds writing.
func (o *opened) answered(ctx context.Context, touched []store.Document) error {
	ctx = context.WithoutCancel(ctx)
	var unsafe []memory.Memory
	var heard []transcribed
	var news []memory.Memory
	var lines []memory.Utterance
	err := o.store.View(ctx, func(tx *store.Tx) error {
		for _, d := range touched {
			if d.Gone {
				continue
			}
			if d.Kind == store.UtteranceDocument {
				u, err := tx.Utterance(d.ID)
				if err == nil {
					lines = append(lines, *u)
				} else if !errors.Is(err, memory.ErrNotFound) {
					return err
				}
				continue
			}
			m, err := tx.Memory(d.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.Rank == memory.RankCloud && m.State != memory.Erased {
				news = append(news, *m)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range news {
		found, err := o.extract.HoldsSecret(ctx, saidIn(&m))
		if err != nil {
			return err
		}
		if found {
			unsafe = append(unsafe, m)
			continue
		}
		if m.Type != memory.Resource || m.Fields.Resource == nil || strings.TrimSpace(m.Fields.Resource.Content) == "" {
			continue
		}
		for _, l := range m.Links {
			if id, err := memory.ParseID(l.To); err == nil && (l.Relation == transcriptOf || l.Relation == printOf) {
				heard = append(heard, transcribed{id, m.Evidence})
			}
		}
	}
	var said []memory.ID
	for _, u := range lines {
		found, err := o.extract.HoldsSecret(ctx, u.Text)
		if err != nil {
			return err
		}
		if found {
			said = append(said, u.ID)
		}
	}
	if err := o.refuseSecrets(ctx, unsafe, said); err != nil {
		return err
	}
	return o.waitNoLonger(ctx, heard)
}

// transcribed is a recording of which a worker says that it has the words.
type transcribed struct {
	id    memory.ID
	cites []memory.Evidence
}

// safe leaves out what holds a secret, before any of it is written.
func (o *opened) safe(ctx context.Context, as []memory.Assertion, us []memory.Utterance) (_ []memory.Assertion, _ []memory.Utterance, err error) {
	unsafe := func(text string) bool {
		found, e := o.extract.HoldsSecret(ctx, text)
		err = errors.Join(err, e)
		return found
	}
	as = slices.DeleteFunc(slices.Clone(as), func(a memory.Assertion) bool {
		text := a.Reason
		if a.Candidate != nil {
			text += "\n" + saidIn(&memory.Memory{Candidate: *a.Candidate})
		}
		if p := a.Patch; p != nil {
			if p.Text != nil {
				text += "\n" + *p.Text
			}
			if p.Value != nil {
				text += "\n" + *p.Value
			}
			if p.Fields != nil {
				text += "\n" + saidIn(&memory.Memory{Candidate: memory.Candidate{Fields: *p.Fields}})
			}
		}
		for _, e := range a.Evidence {
			text += "\n" + e.Excerpt
		}
		return unsafe(text)
	})
	us = slices.DeleteFunc(slices.Clone(us), func(u memory.Utterance) bool { return unsafe(u.Text) })
	return as, us, err
}

// saidIn is every text of a memory that somebody else wrote.
func saidIn(m *memory.Memory) string {
	s := append([]string{m.Text}, m.Tags...)
	if m.Slot != nil {
		s = append(s, m.Slot.Subject, m.Slot.Attribute, m.Slot.Value)
	}
	for _, e := range m.Entities {
		s = append(s, e.Name)
	}
	for _, e := range m.Evidence {
		s = append(s, e.Excerpt)
	}
	for _, v := range m.Metadata {
		s = append(s, v)
	}
	if f := m.Fields.Resource; f != nil {
		s = append(s, f.Title, f.Content)
	}
	if f := m.Fields.Episodic; f != nil {
		s = append(s, f.Details, f.Actor, f.Place)
	}
	if f := m.Fields.Semantic; f != nil {
		s = append(s, f.Name, f.Details, f.Subject, f.Predicate, f.Object)
	}
	if f := m.Fields.Procedural; f != nil {
		s = append(append(s, f.Description), f.Steps...)
	}
	return strings.Join(s, "\n")
}

// refuseSecrets forgets answers that hold a secret, as thoroughly as anything
// is forgotten, and says so.
func (o *opened) refuseSecrets(ctx context.Context, unsafe []memory.Memory, said []memory.ID) error {
	if len(unsafe)+len(said) == 0 {
		return nil
	}
	ids := make([]memory.ID, len(unsafe))
	for i := range unsafe {
		ids[i] = unsafe[i].ID
	}
	if err := o.erase(ctx, ids); err != nil {
		return err
	}
	if err := o.drop(ctx, said, nil); err != nil {
		return err
	}
	if err := o.flushLocked(ctx); err != nil {
		return err
	}
	if err := o.store.Compact(ctx); err != nil {
		return err
	}
	return o.store.Update(ctx, func(tx *store.Tx) error {
		for _, m := range unsafe {
			r := memory.Refusal{At: time.Now().UTC(), Plugin: m.Source.Plugin, Kind: "secret", Reason: "a worker's answer held a secret, and was erased"}
			if len(m.Evidence) > 0 {
				r.Event = m.Evidence[0].Event
			}
			if err := tx.Refuse(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// waitNoLonger takes the mark of waiting off recordings and photos.
func (o *opened) waitNoLonger(ctx context.Context, heard []transcribed) error {
	if len(heard) == 0 {
		return nil
	}
	_, err := o.commit(ctx, func(tx *store.Tx) error {
		for _, h := range heard {
			id := h.id
			m, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.State != memory.Active || !slices.Contains(m.Tags, extract.WaitingTag) || !citesOne(h.cites, m.Evidence) {
				continue
			}
			known, err := tx.Assertions(id)
			if err != nil {
				return err
			}
			text := strings.TrimSuffix(m.Text, extract.WaitingText)
			for _, a := range []memory.Assertion{
				{Act: memory.ActUntag, Tags: []string{extract.WaitingTag}},
				{Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}},
			} {
				if a.Dot, err = tx.NextDot(o.ring.Member()); err != nil {
					return err
				}
				a.Memory, a.Clock, a.Rank, a.Space = id, o.clock.Tick(), memory.RankDevice, o.ring.Space()
				a.Source, a.Reason = memory.Source{Plugin: "node"}, "it has been transcribed"
				a.Seen = reconcile.Overrules(known, &a)
				if _, err := tx.Assert(a); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// citesOne reports whether two lists of evidence have an event in common.
func citesOne(a, b []memory.Evidence) bool {
	return slices.ContainsFunc(a, func(x memory.Evidence) bool {
		return slices.ContainsFunc(b, func(y memory.Evidence) bool { return x.Event == y.Event && !x.Event.IsZero() })
	})
}
