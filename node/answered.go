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
	var heard []memory.ID
	var news []memory.Memory
	err := o.store.View(ctx, func(tx *store.Tx) error {
		for _, d := range touched {
			if d.Gone || d.Kind != store.MemoryDocument {
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
		for _, l := range m.Links {
			if id, err := memory.ParseID(l.To); err == nil && (l.Relation == transcriptOf || l.Relation == printOf) {
				heard = append(heard, id)
			}
		}
	}
	if err := o.refuseSecrets(ctx, unsafe); err != nil {
		return err
	}
	return o.waitNoLonger(ctx, heard)
}

// saidIn is every text of a memory that somebody else wrote.
func saidIn(m *memory.Memory) string {
	s := []string{m.Text}
	if f := m.Fields.Resource; f != nil {
		s = append(s, f.Title, f.Content)
	}
	if f := m.Fields.Episodic; f != nil {
		s = append(s, f.Details)
	}
	if f := m.Fields.Semantic; f != nil {
		s = append(s, f.Details, f.Object)
	}
	if f := m.Fields.Procedural; f != nil {
		s = append(append(s, f.Description), f.Steps...)
	}
	return strings.Join(s, "\n")
}

// refuseSecrets forgets answers that hold a secret, and says so.
func (o *opened) refuseSecrets(ctx context.Context, unsafe []memory.Memory) error {
	if len(unsafe) == 0 {
		return nil
	}
	ids := make([]memory.ID, len(unsafe))
	for i := range unsafe {
		ids[i] = unsafe[i].ID
	}
	if err := o.erase(ctx, ids); err != nil {
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
func (o *opened) waitNoLonger(ctx context.Context, ids []memory.ID) error {
	if len(ids) == 0 {
		return nil
	}
	var touched []store.Document
	err := o.store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			m, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.State != memory.Active || !slices.Contains(m.Tags, extract.WaitingTag) {
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
				a.Source, a.Reason = memory.Source{Plugin: "node"}, "a worker has transcribed it"
				a.Seen = reconcile.Overrules(known, &a)
				if _, err := tx.Assert(a); err != nil {
					return err
				}
			}
		}
		touched = slices.Clone(tx.Touched())
		return nil
	})
	if err != nil {
		return err
	}
	return extract.Index(ctx, o.store, o.index, touched)
}
