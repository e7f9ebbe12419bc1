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

// DeferringPlugin is a Plugin for which events are kept while it can't process them.
type DeferringPlugin interface {
	Plugin
	// DefersEvents reports whether an event on which the plugin failed in this way is kept for
	// it. With nil it reports whether the events that are kept go on waiting. Both are
	// the case if the plugin's manifest says wait, and the plugin is disabled now or the
	// machine had no time for it.
	DefersEvents(failed error) bool
}

// maxDeferred is how many events are kept for one plugin. If there are more, the oldest
// are dropped.
const maxDeferred = 10_000

// deferredQueue is the record of the events that are kept for a plugin: from First up to
// Next, each in its own record.
type deferredQueue struct {
	First, Next uint64
	Lost        uint64 // how many were dropped
}

// deferredPrefix begins the names of these records.
const deferredPrefix = "owed to "

func deferredMeta(plugin string) string { return deferredPrefix + plugin }

func deferredSlot(plugin string, n uint64) string {
	return fmt.Sprintf("%s%s, %d", deferredPrefix, plugin, n)
}

// deferredRecord is an event as it is kept, without its bytes and its text.
type deferredRecord struct {
	memory.Event
	Said memory.ID `json:"said,omitzero"` // for a text: its utterance
}

// deferFor notes that a plugin missed the event of the call under way, or the text that
// was heard in it. It keeps only what is kept nowhere else, such as a reading or a
// place. A text is kept as an utterance, and a photo as a file. Sound is not kept
// for a plugin at all.
func (p *pending) deferFor(pl Plugin, failed error) {
	if w, ok := pl.(DeferringPlugin); !ok || !w.DefersEvents(failed) || p.event.Kind == memory.KindAudio {
		return
	}
	ev := deferredRecord{Event: p.event}
	ev.Data, ev.Text = nil, ""
	if ev.Kind == memory.KindText {
		ev = deferredRecord{memory.Event{ID: ev.ID, Kind: ev.Kind, At: ev.At, Received: ev.Received}, p.lineID}
	}
	if p.deferred == nil {
		p.deferred = map[string][]deferredRecord{}
	}
	p.deferred[pl.ID()] = append(p.deferred[pl.ID()], ev)
}

// dropDeferred removes a text from the lists of what waits, because nothing of it is
// kept.
func (p *pending) dropDeferred(said memory.ID) {
	for id, events := range p.deferred {
		p.deferred[id] = slices.DeleteFunc(events, func(e deferredRecord) bool { return e.Said == said })
	}
}

// saveDeferred writes what waits for each plugin.
func (p *pending) saveDeferred(tx *store.Tx) error {
	for id, events := range p.deferred {
		var o deferredQueue
		if _, err := tx.Meta(deferredMeta(id), &o); err != nil {
			return err
		}
		for i := range events {
			if err := tx.PutMeta(deferredSlot(id, o.Next), &events[i]); err != nil {
				return err
			}
			o.Next++
			if o.Next-o.First > maxDeferred {
				if err := tx.DeleteMeta(deferredSlot(id, o.First)); err != nil {
					return err
				}
				o.First, o.Lost = o.First+1, o.Lost+1
			}
		}
		if err := tx.PutMeta(deferredMeta(id), &o); err != nil {
			return err
		}
	}
	return nil
}

// Deferred returns how many events wait for a plugin.
func (x *Extractor) Deferred(ctx context.Context, plugin string) (n int, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		var o deferredQueue
		_, err := tx.Meta(deferredMeta(plugin), &o)
		n = int(o.Next - o.First)
		return err
	})
	return n, err
}

// CatchUp gives a plugin some of the events that waited for it, oldest first and at most
// so many. An event on which the plugin fails is dropped. If the failure disables the
// plugin again, the rest goes on waiting.
func (x *Extractor) CatchUp(ctx context.Context, w *engine.Writer, pl Plugin, most int) (res ReplayResult, err error) {
	state := map[string][]byte{}
	for range most {
		var o deferredQueue
		var e *past
		err := x.engine.View(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Meta(deferredMeta(pl.ID()), &o); err != nil || o.First == o.Next {
				return err
			}
			e, err = x.owedPast(tx, pl.ID(), o.First)
			return err
		})
		if err != nil || o.First == o.Next {
			return res, err
		}
		if e != nil {
			if err := x.replayEvent(ctx, w, pl, e, state, &res); err != nil {
				return res, err
			}
			if w, ok := pl.(DeferringPlugin); ok && w.DefersEvents(nil) {
				return res, nil // the plugin is disabled again, so this event waits, too
			}
		}
		// After a crash here the plugin gets the event again, with the same ids.
		err = w.Commit(ctx, func(tx *store.Tx) error {
			if _, err := tx.Meta(deferredMeta(pl.ID()), &o); err != nil {
				return err
			}
			if err := tx.DeleteMeta(deferredSlot(pl.ID(), o.First)); err != nil {
				return err
			}
			o.First++
			return tx.PutMeta(deferredMeta(pl.ID()), &o)
		})
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

// how much of what was said before a text is searched for its session
const sessionBefore = 2 * time.Hour

// owedPast reassembles an event that waits, or returns nil if it is not kept any more.
func (x *Extractor) owedPast(tx *store.Tx, plugin string, n uint64) (*past, error) {
	var ev deferredRecord
	if ok, err := tx.Meta(deferredSlot(plugin, n), &ev); err != nil || !ok {
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

// DeferredEvent is an event that waits for a plugin, without what is kept elsewhere.
type DeferredEvent struct {
	Event memory.Event
	name  string // name of its record
}

// DeferredEvents returns all events that wait for any plugin, in no particular order.
func DeferredEvents(tx *store.Tx) iter.Seq2[DeferredEvent, error] {
	return func(yield func(DeferredEvent, error) bool) {
		for name, err := range tx.MetaNames(deferredPrefix) {
			if err == nil && !strings.Contains(name, ", ") {
				continue // the record of a plugin's queue
			}
			var ev deferredRecord
			if err == nil {
				_, err = tx.Meta(name, &ev)
			}
			if !yield(DeferredEvent{ev.Event, name}, err) || err != nil {
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
		names := []string{deferredMeta(plugin)}
		for _, stream := range append([]string{talk, "photos"}, devices...) {
			names = append(names, stateKey{plugin, stream}.meta())
		}
		var o deferredQueue
		if _, err := tx.Meta(deferredMeta(plugin), &o); err != nil {
			return err
		}
		for n := o.First; n < o.Next; n++ {
			names = append(names, deferredSlot(plugin, n))
		}
		return tx.DeleteMeta(names...)
	})
}
