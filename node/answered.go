package node

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

// Relations by which a worker ties what it made to what it made it of.
const (
	transcriptOf = "transcript_of"
	printOf      = "print_of"
)

// check looks at what a transaction took of what workers and other devices say,
// before it is committed. Each has scanned its words for secrets; the node does
// not take its word for it: what holds one after all is erased in the same
// transaction, so that nobody is ever shown it, and no crash comes between. Where
// nobody can look, nothing is committed. A recording that now has its transcript
// waits no longer. It is engine.Config.Check.
func (n *Node) check(ctx context.Context, o *session, tx *store.Tx) (after func(context.Context, *engine.Writer) error, err error) {
	var unsafe []memory.Memory
	var lines []memory.ID
	var heard []transcribed
	looked := map[memory.ID]bool{}
	for _, d := range tx.Heard() {
		if looked[d.ID] {
			continue
		}
		looked[d.ID] = true
		if d.Kind == store.UtteranceDocument {
			u, err := tx.Utterance(d.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue // forgotten since
			}
			if err != nil {
				return nil, err
			}
			if found, err := o.extract.HoldsSecret(ctx, u.Text); err != nil {
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
		if found, err := o.extract.HoldsSecret(ctx, m.AllText()); err != nil {
			return nil, err
		} else if found {
			unsafe = append(unsafe, *m)
			continue
		}
		heard = append(heard, transcripts(m)...)
	}
	if err := o.waitNoLonger(tx, heard); err != nil || len(unsafe)+len(lines) == 0 {
		return nil, err
	}
	if err := o.refuseSecrets(tx, unsafe, lines); err != nil {
		return nil, err
	}
	return func(ctx context.Context, lock *engine.Writer) error { return o.forgets.Swept(ctx, lock) }, nil
}

// transcripts gives the recordings and photos of which a memory has the words.
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

// safe leaves out what holds a secret, before any of it is written.
func (o *session) safe(ctx context.Context, as []memory.Assertion, us []memory.Utterance) (_ []memory.Assertion, _ []memory.Utterance, err error) {
	unsafe := func(text string) bool {
		found, e := o.extract.HoldsSecret(ctx, text)
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

// unsafe are memories that hold a secret, of which more is known than one
// transaction erases together with what else it does.
type unsafe struct {
	ids []memory.ID
	err error // store.ErrTooLarge
}

func (u *unsafe) Error() string {
	return fmt.Sprintf("erase %d memories that hold a secret: %v", len(u.ids), u.err)
}
func (u *unsafe) Unwrap() error { return u.err }

// take commits what others said. Memories that hold a secret, and of which more
// is known than one transaction erases, are erased first, and absorb it then.
func (o *session) take(ctx context.Context, lock *engine.Writer, fn func(*store.Tx) error) error {
	err := lock.Commit(ctx, fn)
	if u, ok := errors.AsType[*unsafe](err); ok {
		if _, err := lock.Erase(ctx, engine.Person, forget.Wish, u.ids...); err != nil {
			return err
		}
		err = lock.Commit(ctx, fn)
	}
	return err
}

// refuseSecrets forgets answers that hold a secret, as thoroughly as anything is
// forgotten, and says so.
func (o *session) refuseSecrets(tx *store.Tx, found []memory.Memory, lines []memory.ID) error {
	ids := make([]memory.ID, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	if _, err := o.engine.Erase(tx, engine.Person, forget.Wish, ids...); errors.Is(err, store.ErrTooLarge) {
		return &unsafe{ids, err}
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
	return forget.OrderSweep(tx)
}

// heardAgain has recordings wait for a transcript no longer.
func (o *session) heardAgain(ctx context.Context, ids []memory.ID) error {
	var heard []transcribed
	err := o.engine.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			m, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			heard = append(heard, transcribed{id, m.Evidence})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return o.engine.Commit(ctx, func(tx *store.Tx) error { return o.waitNoLonger(tx, heard) })
}

// waitNoLonger takes the mark of waiting off recordings and photos.
func (o *session) waitNoLonger(tx *store.Tx, heard []transcribed) error {
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
		if err := o.heard(tx, m, "", "it has been transcribed"); err != nil {
			return err
		}
	}
	return nil
}

// heard has a recording wait no longer. What its text says of waiting is
// replaced.
func (o *session) heard(tx *store.Tx, m *memory.Memory, instead, why string) error {
	text, by := strings.TrimSuffix(m.Text, extract.WaitingText)+instead, memory.Source{Plugin: "node"}
	_, err := o.engine.Say(tx, memory.RankDevice,
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

// taking is exchange.Config's Take.
func (n *Node) taking(o *session) func(ctx context.Context, fn func(*store.Tx) (*store.Targets, error)) error {
	return func(ctx context.Context, fn func(*store.Tx) (*store.Targets, error)) error {
		lock := o.engine.Hold()
		defer lock.Release()
		var gone *store.Targets
		err := o.take(ctx, lock, func(tx *store.Tx) (err error) {
			if gone, err = fn(tx); err != nil || gone == nil {
				return err
			}
			return forget.OrderSweep(tx)
		})
		if err != nil || gone == nil {
			return err
		}
		if _, err := o.extract.Forget(ctx, lock, extract.Gone{Utterances: gone.Utterances, Events: gone.Events, Latest: n.now()}); err != nil {
			return err
		}
		if err := o.plugins.Forget(); err != nil {
			return err
		}
		return o.forgets.Swept(ctx, lock)
	}
}
