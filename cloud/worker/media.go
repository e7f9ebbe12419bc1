package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/cloud/worker/engine"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/sight"
	"github.com/locket-dev/locket/cloud/worker/speech"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
)

// metaOrientation is the metadata field in which the node keeps how many
// quarter turns put a photo upright.
const metaOrientation = "orientation"

// mediaVersion is of how sound and pictures are worked on. With another one all
// that is there is worked on again.
const mediaVersion = "1"

// mediaTrades are those of sound and pictures.
func (w *Worker) mediaTrades() []trade {
	list := []trade{{kind: queue.Transcribe}, {kind: queue.Read}}
	if w.set.speech != nil {
		list[0].engine = w.set.speech.Name()
	}
	if w.set.reader != nil {
		list[1].engine = w.set.reader.Name()
	}
	list[0].to = w.set.speechTo
	if w.set.caption != nil { // optional: without it, nothing waits for it
		list = append(list, trade{kind: queue.Caption, engine: w.set.caption.Name(), to: host(w.c.Engines.VisionURL)})
	}
	for i := range list {
		t := &list[i]
		t.need = w.set.need(t.kind)
		t.tasks = func(ctx context.Context, s *space) ([]queue.Task, error) { return mediaTasks(ctx, s, t.kind) }
		t.do = func(ctx context.Context, s *space, r *queue.Running) error { return w.work(ctx, s, t.engine, r) }
	}
	return list
}

// urgency: who has spoken waits for the words, and nobody for a caption.
var urgency = map[queue.Kind]queue.Priority{queue.Transcribe: queue.First, queue.Read: queue.Soon, queue.Caption: queue.Later}

// mediaTasks gives the sources of one kind of work.
func mediaTasks(ctx context.Context, s *space, kind queue.Kind) (out []queue.Task, err error) {
	sources, err := s.sources(ctx)
	for i := range sources {
		if slices.Contains(workOn(&sources[i]), kind) {
			out = append(out, queue.Task{Space: s.joined.Space, Kind: kind, Subject: sources[i].ID.String(), Version: mediaVersion, Priority: urgency[kind]})
		}
	}
	return out, err
}

// work does a job, and proposes what came of it.
func (w *Worker) work(ctx context.Context, s *space, by string, r *queue.Running) error {
	id, err := memory.ParseID(r.Subject)
	if err != nil {
		return err
	}
	src, err := s.source(ctx, id)
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
	a, err := w.extract(ctx, s, r, by, src, media)
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
		s.log.Info("secrets were taken out of an answer", "memory", src.ID, "kind", r.Kind, "count", a.redacted)
	}
	var lines []memory.Utterance
	if r.Kind == queue.Transcribe && g.Transcribe {
		if lines, err = w.heard(ctx, s, src, &a, before); err != nil {
			return err
		}
	}
	return s.propose(ctx, src, a, lines)
}

// extract has an engine work on a source.
func (w *Worker) extract(ctx context.Context, s *space, r *queue.Running, by string, src *memory.Memory, media []byte) (answer, error) {
	a := answer{kind: r.Kind, engine: by, confidence: -1, more: memory.Metadata{}}
	switch r.Kind {
	case queue.Transcribe:
		names, err := s.names(ctx)
		if err != nil {
			return a, err
		}
		t, err := w.set.speech.Transcribe(ctx, media, speech.Hints{Lang: src.Lang, Names: names})
		if err != nil {
			return a, err
		}
		a.text, a.lang, a.confidence, a.segments = t.Turns(), t.Lang, t.Confidence(), t.Segments
		if times := segments(&t); times != "" {
			a.more[metaSegments] = times
		}
		return a, nil
	case queue.Read:
		x := sight.ReadExif(media)
		turn, err := strconv.Atoi(src.Metadata[metaOrientation])
		if err != nil { // the node didn't say
			turn = x.Turn
		}
		p, err := w.set.reader.Read(ctx, media, sight.Hints{Turn: turn})
		if err != nil {
			return a, err
		}
		a.text, a.confidence, a.more = p.Text(), p.Confidence(), taken(&x)
		a.more[metaLayout] = p.Layout(maxMeta)
		return a, nil
	case queue.Caption:
		if err := r.Afford(ctx); err != nil {
			return a, err
		}
		text, used, err := w.set.caption.Caption(ctx, media)
		took := queue.Cost{Tokens: int64(used.Prompt + used.Completion),
			MicroUSD: int64(w.c.Prices.Of(w.c.Engines.VisionModel, llm.Usage{Prompt: used.Prompt, Completion: used.Completion}))}
		if err := errors.Join(err, r.Book(context.WithoutCancel(ctx), took)); err != nil {
			return a, err
		}
		x := sight.ReadExif(media)
		a.text, a.more = text, taken(&x)
		a.more[metaPrompt], a.more[metaTokens] = sight.CaptionPrompt, strconv.FormatInt(took.Tokens, 10)
		if took.MicroUSD > 0 {
			a.more[metaMicroUSD] = strconv.FormatInt(took.MicroUSD, 10)
		}
		return a, nil
	}
	return a, engine.Faultf(string(r.Kind), engine.Missing, "this worker doesn't know such work")
}
