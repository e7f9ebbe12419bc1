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

// talk is some lines of one session, about which a model is asked at one time.
// A [batch] stores which lines they are.
type talk struct {
	name    string
	session string
	last    time.Time // of the session's last line
	lines   []memory.Utterance
	earlier []memory.Utterance
}

// lookBack is how old lines may be, so that a worker that is added late does
// not work through years. The age of a session is that of its first line, so a
// session is used completely or not at all. If its lines expired one by one,
// its batches would be made, and paid for, again each time.
const lookBack = 30 * 24 * time.Hour

// shortest is the least length, in bytes, of a line about which a model is
// asked. "Yes." says nothing.
const shortest = 8

// talks returns the talks of a space's sessions. It makes new ones of
// [language.MaxMessages] lines from lines that are in none. When a session is
// over, its remaining lines form a shorter talk.
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
				s.dueAt(last.Add(memory.SessionGap)) // more lines may come until then
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

// talk makes a talk of a session's lines, which are in order. Forgotten lines
// are missing in it.
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

// nameOfLines derives a name from the lines and their text.
func nameOfLines(us []memory.Utterance) string {
	h := sha256.New()
	for _, u := range us {
		h.Write(u.ID[:])
		sum := sha256.Sum256([]byte(u.Text))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// talkOf finds a talk by its name. It returns false if its lines are not here,
// or if another worker made it of lines that this worker has in other batches.
func (s *space) talkOf(ctx context.Context, name string) (t talk, ok bool, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		b, found, err := batchOf(tx, queue.Language, name)
		if err != nil || !found {
			return err
		}
		var us []memory.Utterance
		// No pause within a session is longer than the gap, so the earlier
		// lines are within so many gaps.
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

// talkTasks returns a task of a kind for each talk. If running is true, only
// sessions count that are not over.
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
		out[i] = judge.Message{Utterance: u.ID, Event: u.Event, At: u.At, Zone: memory.ZoneOr(u.Zone, time.UTC), Speaker: u.Speaker, Lang: u.Lang, Text: u.Text}
	}
	return out
}
