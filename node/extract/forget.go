package extract

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Forgotten is what is being forgotten, as far as the chain needs to know.
type Forgotten struct {
	Utterances []memory.ID
	Events     []memory.EventID
	Places     []string  // names of places in what is forgotten
	Latest     time.Time // when the latest of it happened
}

// HeldEvent is an event that waits for more sound, or for the rest of a photo.
type HeldEvent struct {
	ID       memory.EventID
	At       time.Time // for sound: when the sound held so far ended
	Received time.Time
}

// HeldEvents returns the events that wait for more, each with its stream or photo.
func (x *Extractor) HeldEvents() []HeldEvent {
	var out []HeldEvent
	for _, s := range x.streams {
		for _, id := range s.open {
			out = append(out, HeldEvent{id, s.last.At, s.last.Received})
		}
	}
	for _, ph := range x.partial {
		for _, id := range ph.events {
			out = append(out, HeldEvent{id, ph.first.At, ph.first.Received})
		}
	}
	return out
}

// secretsPlugin is the built-in plugin that looks for secrets. Its state has hashes
// of secrets, and for some minutes parts of a secret whose rest may follow.
const (
	secretsPlugin = "secrets"
	secretsWait   = time.Hour
)

// Forget drops what is forgotten from memory: turns, held sound and photos, and the
// states of plugins, which may hold words of it. It marks unfinished events as
// done, so that they do not come again, and returns the held ones. The hashes of
// the secrets plugin stay unless something recent is forgotten, because they
// recognise a secret that is said again.
func (x *Extractor) Forget(ctx context.Context, w *engine.Writer, g Forgotten) (held []memory.EventID, err error) {
	x.forgot++
	x.stored = nil
	recent := g.Latest.After(x.session.Last.Add(-secretsWait))
	x.session.turns = slices.DeleteFunc(x.session.turns, func(t turn) bool { return slices.Contains(g.Utterances, t.utterance) })
	gone := func(ids []memory.EventID) bool {
		return slices.ContainsFunc(ids, func(id memory.EventID) bool { return slices.Contains(g.Events, id) })
	}
	for device, s := range x.streams {
		if gone(s.open) {
			held = append(held, s.open...)
			if s.live.on {
				x.live.Drop(device)
			}
			delete(x.streams, device)
		}
	}
	for key, ph := range x.partial {
		if gone(ph.events) {
			held = append(held, ph.events...)
			delete(x.partial, key)
		}
	}
	keep := func(plugin string) bool { return plugin == secretsPlugin && !recent }
	for k := range x.states {
		if !keep(k.plugin) {
			delete(x.states, k)
		}
	}
	if isPlace(g.Places, x.session.Place) {
		x.session.Place = ""
	}
	for ids := range slices.Chunk(append(slices.Clone(g.Events), held...), 100) {
		if err := w.CommitInReserve(ctx, func(tx *store.Tx) error { return markForgotten(tx, ids) }); err != nil {
			return held, err
		}
	}
	all := map[memory.EventID]bool{}
	for _, id := range slices.Concat(g.Events, held) {
		all[id] = true
	}
	return held, w.CommitInReserve(ctx, func(tx *store.Tx) error {
		for id := range all {
			if err := forgetTrace(tx, id); err != nil {
				return err
			}
		}
		var names []string
		for name, err := range tx.MetaNames(statePrefix) {
			if err != nil {
				return err
			}
			plugin, _, _ := strings.Cut(strings.TrimPrefix(name, statePrefix), ", ")
			if !keep(plugin) {
				names = append(names, name)
			}
		}
		for o, err := range DeferredEvents(tx) {
			if err != nil {
				return err
			}
			if all[o.Event.ID] || o.Event.Place != nil && isPlace(g.Places, o.Event.Place.Name) {
				names = append(names, o.name)
			}
		}
		if err := tx.DeleteMeta(names...); err != nil {
			return err
		}
		return tx.PutMeta(sessionMeta, x.session.saved)
	})
}

func isPlace(names []string, place string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return memory.Normal(name) == memory.Normal(place) })
}

func markForgotten(tx *store.Tx, ids []memory.EventID) error {
	for _, id := range ids {
		_, done, err := tx.EventMark(id)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		if err := tx.MarkEvent(id, "forgotten"); err != nil {
			return err
		}
	}
	return nil
}
