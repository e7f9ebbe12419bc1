package extract

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Patient is a Plugin for which events are kept while it can't take them.
type Patient interface {
	Plugin
	// Waits reports whether an event on which the plugin failed in this way is kept
	// for it. With nil it reports whether the events that are kept go on waiting.
	// That is so if its manifest says wait, and it is disabled now or the machine
	// had no time for it.
	Waits(failed error) bool
}

// maxOwed is how many events are kept for one plugin. If there are more, the oldest
// are dropped.
const maxOwed = 10_000

// owed is the record of the events that are kept for a plugin: from First up to
// Next, each in a record of its own.
type owed struct {
	First, Next uint64
	Lost        uint64 // that were given up
}

// owedPrefix begins the names of these records.
const owedPrefix = "owed to "

func owedMeta(plugin string) string { return owedPrefix + plugin }

func owedSlot(plugin string, n uint64) string { return fmt.Sprintf("%s%s, %d", owedPrefix, plugin, n) }

// owedEvent is an event as it is kept, without its bytes and its text.
type owedEvent struct {
	memory.Event
	Said memory.ID `json:"said,omitzero"` // of a text: its utterance
}

// owe notes that a plugin missed the event of the call under way, or the text that
// was heard in it. It keeps only what is kept nowhere else, such as a reading or a
// place. A text is kept as an utterance, and a photo as a file. Sound is not kept
// for a plugin at all.
func (p *pending) owe(pl Plugin, failed error) {
	if w, ok := pl.(Patient); !ok || !w.Waits(failed) || p.event.Kind == memory.KindAudio {
		return
	}
	ev := owedEvent{Event: p.event}
	ev.Data, ev.Text = nil, ""
	if ev.Kind == memory.KindText {
		ev = owedEvent{memory.Event{ID: ev.ID, Kind: ev.Kind, At: ev.At, Received: ev.Received}, p.said}
	}
	if p.owes == nil {
		p.owes = map[string][]owedEvent{}
	}
	p.owes[pl.ID()] = append(p.owes[pl.ID()], ev)
}

// disown takes a text off the lists of what waits, because nothing of it is kept.
func (p *pending) disown(said memory.ID) {
	for id, events := range p.owes {
		p.owes[id] = slices.DeleteFunc(events, func(e owedEvent) bool { return e.Said == said })
	}
}

// saveOwed writes what waits for each plugin.
func (p *pending) saveOwed(tx *store.Tx) error {
	for id, events := range p.owes {
		var o owed
		if _, err := tx.Meta(owedMeta(id), &o); err != nil {
			return err
		}
		for i := range events {
			if err := tx.PutMeta(owedSlot(id, o.Next), &events[i]); err != nil {
				return err
			}
			o.Next++
			if o.Next-o.First > maxOwed {
				if err := tx.DeleteMeta(owedSlot(id, o.First)); err != nil {
					return err
				}
				o.First, o.Lost = o.First+1, o.Lost+1
			}
		}
		if err := tx.PutMeta(owedMeta(id), &o); err != nil {
			return err
		}
	}
	return nil
}

// Owed is how many events wait for a plugin.
func (x *Extractor) Owed(ctx context.Context, plugin string) (n int, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		var o owed
		_, err := tx.Meta(owedMeta(plugin), &o)
		n = int(o.Next - o.First)
		return err
	})
	return n, err
}

// CatchUp gives a plugin at most so many of the events that waited for it, oldest
// first. An event on which it fails is given up. If the failure disables the plugin
// again, the rest goes on waiting.
func (x *Extractor) CatchUp(ctx context.Context, w *engine.Writer, pl Plugin, most int) (res Again, err error) {
	state := map[string][]byte{}
	for range most {
		var o owed
		var e *past
		err := x.engine.View(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Meta(owedMeta(pl.ID()), &o); err != nil || o.First == o.Next {
				return err
			}
			e, err = x.owedPast(tx, pl.ID(), o.First)
			return err
		})
		if err != nil || o.First == o.Next {
			return res, err
		}
		if e != nil {
			if err := x.again(ctx, w, pl, e, state, &res); err != nil {
				return res, err
			}
			if w, ok := pl.(Patient); ok && w.Waits(nil) {
				return res, nil // it is disabled again, and this one waits, too
			}
		}
		// After a crash here the plugin gets the event again, with the same ids.
		err = w.Commit(ctx, func(tx *store.Tx) error {
			if _, err := tx.Meta(owedMeta(pl.ID()), &o); err != nil {
				return err
			}
			if err := tx.DeleteMeta(owedSlot(pl.ID(), o.First)); err != nil {
				return err
			}
			o.First++
			return tx.PutMeta(owedMeta(pl.ID()), &o)
		})
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

// this much of what was said before a text is searched for its session
const sessionBefore = 2 * time.Hour

// owedPast puts an event together again, or gives nil if it is not kept any more.
func (x *Extractor) owedPast(tx *store.Tx, plugin string, n uint64) (*past, error) {
	var ev owedEvent
	if ok, err := tx.Meta(owedSlot(plugin, n), &ev); err != nil || !ok {
		return nil, err
	}
	var all []past
	var err error
	switch ev.Kind {
	case memory.KindText:
		all, err = x.saidBetween(tx, ev.At.Add(-sessionBefore), ev.At.Add(time.Millisecond))
	case memory.KindPhoto:
		all, err = x.photosBetween(tx, ev.At, ev.At.Add(time.Millisecond))
	default:
		return &past{event: ev.Event}, nil
	}
	i := slices.IndexFunc(all, func(e past) bool {
		return e.event.ID == ev.ID && (ev.Said.IsZero() || e.said == ev.Said)
	})
	if err != nil || i < 0 {
		return nil, err
	}
	return &all[i], nil
}

// Owed is an event that waits for a plugin, without what is kept elsewhere.
type Owed struct {
	Event memory.Event
	name  string // name of its record
}

// OwedEvents gives all events that wait for any plugin, in no order.
func OwedEvents(tx *store.Tx) iter.Seq2[Owed, error] {
	return func(yield func(Owed, error) bool) {
		for name, err := range tx.MetaNames(owedPrefix) {
			if err == nil && !strings.Contains(name, ", ") {
				continue // the record of a plugin
			}
			var ev owedEvent
			if err == nil {
				_, err = tx.Meta(name, &ev)
			}
			if !yield(Owed{ev.Event, name}, err) || err != nil {
				return
			}
		}
	}
}

// ForgetPlugin drops the state of a removed plugin and what waits for it.
func (x *Extractor) ForgetPlugin(ctx context.Context, w *engine.Writer, plugin string, devices []string) error {
	for k := range x.states {
		if k.plugin == plugin {
			delete(x.states, k)
		}
	}
	return w.Commit(ctx, func(tx *store.Tx) error {
		for _, stream := range append([]string{talk, "photos"}, devices...) {
			if err := tx.DeleteMeta(stateKey{plugin, stream}.meta()); err != nil {
				return err
			}
		}
		var o owed
		if _, err := tx.Meta(owedMeta(plugin), &o); err != nil {
			return err
		}
		for n := o.First; n < o.Next; n++ {
			if err := tx.DeleteMeta(owedSlot(plugin, n)); err != nil {
				return err
			}
		}
		return tx.DeleteMeta(owedMeta(plugin))
	})
}
