package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/worker/language"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
)

// talk is some lines of one session: what a model is asked about at once. Its
// name follows from its lines, so that workers which share jobs cut alike, and
// nothing has to be kept.
type talk struct {
	name    string
	session string
	last    time.Time // of the session
	lines   []memory.Utterance
	earlier []memory.Utterance
}

// lookBack is how far back lines are asked about: a worker that is let in late
// does not go through years. A session counts by its first line, and is asked
// about whole or not at all: one that lost a line with each minute that passes
// would be cut, and paid, anew each time.
const lookBack = 30 * 24 * time.Hour

// shortest is how many bytes a line has that is asked about: "Yes." says nothing.
const shortest = 8

// talks cuts the sessions of a space into talks of [language.MaxMessages] lines.
// The rest of a session is one of fewer lines once the session is over.
func (s *space) talks(ctx context.Context, now time.Time) ([]talk, error) {
	sessions := map[string][]memory.Utterance{}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		since, old := now.Add(-lookBack), map[string]bool{}
		for u, err := range tx.Utterances(since.Add(-memory.SessionGap), time.Time{}) {
			if err != nil {
				return err
			}
			old[u.Session] = old[u.Session] || u.At.Before(since)
			if len(u.Text) >= shortest && u.Session != "" {
				sessions[u.Session] = append(sessions[u.Session], *u)
			}
		}
		for session := range old {
			if old[session] {
				delete(sessions, session)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []talk
	for session, us := range sessions {
		slices.SortFunc(us, func(a, b memory.Utterance) int {
			if c := a.At.Compare(b.At); c != 0 {
				return c
			}
			return slices.Compare(a.ID[:], b.ID[:])
		})
		last := us[len(us)-1].At
		for at := 0; at < len(us); at += language.MaxMessages {
			part := us[at:min(at+language.MaxMessages, len(us))]
			if len(part) < language.MaxMessages && now.Sub(last) < memory.SessionGap {
				break // more may come
			}
			out = append(out, talk{name: nameOfLines(part), session: session, last: last, lines: part, earlier: us[max(0, at-language.MaxEarlier):at]})
		}
	}
	slices.SortFunc(out, func(a, b talk) int { return a.lines[0].At.Compare(b.lines[0].At) })
	return out, nil
}

// nameOfLines follows from the lines and what they say: one that was redacted
// since makes another talk.
func nameOfLines(us []memory.Utterance) string {
	h := sha256.New()
	for _, u := range us {
		h.Write(u.ID[:])
		sum := sha256.Sum256([]byte(u.Text))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// talkOf finds a talk by its name; false where it is no more.
func (s *space) talkOf(ctx context.Context, name string, now time.Time) (talk, bool, error) {
	all, err := s.talks(ctx, now)
	if err != nil {
		return talk{}, false, err
	}
	i := slices.IndexFunc(all, func(t talk) bool { return t.name == name })
	if i < 0 {
		return talk{}, false, nil
	}
	return all[i], true, nil
}

// talkTasks gives a task of a kind for each talk; running: of sessions that are
// not over.
func (w *Worker) talkTasks(ctx context.Context, s *space, kind queue.Kind, p queue.Priority, running bool) ([]queue.Task, error) {
	now := w.now()
	all, err := s.talks(ctx, now)
	var out []queue.Task
	for _, t := range all {
		if running && now.Sub(t.last) >= memory.SessionGap {
			continue
		}
		out = append(out, queue.Task{Space: s.joined.Space, Kind: kind, Subject: t.name, Version: languageVersion, Priority: p})
	}
	return out, err
}

func messagesOf(us []memory.Utterance) []judge.Message {
	out := make([]judge.Message, len(us))
	for i, u := range us {
		zone, err := time.LoadLocation(u.Zone)
		if err != nil {
			zone = time.UTC
		}
		out[i] = judge.Message{Utterance: u.ID, Event: u.Event, At: u.At, Zone: zone, Speaker: u.Speaker, Lang: u.Lang, Text: u.Text}
	}
	return out
}
