package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/engine"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/sight"
	"github.com/locket-dev/locket/cloud/worker/speech"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// metaOrientation is the metadata field in which the node keeps how many
// quarter turns put a photo upright.
const metaOrientation = "orientation"

// names gives the engine that does each kind of work.
func (s *set) names() map[queue.Kind]string {
	out := map[queue.Kind]string{}
	if s.speech != nil {
		out[queue.Transcribe] = s.speech.Name()
	}
	if s.reader != nil {
		out[queue.Read] = s.reader.Name()
	}
	if s.caption != nil {
		out[queue.Caption] = s.caption.Name()
	}
	return out
}

// notReady is how soon a job is looked at again whose space has not been synced
// since the start: until then the keys of its epochs are not at hand.
const notReady = time.Second

// do does one job that was taken, and notes how it ended. An error is the
// queue's own, or that of ctx.
func (w *Worker) do(ctx context.Context, j *queue.Job) error {
	name := w.set.names()[j.Kind]
	if name == "" {
		return w.queue.Park(ctx, j, "", w.set.need(j.Kind))
	}
	s := w.space(j.Space)
	if s == nil {
		return w.queue.Drop(ctx, j.Space)
	}
	if !s.ready.Load() {
		return w.queue.Return(ctx, j, notReady)
	}
	err := w.hold(ctx, s, j)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), w.queue.Return(context.WithoutCancel(ctx), j, 0))
	}
	if w.space(j.Space) != s {
		return w.queue.Drop(ctx, j.Space) // it was removed meanwhile
	}
	var f *engine.Fault
	ctx = context.WithoutCancel(ctx) // what was done is noted, whoever stops us now
	switch {
	case err == nil:
		return w.queue.Finish(ctx, j, name)
	case errors.As(err, &f) && f.Temporary():
		w.c.Log.Warn("job: will be tried again", "kind", j.Kind, "memory", j.Memory, "error", err)
		return w.queue.PutOff(ctx, j, name, err.Error(), f.After)
	case errors.As(err, &f) || errors.Is(err, errNotGranted) || errors.Is(err, memory.ErrInvalid) || errors.As(err, new(*abi.Error)):
		w.c.Log.Warn("job: parked", "kind", j.Kind, "memory", j.Memory, "error", err)
		return w.queue.Park(ctx, j, name, err.Error())
	default:
		w.c.Log.Warn("job: will be tried again", "kind", j.Kind, "memory", j.Memory, "error", err)
		return w.queue.PutOff(ctx, j, name, engine.Clip(err.Error()), 0)
	}
}

// hold does a job on a space that can't be closed meanwhile, and cuts it off
// when the worker belongs no more.
func (w *Worker) hold(ctx context.Context, s *space, j *queue.Job) error {
	s.busy.RLock()
	defer s.busy.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.gone, cancel)()
	if err := s.gone.Err(); err != nil {
		return err
	}
	return w.work(ctx, s, j)
}

var errNotGranted = errors.New("the grant doesn't allow it")

// work does a job, and proposes what came of it.
func (w *Worker) work(ctx context.Context, s *space, j *queue.Job) error {
	src, err := s.source(ctx, j.Memory)
	if err != nil || src == nil {
		return err // erased, archived, or transcribed by another: nothing to do
	}
	g, err := s.grant(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Types, memory.Resource) {
		return fmt.Errorf("%w: it has no %s memories", errNotGranted, memory.Resource)
	}
	media, err := s.media(ctx, src)
	if err != nil {
		return err
	}
	if err := s.drop(ctx, src); err != nil {
		return err
	}
	a, err := w.extract(ctx, j.Kind, src, media)
	if err != nil || strings.TrimSpace(a.text) == "" {
		return err // silence, or a photo without print
	}
	before, err := s.before(ctx, startOf(src))
	if err != nil {
		return err
	}
	a.text = cut(a.text, memory.MaxText)
	a.text, a.redacted, err = w.scan.scan(ctx, src.ID.String(), startOf(src), a.text, before)
	if err != nil {
		return err
	}
	if a.redacted > 0 {
		s.log.Info("secrets were taken out of an answer", "memory", src.ID, "kind", j.Kind, "count", a.redacted)
	}
	return s.propose(ctx, src, a)
}

// extract has an engine work on a source.
func (w *Worker) extract(ctx context.Context, kind queue.Kind, src *memory.Memory, media []byte) (answer, error) {
	a := answer{kind: kind, engine: w.set.names()[kind], confidence: -1}
	switch kind {
	case queue.Transcribe:
		t, err := w.set.speech.Transcribe(ctx, media, speech.Hints{Lang: src.Lang})
		a.text, a.lang, a.confidence = t.Text, t.Lang, t.Confidence()
		return a, err
	case queue.Read:
		turn, _ := strconv.Atoi(src.Metadata[metaOrientation]) // none is 0
		p, err := w.set.reader.Read(ctx, media, sight.Hints{Turn: turn})
		a.text, a.confidence = p.Text(), p.Confidence()
		return a, err
	case queue.Caption:
		text, err := w.set.caption.Caption(ctx, media)
		a.text = text
		return a, err
	}
	return a, engine.Faultf(string(kind), engine.Missing, "this worker doesn't know such work")
}
