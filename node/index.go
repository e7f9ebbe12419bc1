package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/tiers"
)

// openIndex opens the index from its segments, and then the engine, which indexes what
// was added since. If a segment can't be read, all segments are thrown away, because the
// index can be rebuilt from the records.
func (n *Node) openIndex(ctx context.Context, o *session) (err error) {
	o.index, err = recall.Open(ctx, segments{o.store, wordsPrefix}, recall.Options{Dictionary: n.words})
	if errors.Is(err, recall.ErrCorrupt) || errors.Is(err, recall.ErrOutdated) || errors.Is(err, memory.ErrDamaged) || errors.Is(err, memory.ErrNotFound) {
		n.log.Warn("the index can't be used, and is rebuilt from the records", "error", err)
		if err := recall.Discard(ctx, segments{o.store, wordsPrefix}); err != nil {
			return err
		}
		o.index, err = recall.Open(ctx, segments{o.store, wordsPrefix}, recall.Options{Dictionary: n.words})
	}
	if err != nil {
		return err
	}
	o.engine = engine.New(engine.Config{Space: o.ring.Space(), Member: o.ring.Member(), Store: o.store, Index: o.index, Clock: &memory.Ticker{Now: n.now}, Check: o.check})
	if o.index.Covered() == 0 {
		if err := tiers.MarkColdUnindexed(ctx, o.engine); err != nil {
			return err
		}
	}
	if o.meaning.Keeper() != nil {
		o.index.Watch(o.meaning.Keeper().OnChange)
	}
	if err := o.engine.CatchUp(ctx); err != nil {
		return err
	}
	o.flushedDocuments.Store(int64(o.index.Len()))
	if o.meaning.Keeper() != nil {
		o.meaning.Keeper().Match(o.index.IDs())
	}
	return nil
}

// check is engine.Config.Check. While there is no gate yet, it refuses everything that
// other members say.
func (o *session) check(ctx context.Context, tx *store.Tx) (func(context.Context, *engine.Writer) error, error) {
	switch {
	case o.gate != nil:
		return o.gate.Check(ctx, tx)
	case len(tx.FromOthers()) > 0:
		return nil, fmt.Errorf("%w: claims of other members can't be checked yet", memory.ErrLocked)
	}
	return nil, nil
}

// flush writes the index's segments.
func (o *session) flush(ctx context.Context) error {
	lock := o.engine.AcquireWriter()
	defer lock.Release()
	return o.flushHeld(ctx, lock)
}

func (o *session) flushHeld(ctx context.Context, lock *engine.Writer) error {
	// The vectors go first: they must never cover less than the index does.
	if k := o.meaning.Keeper(); k != nil {
		if err := k.Flush(ctx); err != nil {
			return err
		}
	}
	o.flushedDocuments.Store(int64(o.index.Len()))
	return lock.Flush(ctx)
}
