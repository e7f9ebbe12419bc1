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

// maxHeard is how many lines a worker makes of one recording: an hour has about
// 800. Of a longer one the rest stands in its transcript alone.
const maxHeard = 2000

// heard makes the lines of a recording of what an engine heard, a segment each,
// without the secrets in them. The lines before are what was said earlier. What
// is heard again makes the same lines.
func (w *Worker) heard(ctx context.Context, s *space, src *memory.Memory, a *result.Answer, before []abi.Turn) ([]memory.Utterance, error) {
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
	whole := strings.Join(strings.Fields(a.Text), " ")
	for i, g := range segments[:min(len(segments), maxHeard)] {
		if strings.TrimSpace(g.Text) == "" {
			continue
		}
		u := memory.Utterance{ID: s.joined.Member.LineOf(memory.DeriveID(secret, event, plugin(queue.Transcribe), fmt.Sprintf("line %d %s", i, result.Name(src.ID, a.Kind, a.Engine)))),
			Space: s.joined.Space, Event: event, Session: session, At: start.Add(g.From), Speaker: result.Cut(g.Speaker, memory.MaxName), Lang: a.Lang, Received: w.now().UTC(),
			Source: memory.Source{Device: event.Device, Plugin: plugin(queue.Transcribe), Version: Version, Model: a.Engine}}
		if u.Text, u.Redacted, err = w.scan.scan(ctx, u.ID.String(), u.At, result.Cut(g.Text, memory.MaxText), said); err != nil {
			return nil, err
		}
		said = append(said, abi.Turn{ID: u.ID.String(), At: u.At.UnixMilli(), Speaker: u.Speaker, Text: u.Text})
		parted = parted || !strings.Contains(whole, strings.Join(strings.Fields(u.Text), " "))
		out = append(out, u)
	}
	if a.Redacted > 0 && parted {
		// A secret goes over the end of a segment, so that half of it may stand in
		// a line: only the whole text is without it.
		u := out[0]
		u.Text, u.Redacted, u.Speaker = a.Text, a.Redacted, ""
		return []memory.Utterance{u}, nil
	}
	return out, nil
}

// sessionAt is the session that a recording is of: that of what was said last
// before it, or first in it or after it, within the gap that ends one; else a
// session of its own.
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

// putHeard keeps lines that are not there, as this worker's word.
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
