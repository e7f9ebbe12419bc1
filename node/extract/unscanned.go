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

// unscanned is the quarantine's entry for a text that was quarantined unread, because a
// plugin that looks for secrets failed on it. Its words are in the blob.
type unscanned struct {
	Event   memory.Event `json:"event"`
	Name    string       `json:"name"` // name of its utterance, within the event
	Said    memory.ID    `json:"said"` // its utterance, which owns the blob
	Session string       `json:"session"`
	Place   string       `json:"place,omitempty"`
}

// quarantine puts the current text into quarantine, unread.
func (x *Extractor) quarantine(p *pending, name string, u *memory.Utterance) {
	kept := unscanned{p.event, name, u.ID, u.Session, u.Place}
	kept.Event.Text, kept.Event.Data = "", nil
	again, err := json.Marshal(kept)
	if err != nil {
		p.broken = fmt.Errorf("set aside: %w", err)
		return
	}
	p.quarantineOwner = u.ID
	p.quarantined = append(p.quarantined, store.Quarantined{At: p.event.Received, Topic: "text of " + p.event.ID.String(), Reason: "not scanned for secrets",
		Data: []byte(p.event.Text), Again: again})
}

// unreadBetween reports whether a text that was said from one time to another, both
// included, was quarantined unread. A damaged entry counts, because nobody knows when
// it was said.
func unreadBetween(tx *store.Tx, from, to time.Time) (bool, error) {
	for m, err := range tx.Quarantined() {
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

// QuarantinedText returns a text that was quarantined unread as the utterance that it
// may become. It returns nil for anything else in quarantine.
func QuarantinedText(tx *store.Tx, m *store.Quarantined) (*memory.Utterance, error) {
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
			return nil, err // if the file can't be read, the beginning of the text is known
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

// Rescanned is the result of a second try with texts that were quarantined unread.
type Rescanned struct {
	Texts   int // that were tried again
	Left    int // of these: how many are still in quarantine
	Changes []memory.Change
}

// Rescan runs the chain on the texts that were quarantined unread, oldest first, as if
// they came now. Each text leaves the quarantine when its result is committed, or stays
// as it is. A text that is damaged on disk is reported as an error after the others
// were tried. For each text the plugins start without state, and their present states
// do not change.
//
// The caller makes sure that nothing else is extracted meanwhile. Each text is one
// call, and between is called after each.
func (x *Extractor) Rescan(ctx context.Context, between func(run func(*engine.Writer) error) error) (res Rescanned, err error) {
	var all []store.Quarantined
	var wrong error
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Quarantined() {
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

func (x *Extractor) rescan(ctx context.Context, w *engine.Writer, m *store.Quarantined, res *Rescanned) error {
	var kept unscanned
	if err := json.Unmarshal(m.Again, &kept); err != nil {
		return fmt.Errorf("%w: %v", memory.ErrDamaged, err)
	}
	text, before, err := x.unscanned(ctx, m, &kept)
	if errors.Is(err, memory.ErrNotFound) {
		return nil // it was forgotten meanwhile
	}
	if err != nil {
		return err
	}
	p := &pending{event: kept.Event, rewritten: map[memory.ID]string{}, replayed: true, quarantineSeq: m.Seq}
	p.event.Text = text
	changes, err := x.sayPast(ctx, w, p, kept.Name, before, func() bool { return len(p.quarantined) == 0 })
	if err != nil {
		return err
	}
	res.Texts++
	if len(p.quarantined) > 0 {
		res.Left++
	}
	res.Changes = append(res.Changes, changes...)
	return nil
}

// unscanned returns the words of a text that was quarantined, and what is kept of its
// session. The error is memory.ErrNotFound if the text is gone.
func (x *Extractor) unscanned(ctx context.Context, m *store.Quarantined, kept *unscanned) (text string, s session, err error) {
	at := kept.Event.At
	s.saved = saved{Name: kept.Session, Began: at, Last: at, Place: kept.Place}
	err = x.engine.View(ctx, func(tx *store.Tx) (err error) {
		if still, err := tx.InQuarantine(m.Seq); err != nil {
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
				s.appendTurn(turnOf(u))
			}
		}
		return nil
	})
	return text, s, err
}
