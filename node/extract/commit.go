package extract

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// nearest is how many known memories a candidate is compared with.
const nearest = 8

// commit writes what an event makes in one transaction, and then brings the index
// up to date. What is to be erased is erased before that, in as many transactions
// as needed: after a crash the event comes again.
func (x *Extractor) commit(ctx context.Context, w *engine.Writer, p *pending) ([]memory.Change, error) {
	p.unsaid()
	known := make([]memory.ID, len(p.proposals))
	for i := range p.proposals {
		id, err := x.alike(ctx, &p.proposals[i].cand)
		if err != nil {
			return nil, err
		}
		known[i] = id
	}
	quarantined := make([]store.Blob, len(p.quarantined))
	for i := range p.quarantined { // the quarantine's record is cut short; the blob has everything
		b, err := x.store.WriteBlob(ctx, bytes.NewReader(p.quarantined[i].Data))
		if err != nil {
			return nil, err
		}
		quarantined[i] = b
		p.quarantined[i].Blob = b.ID
		p.quarantined[i].Reason += "; kept whole as blob " + b.ID.String()
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
	erased, err := x.eraseEarlier(ctx, w, p)
	if err != nil {
		return nil, err
	}
	var changes []memory.Change
	later := false
	err = w.Commit(ctx, func(tx *store.Tx) error {
		changes = append(changes[:0], erased...)
		if p.also != nil {
			if err := p.also(tx); err != nil {
				return err
			}
		}
		if err := redactEarlier(tx, p); err != nil {
			return err
		}
		for _, u := range p.utterances {
			if clean, ok := p.earlier[u.ID]; ok { // a later text of the same event showed that this one holds a secret
				u.Text = clean
				u.Redacted++
			}
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
		for i, m := range p.quarantined {
			if err := tx.KeepBlob(quarantined[i], p.quarantineOwner); err != nil {
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
		if p.quarantineSeq > 0 {
			if err := tx.DropQuarantined(p.quarantineSeq); err != nil {
				return err
			}
		}
		if !p.past {
			if err := x.savePresent(tx); err != nil {
				return err
			}
		}
		if x.cfg.Voices != nil {
			if err := x.cfg.Voices.Save(tx); err != nil {
				return err
			}
		}
		if err := p.saveOwed(tx); err != nil {
			return err
		}
		if err := p.saveTrace(tx, changes, known); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !p.past {
		x.states.saved()
	}
	if x.cfg.Voices != nil {
		x.cfg.Voices.Saved()
	}
	for _, f := range p.after {
		f()
	}
	if later {
		x.cfg.Later()
	}
	if x.cfg.Heard != nil {
		x.cfg.Heard(&p.event, slices.Concat(p.utterances, p.doubled))
	}
	return changes, nil
}

// savePresent writes the plugins' states and the session.
func (x *Extractor) savePresent(tx *store.Tx) error {
	if err := tx.PutMeta(sessionMeta, x.session.saved); err != nil {
		return err
	}
	return x.states.save(tx)
}

// assert says what one proposal says: more evidence for a memory like it, or a new
// memory.
func (x *Extractor) assert(tx *store.Tx, p *pending, pr *proposal, known memory.ID) ([]memory.Change, error) {
	a := memory.Assertion{Memory: pr.id, Act: memory.ActPropose, Candidate: &pr.cand, Source: pr.cand.Source}
	if !known.IsZero() && known != pr.id {
		a.Memory, a.Act, a.Candidate, a.Evidence = known, memory.ActReinforce, nil, pr.cand.Evidence
	}
	rank := memory.RankDevice
	if a.Source.App() != "" && pr.cand.Type != memory.Vault { // a secret belongs to the wearer, whoever brought it
		rank = memory.RankCloud
	}
	return x.engine.Say(tx, rank, a)
}

// alike finds a memory that says the same.
func (x *Extractor) alike(ctx context.Context, c *memory.Candidate) (memory.ID, error) {
	if c.Slot != nil || c.Type == memory.Resource || c.Type == memory.Vault {
		return memory.ID{}, nil
	}
	res, err := x.engine.Search(ctx, recall.Query{Text: c.Text, K: nearest, Kinds: []recall.Kind{recall.Memory}, Types: []memory.Type{c.Type}, Now: x.engine.Clock().Tick().Time()})
	if err != nil {
		return memory.ID{}, err
	}
	var best memory.ID
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for _, h := range res.Hits {
			m, err := tx.Memory(h.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if best.IsZero() && m.State == memory.Active && m.Owner == c.Owner && reconcile.Same(c, m) {
				best = m.ID
			}
		}
		return nil
	})
	return best, err
}

// redactEarlier takes a secret that was recognised only now out of utterances that
// were written before.
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

// eraseEarlier erases memories that repeat a secret that was recognised only now.
func (x *Extractor) eraseEarlier(ctx context.Context, w *engine.Writer, p *pending) (changes []memory.Change, err error) {
	if len(p.earlier) == 0 {
		return nil, nil
	}
	var gone []memory.ID
	err = x.engine.View(ctx, func(tx *store.Tx) error {
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
	return w.Erase(ctx, memory.Source{Plugin: secretsPlugin}, "it held a part of a secret", gone...) // with an error, some are erased
}

// holds reports whether a memory repeats a text that was taken out.
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
