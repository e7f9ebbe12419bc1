package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// nearest is how many known memories a candidate is compared with.
const nearest = 8

// commit writes what one event makes, in one transaction, and then brings the
// index up to date. What is to be erased is erased before, in as many as it takes:
// who is interrupted is given the event again.
func (x *Extractor) commit(ctx context.Context, p *pending) ([]memory.Change, error) {
	known := make([]memory.ID, len(p.proposals))
	for i := range p.proposals {
		id, err := x.alike(ctx, &p.proposals[i].cand)
		if err != nil {
			return nil, err
		}
		known[i] = id
	}
	asides := make([]store.Blob, len(p.asides))
	for i := range p.asides { // the record is cut; the whole of it is in a blob
		b, err := x.store.WriteBlob(ctx, bytes.NewReader(p.asides[i].Data))
		if err != nil {
			return nil, err
		}
		asides[i] = b
		p.asides[i].Blob = b.ID
		p.asides[i].Reason += "; kept whole as blob " + b.ID.String()
	}
	kept := make([]store.Blob, len(p.proposals))
	for i := range p.proposals {
		pr := &p.proposals[i]
		if pr.data == nil {
			continue
		}
		b, err := x.store.WriteBlob(ctx, bytes.NewReader(pr.data))
		if err != nil {
			return nil, err
		}
		pr.cand.Fields.Resource.Blob, kept[i] = b.ID.String(), b
	}
	erased, err := x.eraseEarlier(ctx, p)
	if err != nil {
		return nil, err
	}
	var changes []memory.Change
	var touched []store.Document
	later := false
	err = x.store.Update(ctx, func(tx *store.Tx) error {
		changes = append(changes[:0], erased...)
		if err := redactEarlier(tx, p); err != nil {
			return err
		}
		for _, u := range p.utterances {
			if err := tx.PutUtterance(&u); err != nil {
				return err
			}
			if x.cfg.Later != nil && p.worthLater(&u) {
				later = true
				if err := tx.PutTask(store.Task{Utterance: u.ID, At: u.At, Session: u.Session}); err != nil {
					return err
				}
			}
		}
		for i := range p.proposals {
			if p.proposals[i].data != nil {
				if err := tx.KeepBlob(kept[i], p.proposals[i].id); err != nil {
					return err
				}
			}
			got, err := x.assert(tx, p, &p.proposals[i], known[i])
			if err != nil {
				return err
			}
			changes = append(changes, got...)
		}
		for _, r := range p.refusals {
			if err := tx.Refuse(r); err != nil {
				return err
			}
		}
		if err := tx.Took(len(p.proposals)); err != nil {
			return err
		}
		for i, m := range p.asides {
			if err := tx.KeepBlob(asides[i], p.asideOwner); err != nil {
				return err
			}
			if err := tx.Quarantine(m); err != nil {
				return err
			}
		}
		done := p.covers
		if !p.open {
			done = append(done, p.event.ID)
		}
		for _, id := range done {
			if err := tx.MarkEvent(id, "done"); err != nil {
				return err
			}
		}
		if p.aside > 0 {
			if err := tx.DropMalformed(p.aside); err != nil {
				return err
			}
		}
		if !p.past {
			if err := x.savePresent(tx); err != nil {
				return err
			}
		}
		if err := p.saveOwed(tx); err != nil {
			return err
		}
		if err := p.saveTrace(tx, changes, known); err != nil {
			return err
		}
		touched = slices.Clone(tx.Touched())
		return nil
	})
	if err != nil {
		return nil, err
	}
	x.states.saved()
	for _, f := range p.after {
		f()
	}
	if later {
		x.cfg.Later()
	}
	return changes, Index(ctx, x.store, x.index, touched)
}

// savePresent keeps what is remembered from one event to the next.
func (x *Extractor) savePresent(tx *store.Tx) error {
	if err := tx.PutMeta(sessionMeta, x.session.saved); err != nil {
		return err
	}
	return x.states.save(tx)
}

// assert says what one proposal says: more evidence for a memory that is
// alike, or a memory of its own.
func (x *Extractor) assert(tx *store.Tx, p *pending, pr *proposal, known memory.ID) ([]memory.Change, error) {
	dot, err := tx.NextDot(x.cfg.Member)
	if err != nil {
		return nil, err
	}
	a := memory.Assertion{Dot: dot, Clock: x.clock.Tick(), Rank: memory.RankDevice, Space: x.cfg.Space, Memory: pr.id,
		Act: memory.ActPropose, Candidate: &pr.cand, Source: pr.cand.Source}
	if !known.IsZero() && known != pr.id {
		a.Memory, a.Act, a.Candidate, a.Evidence = known, memory.ActReinforce, nil, pr.cand.Evidence
	}
	if a.Act == memory.ActPropose {
		group, err := tx.GroupAssertions(pr.cand.Group())
		if err != nil {
			return nil, err
		}
		a.Seen = reconcile.Knew(group, &a)
	}
	return tx.Assert(a)
}

// alike finds a memory that says the same.
func (x *Extractor) alike(ctx context.Context, c *memory.Candidate) (memory.ID, error) {
	if c.Slot != nil || c.Type == memory.Resource || c.Type == memory.Vault {
		return memory.ID{}, nil
	}
	res, err := x.index.Search(ctx, recall.Query{Text: c.Text, K: nearest, Kinds: []recall.Kind{recall.Memory}, Types: []memory.Type{c.Type}, Now: x.clock.Tick().Time()})
	if err != nil {
		return memory.ID{}, err
	}
	var best memory.ID
	err = x.store.View(ctx, func(tx *store.Tx) error {
		for _, h := range res.Hits {
			m, err := tx.Memory(h.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if best.IsZero() && m.State == memory.Active && reconcile.Same(c, m) {
				best = m.ID
			}
		}
		return nil
	})
	return best, err
}

// redactEarlier takes a secret that became one only now out of the texts of
// utterances that were written before.
func redactEarlier(tx *store.Tx, p *pending) error {
	for id, clean := range p.earlier {
		u, err := tx.Utterance(id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		u.Text = clean
		u.Redacted++
		if err := tx.PutUtterance(u); err != nil {
			return err
		}
	}
	return nil
}

// eraseEarlier erases the memories that repeat a secret that became one only now.
func (x *Extractor) eraseEarlier(ctx context.Context, p *pending) (changes []memory.Change, err error) {
	if len(p.earlier) == 0 {
		return nil, nil
	}
	var gone []memory.ID
	err = x.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			quotes := slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { _, ok := p.earlier[e.Utterance]; return ok })
			if quotes && m.Type != memory.Vault && holds(m, p.scrub) {
				gone = append(gone, m.ID)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	var said []memory.Change // by the transaction that goes on
	var touched []store.Document
	err = store.Divided(gone, func(fn func(*store.Tx) error) error {
		var docs []store.Document
		said = nil
		err := x.store.Update(ctx, func(tx *store.Tx) error {
			err := fn(tx)
			docs = slices.Clone(tx.Touched())
			return err
		})
		if err == nil {
			changes, touched = append(changes, said...), append(touched, docs...)
		}
		return err
	}, func(tx *store.Tx, ids []memory.ID) (err error) {
		said, err = x.erase(tx, ids)
		return err
	})
	return changes, errors.Join(err, Index(ctx, x.store, x.index, touched)) // also where some are erased only
}

// erase says, in the wearer's name, that memories are to be forgotten because
// they hold a part of a secret, and forgets them.
func (x *Extractor) erase(tx *store.Tx, ids []memory.ID) ([]memory.Change, error) {
	var out []memory.Change
	for _, id := range ids {
		dot, err := tx.NextDot(x.cfg.Member)
		if err != nil {
			return nil, err
		}
		got, err := tx.Assert(memory.Assertion{Dot: dot, Clock: x.clock.Tick(), Rank: memory.RankPerson, Space: x.cfg.Space, Memory: id,
			Act: memory.ActErase, Source: memory.Source{Plugin: "secrets"}, Reason: "it held a part of a secret"})
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, tx.Erase(store.Targets{Memories: ids})
}

// holds reports whether a memory repeats any of what was taken out.
func holds(m *memory.Memory, taken []string) bool {
	texts := []string{m.Text}
	for _, e := range m.Evidence {
		texts = append(texts, e.Excerpt)
	}
	if m.Fields.Procedural != nil {
		texts = append(texts, m.Fields.Procedural.Steps...)
	}
	for _, t := range texts {
		n := memory.Normal(t)
		for _, s := range taken {
			if s = memory.Normal(s); s != "" && strings.Contains(n, s) {
				return true
			}
		}
	}
	return false
}

// Index brings an index up to date with documents that changed. What was
// committed is indexed whoever has hung up meanwhile, so it does not obey the
// end of ctx.
func Index(ctx context.Context, st *store.Store, ix *recall.Index, docs []store.Document) error {
	ctx = context.WithoutCancel(ctx)
	var add []recall.Doc
	var remove []memory.ID
	err := st.View(ctx, func(tx *store.Tx) error {
		for _, d := range docs {
			if d.Same && ix.Has(d.ID) {
				continue
			}
			doc, m, err := document(tx, d)
			switch {
			case err != nil:
				return err
			case doc.ID.IsZero() && d.Kind == store.MemoryDocument:
				remove = append(append(remove, d.ID), chunkIDs(d.ID)...)
			case doc.ID.IsZero():
				remove = append(remove, d.ID)
			case m == nil:
				add = append(add, doc)
			default:
				docs, gone := split(doc, m)
				add, remove = append(add, docs...), append(remove, gone...)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := ix.Remove(remove...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := ix.Add(add...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// document is what the index holds of an utterance or memory, which is then
// given too; one without an id where that is nothing.
func document(tx *store.Tx, d store.Document) (doc recall.Doc, _ *memory.Memory, _ error) {
	if d.Gone {
		return doc, nil, nil
	}
	if d.Kind == store.UtteranceDocument {
		u, err := tx.Utterance(d.ID)
		if errors.Is(err, memory.ErrNotFound) {
			return doc, nil, nil
		}
		if err != nil {
			return doc, nil, err
		}
		return recall.Doc{ID: u.ID, Kind: recall.Utterance, Session: u.Session, At: u.At, Order: u.Event.Seq, Zone: u.Zone,
			Lang: u.Lang, Speaker: u.Speaker, Place: u.Place, Text: u.Text}, nil, nil
	}
	m, err := tx.Memory(d.ID)
	if errors.Is(err, memory.ErrNotFound) {
		return doc, nil, nil
	}
	if err != nil || !Findable(m) {
		return doc, nil, err
	}
	return docOf(tx, m), m, nil
}

// IndexCold has an index that was made anew find a memory that is cold: its
// document is in no log.
func IndexCold(tx *store.Tx, ix *recall.Index, m *memory.Memory) error {
	if !Findable(m) || ix.Has(m.ID) {
		return nil
	}
	docs, _ := split(docOf(tx, m), m)
	if err := ix.Add(docs...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// docOf is what the index holds of a memory.
func docOf(tx *store.Tx, m *memory.Memory) (doc recall.Doc) {
	doc = recall.Doc{ID: m.ID, Kind: recall.Memory, Type: m.Type, At: WhenOf(m), Lang: m.Lang, Text: m.Text, Pinned: m.Pinned, Past: m.State == memory.Superseded}
	if w := asked(m.Slot); w != "" && m.Type != memory.Vault {
		doc.Text += "\n" + w
	}
	for _, e := range m.Entities {
		doc.Entities = append(doc.Entities, e.Name)
	}
	if f := m.Fields.Semantic; f != nil && f.Subject != "" && f.Object != "" {
		doc.Relations = []graph.Relation{{Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, From: m.TrueFrom, To: m.TrueTo}}
	}
	if f := m.Fields.Procedural; f != nil {
		doc.Text += "\n" + strings.Join(f.Steps, "\n")
	}
	if f := m.Fields.Resource; f != nil && f.Content != "" {
		doc.Text += "\n" + f.Content
	}
	if f := m.Fields.Episodic; f != nil {
		doc.Place = f.Place
	}
	if len(m.Evidence) > 0 {
		doc.Source, doc.Speaker = m.Evidence[0].Utterance, m.Evidence[0].Speaker
		if u, err := tx.Utterance(doc.Source); err == nil {
			doc.Session, doc.Zone = u.Session, u.Zone
		}
	}
	return doc
}

// Findable reports whether recall should know a memory: not what is erased or
// archived, what merely repeats or denies another, nor a recording without words.
func Findable(m *memory.Memory) bool {
	switch {
	case m.Negates, m.Repeats, slices.Contains(m.Tags, WaitingTag):
		return false
	}
	return m.State == memory.Active || m.State == memory.Superseded
}

// WhenOf is when the first evidence of a memory is of, or when it was learnt.
func WhenOf(m *memory.Memory) time.Time {
	if len(m.Evidence) > 0 && !m.Evidence[0].At.IsZero() {
		return m.Evidence[0].At
	}
	return m.Learnt
}
