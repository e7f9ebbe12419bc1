package wearables

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// saveEvery is how often the times when devices were last heard are stored. It is
// rare, to spare a device's flash. A node that is killed loses as much of it.
const saveEvery = time.Minute

// maxKept is for how many devices this is stored: those that were heard last. Anybody
// whom another broker admits can make up names.
const maxKept = 256

const heardMeta = "wearables heard"

// heard counts what devices sent since the start. It also knows, from earlier starts,
// when they last sent something.
type heard struct {
	mu    sync.Mutex // guards the fields below
	by    map[string]sent
	fresh bool      // something was not stored yet
	saved time.Time // when it was last stored, or that was tried
}

type sent struct {
	last   time.Time
	events uint64 // since the start

	battery *int // %, never modified; nil: the device has reported none since the start
}

// NoteEvent records that a device has sent an event.
func (w *Wearables) NoteEvent(ev *memory.Event) { w.heard.note(ev) }

// ReadHeard reads when devices were heard before this start.
func (w *Wearables) ReadHeard(tx *store.Tx) error {
	var kept map[string]time.Time
	_, err := tx.Meta(heardMeta, &kept)
	h := &w.heard
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, last := range kept {
		if s := h.by[name]; last.After(s.last) {
			s.last = last
			h.by[name] = s
		}
	}
	return err
}

// SaveHeard stores when devices were last heard, if that has changed: at once with
// atOnce, otherwise if the last time is long enough ago.
func (w *Wearables) SaveHeard(ctx context.Context, commit func(context.Context, func(*store.Tx) error) error, atOnce bool) error {
	h := &w.heard
	h.mu.Lock()
	if !h.fresh || !atOnce && time.Since(h.saved) < saveEvery {
		h.mu.Unlock()
		return nil
	}
	h.fresh, h.saved = false, time.Now()
	keep := h.newest()
	h.mu.Unlock()
	err := commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(heardMeta, keep) })
	if err != nil {
		h.mu.Lock()
		h.fresh = true
		h.mu.Unlock()
	}
	return err
}

// newest returns when the devices were heard for which that is stored. The caller
// holds mu.
func (h *heard) newest() map[string]time.Time {
	keep := map[string]time.Time{}
	for name, s := range h.by {
		keep[name] = s.last
	}
	for len(keep) > maxKept {
		oldest := ""
		for name, last := range keep {
			if oldest == "" || last.Before(keep[oldest]) {
				oldest = name
			}
		}
		delete(keep, oldest)
	}
	return keep
}

func (h *heard) note(ev *memory.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.by[ev.ID.Device]
	s.last, s.events = time.Now().UTC(), s.events+1
	if b, err := strconv.Atoi(ev.Metadata[wire.MetaBattery]); err == nil && ev.Kind == memory.KindHello {
		s.battery = &b
	}
	h.by[ev.ID.Device] = s
	h.fresh = true
}

// drop forgets a device, and reports whether it was heard.
func (h *heard) drop(device string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.by[device]
	delete(h.by, device)
	h.fresh = h.fresh || ok
	return ok
}

// others returns the devices that were heard and are not in a list, sorted by name.
func (h *heard) others(list []entry) (out []serve.Device) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.by)) {
		if s := h.by[name]; !slices.ContainsFunc(list, func(e entry) bool { return e.Name == name }) {
			out = append(out, serve.Device{Name: name, LastSeen: s.last, Events: s.events, Battery: s.battery})
		}
	}
	return out
}

func (h *heard) of(device string) sent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.by[device]
}
