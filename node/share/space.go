package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// space is one projection or feed, open in this process.
type space struct {
	id      memory.SpaceID
	member  memory.MemberID
	keys    *spaceKeys
	store   *store.Store
	replica *replica.Replica
	engine  *engine.Engine // over the store; it searches nothing
}

// openStore opens the store in a space's folder.
func openStore(dir string, k *spaceKeys, reserve uint64) (*store.Store, error) {
	return store.Open(store.Options{Dir: filepath.Join(dir, "store"), Key: k.store, Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: reserve})
}

// open opens the space of a record. If the space is being made, first is its
// first entry; otherwise it is nil.
func (s *Sharing) open(ctx context.Context, rec *Record, first []byte) (_ *space, err error) {
	k := newSpaceKeys(s.c.Key, rec.Space)
	sp := &space{id: rec.Space, member: k.member().ID, keys: k}
	defer func() {
		if err != nil {
			err = errors.Join(err, sp.close())
		}
	}()
	if sp.store, err = openStore(s.folder(rec.Space), k, s.c.Reserve); err != nil {
		return nil, err
	}
	clock := &memory.Ticker{Now: s.c.Now}
	sp.engine = engine.New(engine.Config{Space: sp.id, Member: sp.member, Store: sp.store, Clock: clock})
	l := &journal.Journal{Space: sp.id, Member: sp.member, Store: sp.store, Write: sp.engine.Commit, OnClock: clock.Observe}
	if first == nil {
		entries, err := l.Entries(ctx)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return nil, fmt.Errorf("share %s: %w: it has no log", rec.Space, memory.ErrDamaged)
		}
		first = entries[0]
	}
	if err := sp.firstKeys(first); err != nil {
		return nil, err
	}
	at, err := s.relay(rec)
	if err != nil {
		return nil, err
	}
	sp.replica, err = replica.New(replica.Config{Space: sp.id, Member: sp.member, Genesis: first,
		Remote: upstream.New(at.Space(sp.id, sp.member, httpsig.KeySigner(k.sign)), s.c.Invite), Journal: l, Keys: k,
		Temp: filepath.Join(s.folder(rec.Space), "parts"), Log: s.c.Log, Now: s.c.Now})
	return sp, err
}

func (sp *space) firstKeys(genesis []byte) error {
	e, err := envelope.ParseEntry(genesis)
	if err != nil {
		return err
	}
	for _, w := range e.Wraps {
		if w.To == sp.member {
			return sp.keys.Take(w.Keys)
		}
	}
	return fmt.Errorf("share %s: %w: its first entry is not this device's", sp.id, memory.ErrDamaged)
}

func (sp *space) close() error {
	var err error
	if sp.replica != nil {
		sp.replica.Close()
	}
	if sp.store != nil {
		err = sp.store.Close()
	}
	sp.keys.zero()
	return err
}

// commitAssertions commits what the owner says in the space. Memory, act and content of each
// assertion are set.
func (sp *space) commitAssertions(ctx context.Context, as []memory.Assertion) error {
	for i := range as {
		if as[i].Act == memory.ActErase {
			if err := sp.eraseExcess(ctx, as[i].Memory); err != nil {
				return err
			}
		}
	}
	err := InPages(ctx, sp.engine, as, func(tx *store.Tx, a memory.Assertion) (err error) {
		a.Seen = []memory.Dot{} // in such a space the owner does not respond to anybody
		if _, err := sp.engine.AssertTx(tx, memory.RankPerson, a); err != nil || a.Act != memory.ActErase {
			return err
		}
		return tx.Erase(store.Targets{Memories: []memory.ID{a.Memory}})
	})
	if err != nil || !slices.ContainsFunc(as, func(a memory.Assertion) bool { return a.Act == memory.ActErase }) {
		return err
	}
	return sp.store.Compact(ctx) // so that no file keeps what was erased
}

// eraseExcess removes most of a memory that is about to be erased, because workers
// may have said more about it than one transaction can erase.
func (sp *space) eraseExcess(ctx context.Context, id memory.ID) error {
	much := false
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		as, err := tx.Assertions(id)
		much = len(as) > store.SomePage
		return err
	})
	if err != nil || !much {
		return err
	}
	return store.EraseInParts(id, func(fn func(*store.Tx) error) error { return sp.engine.Commit(ctx, fn) })
}

// InPages processes a list in as many transactions as needed, because the size
// of each is limited.
func InPages[T any](ctx context.Context, e *engine.Engine, list []T, do func(*store.Tx, T) error) error {
	page := 50
	for len(list) > 0 {
		part := list[:min(page, len(list))]
		err := e.Commit(ctx, func(tx *store.Tx) error {
			for _, v := range part {
				if err := do(tx, v); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, store.ErrTooLarge) && page > 1 {
			page /= 2
			continue
		}
		if err != nil {
			return err
		}
		list = list[len(part):]
	}
	return nil
}

// ActiveIn returns the active memories of a store.
func ActiveIn(ctx context.Context, s *store.Store) (out []memory.Memory, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			out = append(out, *m)
		}
		return nil
	})
	return out, err
}

func (s *Sharing) folder(id memory.SpaceID) string { return filepath.Join(s.c.Dir, id.String()) }

// removeFolder removes a space's folder, so that nothing of it stays here.
func (s *Sharing) removeFolder(id memory.SpaceID) error { return os.RemoveAll(s.folder(id)) }

// relay returns the relay that has a space. It may not be the one that is
// configured now.
func (s *Sharing) relay(rec *Record) (*remote.Relay, error) {
	if relay, address := s.c.Relay(); relay != nil && (rec.Relay == address || rec.Relay == "") {
		return relay, nil
	}
	if rec.Relay == "" {
		return nil, ErrNoRelay
	}
	return remote.New(rec.Relay, remote.Option{HTTP: s.c.HTTP, Now: s.c.Now})
}
