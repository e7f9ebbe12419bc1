package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract/picture"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/abi"
)

// ReplayResult is the result of giving a plugin past events again.
type ReplayResult struct {
	Events      int // that the plugin was given
	Candidates  int // candidates that were valid
	Known       int // candidates that were there already, or that were erased since
	Faults      int
	Transcribed []memory.ID // recordings that waited for a transcript and now have one
	Changes     []memory.Change
}

// past is what the store still has of an event.
type past struct {
	event  memory.Event
	said   memory.ID  // the utterance; zero: nothing was said
	before []turn     // earlier turns of the session, oldest first
	kept   store.Blob // file of a photo or a recording
	place  string     // where a photo was taken

	made  memory.ID // the memory of a photo, a recording or a visit
	waits bool      // a recording waits for a transcript
}

// Replay gives a plugin what is kept of the events of a period, oldest first:
// utterances as they were left after secrets were taken out, photos, recordings,
// and places with a name. Words that it hears in a recording without words go
// through the chain. A candidate that was made before gets the same id again, and
// changes nothing. What the plugin takes out of a text is taken out of the
// utterance and of what repeats it. Its state begins anew, and its state of the
// present is left alone.
//
// The caller makes sure that nothing else is extracted meanwhile. Each event is one
// call, and between is called after each. An event that is damaged on disk is
// skipped and reported as an error at the end. The result is valid with any error.
func (x *Extractor) Replay(ctx context.Context, pl Plugin, since, until time.Time, between func(run func(*engine.Writer) error) error) (res ReplayResult, wrong error) {
	all, err := x.pasts(ctx, pl, since, until)
	if err != nil {
		return res, fmt.Errorf("replay: %w", err)
	}
	state := map[string][]byte{} // by the kind of event
	var forgot uint64
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		err := between(func(w *engine.Writer) error {
			if x.forgot != forgot { // the plugin's state may hold words of what was forgotten
				clear(state)
				forgot = x.forgot
			}
			return x.replayEvent(ctx, w, pl, &e, state, &res)
		})
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("replay %s: %w", e.event.ID, err))
			if !errors.Is(err, memory.ErrDamaged) {
				return res, wrong
			}
		}
	}
	return res, wrong
}

// pasts lists the events that are kept and that the plugin asks for, oldest first.
func (x *Extractor) pasts(ctx context.Context, pl Plugin, since, until time.Time) (all []past, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		if pl.Wants("text") {
			if all, err = x.saidBetween(tx, since, until); err != nil {
				return err
			}
		}
		for _, k := range []struct {
			kind string
			list func(*store.Tx, time.Time, time.Time) ([]past, error)
		}{{"photo", x.photosBetween}, {"utterance", x.recordingsBetween}, {"location", x.visitsBetween}} {
			if !pl.Wants(k.kind) {
				continue
			}
			more, err := k.list(tx, since, until)
			if err != nil {
				return err
			}
			all = append(all, more...)
		}
		return nil
	})
	sorting.Stable(all, func(a, b past) int { return a.event.At.Compare(b.event.At) })
	return all, err
}

// photosBetween returns the photos whose files are kept.
func (x *Extractor) photosBetween(tx *store.Tx, since, until time.Time) (all []past, err error) {
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
		if err != nil {
			return nil, err
		}
		f := m.Fields.Resource
		if f == nil || f.Blob == "" || !slices.Contains(m.Tags, "photo") || len(m.Evidence) == 0 {
			continue
		}
		at := m.When()
		if at.Before(since) || !until.IsZero() && !at.Before(until) {
			continue
		}
		id, err := memory.ParseID(f.Blob)
		if err != nil {
			continue
		}
		ev := memory.Event{ID: m.Evidence[0].Event, Kind: memory.KindPhoto, At: at}
		if turn := m.Metadata["orientation"]; turn != "" {
			ev.Metadata = memory.Metadata{wire.MetaOrientation: turn}
		}
		all = append(all, past{event: ev, kept: store.Blob{ID: id}, place: m.Metadata["place"], made: m.ID})
	}
	return all, nil
}

// saidBetween returns what was said, each line with the turns before it.
func (x *Extractor) saidBetween(tx *store.Tx, since, until time.Time) (all []past, err error) {
	var turns []turn
	session := ""
	for u, err := range tx.Utterances(since, until) {
		if err != nil {
			return nil, err
		}
		if u.Session != session {
			session, turns = u.Session, nil
		}
		all = append(all, past{said: u.ID, before: slices.Clone(turns), event: memory.Event{ID: u.Event, Kind: memory.KindText, At: u.At, Received: u.Received,
			Zone: u.Zone, Lang: u.Lang, Speaker: u.Speaker, Text: u.Text, Agent: u.Agent, Run: u.Run, User: u.User, Metadata: u.Metadata}})
		turns = append(turns, turnOf(u))
		if n := len(turns) - abi.MaxBefore; n > 0 {
			turns = turns[n:]
		}
	}
	return all, nil
}

// replayEvent runs one plugin on one past event, and commits what is new.
func (x *Extractor) replayEvent(ctx context.Context, w *engine.Writer, pl Plugin, e *past, state map[string][]byte, res *ReplayResult) error {
	if there, err := x.renew(ctx, e); err != nil || !there {
		return err
	}
	ev := &e.event
	in := x.event(ev, string(ev.Kind))
	back := []turn{{event: ev.ID, utterance: e.said, at: ev.At, speaker: ev.Speaker, text: ev.Text, user: memory.OtherUser(ev.User)}}
	var pic *picture.Picture
	switch ev.Kind {
	case memory.KindPhoto:
		var err error
		if pic, err = x.keptPhoto(ctx, e); err != nil {
			return err
		}
		if pic == nil {
			return nil
		}
		in.Width, in.Height, in.Gray, in.RGB = pic.Width, pic.Height, pic.Gray, pic.RGB
	case memory.KindAudio:
		pcm, err := x.keptSound(ctx, e)
		if err != nil || pcm == nil {
			return err
		}
		in.Kind, in.Rate, in.Last, in.PCM = "utterance", sound.Rate, true, sound.AppendPCM(nil, pcm)
	default: // the name of a place, or a text
		in.Text = ev.Text
		before := e.before
		if !pl.RunsFirst() {
			before = ofUser(before, memory.OtherUser(ev.User))
		}
		for i := range before {
			t := &before[i]
			in.Before = append(in.Before, abi.Turn{ID: t.event.String(), At: t.at.UnixMilli(), Speaker: t.speaker, Text: t.text})
			back = slices.Insert(back, 1, *t)
		}
	}
	stateless := memory.OtherUser(ev.User) != "" && !pl.RunsFirst()
	if !stateless {
		in.State = state[in.Kind]
	}
	if r, ok := pl.(Reader); ok {
		var err error
		if in.Memories, err = x.memoriesFor(ctx, r.Reads(), in.Text, ev.User); err != nil {
			return err
		}
	}
	res.Events++
	out, err := pl.Extract(ctx, &in)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		res.Faults++
		x.log.Warn("plugin failed in a replay", "plugin", pl.ID(), "event", ev.ID.String(), "error", publicReason(pl, err))
		return nil
	}
	if out.State != nil && !stateless {
		state[in.Kind] = out.State
	}
	p := &pending{event: *ev, rewritten: map[memory.ID]string{}}
	for n, spans := range byTurn(out.Redactions) {
		if -n >= len(back) || n > 0 || e.said.IsZero() {
			continue
		}
		clean, taken := redact(back[-n].text, spans)
		back[-n].text = clean
		p.redacted += len(taken)
		p.secrets = append(p.secrets, taken...)
		p.rewritten[back[-n].utterance] = clean
	}
	if pl.RunsFirst() {
		out.Candidates = wholeTurns(out.Candidates, back)
	}
	x.propose(ctx, p, pl, out.Candidates, back, ev.Lang)
	if pic != nil {
		for i := range p.proposals {
			x.attach(&p.event, &p.proposals[i], pic, out.Annotations, e.place)
		}
	}
	res.Candidates += len(p.proposals)
	if err := x.commitAgain(ctx, w, p, res); err != nil || ev.Kind != memory.KindAudio {
		return err
	}
	return x.wordsAgain(ctx, w, pl, e, out.Derived, res)
}

// keptPhoto returns a photo's pixels, or nil if its file is gone or not on this
// device.
func (x *Extractor) keptPhoto(ctx context.Context, e *past) (pic *picture.Picture, err error) {
	data, err := x.keptBlob(ctx, e.kept.ID)
	if err != nil || data == nil {
		return nil, err
	}
	pic, err = picture.Decode(data)
	if err != nil {
		return nil, nil // the photo was refused the first time, too
	}
	upright(pic, &e.event)
	return pic, nil
}

// commitAgain commits the candidates that are new.
func (x *Extractor) commitAgain(ctx context.Context, w *engine.Writer, p *pending, res *ReplayResult) error {
	var fresh []proposal
	var known []memory.ID
	for _, pr := range p.proposals {
		like, err := x.findSame(ctx, &pr.cand)
		if err != nil {
			return err
		}
		var there bool
		err = x.engine.View(ctx, func(tx *store.Tx) error { there, err = x.isKnown(tx, p.event.ID, pr.id, like); return err })
		if err != nil {
			return err
		}
		if there || pr.data != nil && pr.cand.Fields.Resource.Blob == "" {
			res.Known++
			continue
		}
		fresh, known = append(fresh, pr), append(known, like)
	}
	if len(fresh) == 0 && len(p.rewritten) == 0 {
		return nil
	}
	erased, err := x.eraseEarlier(ctx, w, p)
	if err != nil {
		return err
	}
	var changes []memory.Change
	err = w.Commit(ctx, func(tx *store.Tx) error {
		changes = append(changes[:0], erased...)
		if err := redactEarlier(tx, p); err != nil {
			return err
		}
		for i := range fresh {
			got, err := x.assert(tx, p, &fresh[i], known[i])
			if err != nil {
				return err
			}
			changes = append(changes, got...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	res.Changes = append(res.Changes, changes...)
	return nil
}

// isKnown reports whether a candidate of an event was accepted before, under its
// own id or as evidence for a memory like it.
func (x *Extractor) isKnown(tx *store.Tx, ev memory.EventID, id, like memory.ID) (bool, error) {
	as, err := tx.Assertions(id)
	if err != nil || len(as) > 0 {
		return err == nil, err
	}
	if like.IsZero() {
		return false, nil
	}
	m, err := tx.Memory(like)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == ev }), nil
}
