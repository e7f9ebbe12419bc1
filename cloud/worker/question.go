package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// unseen is the answer if a photo does not show what was asked.
const unseen = "The photo does not show it."

// asked returns the photo that a memory is a question about. Only a person's
// questions count.
func asked(m *memory.Memory) (photo memory.ID, ok bool) {
	f := m.Fields.Resource
	if m.State != memory.Active || m.Rank == memory.RankCloud || m.Source.Plugin != "person" || m.Sensitivity >= memory.Secret ||
		f == nil || f.Content == "" || !slices.Contains(m.Tags, tagQuestion) {
		return photo, false
	}
	for _, l := range m.Links {
		if l.Relation == asksAbout {
			id, err := memory.ParseID(l.To)
			return id, err == nil
		}
	}
	return photo, false
}

// questionTasks returns the questions about photos in a space.
func questionTasks(ctx context.Context, s *space) (out []queue.Task, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range s.memories(tx, store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if _, ok := asked(m); ok {
				out = append(out, queue.Task{Space: s.joined.Space, Kind: queue.Question, Subject: m.ID.String(), Version: mediaVersion, Priority: urgency[queue.Question]})
			}
		}
		return nil
	})
	return out, err
}

// question returns a question and its photo, or nil if one of them no longer
// exists.
func (s *space) question(ctx context.Context, subject string) (q, photo *memory.Memory, err error) {
	id, err := memory.ParseID(subject)
	if err != nil {
		return nil, nil, err
	}
	var of memory.ID
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		m, err := engine.LiveAt(tx, id, s.now())
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if photo, ok := asked(&m); ok {
			q, of = &m, photo
		}
		return nil
	})
	if err != nil || q == nil {
		return nil, nil, err
	}
	if photo, err = s.source(ctx, of); err != nil || photo == nil || !slices.Contains(result.WorkOn(photo), queue.Caption) {
		return nil, nil, err
	}
	return q, photo, nil
}

func questionReads(ctx context.Context, s *space, subject string) ([]memory.ID, error) {
	q, photo, err := s.question(ctx, subject)
	if q == nil {
		return nil, err
	}
	return []memory.ID{q.ID, photo.ID}, nil
}

// reply answers a question about a photo with a vision model.
func (w *Worker) reply(ctx context.Context, s *space, r *queue.Running) error {
	q, photo, err := s.question(ctx, r.Subject)
	if err != nil || q == nil {
		return err
	}
	if _, err := s.grantFor(ctx, memory.Resource); err != nil {
		return err
	}
	named := fmt.Sprintf("answer to %s by %s", q.ID, r.Engine)
	if done, err := s.isProposed(ctx, result.EvidenceOf(photo).Event, plugin(queue.Question), named); err != nil || done {
		return err
	}
	name, err := memory.ParseID(photo.Fields.Resource.Blob)
	if err != nil {
		return err
	}
	if _, err := s.ledger.RemoteBlob(ctx, name); errors.Is(err, memory.ErrNotFound) {
		return &queue.WaitError{After: time.Minute, Reason: "the photo has not come yet"}
	} else if err != nil {
		return err
	}
	f, err := s.frame(ctx, photo)
	if err != nil {
		return err
	}
	meter := w.seeing(r)
	said, err := sight.Ask(ctx, meter, q.Fields.Resource.Content, f)
	if err != nil {
		return w.faulty(err)
	}
	if !said.Known {
		said.Answer = unseen
	}
	a := result.Answer{Kind: queue.Question, Engine: r.Engine, Text: said.Answer, Confidence: -1, More: memory.Metadata{"known": strconv.FormatBool(said.Known)}}
	spentOn(a.More, meter, sight.QuestionPrompt)
	for _, text := range []*string{&a.Text, &said.SeenBy} {
		clean, found, err := w.scan.scan(ctx, q.ID.String(), f.At, *text, nil)
		if err != nil {
			return err
		}
		*text = clean
		a.Redacted += found
	}
	if said.SeenBy != "" {
		a.More["seen"] = said.SeenBy
	}
	c := candidate(photo, &a)
	c.Sensitivity = max(c.Sensitivity, q.Sensitivity)
	c.Tags = []string{TagAnswer}
	c.Links = []memory.Link{{Relation: AnswerTo, To: q.ID.String()}, {Relation: AnswerAbout, To: photo.ID.String()}}
	c.Fields.Resource.Title = "Answer: " + memory.Cut(q.Fields.Resource.Content, 200)
	return s.propose(ctx, proposal{candidate: c, event: result.EvidenceOf(photo).Event, name: named, reason: "answers " + q.ID.String() + " by " + a.Engine}, nil)
}
