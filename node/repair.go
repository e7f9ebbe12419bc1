package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/repair"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// Repaired is what a repair found, and what it did.
type Repaired struct {
	OK       bool           `json:"ok"`              // nothing is wrong any more, and nothing was lost
	Aside    string         `json:"aside,omitempty"` // folder with what was put aside
	Findings []RepairedItem `json:"findings"`
	// Relay says why the relay could not be asked, where it could not: what it
	// has comes with the next sync.
	Relay string `json:"relay,omitempty"`
}

// RepairedItem is one thing that was not as it was written.
type RepairedItem struct {
	Place string `json:"place"`
	What  string `json:"what"`
	Done  string `json:"done,omitempty"`
	Lost  bool   `json:"lost,omitempty"` // it could not be had back
}

// Ask gives the passphrase, where the configuration does not say how the keys
// are opened.
type Ask func() (string, error)

func homeToMend(cfg *config.Config, ask Ask) repair.Home {
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
		Cursor: cursorName,
		Shelf: func(ctx context.Context, genesis []byte) ([]error, error) {
			return remotes.Check(ctx, homePath(cfg, exchange.ShelfDir), genesis)
		},
		Refilling: func(tx *store.Tx) (string, error) {
			var f refilling
			_, err := tx.Meta(refillMeta, &f)
			return f.Aside, err
		},
	}
}

// Look names what is wrong with a home that nothing has open: memory.ErrInUse
// where something has.
func Look(ctx context.Context, cfg config.Config, ask Ask) (_ []RepairedItem, err error) {
	lock, err := filelock.Take(homePath(&cfg, "lock"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	found, err := repair.Look(ctx, homeToMend(&cfg, ask))
	items := []RepairedItem{}
	for _, f := range found {
		items = append(items, RepairedItem{f.Place, f.What, f.Done, f.Lost})
	}
	return items, err
}

// Repair puts right what is wrong with a home that nothing has open, first from
// what is in it, then from the relay. Running it again goes on where it ended,
// as for a relay that could not be reached.
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
	h := homeToMend(&cfg, once)
	own := func() (*journal.Journal, error) {
		public, err := keyring.Open(homePath(&cfg, keysDir))
		if err != nil {
			return nil, err
		}
		return &journal.Journal{Space: public.Space(), Member: public.Member()}, nil
	}
	h.Again = func(tx *store.Tx) error {
		l, err := own()
		if err != nil {
			return err
		}
		return l.Again(tx)
	}
	h.Refill = func(tx *store.Tx, aside string) error {
		l, err := own()
		if err != nil {
			return err
		}
		return noteRefill(tx, l, aside)
	}
	got, err := mendLocked(ctx, &cfg, h)
	r.Aside = got.Aside
	items := func() []RepairedItem {
		out := []RepairedItem{}
		for _, f := range got.Findings {
			out = append(out, RepairedItem{f.Place, f.What, f.Done, f.Lost})
		}
		return out
	}
	r.Findings = items()
	if err != nil {
		return r, err
	}
	n, err := openToMend(ctx, cfg, opt, once)
	if err != nil {
		return r, err
	}
	again, err := n.giveUpPacks(ctx)
	if again && err == nil { // the exchange begins anew
		if err := n.Close(); err != nil {
			return r, err
		}
		if n, err = openToMend(ctx, cfg, opt, once); err != nil {
			return r, err
		}
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if err != nil {
		return r, err
	}
	if err := n.finishRepair(ctx, &got, &r); err != nil {
		return r, err
	}
	r.Findings = append(items(), r.Findings[len(got.Findings):]...)
	r.OK = r.Relay == ""
	for _, f := range r.Findings {
		r.OK = r.OK && !f.Lost
	}
	return r, nil
}

// openToMend opens a node, with the passphrase where there is no other way.
func openToMend(ctx context.Context, cfg config.Config, opt Options, ask Ask) (*Node, error) {
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

func mendLocked(ctx context.Context, cfg *config.Config, h repair.Home) (_ repair.Result, err error) {
	lock, err := filelock.Take(homePath(cfg, "lock"))
	if err != nil {
		return repair.Result{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return repair.Repair(ctx, h, time.Now())
}

// lostBlobs is the record of blobs that a repair has yet to get back.
const lostBlobs = "blobs lost"

// finishRepair takes from the relay what was lost here, and says again what
// only its result is left of.
func (n *Node) finishRepair(ctx context.Context, got *repair.Result, r *Repaired) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	release() // nobody else has this node
	lines, err := o.lostLines(ctx)
	if err != nil {
		return err
	}
	blobs, err := o.blobsToFetch(ctx, got.Blobs)
	if err != nil {
		return err
	}
	fill, err := n.refill(ctx, o, r)
	if err != nil {
		return err
	}
	if o.sync.Replica() != nil {
		// A photo or recording that waits to be sent is in the way of nothing here.
		if err := o.sync.Round(ctx, o.sync.Replica()); replica.Failed(err) {
			r.Relay = err.Error()
			return ctx.Err()
		}
		if err := o.reaches(ctx, r); err != nil {
			return err
		}
		if err := o.regain(ctx, r); err != nil {
			return err
		}
		if err := n.sayUnsent(ctx, o, got, fill, r); err != nil {
			return err
		}
		if err := n.putBackBlobs(ctx, o, r); err != nil {
			return err
		}
	}
	left := []memory.ID{}
	for _, id := range blobs {
		err := exchange.ErrNoRelay
		if o.sync.Replica() != nil {
			err = o.sync.Replica().FetchBlob(ctx, id)
		}
		if err != nil {
			left = append(left, id)
			r.Findings = append(r.Findings, RepairedItem{Place: "blob " + id.String(), What: fmt.Sprintf("its file is lost: %v", err), Lost: true})
			continue
		}
		r.Findings = append(r.Findings, RepairedItem{Place: "blob " + id.String(), What: "its file was lost", Done: "fetched from the relay"})
	}
	if err := o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(lostBlobs, left) }); err != nil {
		return err
	}
	if err := o.backAgain(ctx, got); err != nil {
		return err
	}
	if err := o.settleLines(ctx, got, lines, r); err != nil {
		return err
	}
	return n.sayAgain(ctx, o, r)
}

func (o *session) blobsToFetch(ctx context.Context, lost []memory.ID) (all []memory.ID, err error) {
	return all, o.engine.Commit(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(lostBlobs, &all); err != nil {
			return err
		}
		all = append(all, lost...)
		if len(all) == 0 {
			return nil
		}
		return tx.PutMeta(lostBlobs, all)
	})
}

// reaches names a relay that ends before where it was known to reach.
func (o *session) reaches(ctx context.Context, r *Repaired) error {
	st, err := o.sync.Replica().Status(ctx)
	if err != nil {
		return err
	}
	return o.store.View(ctx, func(tx *store.Tx) error {
		before, err := (&journal.Journal{Space: o.ring.Space()}).Before(tx)
		if err == nil && st.Cursor < before {
			r.Findings = append(r.Findings, RepairedItem{Place: "relay", Lost: true,
				What: fmt.Sprintf("it ends at delta %d, and had shown %d: it was put back, or holds back", st.Cursor, before)})
		}
		return err
	})
}

// backAgain marks those findings of which the record is there again.
func (o *session) backAgain(ctx context.Context, got *repair.Result) error {
	return o.store.View(ctx, func(tx *store.Tx) error {
		for i := range got.Findings {
			f := &got.Findings[i]
			if !f.Lost || f.Record() == nil {
				continue
			}
			there, err := tx.There(f.Record())
			if err != nil {
				return err
			}
			if there {
				f.Lost, f.Done = false, "taken from the relay again"
				if o.sync.Replica() == nil {
					f.Done = "derived again"
				}
			}
		}
		return nil
	})
}

// sayAgain gives memories of which nothing is said a proposal of this device's,
// as they are.
func (n *Node) sayAgain(ctx context.Context, o *session, r *Repaired) error {
	lock := o.engine.Hold()
	defer lock.Release()
	var bare []memory.Memory
	err := o.store.View(ctx, func(tx *store.Tx) (err error) {
		bare, err = tx.Bare()
		return err
	})
	if err != nil {
		return err
	}
	for i := range bare {
		m := &bare[i]
		if err := lock.Commit(ctx, func(tx *store.Tx) error { return o.engine.SayAs(tx, m.ID, &m.Candidate, m) }); err != nil {
			return fmt.Errorf("memory %s: %w", m.ID, err)
		}
		r.Findings = append(r.Findings, RepairedItem{Place: "memory " + m.ID.String(), What: "what was said of it is lost, and what followed from it is there",
			Done: "said again by this device"})
	}
	return nil
}
