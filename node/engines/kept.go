package engines

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Names of the home's records, which are sealed like all of them.
const (
	specsMeta  = "engines"
	parkedMeta = "engines parked" // followed by a space and the kind of work
)

// Load returns the engines that the wearer has chosen.
func Load(tx *store.Tx) (all []Spec, err error) {
	_, err = tx.Meta(specsMeta, &all)
	return all, err
}

// Put adds an engine. It replaces one that does the same work; sources that were
// parked for that one are tried again.
func Put(tx *store.Tx, s Spec) error {
	all, err := Load(tx)
	if err != nil {
		return err
	}
	all = append(slices.DeleteFunc(all, func(o Spec) bool { return o.same(&s) }), s)
	sorting.Stable(all, func(a, b Spec) int { return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind) })
	if err := tx.PutMeta(specsMeta, all); err != nil {
		return err
	}
	return unpark(tx, s.Work())
}

// KeepSamples stores what engines answered when they were tried, by kind and
// engine.
func KeepSamples(tx *store.Tx, samples map[Kind]map[string]*Sample) error {
	all, err := Load(tx)
	if err != nil || len(all) == 0 {
		return err
	}
	for i := range all {
		if s := samples[all[i].Kind][all[i].Engine]; s != nil {
			all[i].Sample = s
		}
	}
	return tx.PutMeta(specsMeta, all)
}

// Remove removes the engines of a kind, or those of them with this name, and
// returns what it removed.
func Remove(tx *store.Tx, kind Kind, name string) (gone []Spec, err error) {
	all, err := Load(tx)
	if err != nil {
		return nil, err
	}
	var stay []Spec
	for _, s := range all {
		if s.Kind != kind || name != "" && name != s.Engine && name != s.URL && name != s.Name() {
			stay = append(stay, s)
			continue
		}
		gone = append(gone, s)
		if err := unpark(tx, s.Work()); err != nil {
			return nil, err
		}
	}
	if len(gone) == 0 {
		return nil, memory.ErrNotFound
	}
	if stay == nil {
		return gone, tx.DeleteMeta(specsMeta)
	}
	return gone, tx.PutMeta(specsMeta, stay)
}

// Parked is a source on which an engine failed, with the reason.
type Parked struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// maxParked is how many sources of one kind of work are parked. If there are more,
// the oldest are tried again after the next start.
const maxParked = 500

func parkedName(k result.Kind) string { return parkedMeta + " " + string(k) }

func parkedOf(tx *store.Tx, k result.Kind) (map[string]Parked, error) {
	all := map[string]Parked{}
	_, err := tx.Meta(parkedName(k), &all)
	return all, err
}

// ParkedOf returns the sources that are parked for a kind of work and still wait,
// by their ids.
func ParkedOf(tx *store.Tx, k result.Kind) (map[memory.ID]Parked, error) {
	all, err := parkedOf(tx, k)
	if err != nil {
		return nil, err
	}
	out := map[memory.ID]Parked{}
	for text, p := range all {
		id, err := memory.ParseID(text)
		if err != nil {
			continue
		}
		m, err := tx.Memory(id)
		if err == nil && Waits(m, k) {
			out[id] = p
		} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
	}
	return out, nil
}

// park records that an engine failed on a source, and drops the records of sources
// that are gone.
func park(ctx context.Context, h Host, k result.Kind, id memory.ID, p Parked) error {
	return h.Commit(ctx, func(tx *store.Tx) error {
		still, err := ParkedOf(tx, k)
		if err != nil {
			return err
		}
		all := map[string]Parked{}
		for id, p := range still {
			all[id.String()] = p
		}
		for len(all) >= maxParked {
			oldest := ""
			for id := range all {
				if oldest == "" || all[id].At.Before(all[oldest].At) {
					oldest = id
				}
			}
			delete(all, oldest)
		}
		all[id.String()] = p
		return tx.PutMeta(parkedName(k), all)
	})
}

func unpark(tx *store.Tx, k result.Kind) error {
	if k == "" {
		return nil
	}
	return tx.DeleteMeta(parkedName(k))
}
