package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// unscanned is a text that was set aside unread, since a plugin that takes words
// away failed on it, as the quarantine keeps it. Its words are in the blob.
type unscanned struct {
	Event   memory.Event `json:"event"`
	Name    string       `json:"name"` // of its utterance, within the event
	Said    memory.ID    `json:"said"` // its utterance, which owns the blob
	Session string       `json:"session"`
	Place   string       `json:"place,omitempty"`
}

// setAside keeps the text under way unread.
func (x *Extractor) setAside(p *pending, name string, u *memory.Utterance) {
	kept := unscanned{p.event, name, u.ID, u.Session, u.Place}
	kept.Event.Text, kept.Event.Data = "", nil
	again, err := json.Marshal(kept)
	if err != nil {
		p.broken = fmt.Errorf("set aside: %w", err)
		return
	}
	p.asideOwner = u.ID
	p.asides = append(p.asides, store.Malformed{At: p.event.Received, Topic: "text of " + p.event.ID.String(), Reason: "not scanned for secrets",
		Data: []byte(p.event.Text), Again: again})
}

// unreadBetween reports whether a text that was said from one time to another,
// both of it, was set aside unread; of one that is damaged nobody knows, and it
// counts.
func unreadBetween(tx *store.Tx, from, to time.Time) (bool, error) {
	for m, err := range tx.Malformed() {
		if errors.Is(err, memory.ErrDamaged) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if m.Again == nil {
			continue
		}
		var kept unscanned
		if json.Unmarshal(m.Again, &kept) != nil {
			return true, nil
		}
		if at := kept.Event.At; !at.Before(from) && !at.After(to) {
			return true, nil
		}
	}
	return false, nil
}

// AsideOf gives a text that was set aside unread as the utterance that it may
// become; nil of what else is in quarantine.
func AsideOf(tx *store.Tx, m *store.Malformed) (*memory.Utterance, error) {
	if m.Again == nil {
		return nil, nil
	}
	var kept unscanned
	if err := json.Unmarshal(m.Again, &kept); err != nil {
		return nil, fmt.Errorf("set aside: %s: %w: %v", m.Topic, memory.ErrDamaged, err)
	}
	ev, text := &kept.Event, string(m.Data)
	if len(m.Data) < m.Size {
		whole, err := keptWords(tx, m.Blob)
		if err == nil {
			text = whole
		} else if !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrDamaged) {
			return nil, err // of a file that can't be read its beginning is known
		}
	}
	return &memory.Utterance{ID: kept.Said, Event: ev.ID, Session: kept.Session, At: ev.At, Received: ev.Received, Place: kept.Place,
		Speaker: ev.Speaker, Text: text}, nil
}

func keptWords(tx *store.Tx, blob memory.ID) (string, error) {
	r, err := tx.OpenBlob(blob)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

// Rescanned is what came of the texts that were set aside unread.
type Rescanned struct {
	Texts   int // that were looked at again
	Left    int // of these: set aside still
	Changes []memory.Change
}

// Rescan takes the texts that were set aside unread through the chain, oldest
// first, as if they came now: each leaves the quarantine with what is committed
// of it, or stays as it is. One that is damaged on disk is an error, once the
// others were tried. What is remembered from event to event is begun
// anew for each, and that of the present left alone.
//
// The caller sees to it that nothing else is extracted meanwhile: one call is
// one text, and between is told after each.
func (x *Extractor) Rescan(ctx context.Context, between func(run func(*engine.Writer) error) error) (res Rescanned, err error) {
	var all []store.Malformed
	var wrong error
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Malformed() {
			if err != nil {
				return err
			}
			if m.Again != nil {
				m.Data = nil // the words are in the blob
				all = append(all, m)
			}
		}
		return nil
	})
	if err != nil {
		return res, fmt.Errorf("rescan: %w", err)
	}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if err := between(func(w *engine.Writer) error { return x.rescan(ctx, w, &all[i], &res) }); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("rescan %s: %w", all[i].Topic, err))
			if !errors.Is(err, memory.ErrDamaged) {
				return res, wrong
			}
		}
	}
	return res, wrong
}

func (x *Extractor) rescan(ctx context.Context, w *engine.Writer, m *store.Malformed, res *Rescanned) error {
	var kept unscanned
	if err := json.Unmarshal(m.Again, &kept); err != nil {
		return fmt.Errorf("%w: %v", memory.ErrDamaged, err)
	}
	text, before, err := x.unscanned(ctx, m, &kept)
	if errors.Is(err, memory.ErrNotFound) {
		return nil // forgotten meanwhile
	}
	if err != nil {
		return err
	}
	p := &pending{event: kept.Event, earlier: map[memory.ID]string{}, past: true, aside: m.Seq}
	p.event.Text = text
	changes, err := x.sayPast(ctx, w, p, kept.Name, before, func() bool { return len(p.asides) == 0 })
	if err != nil {
		return err
	}
	res.Texts++
	if len(p.asides) > 0 {
		res.Left++
	}
	res.Changes = append(res.Changes, changes...)
	return nil
}

// unscanned gives the words of a text that was set aside, and the session in
// which it was said, as far as that is kept: memory.ErrNotFound.
func (x *Extractor) unscanned(ctx context.Context, m *store.Malformed, kept *unscanned) (text string, s session, err error) {
	at := kept.Event.At
	s.saved = saved{Name: kept.Session, Began: at, Last: at, Place: kept.Place}
	err = x.engine.View(ctx, func(tx *store.Tx) (err error) {
		if still, err := tx.Quarantined(m.Seq); err != nil {
			return err
		} else if !still {
			return memory.ErrNotFound
		}
		if text, err = keptWords(tx, m.Blob); err != nil {
			return err
		}
		for u, err := range tx.Utterances(at.Add(-sessionBefore), at.Add(time.Millisecond)) {
			if err != nil {
				return err
			}
			if u.Session == kept.Session && u.ID != kept.Said {
				s.say(turn{u.Event, u.ID, u.At, u.Speaker, u.Text})
			}
		}
		return nil
	})
	return text, s, err
}
