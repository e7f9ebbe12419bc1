package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/abi"
)

// Recordings are replayed from the sound of each utterance, and places from the
// visits to those with a name.

// recordingsBetween returns the utterances whose sound is kept.
func (x *Extractor) recordingsBetween(tx *store.Tx, since, until time.Time) (all []past, err error) {
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
		if err != nil {
			return nil, err
		}
		f := m.Fields.Resource
		if f == nil || f.Blob == "" || !slices.Contains(m.Tags, "recording") || len(m.Evidence) == 0 {
			continue
		}
		at := m.When()
		id, err := memory.ParseID(f.Blob)
		if err != nil || at.Before(since) || !until.IsZero() && !at.Before(until) {
			continue
		}
		all = append(all, past{event: memory.Event{ID: m.Evidence[0].Event, Kind: memory.KindAudio, At: at, Received: at}, kept: store.Blob{ID: id},
			made: m.ID, waits: slices.Contains(m.Tags, memory.WaitingTag)})
	}
	return all, nil
}

// visitsBetween returns the arrivals at places with a name. The position of a
// visit is for the wearer's map and is not given to plugins.
func (x *Extractor) visitsBetween(tx *store.Tx, since, until time.Time) (all []past, err error) {
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Episodic}}) {
		if err != nil {
			return nil, err
		}
		f := m.Fields.Episodic
		if f == nil || f.Place == "" || m.Source.Plugin != "node" || !slices.Contains(m.Tags, "visit") || len(m.Evidence) == 0 {
			continue
		}
		if at := m.TrueFrom; !at.Before(since) && (until.IsZero() || at.Before(until)) {
			all = append(all, past{event: memory.Event{ID: m.Evidence[0].Event, Kind: memory.KindLocation, At: at, Received: at, Name: f.Place}, made: m.ID})
		}
	}
	return all, nil
}

// renew reads a past event again when its turn has come. Since the list was made,
// the event may have been forgotten, a secret taken out of it, or a recording
// transcribed. It reports whether the event still exists.
func (x *Extractor) renew(ctx context.Context, e *past) (there bool, err error) {
	if e.said.IsZero() && e.made.IsZero() { // the event waited for its plugin: it is looked up when its turn comes
		return true, nil
	}
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		if e.said.IsZero() {
			m, err := tx.Memory(e.made)
			switch {
			case err == nil && m.State == memory.Erased:
				return memory.ErrNotFound
			case err == nil:
				e.waits = e.waits && slices.Contains(m.Tags, memory.WaitingTag)
			}
			return err
		}
		u, err := tx.Utterance(e.said)
		if err != nil {
			return err
		}
		e.event.Text = u.Text
		var before []turn
		for _, t := range e.before {
			u, err := tx.Utterance(t.utterance)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			t.text = u.Text
			before = append(before, t)
		}
		e.before = before
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// keptBlob returns the bytes of a file, or nil if it is gone or not on this
// device.
func (x *Extractor) keptBlob(ctx context.Context, id memory.ID) (data []byte, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		r, err := tx.OpenBlob(id)
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err = io.ReadAll(r)
		return errors.Join(err, r.Close())
	})
	return data, err
}

// keptSound returns the samples of an utterance, or nil if they are gone.
func (x *Extractor) keptSound(ctx context.Context, e *past) ([]int16, error) {
	data, err := x.keptBlob(ctx, e.kept.ID)
	if err != nil || data == nil {
		return nil, err
	}
	pcm, err := sound.WAV(data)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w: %v", e.made, memory.ErrDamaged, err)
	}
	return pcm, nil
}

// wordsAgain runs the chain on the texts that a plugin hears in a past recording.
// It does so only if the recording has no words yet; otherwise they would be
// stored twice.
func (x *Extractor) wordsAgain(ctx context.Context, w *engine.Writer, pl Plugin, e *past, derived []abi.Derived, res *ReplayResult) error {
	texts := 0
	for _, d := range derived {
		if d.Kind != "text" || strings.TrimSpace(d.Text) == "" || !e.waits || texts >= maxSpoken {
			continue
		}
		texts++
		p := &pending{event: e.event, rewritten: map[memory.ID]string{}, replayed: true}
		p.event.Kind, p.event.At, p.event.Text = memory.KindText, e.event.At.Add(samples(d.From)), d.Text
		before, err := x.sessionAt(ctx, p.event.At)
		if err != nil {
			return err
		}
		changes, err := x.sayPast(ctx, w, p, fmt.Sprintf("recording %s, text %d of %s", e.made, texts, pl.ID()), before, func() bool { return true })
		res.Changes = append(res.Changes, changes...)
		if err != nil {
			return err
		}
	}
	if texts > 0 {
		res.Transcribed = append(res.Transcribed, e.made)
	}
	return nil
}

// sessionAt reconstructs the session that was going on at a time.
func (x *Extractor) sessionAt(ctx context.Context, at time.Time) (s session, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(at.Add(-sessionBefore), at) {
			if err != nil {
				return err
			}
			if u.Session != s.Name {
				s = session{saved: saved{Name: u.Session, Began: u.At, Place: u.Place}}
			}
			s.Last = u.At
			s.appendTurn(turnOf(u))
		}
		return nil
	})
	return s, err
}

// sayPast runs the chain on a text of the past, in the session of that time, and
// commits the result if worth says so. It does not change the state of the
// present.
func (x *Extractor) sayPast(ctx context.Context, w *engine.Writer, p *pending, name string, before session, worth func() bool) ([]memory.Change, error) {
	session, states := x.session, x.states
	defer func() { x.session, x.states = session, states }()
	x.session, x.states = before, map[stateKey]state{}
	x.processText(ctx, p, name)
	if err := errors.Join(ctx.Err(), p.broken); err != nil || !worth() {
		return nil, err
	}
	if err := x.dropProposedBefore(ctx, p); err != nil {
		return nil, err
	}
	return x.commit(ctx, w, p)
}
