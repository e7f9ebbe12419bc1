package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// maxHeard is how many lines a worker makes of one recording; an hour has about
// 800. The rest of a longer one is only in its transcript.
const maxHeard = 2000

// linesOf makes lines of a recording from an engine's transcript, one for each
// segment, without the secrets in them. The lines before are what was said
// earlier. The same transcript always gives the same lines.
func (w *Worker) linesOf(ctx context.Context, s *space, src *memory.Memory, a *result.Answer, before []abi.Turn) ([]memory.Utterance, error) {
	segments := a.Segments
	if len(segments) == 0 {
		segments = []speech.Segment{{Text: a.Text}}
	}
	secret, done, err := s.idKey()
	if err != nil {
		return nil, err
	}
	defer done()
	start, event := result.StartOf(src), result.EvidenceOf(src).Event
	session, err := s.sessionAt(ctx, src, start)
	if err != nil {
		return nil, err
	}
	var out []memory.Utterance
	said, parted := slices.Clone(before), false
	who := result.Speakers(src, segments)
	whole := strings.Join(strings.Fields(a.Text), " ")
	for i, g := range segments[:min(len(segments), maxHeard)] {
		if strings.TrimSpace(g.Text) == "" {
			continue
		}
		u := memory.Utterance{ID: s.joined.Member.LineID(memory.DeriveID(secret, event, plugin(queue.Transcribe), fmt.Sprintf("line %d %s", i, result.Name(src.ID, a.Kind, a.Engine)))),
			Space: s.joined.Space, Event: event, Session: session, At: start.Add(g.From), Speaker: memory.Cut(who[i], memory.MaxName), Lang: a.Lang, Received: w.now().UTC(),
			Source: memory.Source{Device: event.Device, Plugin: plugin(queue.Transcribe), Version: Version, Model: a.Engine}}
		if u.Text, u.Redacted, err = w.scan.scan(ctx, u.ID.String(), u.At, memory.Cut(g.Text, memory.MaxText), said); err != nil {
			return nil, err
		}
		said = append(said, abi.Turn{ID: u.ID.String(), At: u.At.UnixMilli(), Speaker: u.Speaker, Text: u.Text})
		parted = parted || !strings.Contains(whole, strings.Join(strings.Fields(u.Text), " "))
		out = append(out, u)
	}
	if a.Redacted > 0 && parted {
		// The secret extends beyond the end of a segment, so a line could
		// contain half of it. Only the whole text is certain to be without the
		// secret.
		u := out[0]
		u.Text, u.Redacted, u.Speaker = a.Text, a.Redacted, ""
		return []memory.Utterance{u}, nil
	}
	return out, nil
}

// sessionAt returns the session of a recording. It is the session of what was
// said last before the recording, or first in it or after it, if there is no
// gap that ends a session. Otherwise the recording has a session of its own.
func (s *space) sessionAt(ctx context.Context, src *memory.Memory, start time.Time) (session string, err error) {
	end := start
	if src.TrueTo.After(end) {
		end = src.TrueTo
	}
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(start.Add(-memory.SessionGap), end.Add(memory.SessionGap)) {
			if err != nil {
				return err
			}
			if u.Session != "" && (session == "" || !u.At.After(start)) {
				session = u.Session
			}
		}
		return nil
	})
	if session == "" {
		session = "recording " + src.ID.String()
	}
	return session, err
}

// putHeard stores those lines that are not stored yet, with this worker as
// author.
func putHeard(tx *store.Tx, us []memory.Utterance) error {
	for i := range us {
		_, err := tx.Utterance(us[i].ID)
		if errors.Is(err, memory.ErrNotFound) {
			err = tx.PutUtterance(&us[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
