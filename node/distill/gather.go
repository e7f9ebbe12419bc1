package distill

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
)

// wishesMeta is the record with the owner's instructions.
const wishesMeta = "llm instructions"

// Instructions returns the owner's instructions. They are empty if there are none.
func Instructions(tx *store.Tx) (s string, err error) {
	_, err = tx.Meta(wishesMeta, &s)
	return s, err
}

// SetInstructions stores the instructions, or removes them if they are empty.
func SetInstructions(tx *store.Tx, s string) error {
	if s == "" {
		return tx.DeleteMeta(wishesMeta)
	}
	return tx.PutMeta(wishesMeta, s)
}

// shown has the ids of everything in a batch that came from the records, so that
// an answer can be refused if any of it is gone by then.
type shown struct {
	utterances map[memory.ID]string // with its text
	memories   map[memory.ID]string
}

// gather makes a batch of tasks.
func (w *Worker) gather(ctx context.Context, tasks []store.Task) (*judge.Batch, *shown, error) {
	b := &judge.Batch{Wearer: w.cfg.Wearer, Session: tasks[0].Session}
	ids := &shown{map[memory.ID]string{}, map[memory.ID]string{}}
	waits := map[memory.ID]bool{}
	for _, k := range tasks {
		waits[k.Utterance] = true
	}
	err := w.node.View(ctx, func(tx *store.Tx) (err error) {
		if b.Instructions, err = Instructions(tx); err != nil {
			return err
		}
		s, err := tx.Summary()
		if err != nil {
			return err
		}
		if s.Session == b.Session {
			b.Summary = s.Text
		}
		first := tasks[0].At
		for u, err := range tx.Utterances(first.Add(-memory.SessionGap), tasks[len(tasks)-1].At.Add(time.Millisecond)) {
			if err != nil {
				return err
			}
			switch {
			case u.Session != b.Session:
			case waits[u.ID]:
				b.Messages = append(b.Messages, w.message(u))
				ids.utterances[u.ID] = u.Text
			case len(b.Messages) == 0:
				b.Earlier = append(b.Earlier, w.message(u))
			}
		}
		b.Earlier = b.Earlier[max(0, len(b.Earlier)-maxEarlier):]
		for _, m := range b.Earlier {
			ids.utterances[m.Utterance] = m.Text
		}
		return nil
	})
	if err != nil || len(b.Messages) == 0 {
		return b, ids, err
	}
	if err := w.near(ctx, b); err != nil {
		return nil, nil, err
	}
	for i := range b.Known {
		ids.memories[b.Known[i].ID] = b.Known[i].Text
	}
	return b, ids, nil
}

func (w *Worker) message(u *memory.Utterance) judge.Message {
	return judge.Message{Utterance: u.ID, Event: u.Event, At: u.At, Zone: memory.ZoneOr(u.Zone, w.cfg.Zone), Speaker: u.Speaker, Lang: u.Lang, Text: u.Text}
}

// may reports whether a model may be shown a memory. Memories in the vault and
// core blocks are never shown.
func may(m *memory.Memory) bool {
	return m.State == memory.Active && !m.Negates && m.Sensitivity < memory.Secret &&
		(m.Type == memory.Episodic || m.Type == memory.Semantic || m.Type == memory.Procedural)
}

// near gathers what is known about the messages. It works in rounds, so that each
// message gets its nearest memory before any gets its sixth.
func (w *Worker) near(ctx context.Context, b *judge.Batch) error {
	lists := make([][]memory.ID, len(b.Messages))
	for i, m := range b.Messages {
		found, err := w.node.Near(ctx, m.Text, maxNear)
		if err != nil {
			return err
		}
		lists[i] = found
	}
	var order []memory.ID
	for rank := range maxNear {
		for _, l := range lists {
			if rank < len(l) && !slices.Contains(order, l[rank]) {
				order = append(order, l[rank])
			}
		}
	}
	return w.node.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.MemoriesOf(order) {
			if err != nil {
				return err
			}
			if may(m) && len(b.Known) < maxKnown {
				b.Known = append(b.Known, *m)
			}
		}
		return nil
	})
}

// Settings of the summary.
const (
	summaryEvery = 10 // messages
	maxSummary   = 1200
)

// summarise continues the session's summary once enough was said since. It is only
// an aid: if it fails, the next batch tries again.
func (w *Worker) summarise(ctx context.Context, b *judge.Batch) error {
	var s store.Summary
	var ms []judge.Message
	err := w.node.View(ctx, func(tx *store.Tx) (err error) {
		if s, err = tx.Summary(); err != nil {
			return err
		}
		if s.Session != b.Session {
			s = store.Summary{Session: b.Session}
		}
		s.Since += len(b.Messages)
		if s.Since < summaryEvery {
			return nil
		}
		last := b.Messages[len(b.Messages)-1].At
		for u, err := range tx.Utterances(last.Add(-24*time.Hour), last.Add(time.Millisecond)) {
			if err != nil {
				return err
			}
			if u.Session == b.Session {
				ms = append(ms, w.message(u))
			}
		}
		ms = ms[max(0, len(ms)-s.Since):]
		return nil
	})
	if err != nil {
		return err
	}
	if len(ms) > 0 {
		a, err := w.model.Ask(ctx, summaryRequest(s.Text, ms))
		if _, fault := errors.AsType[*llm.Fault](err); fault {
			w.cfg.Log.Warn("no summary", "error", err)
		} else if err != nil {
			return err
		} else {
			s.Text, s.Of, s.Since = memory.Cut(a.Text, maxSummary), s.Of+len(ms), 0
		}
	}
	return w.node.Commit(ctx, func(tx *store.Tx, secret func(string) (bool, error)) error {
		for _, m := range ms { // one was forgotten or redacted while the model was asked: the summary may repeat what is gone
			u, err := tx.Utterance(m.Utterance)
			if errors.Is(err, memory.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if u.Text != m.Text {
				return nil
			}
		}
		now, err := tx.Summary()
		if err != nil {
			return err
		}
		if len(ms) > 0 && now.Session == s.Session && now.Text == "" && s.Of > len(ms) {
			return nil // the summary that this one continues was removed
		}
		if found, err := secret(s.Text); err != nil || found {
			return err
		}
		return tx.PutSummary(s)
	})
}
