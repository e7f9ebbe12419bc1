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

// talk is some lines of one session: what a model is asked about at once. Which
// lines they are is kept, as a [batch].
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

// talks gives the talks of a space's sessions, and cuts new ones of
// [language.MaxMessages] lines of what is in none. The rest of a session is one
// of fewer lines once the session is over.
func (s *space) talks(ctx context.Context, now time.Time) ([]talk, error) {
	sessions := map[string][]memory.Utterance{}
	var cut []batch
	err := s.engine.View(ctx, func(tx *store.Tx) (err error) {
		if cut, err = batches(tx, queue.Language); err != nil {
			return err
		}
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
	in := map[memory.ID]bool{}
	for i := range cut {
		for _, id := range cut[i].Of {
			in[id] = true
		}
	}
	var fresh []batch
	for session, us := range sessions {
		slices.SortFunc(us, inOrder)
		free := slices.DeleteFunc(slices.Clone(us), func(u memory.Utterance) bool { return in[u.ID] })
		last := us[len(us)-1].At
		for part := range slices.Chunk(free, language.MaxMessages) {
			if len(part) < language.MaxMessages && now.Sub(last) < memory.SessionGap {
				s.dueAt(last.Add(memory.SessionGap)) // more may come until then
				break
			}
			b := batch{name: nameOfLines(part), Session: session, At: part[0].At}
			for _, u := range part {
				b.Of = append(b.Of, u.ID)
			}
			fresh = append(fresh, b)
		}
	}
	if err := s.keepBatches(ctx, queue.Language, fresh); err != nil {
		return nil, err
	}
	var out []talk
	for _, b := range append(cut, fresh...) {
		if us := sessions[b.Session]; len(us) > 0 {
			if t := b.talk(us); len(t.lines) > 0 {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, func(a, b talk) int { return inOrder(a.lines[0], b.lines[0]) })
	return out, nil
}

// talk makes a talk of a session's lines, which are in order. Those that were
// forgotten are in it no more.
func (b *batch) talk(session []memory.Utterance) talk {
	t := talk{name: b.name, session: b.Session, last: session[len(session)-1].At}
	for i, u := range session {
		if slices.Contains(b.Of, u.ID) {
			if len(t.lines) == 0 {
				t.earlier = session[max(0, i-language.MaxEarlier):i]
			}
			t.lines = append(t.lines, u)
		}
	}
	return t
}

func inOrder(a, b memory.Utterance) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return slices.Compare(a.ID[:], b.ID[:])
}

// nameOfLines follows from the lines and what they say.
func nameOfLines(us []memory.Utterance) string {
	h := sha256.New()
	for _, u := range us {
		h.Write(u.ID[:])
		sum := sha256.Sum256([]byte(u.Text))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// talkOf finds a talk by its name; false where there is nothing of it, or where
// another worker cut it of lines that this one has cut otherwise.
func (s *space) talkOf(ctx context.Context, name string) (t talk, ok bool, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		b, found, err := batchOf(tx, queue.Language, name)
		if err != nil || !found {
			return err
		}
		var us []memory.Utterance
		// No pause within a session is longer than the gap, so that the lines
		// before are in as many gaps.
		for u, err := range tx.Utterances(b.At.Add(-language.MaxEarlier*memory.SessionGap), time.Time{}) {
			if err != nil {
				return err
			}
			if u.Session == b.Session && (len(u.Text) >= shortest || slices.Contains(b.Of, u.ID)) {
				us = append(us, *u)
			}
		}
		if len(us) == 0 {
			return nil
		}
		slices.SortFunc(us, inOrder)
		t = b.talk(us)
		ok = len(t.lines) > 0
		return nil
	})
	return t, ok, err
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
