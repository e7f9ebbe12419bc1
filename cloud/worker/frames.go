package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// framePause is the pause that ends a sequence. A sequence also ends with its
// twentieth frame that differs from all others.
const framePause = 5 * time.Minute

// Limits of a sequence: how many frames it has, including similar ones; and how
// many of the 64 bits of their hashes may differ for similar frames. Similar
// hashes count as one frame until the pixels are compared.
const (
	maxLooks  = 3 * sight.MaxFrames
	nearHash  = 2
	maxFramed = 48 << 20 // bytes of the photos that are held at a time
)

// framed returns the batches of photos to show to a model. It makes new batches
// of photos that are in none: at a pause, or when there are [sight.MaxFrames]
// different ones. It leaves out photos that have a caption or are in a
// sequence.
func (s *space) framed(ctx context.Context, now time.Time) ([]batch, error) {
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
	for len(free) > 0 {
		n, full := sequenceOf(free)
		if last := result.StartOf(&free[n-1]); n == len(free) && !full && now.Sub(last) < framePause {
			s.dueAt(last.Add(framePause)) // more frames may come until then
			break
		}
		b := batch{At: result.StartOf(&free[0])}
		h := sha256.New()
		for i := range free[:n] {
			b.Of = append(b.Of, free[i].ID)
			h.Write(free[i].ID[:])
		}
		b.name = hex.EncodeToString(h.Sum(nil)[:16])
		fresh, free = append(fresh, b), free[n:]
	}
	return append(cut, fresh...), s.keepBatches(ctx, queue.Sequence, fresh)
}

// sequenceOf returns how many of the given photos, in order, form the first
// sequence, and whether the sequence is full.
func sequenceOf(ms []memory.Memory) (n int, full bool) {
	var hashes []uint64
	unique := 0
	for i := range ms {
		if i > 0 && result.StartOf(&ms[i]).Sub(result.StartOf(&ms[i-1])) >= framePause {
			return i, true
		}
		h, err := strconv.ParseUint(ms[i].Fields.Resource.Hash, 16, 64)
		known := err == nil && slices.ContainsFunc(hashes, func(o uint64) bool { return bits.OnesCount64(h^o) <= nearHash })
		if !known {
			unique++
		}
		if err == nil {
			hashes = append(hashes, h)
		}
		if unique == sight.MaxFrames || i+1 == maxLooks {
			return i + 1, true
		}
	}
	return len(ms), false
}

// frameTasks returns the tasks of a kind: captions of single photos, or
// sequences.
func (w *Worker) frameTasks(ctx context.Context, s *space, kind queue.Kind) (out []queue.Task, err error) {
	list, err := s.framed(ctx, w.now())
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

// frame is a photo of a sequence, with its memory.
type frame struct {
	sight.Frame
	of *memory.Memory
}

// watch asks a model what a sequence shows, in updates of twenty different
// frames. Similar frames are shown once, and all of them are recorded as seen.
func (w *Worker) watch(ctx context.Context, s *space, r *queue.Running) error {
	var b batch
	err := s.engine.View(ctx, func(tx *store.Tx) (err error) {
		b, _, err = batchOf(tx, queue.Sequence, r.Subject)
		return err
	})
	if err != nil {
		return err
	}
	g, err := s.grant(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Types, memory.Resource) {
		return fmt.Errorf("%w: it has no %s memories", errNotGranted, memory.Resource)
	}
	before, err := s.watched(ctx, b.Of)
	if err != nil {
		return err
	}
	var seen []frame
	var looks []*sight.Look
	var all []*memory.Memory // memories of the next update, including those of similar frames
	var bad error
	held, updates := 0, 0
	flush := func() error {
		if len(seen) == 0 {
			return nil
		}
		err := w.update(ctx, s, r, fmt.Sprintf("%s %s", b.name, all[0].ID), seen, all)
		seen, all, held = nil, nil, 0
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
		if err != nil {
			return err
		}
		look, err := sight.LookOf(f.Photo, f.Hints)
		if fault, ok := errors.AsType[*engine.Fault](err); ok {
			bad = errors.Join(bad, fmt.Errorf("photo %s: %w", src.ID, fault)) // the model sees the others without it
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(looks, look.Alike) {
			all = append(all, src)
			continue
		}
		if len(seen) == sight.MaxFrames || held+len(f.Photo) > maxFramed && len(seen) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		looks, seen, all = append(looks, look), append(seen, f), append(all, src)
		held += len(f.Photo)
	}
	if err := flush(); err != nil || updates > 0 {
		return err
	}
	return bad // no photo could be read
}

// watched returns those photos for which an update was made before an earlier
// run of the job was interrupted. That update was paid for and is not requested
// again.
func (s *space) watched(ctx context.Context, photos []memory.ID) (map[memory.ID]bool, error) {
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
func (s *space) frame(ctx context.Context, src *memory.Memory) (f frame, err error) {
	media, err := s.media(ctx, src)
	if err == nil {
		err = s.drop(ctx, src)
	}
	return frame{sight.Frame{At: result.StartOf(src), Photo: media, Hints: result.Hints(src, media)}, src}, err
}

// printLook is how many of the newest resources are compared with a new print.
const printLook = 400

// printedAgain reports whether a nearby photo has the same print by the same
// engine. If so, the earlier memory is confirmed, and the print is not stored
// twice.
func (s *space) printedAgain(ctx context.Context, src *memory.Memory, a *result.Answer) (again bool, err error) {
	at, ev := result.StartOf(src), result.EvidenceOf(src)
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		again = false
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}, Limit: printLook}) {
			if err != nil {
				return err
			}
			if f := m.Fields.Resource; f == nil || f.Content != a.Text || m.Source.Plugin != plugin(queue.Read) || m.Source.Model != a.Engine || m.Sensitivity < src.Sensitivity || m.TrueFrom.Sub(at).Abs() > framePause {
				continue
			}
			again = true
			if slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == ev.Event }) {
				return nil
			}
			_, err := s.say(tx, memory.Assertion{Memory: m.ID, Act: memory.ActReinforce, Evidence: []memory.Evidence{{Event: ev.Event, At: ev.At}}, Source: m.Source, Reason: "the next photo has the same print"}, "")
			return err
		}
		return nil
	})
	if err == nil && again {
		s.send()
	}
	return again, err
}

// update shows some frames to the model and proposes one memory of them.
func (w *Worker) update(ctx context.Context, s *space, r *queue.Running, name string, frames []frame, all []*memory.Memory) error {
	meter := w.seeing(r)
	var shown []sight.Frame
	for _, f := range frames {
		shown = append(shown, f.Frame)
	}
	seen, err := sight.Watch(ctx, meter, shown)
	if err != nil {
		return w.faulty(err)
	}
	text := seen.Summary
	for i, c := range seen.Captions {
		if c != "" {
			text += "\n" + frames[i].At.UTC().Format(time.TimeOnly) + " " + c
		}
	}
	a := result.Answer{Kind: queue.Sequence, Engine: r.Engine, Confidence: -1, More: memory.Metadata{"frames": strconv.Itoa(len(frames)), "alike": strconv.Itoa(len(all) - len(frames))}}
	spentOn(a.More, meter, sight.SequencePrompt)
	before, err := s.before(ctx, frames[0].At)
	if err != nil {
		return err
	}
	a.Text, a.Redacted, err = w.scan.scan(ctx, name, frames[0].At, result.Cut(text, memory.MaxText), before)
	if err != nil {
		return err
	}
	c := sequenceCandidate(a, all)
	return s.propose(ctx, proposal{event: result.EvidenceOf(all[0]).Event, name: fmt.Sprintf("%s %s by %s", a.Kind, name, a.Engine), candidate: c,
		reason: fmt.Sprintf("made of %d photos by %s", len(all), a.Engine)}, nil)
}

// sequenceCandidate returns the memory of what a sequence shows.
func sequenceCandidate(a result.Answer, all []*memory.Memory) memory.Candidate {
	c := candidate(all[0], &a)
	c.Evidence = nil
	c.Links = nil
	for i, m := range all {
		c.Sensitivity = max(c.Sensitivity, m.Sensitivity)
		c.Links = append(c.Links, memory.Link{Relation: result.SequenceOf, To: m.ID.String()})
		if i < memory.MaxEvidence-1 || i == len(all)-1 { // the first ones and the last
			e := result.EvidenceOf(m)
			c.Evidence = append(c.Evidence, memory.Evidence{Event: e.Event, At: e.At})
		}
		if end := result.StartOf(m); end.After(c.TrueTo) {
			c.TrueTo = end
		}
	}
	c.Fields.Resource.Title = fmt.Sprintf("%d photos, %s", len(all), strings.Join([]string{c.TrueFrom.UTC().Format("2006-01-02 15:04"), c.TrueTo.UTC().Format("15:04")}, " to "))
	return c
}
