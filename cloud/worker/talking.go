package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/worker/language"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
)

// languageVersion is the version of how talks are made and asked about.
const languageVersion = "1"

// languageKinds returns the trades that need a language model. Without one, no
// jobs are made for it.
func (w *Worker) languageKinds() []workKind {
	if w.set.model == nil {
		return nil
	}
	name, to := w.set.model.Name(), w.modelTo()
	return []workKind{
		{kind: queue.Language, engine: name, to: to, do: w.distill, reads: talkReads, tasks: func(ctx context.Context, s *space) ([]queue.Task, error) {
			return w.talkTasks(ctx, s, queue.Language, queue.NormalPriority, false)
		}},
		{kind: queue.Summary, engine: name, to: to, do: w.summarise, reads: talkReads, tasks: func(ctx context.Context, s *space) ([]queue.Task, error) {
			return w.talkTasks(ctx, s, queue.Summary, queue.LowPriority, true)
		}},
	}
}

// talkReads returns the lines of a talk, and the earlier lines that are shown
// with them.
func talkReads(ctx context.Context, s *space, subject string) (of []memory.ID, err error) {
	t, ok, err := s.talkOf(ctx, subject)
	if !ok {
		return nil, err
	}
	for _, u := range slices.Concat(t.earlier, t.lines) {
		of = append(of, u.ID)
	}
	return of, err
}

// recordedShown records the memories that a model is about to be shown and that the job
// has not recorded before.
type recordedShown struct {
	note func(...memory.ID) error
	mu   sync.Mutex
	seen map[memory.ID]bool
}

func (w *Worker) newShown(ctx context.Context, s *space, r *queue.Running) *recordedShown {
	return &recordedShown{seen: map[memory.ID]bool{}, note: func(ids ...memory.ID) error { return w.recordRead(ctx, s, r, w.modelTo(), ids...) }}
}

func (n *recordedShown) record(ids ...memory.ID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var fresh []memory.ID
	for _, id := range ids {
		if !n.seen[id] {
			fresh = append(fresh, id)
			n.seen[id] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return n.note(fresh...)
}

// ownerOf is the user id of a space's owner, the same as in the owner's node.
const ownerOf = "wearer"

// pipeline returns the pipeline for a job.
func (w *Worker) pipeline(m cost.Model, types []memory.Type, shelf *language.WordIndex, n *recordedShown) *language.Pipeline {
	return &language.Pipeline{Model: m, Types: types, Owner: ownerOf, Secret: w.secret,
		Near: func(_ context.Context, text string, of memory.Type, k int) ([]memory.Memory, error) {
			near := shelf.Near(text, of, k)
			ids := make([]memory.ID, len(near))
			for i := range near {
				ids[i] = near[i].ID
			}
			return near, n.record(ids...)
		}}
}

// distill finds the memories of a talk and proposes them.
func (w *Worker) distill(ctx context.Context, s *space, r *queue.Running) error {
	t, ok, err := s.talkOf(ctx, r.Subject)
	if err != nil || !ok {
		return err // forgotten, or put into other batches since
	}
	g, err := s.grant(ctx)
	if err != nil {
		return err
	}
	types := sayable(g.Types)
	if len(types) == 0 {
		return errNotGranted
	}
	shelf, name, err := s.wordIndex(ctx, types)
	if err != nil {
		return err
	}
	if w.c.Engines.Language.Wearer != "" {
		name = w.c.Engines.Language.Wearer
	}
	summary, err := s.summary(ctx, t.session)
	if err != nil {
		return err
	}
	meter := w.metered(r)
	b := judge.Batch{Wearer: name, Session: t.session, Summary: summary.textBefore(&t), Messages: messagesOf(t.lines), Earlier: messagesOf(t.earlier)}
	res, err := w.pipeline(meter, types, shelf, w.newShown(ctx, s, r)).Work(ctx, b)
	if len(res.Rulings) > 0 {
		done, perr := s.commitRulings(ctx, &t, res.Rulings, &g, costs(meter))
		err = errors.Join(perr, err)
		s.log.Info("language: asked about a talk", "lines", len(t.lines), "held_back", res.Held(), "managers", len(res.Managers)-1, "proposed", done, "cost", costs(meter))
	}
	return w.faulty(err)
}

// wordIndex returns the memories of some types, from which the near ones are shown
// to a model, and the wearer's name if the space has it.
func (s *space) wordIndex(ctx context.Context, types []memory.Type) (*language.WordIndex, string, error) {
	var shelf language.WordIndex
	name := ""
	err := s.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range s.memories(tx, store.Filter{States: []memory.State{memory.Active}}) {
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if m.Slot != nil && m.Slot.Subject == "user" && m.Slot.Attribute == "name" {
				name = m.Slot.Value
			}
			if m.Sensitivity < memory.Secret && !m.Negates && slices.Contains(types, m.Type) && m.Type != memory.Resource {
				shelf.Add(*m)
			}
		}
		return nil
	})
	return &shelf, name, err
}

// summaryMeta returns the key of a session's summary. Only this worker has it,
// and it is deleted with the space.
func summaryMeta(session string) string { return "worker summary " + session }

// summaryOf is a summary and the lines that it was made from. When one of them
// is removed or changed, the summary is discarded.
type summaryOf struct {
	Text string            `json:"t"`
	Of   map[string][]byte `json:"o"` // SHA-256 of the text, by utterance
	Upto memory.ID         `json:"u"` // the last line
}

// textBefore returns the summary of what was said before a talk. It is empty if the
// summary includes the talk or something later.
func (s *summaryOf) textBefore(t *talk) string {
	for _, u := range t.lines {
		if s.Of[u.ID.String()] != nil {
			return ""
		}
	}
	return s.Text
}

// summary returns a session's summary, unless one of its lines has changed.
func (s *space) summary(ctx context.Context, session string) (sum summaryOf, err error) {
	stands := true
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(summaryMeta(session), &sum); err != nil {
			return err
		}
		stands, err = sum.isCurrent(tx)
		return err
	})
	if err != nil || stands {
		return sum, err
	}
	return summaryOf{}, s.engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(summaryMeta(session)) })
}

func (s *summaryOf) isCurrent(tx *store.Tx) (bool, error) {
	for name, sum := range s.Of {
		id, err := memory.ParseID(name)
		if err != nil {
			return false, err
		}
		u, err := tx.Utterance(id)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if now := sha256.Sum256([]byte(u.Text)); !slices.Equal(now[:], sum) {
			return false, nil
		}
	}
	return true, nil
}

// sweep deletes summaries that are no longer needed: those of ended sessions,
// and those whose lines were forgotten or changed. It also deletes batches that
// nobody asks about any more.
func (s *space) sweep(ctx context.Context, now time.Time) error {
	old := now.Add(-lookBack)
	err := s.dropBatches(ctx, queue.Language, func(_ *store.Tx, b *batch) (bool, error) { return b.At.Before(old), nil })
	if err == nil {
		err = s.dropBatches(ctx, queue.Sequence, func(tx *store.Tx, b *batch) (bool, error) {
			for _, id := range b.Of {
				m, err := tx.Memory(id)
				if err == nil && m.State != memory.Erased {
					return false, nil
				}
				if err != nil && !errors.Is(err, memory.ErrNotFound) {
					return false, err
				}
			}
			return true, nil // none of its photos exists any more
		})
	}
	if err != nil {
		return err
	}
	var gone []string
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		for name, err := range tx.MetaNames(summaryMeta("")) {
			if err != nil {
				return err
			}
			var sum summaryOf
			if _, err := tx.Meta(name, &sum); err != nil {
				return err
			}
			stands, err := sum.isCurrent(tx)
			if err != nil {
				return err
			}
			if stands {
				last, err := tx.Utterance(sum.Upto)
				if err != nil {
					return err
				}
				stands = now.Sub(last.At) < memory.SessionGap
			}
			if !stands {
				gone = append(gone, name)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(gone...) })
}

// summarise extends the summary of a talk's session. Only later talks of the
// session need it, so none is made for a session that is over.
func (w *Worker) summarise(ctx context.Context, s *space, r *queue.Running) error {
	now := w.now()
	t, ok, err := s.talkOf(ctx, r.Subject)
	if err != nil || !ok || now.Sub(t.last) >= memory.SessionGap {
		return err
	}
	sum, err := s.summary(ctx, t.session)
	if err != nil || sum.Of[t.lines[len(t.lines)-1].ID.String()] != nil {
		return err
	}
	text, err := w.pipeline(w.metered(r), nil, nil, nil).Summarise(ctx, sum.Text, messagesOf(t.lines))
	if err != nil || text == "" {
		return w.faulty(err)
	}
	next := summaryOf{Text: text, Of: map[string][]byte{}, Upto: t.lines[len(t.lines)-1].ID}
	maps.Copy(next.Of, sum.Of)
	for _, u := range t.lines {
		h := sha256.Sum256([]byte(u.Text))
		next.Of[u.ID.String()] = h[:]
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error {
		if stands, err := next.isCurrent(tx); err != nil || !stands {
			return err // a line was forgotten while the model worked
		}
		return tx.PutMeta(summaryMeta(t.session), next)
	})
}
