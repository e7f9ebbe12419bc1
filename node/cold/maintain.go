package cold

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Status is the state of a Keeper.
type Status struct {
	Hot     int       // memories
	Bytes   int64     // size of the hot memories when it was last measured
	Weighed time.Time // zero: never
	Cold    int       // memories

	Media      int   // photos and recordings on this device, when they were last measured
	MediaBytes int64 // their size

	Packs   int
	Packed  int64 // bytes of packs
	Wanted  int   // groups of cold memories that something waits for
	Leaving int   // packs that nothing needs but that the pack store still has
	Fetched int   // memories that came back since the node was opened
	Blocked string
	Missing string // why cold memories can't be fetched now; empty: they can, or nobody tried

	weighedAt int // number of hot memories then
}

// Status returns the state. It does not wait for the pack store.
func (k *Keeper) Status(ctx context.Context) (Status, error) {
	k.count.Lock()
	s := k.state
	if k.why != nil && k.c.Now().Before(k.down) {
		s.Missing = k.why.Error()
	}
	k.count.Unlock()
	err := k.c.Store.View(ctx, func(tx *store.Tx) error {
		for p, err := range tx.Packs() {
			if err != nil {
				return err
			}
			if len(p.Stubs) == 0 {
				s.Leaving++
				continue
			}
			s.Packs++
			s.Packed += p.Size
			s.Cold += len(p.Stubs)
		}
		wanted, err := tx.Wanted()
		if err != nil {
			return err
		}
		s.Wanted = len(wanted)
		s.Hot, err = tx.HotCount()
		return err
	})
	return s, err
}

// Maintain does what is due: it fetches wanted memories, deletes packs that nothing
// needs, and cools.
func (k *Keeper) Maintain(ctx context.Context) error {
	k.maintaining.Lock()
	defer k.maintaining.Unlock()
	return errors.Join(k.fetchWanted(ctx), k.sweepGone(ctx), k.cool(ctx))
}

func (k *Keeper) cool(ctx context.Context) error {
	_, err := k.coolLocked(ctx)
	return errors.Join(err, k.compact(ctx))
}

// fetchWanted brings wanted memories back, and lets what waits for them continue.
func (k *Keeper) fetchWanted(ctx context.Context) error {
	errs := []error{k.fetchAsked(ctx)}
	if ctx.Err() != nil {
		return errors.Join(append(errs, ctx.Err())...)
	}
	// They may also have come back in another way.
	if k.c.ResumeWaiting != nil {
		errs = append(errs, k.c.ResumeWaiting(ctx))
	}
	return errors.Join(errs...)
}

// fetchAsked brings wanted memories back, and those that become wanted because of that.
func (k *Keeper) fetchAsked(ctx context.Context) error {
	type place struct {
		id   memory.ID
		pack uint64
	}
	tried := map[place]bool{}
	var errs []error
	for {
		var wanted []store.Stub
		err := k.c.Store.View(ctx, func(tx *store.Tx) (err error) {
			wanted, err = tx.Wanted()
			return err
		})
		wanted = slices.DeleteFunc(wanted, func(s store.Stub) bool { return tried[place{s.ID, s.Pack}] })
		if err != nil || len(wanted) == 0 {
			return errors.Join(append(errs, err)...)
		}
		for _, s := range wanted { // a memory that can't be fetched does not hold up the others
			if ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
			tried[place{s.ID, s.Pack}] = true
			errs = append(errs, k.fetchUnit(ctx, s))
		}
	}
}

// fetchUnit brings a wanted memory back with its group, even if part of the group is hot already,
// which [store.Tx.Stub] skips. The group is searched for in its own pack, and not by the memory's
// id: from the time before [store.Tx.MakePack] refused that, homes may have a memory in two
// packs, in one group each, and only the newer one is found by its id.
func (k *Keeper) fetchUnit(ctx context.Context, s store.Stub) error {
	if err := k.fetching.acquire(ctx); err != nil {
		return err
	}
	defer k.fetching.release()
	var p store.ColdPack
	err := k.c.Store.View(ctx, func(tx *store.Tx) (err error) { p, err = tx.Pack(s.Pack); return err })
	switch here := func(o store.Stub) bool { return o.ID == s.ID }; {
	case errors.Is(err, memory.ErrNotFound) || err == nil && !slices.ContainsFunc(p.Stubs, here):
		return nil // it is back, or in a pack with another number; then the next round fetches it
	case err != nil:
		return err
	}
	return k.thaw(ctx, s.Pack, []memory.ID{s.ID})
}

// maxDay is the maximum number of memories that are fetched for a day.
const maxDay = 256

// Prepare brings back what the cues of a day find, and keeps it hot until the next day is
// prepared. find returns what a query finds, the best first.
func (k *Keeper) Prepare(ctx context.Context, cues []string, find func(ctx context.Context, query string) ([]memory.ID, error)) (n int, err error) {
	var ids []memory.ID
	for _, c := range cues {
		found, err := find(ctx, c)
		if err != nil {
			return 0, err
		}
		for _, id := range found {
			if !slices.Contains(ids, id) && len(ids) < maxDay {
				ids = append(ids, id)
			}
		}
	}
	var cold []memory.ID
	err = k.c.Store.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			_, is, err := tx.Stub(id)
			if err != nil {
				return err
			}
			if is {
				cold = append(cold, id)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	missing, err := k.Fetch(ctx, cold...)
	today := map[memory.ID]bool{}
	for _, id := range ids {
		today[id] = true
	}
	k.count.Lock()
	k.today = today
	k.count.Unlock()
	return len(cold) - len(missing), err
}
