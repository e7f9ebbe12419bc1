// Package accept is the gate for what workers and other devices say. It checks their
// assertions before they are committed, and erases memories that contain a secret.
package accept

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/forget"
)

// Engine is how the gate reads and changes the records.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
	Erase(tx *store.Tx, by memory.Source, why string, ids ...memory.ID) ([]memory.Change, error)
}

// Chain has the part of the extractor that the gate needs. Its methods are called under the
// engine's write lock.
type Chain interface {
	HoldsSecret(ctx context.Context, text string) (bool, error)
	Forget(ctx context.Context, lock *engine.Writer, g extract.Forgotten) (held []memory.EventID, err error)
}

// Config is what the gate of an open node needs.
type Config struct {
	Engine        Engine
	Chain         Chain
	Now           func() time.Time
	ForgetPlugins func() error                                         // makes plugins drop what they have in memory
	PurgeSwept    func(ctx context.Context, lock *engine.Writer) error // removes from every file what was erased
}

// Gate is the gate of an open node. Its methods are safe for concurrent use.
type Gate struct{ c Config }

// New makes a Gate.
func New(c Config) *Gate { return &Gate{c} }

// Relations between what a worker made and its source.
const (
	transcriptOf = "transcript_of"
	printOf      = "print_of"
)

// Check checks the assertions that a transaction took from workers and other devices, before
// it commits. Each of them has scanned its texts for secrets, but the node does not rely on
// that: a memory that contains a secret is erased in the same transaction. So nobody ever
// sees it, even after a crash. If no plugin can look for secrets, nothing is committed. A
// recording whose transcript has arrived no longer waits for one. Check is
// engine.Config.Check.
func (g *Gate) Check(ctx context.Context, tx *store.Tx) (after func(context.Context, *engine.Writer) error, err error) {
	var unsafe []memory.Memory
	var lines []memory.ID
	var heard []transcribed
	looked := map[memory.ID]bool{}
	for _, d := range tx.FromOthers() {
		if looked[d.ID] {
			continue
		}
		looked[d.ID] = true
		if d.Kind == store.UtteranceDocument {
			u, err := tx.Utterance(d.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue // it was forgotten since
			}
			if err != nil {
				return nil, err
			}
			if found, err := g.c.Chain.HoldsSecret(ctx, u.Text); err != nil {
				return nil, err
			} else if found {
				lines = append(lines, u.ID)
			}
			continue
		}
		m, err := tx.Memory(d.ID)
		if errors.Is(err, memory.ErrNotFound) {
			continue // it waits for its proposal
		}
		if err != nil {
			return nil, err
		}
		if m.Rank != memory.RankCloud || m.State == memory.Erased {
			continue
		}
		if found, err := g.c.Chain.HoldsSecret(ctx, m.AllText()); err != nil {
			return nil, err
		} else if found {
			unsafe = append(unsafe, *m)
			continue
		}
		heard = append(heard, transcripts(m)...)
	}
	if err := g.waitNoLonger(tx, heard); err != nil || len(unsafe)+len(lines) == 0 {
		return nil, err
	}
	if err := g.refuseSecrets(tx, unsafe, lines); err != nil {
		return nil, err
	}
	return func(ctx context.Context, lock *engine.Writer) error { return g.c.PurgeSwept(ctx, lock) }, nil
}

// transcripts returns the recordings and photos whose words a memory has.
func transcripts(m *memory.Memory) (out []transcribed) {
	if m.Type != memory.Resource || m.Fields.Resource == nil || strings.TrimSpace(m.Fields.Resource.Content) == "" {
		return nil
	}
	for _, l := range m.Links {
		if id, err := memory.ParseID(l.To); err == nil && (l.Relation == transcriptOf || l.Relation == printOf) {
			out = append(out, transcribed{id, m.Evidence})
		}
	}
	return out
}

// transcribed is a recording of which a worker says that it has the words.
type transcribed struct {
	id    memory.ID
	cites []memory.Evidence
}

// WithoutSecrets drops the assertions that contain a secret, before any is written.
func (g *Gate) WithoutSecrets(ctx context.Context, as []memory.Assertion, us []memory.Utterance) (_ []memory.Assertion, _ []memory.Utterance, err error) {
	unsafe := func(text string) bool {
		found, e := g.c.Chain.HoldsSecret(ctx, text)
		err = errors.Join(err, e)
		return found
	}
	as = slices.DeleteFunc(slices.Clone(as), func(a memory.Assertion) bool {
		text := a.Reason
		if a.Candidate != nil {
			text += "\n" + (&memory.Memory{Candidate: *a.Candidate}).AllText()
		}
		if p := a.Patch; p != nil {
			if p.Text != nil {
				text += "\n" + *p.Text
			}
			if p.Value != nil {
				text += "\n" + *p.Value
			}
			if p.Fields != nil {
				text += "\n" + (&memory.Memory{Candidate: memory.Candidate{Fields: *p.Fields}}).AllText()
			}
		}
		for _, e := range a.Evidence {
			text += "\n" + e.Excerpt
		}
		return unsafe(text)
	})
	us = slices.DeleteFunc(slices.Clone(us), func(u memory.Utterance) bool { return unsafe(u.Text) })
	return as, us, err
}

// eraseFirstError has memories that contain a secret and have too many assertions to be
// erased in the same transaction.
type eraseFirstError struct {
	ids []memory.ID
	err error // store.ErrTooLarge
}

func (u *eraseFirstError) Error() string {
	return fmt.Sprintf("erase %d memories that hold a secret: %v", len(u.ids), u.err)
}
func (u *eraseFirstError) Unwrap() error { return u.err }

// CommitRemote commits what others said. Memories that contain a secret and have too many assertions
// for one transaction are erased first, and what was said about them is applied afterwards.
func (g *Gate) CommitRemote(ctx context.Context, lock *engine.Writer, fn func(*store.Tx) error) error {
	err := lock.Commit(ctx, fn)
	if u, ok := errors.AsType[*eraseFirstError](err); ok {
		if _, err := lock.Erase(ctx, engine.Person, forget.DefaultReason, u.ids...); err != nil {
			return err
		}
		err = lock.Commit(ctx, fn)
	}
	return err
}

// refuseSecrets forgets answers that contain a secret, as thoroughly as an order of the
// wearer would, and reports that.
func (g *Gate) refuseSecrets(tx *store.Tx, found []memory.Memory, lines []memory.ID) error {
	ids := make([]memory.ID, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	if _, err := g.c.Engine.Erase(tx, engine.Person, forget.DefaultReason, ids...); errors.Is(err, store.ErrTooLarge) {
		return &eraseFirstError{ids, err}
	} else if err != nil {
		return err
	}
	if err := tx.Erase(store.Targets{Utterances: lines}); err != nil {
		return err
	}
	for i := range found {
		m := &found[i]
		r := memory.Refusal{At: time.Now().UTC(), Plugin: m.Source.Plugin, Kind: "secret", Reason: "a worker's answer held a secret, and was erased"}
		if len(m.Evidence) > 0 {
			r.Event = m.Evidence[0].Event
		}
		if err := tx.Refuse(r); err != nil {
			return err
		}
	}
	return forget.PlanSweep(tx)
}

// UnmarkWaiting removes the waiting mark from recordings whose words have arrived.
func (g *Gate) UnmarkWaiting(ctx context.Context, ids []memory.ID) error {
	var heard []transcribed
	err := g.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.MemoriesOf(ids) {
			if err != nil {
				return err
			}
			heard = append(heard, transcribed{m.ID, m.Evidence})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.c.Engine.Commit(ctx, func(tx *store.Tx) error { return g.waitNoLonger(tx, heard) })
}

// waitNoLonger removes the waiting mark from recordings and photos.
func (g *Gate) waitNoLonger(tx *store.Tx, heard []transcribed) error {
	for _, h := range heard {
		m, err := tx.Memory(h.id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if m.State != memory.Active || !slices.Contains(m.Tags, memory.WaitingTag) || !citesOne(h.cites, m.Evidence) {
			continue
		}
		if err := MarkTranscribed(g.c.Engine, tx, m, "", "it has been transcribed"); err != nil {
			return err
		}
	}
	return nil
}

// MarkTranscribed removes the waiting mark from a recording, and replaces the part of its
// text that says so.
func MarkTranscribed(e Engine, tx *store.Tx, m *memory.Memory, instead, why string) error {
	text, by := strings.TrimSuffix(m.Text, extract.WaitingText)+instead, memory.Source{Plugin: "node"}
	_, err := e.AssertTx(tx, memory.RankDevice,
		memory.Assertion{Memory: m.ID, Act: memory.ActUntag, Tags: []string{memory.WaitingTag}, Source: by, Reason: why},
		memory.Assertion{Memory: m.ID, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}, Source: by, Reason: why})
	return err
}

// citesOne reports whether two lists of evidence have an event in common.
func citesOne(a, b []memory.Evidence) bool {
	return slices.ContainsFunc(a, func(x memory.Evidence) bool {
		return slices.ContainsFunc(b, func(y memory.Evidence) bool { return x.Event == y.Event && !x.Event.IsZero() })
	})
}

// TakeDelta commits what a round of sync brought, and carries out what others have
// forgotten. It is exchange.Config.CommitRemote.
func (g *Gate) TakeDelta(ctx context.Context, fn func(*store.Tx) (gone *store.Targets, err error)) error {
	lock := g.c.Engine.AcquireWriter()
	defer lock.Release()
	var gone *store.Targets
	err := g.CommitRemote(ctx, lock, func(tx *store.Tx) (err error) {
		if gone, err = fn(tx); err != nil || gone == nil {
			return err
		}
		return forget.PlanSweep(tx)
	})
	if err != nil || gone == nil {
		return err
	}
	if _, err := g.c.Chain.Forget(ctx, lock, extract.Forgotten{Utterances: gone.Utterances, Events: gone.Events, Latest: g.c.Now()}); err != nil {
		return err
	}
	if err := g.c.ForgetPlugins(); err != nil {
		return err
	}
	return g.c.PurgeSwept(ctx, lock)
}
