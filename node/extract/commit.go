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

// commit writes the results of an event in one transaction, and then updates the index.
// Memories that have to be erased are erased before that, in as many transactions as needed:
// after a crash the event comes again.
func (x *Extractor) commit(ctx context.Context, w *engine.Writer, p *pending) ([]memory.Change, error) {
	p.dropLeaking()
	c, err := x.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	erased, err := x.eraseEarlier(ctx, w, p)
	if err != nil {
		return nil, err
	}
	err = w.Commit(ctx, func(tx *store.Tx) error {
		c.changes, c.later = slices.Clone(erased), false
		return x.write(tx, p, c)
	})
	if err != nil {
		x.stored = nil // it may have been written nevertheless
		return nil, err
	}
	if !p.replayed {
		x.stored = c.session
		x.states.saved()
	}
	if x.cfg.Voices != nil {
		x.cfg.Voices.OnSaved()
	}
	for _, f := range p.after {
		f()
	}
	if c.later {
		x.cfg.OnSecondLook()
	}
	if x.cfg.OnCommitted != nil {
		x.cfg.OnCommitted(&p.event, slices.Concat(p.utterances, p.duplicates))
	}
	return c.changes, nil
}

// committing is what the transaction of one event needs and returns. The slices with an
// index have one item for each proposal, or for each quarantined text, of the event.
type committing struct {
	known       []memory.ID  // by proposal: the memory that says the same; zero: none
	files       []store.Blob // by proposal: the file of its bytes
	quarantined []store.Blob // by quarantined text: the file with all of it

	changes []memory.Change
	session *saved // the session as the store has it after the transaction
	later   bool   // a task for a language model was written
}

// prepare does the part that needs no transaction: it looks for memories that say the same,
// and writes files.
func (x *Extractor) prepare(ctx context.Context, p *pending) (*committing, error) {
	c := &committing{known: make([]memory.ID, len(p.proposals)), files: make([]store.Blob, len(p.proposals)), quarantined: make([]store.Blob, len(p.quarantined))}
	var err error
	for i := range p.proposals {
		if c.known[i], err = x.findSame(ctx, &p.proposals[i].cand); err != nil {
			return nil, err
		}
	}
	for i := range p.quarantined { // the record of a quarantined text is cut short; the blob has everything
		b, err := x.store.WriteBlob(ctx, bytes.NewReader(p.quarantined[i].Data))
		if err != nil {
			return nil, err
		}
		c.quarantined[i] = b
		p.quarantined[i].Blob = b.ID
		p.quarantined[i].Reason += "; kept whole as blob " + b.ID.String()
	}
	for i := range p.proposals {
		pr := &p.proposals[i]
		if pr.data == nil {
			continue
		}
		b, err := x.store.WriteBlob(ctx, bytes.NewReader(pr.data))
		if err != nil {
			return nil, err
		}
		pr.cand.Fields.Resource.Blob, c.files[i] = b.ID.String(), b
	}
	return c, nil
}

// write is the transaction of one event.
func (x *Extractor) write(tx *store.Tx, p *pending, c *committing) error {
	if p.inSameTx != nil {
		if err := p.inSameTx(tx); err != nil {
			return err
		}
	}
	if err := redactEarlier(tx, p); err != nil {
		return err
	}
	if err := x.writeUtterances(tx, p, c); err != nil {
		return err
	}
	for i := range p.proposals {
		if p.proposals[i].data != nil {
			if err := tx.KeepBlob(c.files[i], p.proposals[i].id); err != nil {
				return err
			}
		}
		got, err := x.assert(tx, p, &p.proposals[i], c.known[i])
		if err != nil {
			return err
		}
		c.changes = append(c.changes, got...)
	}
	for _, r := range p.refusals {
		if err := tx.Refuse(r); err != nil {
			return err
		}
	}
	if err := tx.CountAccepted(len(p.proposals)); err != nil {
		return err
	}
	for i, m := range p.quarantined {
		if err := tx.KeepBlob(c.quarantined[i], p.quarantineOwner); err != nil {
			return err
		}
		if err := tx.Quarantine(m); err != nil {
			return err
		}
	}
	if err := p.markDone(tx); err != nil {
		return err
	}
	if !p.replayed {
		if err := x.savePresent(tx, p, c); err != nil {
			return err
		}
	}
	if x.cfg.Voices != nil {
		if err := x.cfg.Voices.Save(tx); err != nil {
			return err
		}
	}
	if err := p.saveDeferred(tx); err != nil {
		return err
	}
	return p.saveTrace(tx, c.changes, c.known)
}

// writeUtterances writes the event's lines, and a task for each line that is worth a second
// look.
func (x *Extractor) writeUtterances(tx *store.Tx, p *pending, c *committing) error {
	for _, u := range p.utterances {
		if clean, ok := p.rewritten[u.ID]; ok { // a later text of the same event showed that this one holds a secret
			u.Text = clean
			u.Redacted++
		}
		if err := tx.PutUtterance(&u); err != nil {
			return err
		}
		if x.cfg.OnSecondLook != nil && p.worthLater(&u) {
			c.later = true
			if err := tx.PutTask(store.Task{Utterance: u.ID, At: u.At, Session: u.Session}); err != nil {
				return err
			}
		}
	}
	return nil
}

// markDone marks the event as done, and those that it completes. If the event comes from the
// quarantine, it is taken out of there.
func (p *pending) markDone(tx *store.Tx) error {
	done := p.covers
	if !p.unfinished {
		done = append(done, p.event.ID)
	}
	for _, id := range done {
		if err := tx.MarkEvent(id, "done"); err != nil {
			return err
		}
	}
	if p.quarantineSeq > 0 {
		return tx.DropQuarantined(p.quarantineSeq)
	}
	return nil
}

// savePresent writes the plugins' states and the session.
func (x *Extractor) savePresent(tx *store.Tx, p *pending, c *committing) (err error) {
	if c.session, err = x.session.save(tx, x.stored, p.utterances); err != nil {
		return err
	}
	return x.states.save(tx)
}

// assertOne asserts one proposal: as more evidence for a memory like it, or as a new memory.
func (x *Extractor) assertOne(tx *store.Tx, pr *proposal, known memory.ID) ([]memory.Change, error) {
	a := memory.Assertion{Memory: pr.id, Act: memory.ActPropose, Candidate: &pr.cand, Source: pr.cand.Source}
	if !known.IsZero() && known != pr.id {
		a.Memory, a.Act, a.Candidate, a.Evidence = known, memory.ActReinforce, nil, pr.cand.Evidence
	}
	rank := memory.RankDevice
	if a.Source.App() != "" && pr.cand.Type != memory.Vault { // a secret belongs to the wearer, whoever brought it
		rank = memory.RankCloud
	}
	return x.engine.AssertTx(tx, rank, a)
}

// findSame finds a memory that says the same as a candidate.
func (x *Extractor) findSame(ctx context.Context, c *memory.Candidate) (memory.ID, error) {
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

// redactEarlier removes a secret that was recognised only now from utterances that were
// written before.
func redactEarlier(tx *store.Tx, p *pending) error {
	for id, clean := range p.rewritten {
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
	if len(p.rewritten) == 0 {
		return nil, nil
	}
	var gone []memory.ID
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			quotes := slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { _, ok := p.rewritten[e.Utterance]; return ok })
			if quotes && m.Type != memory.Vault && holds(m, p.secrets) {
				gone = append(gone, m.ID)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return w.Erase(ctx, memory.Source{Plugin: secretsPlugin}, "it held a part of a secret", gone...) // after an error, some of them are erased
}

// holds reports whether a memory repeats a text that was taken out as a secret.
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
