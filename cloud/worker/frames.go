package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// framesDue returns the batches of photos to show to a model. It makes new batches
// of photos that are in none: at a pause, or when there are [sight.MaxFrames]
// different ones. It leaves out photos that have a caption or are in a
// sequence.
func (s *space) framesDue(ctx context.Context, now time.Time) ([]batch, error) {
	sources, err := s.sources(ctx)
	if err != nil {
		return nil, err
	}
	var cut []batch
	in := map[memory.ID]bool{}
	err = s.engine.View(ctx, func(tx *store.Tx) (err error) {
		if cut, err = batches(tx, queue.Sequence); err != nil {
			return err
		}
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if err != nil {
				return err
			}
			for _, l := range m.Links {
				if id, err := memory.ParseID(l.To); err == nil && (l.Relation == result.CaptionOf || l.Relation == result.SequenceOf) {
					in[id] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range cut {
		for _, id := range cut[i].Of {
			in[id] = true
		}
	}
	free := slices.DeleteFunc(sources, func(m memory.Memory) bool {
		return in[m.ID] || !slices.Contains(result.WorkOn(&m), queue.Caption)
	})
	slices.SortStableFunc(free, func(a, b memory.Memory) int { return result.StartOf(&a).Compare(result.StartOf(&b)) })
	var fresh []batch
	var shots []result.Shot
	for i := range free {
		shots = append(shots, result.ShotOf(&free[i]))
	}
	for len(free) > 0 {
		n, over := result.Series(shots)
		if n == len(free) && over.After(now) {
			s.dueAt(over) // more frames may come until then
			break
		}
		b := batch{At: result.StartOf(&free[0])}
		h := sha256.New()
		for i := range free[:n] {
			b.Of = append(b.Of, free[i].ID)
			h.Write(free[i].ID[:])
		}
		b.name = hex.EncodeToString(h.Sum(nil)[:16])
		fresh, free, shots = append(fresh, b), free[n:], shots[n:]
	}
	return append(cut, fresh...), s.keepBatches(ctx, queue.Sequence, fresh)
}

// frameTasks returns the tasks of a kind: captions of single photos, or
// sequences.
func (w *Worker) frameTasks(ctx context.Context, s *space, kind queue.Kind) (out []queue.Task, err error) {
	list, err := s.framesDue(ctx, w.now())
	for _, b := range list {
		subject, of := b.name, queue.Sequence
		if len(b.Of) == 1 {
			subject, of = b.Of[0].String(), queue.Caption
		}
		if of == kind {
			out = append(out, queue.Task{Space: s.joined.Space, Kind: kind, Subject: subject, Version: mediaVersion, Priority: urgency[kind]})
		}
	}
	return out, err
}

// sequenceReads returns the photos of a sequence.
func sequenceReads(ctx context.Context, s *space, subject string) (of []memory.ID, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		b, _, err := batchOf(tx, queue.Sequence, subject)
		of = b.Of
		return err
	})
	return of, err
}

// describeSequence asks a model what a sequence shows, in updates of twenty different
// frames. Similar frames are shown once, and all of them are recorded as seen.
func (w *Worker) describeSequence(ctx context.Context, s *space, r *queue.Running) error {
	var b batch
	err := s.engine.View(ctx, func(tx *store.Tx) (err error) {
		b, _, err = batchOf(tx, queue.Sequence, r.Subject)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.grantFor(ctx, memory.Resource); err != nil {
		return err
	}
	before, err := s.alreadyDescribed(ctx, b.Of)
	if err != nil {
		return err
	}
	var series sight.Series
	var all []*memory.Memory // of the next update, including similar ones
	var bad error
	updates := 0
	flush := func() error {
		if series.Waiting() == 0 {
			return nil
		}
		err := w.update(ctx, s, r, fmt.Sprintf("%s %s", b.name, all[0].ID), &series, all)
		all = nil
		updates++
		return err
	}
	for _, id := range b.Of {
		if before[id] {
			continue
		}
		src, err := s.source(ctx, id)
		if err != nil {
			return err
		}
		if src == nil {
			continue // it was forgotten
		}
		f, err := s.frame(ctx, src)
		if err == nil {
			_, err = series.Add(f)
		}
		if errors.As(err, new(*engine.Fault)) || errors.Is(err, memory.ErrInvalid) {
			bad = errors.Join(bad, fmt.Errorf("photo %s: %w", src.ID, err)) // the model sees the others without it
			continue
		}
		if err != nil {
			return err
		}
		if series.Waiting() > sight.MaxFrames {
			if err := flush(); err != nil {
				return err
			}
		}
		all = append(all, src)
	}
	if err := flush(); err != nil || updates > 0 {
		return err
	}
	return bad // no photo could be read
}

// alreadyDescribed returns those photos for which an update was made before an earlier
// run of the job was interrupted. That update was paid for and is not requested
// again.
func (s *space) alreadyDescribed(ctx context.Context, photos []memory.ID) (map[memory.ID]bool, error) {
	out := map[memory.ID]bool{}
	err := s.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if err != nil {
				return err
			}
			for _, l := range m.Links {
				if id, err := memory.ParseID(l.To); err == nil && l.Relation == result.SequenceOf && slices.Contains(photos, id) {
					out[id] = true
				}
			}
		}
		return nil
	})
	return out, err
}

// frame loads a photo. The blob is removed from this disk afterwards.
func (s *space) frame(ctx context.Context, src *memory.Memory) (f sight.Frame, err error) {
	media, err := s.media(ctx, src)
	if err == nil {
		err = s.dropBlob(ctx, src)
	}
	return sight.Frame{At: result.StartOf(src), Photo: media, Hints: result.Hints(src, media)}, err
}

// printLook is how many of the newest resources are compared with a new print.
const printLook = 400

// isPrintRepeated reports whether a nearby photo has the same print by the same
// engine. If so, the earlier memory is confirmed, and the print is not stored
// twice.
func (s *space) isPrintRepeated(ctx context.Context, src *memory.Memory, a *result.Answer) (again bool, err error) {
	ev := result.EvidenceOf(src)
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		again = false
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}, Limit: printLook}) {
			if err != nil {
				return err
			}
			if !result.SamePrint(m, src, a, plugin(queue.Read)) {
				continue
			}
			again = true
			if slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == ev.Event }) {
				return nil
			}
			_, err := s.assertOnce(tx, memory.Assertion{Memory: m.ID, Act: memory.ActReinforce, Evidence: []memory.Evidence{{Event: ev.Event, At: ev.At}}, Source: m.Source, Reason: "the next photo has the same print"}, "")
			return err
		}
		return nil
	})
	if err == nil && again {
		s.notify()
	}
	return again, err
}

// update shows the frames that wait to the model and proposes one memory of them.
func (w *Worker) update(ctx context.Context, s *space, r *queue.Running, name string, series *sight.Series, all []*memory.Memory) error {
	meter := w.seeing(r)
	shown := min(series.Waiting(), sight.MaxFrames)
	seen, err := series.Watch(ctx, meter)
	if err != nil {
		return w.faulty(err)
	}
	a := result.Watched(r.Engine, &seen, len(all)-shown)
	spentOn(a.More, meter, sight.SequencePrompt)
	at := seen.Times[0]
	before, err := s.linesBefore(ctx, at)
	if err != nil {
		return err
	}
	a.Text, a.Redacted, err = w.scan.scan(ctx, name, at, memory.Cut(a.Text, memory.MaxText), before)
	if err != nil {
		return err
	}
	c := result.SeriesCandidate(all, &a, result.By{Plugin: plugin(a.Kind), Version: Version})
	return s.propose(ctx, proposal{event: result.EvidenceOf(all[0]).Event, name: fmt.Sprintf("%s %s by %s", a.Kind, name, a.Engine), candidate: c,
		reason: fmt.Sprintf("made of %d photos by %s", len(all), a.Engine)}, nil)
}
