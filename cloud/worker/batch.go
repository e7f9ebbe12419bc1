package worker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// batch is what a model is asked about at once: the lines of a talk, the frames
// of a sequence. What was put into one stays in it. Something that comes late
// is a batch by itself, and nothing is asked, and paid, a second time.
//
// Its name follows from what is in it, so that workers that share jobs, and saw
// the same, cut alike.
type batch struct {
	name    string
	Session string      `json:"s,omitempty"` // of a talk
	At      time.Time   `json:"a"`           // of the first
	Of      []memory.ID `json:"o"`
}

// batchMeta is where a batch is kept. It goes with the space.
func batchMeta(kind queue.Kind, name string) string {
	return "worker batch " + string(kind) + " " + name
}

// batches gives all of a kind, the oldest first.
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
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return out, nil
}

// batchOf finds one by its name.
func batchOf(tx *store.Tx, kind queue.Kind, name string) (b batch, ok bool, err error) {
	b.name = name
	ok, err = tx.Meta(batchMeta(kind, name), &b)
	return b, ok, err
}

// keepBatches keeps those that were cut, before there is a job of any.
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

// dropBatches lets go of those that have had their day.
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
				gone = append(gone, all[i].name)
			}
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error {
		for _, name := range gone {
			if err := tx.DeleteMeta(batchMeta(kind, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dueAt has the space looked at again at a time, or before: what waits for a
// pause is not to wait for the next thing that comes.
func (s *space) dueAt(t time.Time) {
	at := t.UnixMilli()
	for {
		was := s.due.Load()
		if was != 0 && was <= at || s.due.CompareAndSwap(was, at) {
			return
		}
	}
}

// isDue reports, once, that the time has come.
func (s *space) isDue(now time.Time) bool {
	at := s.due.Load()
	return at != 0 && now.UnixMilli() >= at && s.due.CompareAndSwap(at, 0)
}
