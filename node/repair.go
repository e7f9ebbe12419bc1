package node

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/health"
	"github.com/locket-dev/locket/node/pump"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/repair"
	"github.com/locket-dev/locket/sync/journal"
)

// The results of a repair.
type (
	Repaired     = health.Repaired
	RepairedItem = health.RepairedItem
)

// Ask asks for the passphrase. It is called if the configuration does not say how
// the keys are opened.
type Ask func() (string, error)

func homeToRepair(cfg *config.Config, ask Ask) repair.Home {
	return repair.Home{
		Dir:     cfg.Home,
		Plugins: cfg.Plugins.Dir,
		Unlock: func(l *keyring.Locked) (keyring.Unlocker, error) {
			u, err := unlockerOf(cfg, l)
			if err != nil || u != nil || ask == nil {
				return u, err
			}
			p, err := ask()
			return keyring.Passphrase(p), err
		},
		Store:  store.Options{Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: uint64(cfg.Disk.Reserve)},
		Cursor: pump.Cursor,
		Envelopes: func(ctx context.Context, genesis []byte) ([]error, error) {
			return remotes.Check(ctx, homePath(cfg, exchange.EnvelopesDir), genesis)
		},
		Refilling: health.Refilling,
	}
}

// Inspect finds what is wrong with a home that no process has open. If a process has
// it open, the error is memory.ErrInUse.
func Inspect(ctx context.Context, cfg config.Config, ask Ask) (_ []RepairedItem, err error) {
	lock, err := filelock.Take(homePath(&cfg, "lock"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	found, err := repair.Inspect(ctx, homeToRepair(&cfg, ask))
	items := []RepairedItem{}
	for _, f := range found {
		items = append(items, RepairedItem{Place: f.Place, What: f.What, Done: f.Done, Lost: f.Lost})
	}
	return items, err
}

// Repair repairs a home that no process has open: first from the home itself, then
// from the relay. If a relay could not be reached, another call continues from
// there.
func Repair(ctx context.Context, cfg config.Config, opt Options, ask Ask) (r Repaired, err error) {
	var pass *string
	once := func() (string, error) { // asked once, used twice
		if pass == nil {
			p, err := ask()
			if err != nil {
				return "", err
			}
			pass = &p
		}
		return *pass, nil
	}
	h := homeToRepair(&cfg, once)
	own := func() (*journal.Journal, error) {
		public, err := keyring.Open(homePath(&cfg, keysDir))
		if err != nil {
			return nil, err
		}
		return &journal.Journal{Space: public.Space(), Member: public.Member()}, nil
	}
	h.Restart = func(tx *store.Tx) error {
		l, err := own()
		if err != nil {
			return err
		}
		return l.Restart(tx)
	}
	h.Refill = func(tx *store.Tx, aside string) error {
		l, err := own()
		if err != nil {
			return err
		}
		return health.NoteRefill(tx, l, aside)
	}
	got, err := repairUnderLock(ctx, &cfg, h)
	r.Aside = got.Aside
	items := func() []RepairedItem {
		out := []RepairedItem{}
		for _, f := range got.Findings {
			out = append(out, RepairedItem{Place: f.Place, What: f.What, Done: f.Done, Lost: f.Lost})
		}
		return out
	}
	r.Findings = items()
	if err != nil {
		return r, err
	}
	n, err := openToRepair(ctx, cfg, opt, once)
	if err != nil {
		return r, err
	}
	again, err := n.open.health.GiveUpPacks(ctx)
	if again && err == nil { // the exchange begins anew
		if err := n.Close(); err != nil {
			return r, err
		}
		if n, err = openToRepair(ctx, cfg, opt, once); err != nil {
			return r, err
		}
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if err != nil {
		return r, err
	}
	if err := n.open.health.Finish(ctx, &got, &r); err != nil {
		return r, err
	}
	r.Findings = append(items(), r.Findings[len(got.Findings):]...)
	r.OK = r.Relay == ""
	for _, f := range r.Findings {
		r.OK = r.OK && !f.Lost
	}
	return r, nil
}

// openToRepair opens a node for a repair. It asks for the passphrase if there is no
// other way.
func openToRepair(ctx context.Context, cfg config.Config, opt Options, ask Ask) (*Node, error) {
	n, err := Open(cfg, opt)
	if err != nil {
		return nil, err
	}
	opened, err := n.UnlockAsConfigured(ctx)
	if err == nil && !opened {
		var p string
		if p, err = ask(); err == nil {
			err = n.unlock(ctx, keyring.Passphrase(p))
		}
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func repairUnderLock(ctx context.Context, cfg *config.Config, h repair.Home) (_ repair.Result, err error) {
	lock, err := filelock.Take(homePath(cfg, "lock"))
	if err != nil {
		return repair.Result{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return repair.Repair(ctx, h, time.Now())
}
