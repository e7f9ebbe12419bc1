package worker

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// batch is what a model is asked about at one time: some lines of a
// conversation, or the frames of a sequence. The content of a batch never
// changes. Something that comes later is in a batch of its own, so that nothing
// is asked, and paid, twice.
//
// A batch's name is derived from its content. Workers that share jobs and know
// the same therefore make the same batches.
type batch struct {
	name    string
	Session string      `json:"s,omitempty"` // of the lines
	At      time.Time   `json:"a"`           // time of the first item
	Of      []memory.ID `json:"o"`
}

// batchMeta returns the key under which a batch is stored. It is deleted with
// the space.
func batchMeta(kind queue.Kind, name string) string {
	return "worker batch " + string(kind) + " " + name
}

// batches returns all batches of a kind, the oldest first.
func batches(tx *store.Tx, kind queue.Kind) (out []batch, err error) {
	for meta, err := range tx.MetaNames(batchMeta(kind, "")) {
		if err != nil {
			return nil, err
		}
		b := batch{name: strings.TrimPrefix(meta, batchMeta(kind, ""))}
		if _, err := tx.Meta(meta, &b); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b batch) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.name, b.name))
	})
	return out, nil
}

// batchOf finds a batch by its name.
func batchOf(tx *store.Tx, kind queue.Kind, name string) (b batch, ok bool, err error) {
	b.name = name
	ok, err = tx.Meta(batchMeta(kind, name), &b)
	return b, ok, err
}

// keepBatches stores new batches, before jobs for them are made.
func (s *space) keepBatches(ctx context.Context, kind queue.Kind, fresh []batch) error {
	if len(fresh) == 0 {
		return nil
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error {
		for _, b := range fresh {
			if err := tx.PutMeta(batchMeta(kind, b.name), b); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropBatches deletes the batches for which over returns true.
func (s *space) dropBatches(ctx context.Context, kind queue.Kind, over func(*store.Tx, *batch) (bool, error)) error {
	var gone []string
	err := s.engine.View(ctx, func(tx *store.Tx) error {
		all, err := batches(tx, kind)
		for i := range all {
			if err != nil {
				return err
			}
			var is bool
			if is, err = over(tx, &all[i]); is {
				gone = append(gone, batchMeta(kind, all[i].name))
			}
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(gone...) })
}

// dueAt makes the worker look at the space again at time t, or earlier.
// Otherwise lines that wait for a pause would wait until something else comes.
func (s *space) dueAt(t time.Time) {
	at := t.UnixMilli()
	for {
		was := s.due.Load()
		if was != 0 && was <= at || s.due.CompareAndSwap(was, at) {
			return
		}
	}
}

// isDue reports, once, that this time has come.
func (s *space) isDue(now time.Time) bool {
	at := s.due.Load()
	return at != 0 && now.UnixMilli() >= at && s.due.CompareAndSwap(at, 0)
}
