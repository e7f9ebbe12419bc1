package health

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/repair"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// A repair needs sync for the following: an envelope store that was put aside, packs
// that the relay lost, and assertions that nobody received.

// refillMeta is the record of an envelope store that has to be filled.
const refillMeta = "shelf refill"

// refilling is an envelope store that was put aside.
type refilling struct {
	Aside  string            `json:"a"`           // its path in the home, with slashes
	Chains map[string]uint64 `json:"c,omitempty"` // how far each chain had come, see journal.Journal.ChainEnds
}

// doctorEnvelopes reports an envelope store that can't be opened. With verify it also
// reports what is damaged in an open one.
func (ch Checks) doctorEnvelopes(ctx context.Context, verify bool, add adder) error {
	h, release, err := ch.of.Use()
	if err != nil {
		return nil // a locked home is not checked
	}
	defer release()
	if h.c.Sync.Unsynced() != nil {
		damaged(add, "sync", h.c.Sync.Unsynced())
	}
	p := h.c.Sync.Remotes()
	if !verify || p == nil {
		return nil
	}
	found, err := p.Envelopes.Check(ctx)
	for _, e := range found {
		damaged(add, "sync", e)
	}
	return err
}

// NoteRefill records that a new envelope store has to be filled from the one that was
// moved to aside. If an earlier filling was interrupted, what is known about the first
// store is kept.
func NoteRefill(tx *store.Tx, l *journal.Journal, aside string) error {
	var f refilling
	if _, err := tx.Meta(refillMeta, &f); err != nil {
		return err
	}
	now, err := l.ChainEnds(tx)
	if err != nil {
		return err
	}
	f.Aside = aside
	if f.Chains == nil {
		f.Chains = map[string]uint64{}
	}
	for chain, n := range now {
		f.Chains[chain] = max(f.Chains[chain], n)
	}
	return errors.Join(tx.PutMeta(refillMeta, f), l.RestartElsewhere(tx))
}

// Refilling returns the path, in the home, of an envelope store that was put aside and
// from which the new one has to be filled. It is empty if there is none.
func Refilling(tx *store.Tx) (string, error) {
	var f refilling
	_, err := tx.Meta(refillMeta, &f)
	return f.Aside, err
}

// refill fills a new envelope store. It returns nil if there is none to fill.
func (h *Health) refill(ctx context.Context, r *Repaired) (*refilling, error) {
	p := h.c.Sync.Remotes()
	var f refilling
	var there bool
	err := h.c.Engine.View(ctx, func(tx *store.Tx) (err error) { there, err = tx.Meta(refillMeta, &f); return err })
	if err != nil || !there || p == nil {
		return nil, err
	}
	met, err := p.Refill(ctx, filepath.Join(h.c.Home, filepath.FromSlash(f.Aside)))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, t := range met.Trouble {
		r.Findings = append(r.Findings, RepairedItem{Place: exchange.EnvelopesDir, What: t, Done: "not taken from the copy that was put aside"})
	}
	if err != nil {
		r.Findings = append(r.Findings, RepairedItem{Place: exchange.EnvelopesDir, What: fmt.Sprintf("not every relay and device could be asked: %v", err), Done: "what they have arrives with the next sync"})
	}
	return &f, nil
}

// reassertUnsent makes those of this device's assertions again that are in no delta any
// more. It reports the assertions of others that are only in the memories here.
func (h *Health) reassertUnsent(ctx context.Context, got *repair.Result, f *refilling, r *Repaired) error {
	if !got.Salvaged && f == nil {
		return nil
	}
	var lost func(envelope.Position) bool
	rs := h.c.Sync.Remotes()
	if f != nil && rs != nil {
		lost = func(p envelope.Position) bool {
			return !rs.Envelopes.HasDelta(replica.Ref{Member: h.c.Ring.Member(), Position: p})
		}
	}
	erasures := slices.ContainsFunc(got.Findings, func(i repair.Finding) bool {
		d := i.Record()
		return d != nil && i.Lost && (d.Kind == "outbox" || d.Kind == "bucket")
	})
	said, away, err := h.c.Sync.Journal().RequeueUnsent(ctx, lost, erasures)
	if err == nil && len(away) > 0 {
		missing, e := h.c.Cold.Fetch(ctx, away...)
		for _, id := range missing {
			r.Findings = append(r.Findings, RepairedItem{Place: "memory " + id.String(), What: fmt.Sprintf("it is cold, and no envelope store has its deltas: %v", e), Lost: true})
		}
		var more int
		more, _, err = h.c.Sync.Journal().RequeueUnsent(ctx, lost, false)
		said += more
	}
	if err != nil {
		return err
	}
	if said > 0 {
		r.Findings = append(r.Findings, RepairedItem{Place: "sync", What: fmt.Sprintf("changes of this device may have reached no other device: %d", said), Done: "said again"})
		if err := h.c.Sync.Round(ctx, h.c.Sync.Replica()); replica.Failed(err) {
			r.Relay = err.Error()
		}
	}
	if f == nil {
		return ctx.Err()
	}
	reaches := rs.Envelopes.ChainEnds()
	for _, chain := range slices.Sorted(maps.Keys(f.Chains)) {
		had, has := f.Chains[chain], reaches[chain]
		if has < had && !strings.HasPrefix(chain, h.c.Ring.Member().String()+"-") {
			r.Findings = append(r.Findings, RepairedItem{Place: exchange.EnvelopesDir, Lost: true,
				What: fmt.Sprintf("deltas %d to %d of %s are nowhere that could be asked: the memories here include what they say, but another device that lacks them can get them only from their author", has+1, had, chain)})
		}
	}
	return h.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(refillMeta) })
}

// GiveUpPacks checks whether the relay has every pack, and gives up those that it does
// not have. again reports that the exchange will begin anew the next time the node is
// opened.
func (h *Health) GiveUpPacks(ctx context.Context) (again bool, err error) {
	packs, err := h.c.Cold.LostPacks(ctx)
	if errors.Is(err, cold.ErrUnreachable) && ctx.Err() == nil { // Finish reports this for sync
		err = nil
	}
	if err != nil || len(packs) == 0 {
		return false, err
	}
	err = h.c.Store.Update(ctx, func(tx *store.Tx) error {
		known, err := tx.GivenUp()
		if err != nil {
			return err
		}
		packs = slices.DeleteFunc(packs, func(p uint64) bool { return slices.Contains(known, p) })
		if len(packs) == 0 {
			return nil
		}
		return errors.Join(tx.GiveUp(packs...), h.c.Sync.Journal().Restart(tx))
	})
	return err == nil && len(packs) > 0, err
}

// restorePacks replaces packs that were given up by what was read from the relay again, and
// reports what is still missing.
func (h *Health) restorePacks(ctx context.Context, r *Repaired) error {
	var packs []uint64
	err := h.c.Engine.View(ctx, func(tx *store.Tx) (err error) { packs, err = tx.GivenUp(); return err })
	if err != nil {
		return err
	}
	for _, pack := range packs {
		var left []store.Stub
		if err := h.c.Engine.Commit(ctx, func(tx *store.Tx) (err error) { left, err = tx.DropReplacedStubs(pack); return err }); err != nil {
			return err
		}
		r.Findings = append(r.Findings, RepairedItem{Place: fmt.Sprintf("pack %d", pack), What: "the relay does not have it as it was",
			Done: "its memories were made again from their deltas"})
		for _, s := range left {
			r.Findings = append(r.Findings, RepairedItem{Place: "memory " + memory.ID(s.ID).String(), What: "the relay does not have its pack, nor all deltas about it and the memories in the same pack", Lost: true})
		}
	}
	return nil
}
