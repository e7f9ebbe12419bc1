package extract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Spoken is one speaker's turn in what an engine heard.
type Spoken struct {
	From    time.Duration // from the recording's start; it is cut to the recording's length
	Speaker string        // the engine's name for the speaker; empty: it does not tell them apart
	Lang    string
	Text    string
}

// KeepWords processes what an engine heard in a recording, as if a wearable had sent the
// lines. The lines, what follows from them, and what mark writes are one transaction.
// mark runs first; if it fails, nothing is committed. The same recording produces the
// same ids. A recording that is newer than everything that was said continues the
// session. An older one belongs to the session in which it was made, and does not
// change the present.
func (x *Extractor) KeepWords(ctx context.Context, w *engine.Writer, recording *memory.Memory, by memory.Source, said []Spoken, mark func(*store.Tx) error) (changes []memory.Change, err error) {
	ev, began := recording.Evidence[0].Event, recording.When()
	p := &pending{event: memory.Event{ID: ev, Kind: memory.KindText, At: began, Received: time.Now().UTC()}, rewritten: map[memory.ID]string{},
		by: by, inSameTx: mark, addsToDone: true, replayed: began.Before(x.session.Last)}
	session, states := x.session, x.states
	restore := func() { x.session, x.states = session, states }
	if p.replayed {
		defer restore()
		x.states = map[stateKey]state{}
		if x.session, err = x.sessionAt(ctx, began); err != nil {
			return nil, err
		}
	} else {
		defer func() {
			if err != nil {
				restore()
			}
		}()
		x.session.turns, x.states = slices.Clone(session.turns), maps.Clone(states)
	}
	lasts := max(recording.TrueTo.Sub(began), 0)
	for i, s := range x.attribute(p, recording, said) {
		p.event.At, p.event.Speaker, p.event.Lang, p.event.Text = began.Add(min(s.From, lasts)), s.Speaker, s.Lang, s.Text
		x.processText(ctx, p, fmt.Sprintf("recording %s, words %d", recording.ID, i))
	}
	p.event.Text = ""
	if err := errors.Join(ctx.Err(), p.broken); err != nil {
		return nil, err
	}
	if err := x.dropProposedBefore(ctx, p); err != nil {
		return nil, err
	}
	if changes, err = x.commit(ctx, w, p); err == nil && p.unkeptLines > 0 && len(p.utterances) == 0 { // the wearer wants nothing of it kept
		var gone []memory.Change
		gone, err = w.Erase(ctx, by, offRecord, recording.ID)
		changes = append(changes, gone...)
	}
	return changes, err
}

// dropProposedBefore removes proposals that were made before under the same ids.
func (x *Extractor) dropProposedBefore(ctx context.Context, p *pending) error {
	return x.engine.View(ctx, func(tx *store.Tx) (err error) {
		p.proposals = slices.DeleteFunc(p.proposals, func(pr proposal) bool {
			as, wrong := tx.Assertions(pr.id)
			err = errors.Join(err, wrong)
			return len(as) > 0
		})
		return err
	})
}

// Sight is what an engine read in a photo, or says about it.
type Sight struct {
	Name string // of the memory, for its id; each engine has its own
	Text string
	// Candidate makes the memory from the text without its secrets.
	Candidate func(text string, redacted int) memory.Candidate
}

// KeepSight keeps what an engine saw in a photo. Secrets in it go to the vault. The memory
// and what mark writes are one transaction, in which mark runs first.
func (x *Extractor) KeepSight(ctx context.Context, w *engine.Writer, photo *memory.Memory, s Sight, mark func(*store.Tx) error) ([]memory.Change, error) {
	ev, at := photo.Evidence[0].Event, photo.When()
	p := &pending{event: memory.Event{ID: ev, Kind: memory.KindText, At: at, Received: time.Now().UTC(), Text: s.Text}, rewritten: map[memory.ID]string{}, inSameTx: mark, addsToDone: true, replayed: true}
	if strings.TrimSpace(s.Text) != "" {
		states := x.states
		defer func() { x.states = states }()
		x.states = map[stateKey]state{}
		own := turn{event: ev, at: at, text: s.Text}
		in := x.event(&p.event, "text")
		for _, pl := range x.plugins {
			if !pl.RunsFirst() || !pl.Wants("text") {
				continue
			}
			in.Text = own.text
			out, ok := x.call(ctx, p, pl, &in, talk)
			if !ok {
				return nil, errors.Join(ctx.Err(), p.broken, fmt.Errorf("plugin %s failed, which looks for secrets", pl.ID()))
			}
			clean, taken := redact(own.text, byTurn(out.Redactions)[0])
			own.text = clean
			p.redacted += len(taken)
			p.secrets = append(p.secrets, taken...)
			x.propose(ctx, p, pl, wholeTurns(out.Candidates, []turn{own}), []turn{own}, "")
		}
		c := s.Candidate(own.text, p.redacted)
		p.proposals = append(p.proposals, proposal{id: x.keys.MemoryID(ev, c.Source.Plugin, s.Name), cand: c})
	}
	p.event.Text = ""
	if err := x.dropProposedBefore(ctx, p); err != nil {
		return nil, err
	}
	return x.commit(ctx, w, p)
}

// dropLeaking drops proposals that repeat a secret which was recognised only in a later
// text of the same event.
func (p *pending) dropLeaking() {
	if len(p.rewritten) == 0 {
		return
	}
	p.proposals = slices.DeleteFunc(p.proposals, func(pr proposal) bool {
		quotes := slices.ContainsFunc(pr.cand.Evidence, func(e memory.Evidence) bool { _, ok := p.rewritten[e.Utterance]; return ok })
		return quotes && pr.cand.Type != memory.Vault && holds(&memory.Memory{Candidate: pr.cand}, p.secrets)
	})
}
