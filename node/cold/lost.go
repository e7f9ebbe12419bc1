package cold

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// doubtedMeta is the record of packs that the pack store did not return as they were
// stored: their numbers, ascending.
const doubtedMeta = "tiers/doubted"

// maxPiece is the longest piece that is requested from a pack store, in bytes. If an
// entry is longer, the whole pack is fetched.
const maxPiece = 1 << 20

// noteDoubted records that the pack store did not return a pack as it was stored.
func (k *Keeper) noteDoubted(ctx context.Context, pack uint64) error {
	known := false
	read := func(tx *store.Tx) (all []uint64, err error) {
		_, err = tx.Meta(doubtedMeta, &all)
		known = slices.Contains(all, pack)
		return all, err
	}
	if err := k.c.Store.View(ctx, func(tx *store.Tx) error { _, err := read(tx); return err }); err != nil || known {
		return err
	}
	return k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) error {
		all, err := read(tx)
		if err != nil || known {
			return err
		}
		all = append(all, pack)
		slices.Sort(all)
		return tx.PutMeta(doubtedMeta, all)
	})
}

// LostPacks returns the packs that the pack store does not have as they were stored. It
// reads one random entry of each. It fetches a whole pack only if that failed before,
// which includes any pack that a read has found damaged. If the pack store can't be
// reached, the error is [ErrUnreachable].
func (k *Keeper) LostPacks(ctx context.Context) (lost []uint64, err error) {
	packs, err := k.packs(ctx)
	if err != nil {
		return nil, err
	}
	var doubted []uint64
	if err := k.c.Store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(doubtedMeta, &doubted); return err }); err != nil {
		return nil, err
	}
	for _, p := range packs {
		if len(p.Stubs) == 0 {
			continue
		}
		err := k.look(ctx, &p, slices.Contains(doubted, p.Number))
		switch {
		case errors.Is(err, ErrLost):
			lost = append(lost, p.Number)
		case err != nil:
			return lost, err
		}
	}
	if len(doubted) == 0 {
		return lost, nil
	}
	still := slices.DeleteFunc(slices.Clone(doubted), func(n uint64) bool { return !slices.Contains(lost, n) })
	if len(still) == len(doubted) {
		return lost, nil
	}
	return lost, k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) error { return tx.PutMeta(doubtedMeta, still) })
}

// look checks that the pack store has a pack: the whole pack, or one entry of it.
func (k *Keeper) look(ctx context.Context, p *store.ColdPack, whole bool) error {
	if err := k.fetching.acquire(ctx); err != nil {
		return err
	}
	defer k.fetching.release()
	if !whole {
		return k.sample(ctx, p)
	}
	_, err := k.body(ctx, p)
	return err
}

// sample checks that the pack store has one entry of a pack as it was. The caller holds
// fetching.
func (k *Keeper) sample(ctx context.Context, p *store.ColdPack) error {
	if err := k.reachable(); err != nil {
		return err
	}
	var piece store.PackPiece
	err := k.c.Store.View(ctx, func(tx *store.Tx) (err error) { piece, err = tx.PackPiece(p.Number); return err })
	if errors.Is(err, memory.ErrNotFound) { // it was emptied meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	if piece.Bytes > maxPiece {
		_, err := k.body(ctx, p)
		return err
	}
	b, err := k.c.Packs.Piece(ctx, p.At, piece.From, piece.Bytes, p.Size)
	if err == nil && !piece.Opens(b) {
		err = fmt.Errorf("%w: %d bytes from %d on", ErrLost, piece.Bytes, piece.From)
	}
	return k.noteRequest(p, err)
}
