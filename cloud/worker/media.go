package worker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// mediaVersion is the version of the work on sound and pictures. When it
// changes, everything is done again.
const mediaVersion = "1"

// mediaKinds returns the trades for sound and pictures.
func (w *Worker) mediaKinds() []workKind {
	list := []workKind{{kind: queue.Transcribe}, {kind: queue.Read}}
	if w.set.speech != nil {
		list[0].engine = w.set.speech.Name()
	}
	if w.set.reader != nil {
		list[1].engine = w.set.reader.Name()
	}
	list[0].to = w.set.speechTo
	for i := range list {
		t := &list[i]
		t.need = w.set.need(t.kind)
		t.tasks = func(ctx context.Context, s *space) ([]queue.Task, error) { return mediaTasks(ctx, s, t.kind) }
		t.do = func(ctx context.Context, s *space, r *queue.Running) error { return w.work(ctx, s, t.engine, r) }
	}
	return append(list, w.visionKinds()...)
}

// visionKinds returns the trades for a vision model. Without such a model, no
// jobs are made for it.
func (w *Worker) visionKinds() []workKind {
	if w.set.vision == nil {
		return nil
	}
	by, to := sight.Vision(w.c.Engines.VisionModel), host(w.c.Engines.VisionURL)
	tasks := func(kind queue.Kind) func(context.Context, *space) ([]queue.Task, error) {
		return func(ctx context.Context, s *space) ([]queue.Task, error) { return w.frameTasks(ctx, s, kind) }
	}
	return []workKind{
		{kind: queue.Caption, engine: by, to: to, tasks: tasks(queue.Caption), do: func(ctx context.Context, s *space, r *queue.Running) error { return w.work(ctx, s, by, r) }},
		{kind: queue.Sequence, engine: by, to: to, tasks: tasks(queue.Sequence), do: w.describeSequence, reads: sequenceReads},
		{kind: queue.Question, engine: by, to: to, tasks: questionTasks, do: w.reply, reads: questionReads},
	}
}

// urgency: a transcript is urgent, because a person has spoken; a caption is
// not.
var urgency = map[queue.Kind]queue.Priority{queue.Transcribe: queue.UrgentPriority, queue.Read: queue.NormalPriority, queue.Caption: queue.LowPriority, queue.Sequence: queue.LowPriority, queue.Question: queue.UrgentPriority}

// mediaTasks returns the sources for one kind of work.
func mediaTasks(ctx context.Context, s *space, kind queue.Kind) (out []queue.Task, err error) {
	sources, err := s.sources(ctx)
	for i := range sources {
		if slices.Contains(result.WorkOn(&sources[i]), kind) {
			out = append(out, queue.Task{Space: s.joined.Space, Kind: kind, Subject: sources[i].ID.String(), Version: mediaVersion, Priority: urgency[kind]})
		}
	}
	return out, err
}

// work does a job and proposes the result.
func (w *Worker) work(ctx context.Context, s *space, by string, r *queue.Running) error {
	id, err := memory.ParseID(r.Subject)
	if err != nil {
		return err
	}
	src, err := s.source(ctx, id)
	if err != nil || src == nil {
		return err // erased, archived, or transcribed by another worker
	}
	g, err := s.grantFor(ctx, memory.Resource)
	if err != nil {
		return err
	}
	if done, err := s.isProposed(ctx, result.EvidenceOf(src).Event, plugin(r.Kind), result.Name(src.ID, r.Kind, by)); err != nil || done {
		return err
	}
	media, err := s.media(ctx, src)
	if err != nil {
		return err
	}
	if err := s.dropBlob(ctx, src); err != nil {
		return err
	}
	a, err := w.extract(ctx, s, r, by, src, media)
	if err != nil || strings.TrimSpace(a.Text) == "" {
		return err // silence, or a photo without text
	}
	before, err := s.linesBefore(ctx, result.StartOf(src))
	if err != nil {
		return err
	}
	a.Text = memory.Cut(a.Text, memory.MaxText)
	a.Text, a.Redacted, err = w.scan.scan(ctx, src.ID.String(), result.StartOf(src), a.Text, before)
	if err != nil {
		return err
	}
	if a.Redacted > 0 {
		s.log.Info("secrets were taken out of an answer", "memory", src.ID, "kind", r.Kind, "count", a.Redacted)
	}
	if r.Kind == queue.Read {
		if again, err := s.isPrintRepeated(ctx, src, &a); err != nil || again {
			return err
		}
	}
	var lines []memory.Utterance
	if r.Kind == queue.Transcribe && g.Transcribe {
		if lines, err = w.linesOf(ctx, s, src, &a, before); err != nil {
			return err
		}
	}
	return s.propose(ctx, proposal{candidate: candidate(src, &a), event: result.EvidenceOf(src).Event, name: result.Name(src.ID, a.Kind, a.Engine), reason: "made of " + src.ID.String() + " by " + a.Engine}, lines)
}

// extract lets an engine work on a source.
func (w *Worker) extract(ctx context.Context, s *space, r *queue.Running, by string, src *memory.Memory, media []byte) (a result.Answer, err error) {
	switch r.Kind {
	case queue.Transcribe:
		names, err := s.names(ctx)
		if err != nil {
			return a, err
		}
		paid := &paidSpeech{Engine: w.set.speech, model: w.set.speechModel, prices: w.c.Engines.Prices, r: r}
		t, err := (&speech.Windows{Engine: paid}).Transcribe(ctx, media, speech.Hints{Lang: src.Lang, Names: names})
		if err != nil {
			return a, err
		}
		result.KnownVoice(src, &t)
		a = result.Heard(by, &t)
		addCost(a.More, paid.took)
		return a, nil
	case queue.Read:
		p, err := w.set.reader.Read(ctx, media, result.Hints(src, media))
		if err != nil {
			return a, err
		}
		return result.Printed(by, &p, media), nil
	case queue.Caption:
		meter := w.seeing(r)
		text, err := sight.Caption(ctx, meter, media, result.Hints(src, media))
		if err != nil {
			return a, w.faulty(err)
		}
		a = result.Captioned(by, text, media)
		spentOn(a.More, meter, sight.CaptionPrompt)
		return a, nil
	}
	return a, engine.Faultf(string(r.Kind), engine.Missing, "this worker doesn't know such work")
}

// seeing returns the vision model for one job. Each question is paid from the
// budget of the job's space.
func (w *Worker) seeing(r *queue.Running) *cost.Meter {
	return w.meter(r, w.set.vision, w.c.Engines.VisionModel)
}

// spentOn records in a result's metadata which prompt was used and what it
// cost.
func spentOn(more memory.Metadata, m *cost.Meter, prompt string) {
	s := m.Spent()
	more[metaPrompt] = prompt
	addCost(more, queue.Cost{Tokens: int64(s.Tokens()), MicroUSD: s.MicroUSD})
}

func addCost(more memory.Metadata, c queue.Cost) {
	if c.Tokens > 0 {
		more[metaTokens] = strconv.FormatInt(c.Tokens, 10)
	}
	if c.MicroUSD > 0 {
		more[metaMicroUSD] = strconv.FormatInt(int64(c.MicroUSD), 10)
	}
}

// maxMedia is the greatest size, in bytes, of a blob that is downloaded and read into memory.
const maxMedia = 128 << 20

// media returns the bytes of a memory's blob. It downloads the blob if
// necessary.
func (s *space) media(ctx context.Context, m *memory.Memory) ([]byte, error) {
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return nil, err
	}
	note, err := s.ledger.RemoteBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	if size := cmp.Or(note.Plain, note.Size); size > maxMedia || note.Size > 2*maxMedia { // Size is that of the sealed and padded bytes
		return nil, fmt.Errorf("%w: a blob of %d bytes, at most %d", memory.ErrInvalid, max(size, note.Size), maxMedia)
	}
	if err := s.replica.FetchBlob(ctx, name); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		r, err := tx.OpenBlob(name)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(&b, r)
		return err
	})
	return b.Bytes(), err
}

// dropBlob removes a memory's blob from this disk. It can be downloaded again.
func (s *space) dropBlob(ctx context.Context, m *memory.Memory) error {
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteBlob(name) })
}
