package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// How a question is linked to its photo, and a worker's answer to its question.
const (
	tagQuestion = "question"
	asksAbout   = "asks_about"
	answerTo    = "answer_to"
)

// maxQuestion is the maximum length of a question about a photo, in bytes.
const maxQuestion = 1 << 10

// askPhoto returns a worker's answer to a question about a photo. If there is none,
// it keeps the question as a memory of the wearer, where a worker that sees photos
// finds it once the worker is admitted. The result says what the question waits
// for.
func (rd Reader) askPhoto(ctx context.Context, r serve.AskRequest) (serve.AskResult, error) {
	res, err := rd.questioned(ctx, r)
	if err == nil && res.Answer == "" {
		res.Waits, err = rd.waitsFor(ctx)
	}
	return res, err
}

// questioned returns the answer to a question, or keeps the question.
func (rd Reader) questioned(ctx context.Context, r serve.AskRequest) (res serve.AskResult, err error) {
	res.Citations, res.Evidence = []serve.ContextItem{}, []serve.ContextItem{}
	question := strings.Join(strings.Fields(r.Question), " ")
	if len(question) > maxQuestion {
		return res, fmt.Errorf("%w: question: %d bytes, at most %d", memory.ErrInvalid, len(question), maxQuestion)
	}
	qr, release, err := rd.of.Use()
	if err != nil {
		return res, err
	}
	defer release()
	if err := qr.c.FetchCold(ctx, r.Photo); err != nil {
		return res, err
	}
	var kept memory.Memory
	if err := qr.c.Engine.View(ctx, func(tx *store.Tx) (err error) { kept, err = engine.Live(tx, r.Photo); return err }); err != nil {
		return res, err
	}
	photo := &kept
	event, err := askable(photo)
	if err != nil {
		return res, err
	}
	if err := qr.c.NoSecret(ctx, "question", question); err != nil {
		return res, err
	}
	id := qr.c.MemoryID(event.Event, "person", tagQuestion+" "+r.Photo.String()+" "+strings.ToLower(question))
	res.Question, res.Evidence = id, append(res.Evidence, shownItem(photo))
	answer, err := qr.answerTo(ctx, id)
	if err != nil {
		return res, err
	}
	if answer != nil {
		res.Answer, res.Model, res.Known, res.Cited = answer.Text, answer.Source.Model, answer.Metadata["known"] == "true", true
		res.Confidence = answer.Confidence
		res.Citations = append(res.Citations, shownItem(answer), shownItem(photo))
		return res, nil
	}
	c := memory.Candidate{Type: memory.Resource, Text: question, Owner: memory.Owner{User: memory.WearerUser, Agent: r.Agent, Run: r.Run}, Tags: []string{tagQuestion}, Confidence: 1,
		Sensitivity: max(photo.Sensitivity, memory.Personal), Source: memory.Source{Device: serve.APIDevice, Plugin: "person"}, TrueFrom: qr.c.Now().UTC(),
		Links:    []memory.Link{{Relation: asksAbout, To: r.Photo.String()}},
		Evidence: []memory.Evidence{{Event: event.Event, At: event.At}},
		Fields:   memory.Fields{Resource: &memory.ResourceFields{Title: "Question about a photo", MediaType: "text/plain", Content: question}}}
	if err := c.Validate(); err != nil {
		return res, err
	}
	_, err = qr.c.Engine.Assert(ctx, engine.PersonAuthority, func(tx *store.Tx) ([]memory.Assertion, error) {
		switch _, err := tx.Memory(id); {
		case err == nil: // the question was asked before
			return nil, nil
		case !errors.Is(err, memory.ErrNotFound):
			return nil, err
		}
		return []memory.Assertion{{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source}}, nil
	})
	return res, err
}

// askable returns the event of a photo that a worker may be asked about.
func askable(m *memory.Memory) (e memory.Evidence, err error) {
	f := m.Fields.Resource
	i := slices.IndexFunc(m.Evidence, func(e memory.Evidence) bool { return !e.Event.IsZero() })
	switch {
	case m.Type != memory.Resource || f == nil || f.Blob == "" || f.MediaType != "image/jpeg" && f.MediaType != "image/png" || i < 0:
		return e, fmt.Errorf("%w: photo: %s is not a photo that is kept", memory.ErrInvalid, m.ID)
	case m.State != memory.Active:
		return e, fmt.Errorf("%w: photo: %s is not an active memory", memory.ErrInvalid, m.ID)
	case m.Sensitivity >= memory.Secret:
		return e, fmt.Errorf("%w: photo: %s is secret, so no worker may see it", memory.ErrInvalid, m.ID)
	}
	return m.Evidence[i], nil
}

func shownItem(m *memory.Memory) serve.ContextItem {
	return serve.ContextItem{ID: m.ID, Cite: m.ID.String()[:10], Section: string(m.Type), Text: m.Text, At: m.TrueFrom, Evidence: m.Evidence}
}

// answerTo returns the newest answer of a worker to a question, or nil if there is
// none.
func (qr *Query) answerTo(ctx context.Context, question memory.ID) (answer *memory.Memory, err error) {
	link := memory.Link{Relation: answerTo, To: question.String()}
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if slices.Contains(m.Links, link) && m.Rank == memory.RankCloud {
				answer = m
				return nil
			}
		}
		return nil
	})
	return answer, err
}
