package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/share"
)

// aStore is one of a home's stores.
type aStore struct {
	path string // in the home
	key  *seal.Key
	own  bool // it is the node's own
}

// stores returns the node's own store and those of shares. The caller must not zero
// their keys: they are derived, and end with the visit's ring.
func (v *visit) stores() ([]aStore, error) {
	all := []aStore{{"store", v.ring.StoreKey(), true}}
	var folders []string
	for _, name := range []string{"store", "store" + mendingSuffix} { // after a crash between two renames only the second one exists
		some, err := filepath.Glob(filepath.Join(v.Dir, "shares", "*", name))
		if err != nil {
			return nil, err
		}
		for _, f := range some {
			folders = append(folders, filepath.Dir(f))
		}
	}
	slices.Sort(folders)
	sharing, ok := v.ring.Key(share.KeyName)
	for _, f := range slices.Compact(folders) {
		id, err := memory.ParseID(filepath.Base(f))
		if err != nil || !ok {
			continue
		}
		all = append(all, aStore{v.within(filepath.Join(f, "store")), share.StoreKey(sharing, memory.SpaceID(id)), false})
	}
	return all, nil
}

func (v *visit) options(s aStore) store.Options {
	o := v.Store
	o.Dir, o.Key = filepath.Join(v.Dir, filepath.FromSlash(s.path)), s.key
	return o
}

// damages returns what is damaged in a store: its files or, if these are sound, its
// records.
func damages(ctx context.Context, opt store.Options) ([]store.Damage, error) {
	if _, err := os.Stat(opt.Dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil // a home that was never opened
	}
	found, err := store.Inspect(ctx, opt)
	if err != nil || len(found) > 0 {
		return found, err
	}
	s, err := store.Open(opt)
	if found, _ := store.Damages(err); len(found) > 0 {
		return found, nil
	}
	if errors.Is(err, store.ErrRolledBack) {
		return []store.Damage{{Kind: "folder", Key: filepath.Base(opt.Dir), What: err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	found, err = s.Verify(ctx)
	return found, errors.Join(err, s.Close())
}

func (v *visit) lookStore(ctx context.Context) error {
	all, err := v.stores()
	if err != nil {
		return err
	}
	for _, s := range all {
		found, err := damages(ctx, v.options(s))
		if err != nil {
			return err
		}
		for i := range found {
			v.note(s, &found[i], "", false)
		}
	}
	return nil
}

func (v *visit) note(s aStore, d *store.Damage, done string, lost bool) {
	f := Finding{Place: s.path + ": " + d.Kind + " " + d.Key, What: d.What, Done: done, Lost: lost}
	if s.own {
		f.damage = d
	}
	v.found = append(v.found, f)
}

// repairStores rebuilds damaged stores.
func (v *visit) repairStores(ctx context.Context, r *Result) error {
	all, err := v.stores()
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := v.repairStore(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

// mendingSuffix is the suffix of a store that is being rebuilt. One that a crash
// left behind is useless.
const mendingSuffix = ".mending"

func (v *visit) repairStore(ctx context.Context, s aStore, r *Result) error {
	opt := v.options(s)
	into := opt.Dir + mendingSuffix
	_, errOld := os.Stat(opt.Dir)
	_, errNew := os.Stat(into)
	if errors.Is(errOld, os.ErrNotExist) && errNew == nil { // interrupted between the two renames, so the new store is complete
		return v.swapIn(into, opt.Dir)
	}
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	found, err := damages(ctx, opt)
	if err != nil || len(found) == 0 {
		return err
	}
	got, err := store.Salvage(ctx, opt, into)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	lost := map[string]bool{}
	for i := range got.Lost {
		d := &got.Lost[i]
		lost[d.Kind+" "+d.Key] = true
		v.note(s, d, "", true)
	}
	for i := range found {
		if d := &found[i]; !lost[d.Kind+" "+d.Key] {
			v.note(s, d, "made again from what can be read", false)
		}
	}
	if s.own {
		if err := v.restart(ctx, into, opt); err != nil {
			return err
		}
		r.Salvaged, r.Blobs = true, got.Blobs
	}
	if err := v.quarantine(opt.Dir); err != nil {
		return err
	}
	return v.swapIn(into, opt.Dir)
}

func (v *visit) swapIn(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(to))
}

// restart makes the new store begin the exchange from the relay's first delta, and
// skip numbers that the old one may have used.
func (v *visit) restart(ctx context.Context, dir string, opt store.Options) error {
	opt.Dir = dir
	s, err := store.Open(opt)
	if err != nil {
		return err
	}
	err = s.Update(ctx, func(tx *store.Tx) error {
		if err := v.Restart(tx); err != nil {
			return err
		}
		return tx.SkipDots(v.ring.Member(), skipped)
	})
	return errors.Join(err, s.Close())
}

// skipped is how many numbers of assertions are skipped: more than a store can lose
// without a trace.
const skipped = 100_000
