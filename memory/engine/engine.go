// Package engine is the only package that changes a member's records. It holds
// the store, the index over it, the member's clock, and the lock under which
// they change together.
//
// A change is a commit: the engine takes the lock, runs a transaction of the
// store, calls Check, and tells the index what changed. A crash between the
// transaction and the index does no harm: the store has a log of changed
// documents, from which [Engine.CatchUp] continues.
//
// A caller that has to make several changes without others in between uses a
// [Writer], which holds the lock.
package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
)

// Config configures an engine. Index may be nil; then nothing can be searched.
type Config struct {
	Space  memory.SpaceID
	Member memory.MemberID
	Store  *store.Store
	Index  *recall.Index
	Clock  *memory.Ticker
	Worker bool // the member is a worker: its assertions name nothing that others said

	// Check is called as the last part of a transaction with its changes. It
	// may change more; its error undoes everything. The function that it
	// returns is called after the commit, when the index is up to date, under
	// the same lock. Check may be nil.
	//
	// The node uses it to scan what others said for secrets: see accept.Gate.Check.
	Check func(ctx context.Context, tx *store.Tx) (after func(context.Context, *Writer) error, err error)
}

// Engine changes and reads one member's records. Its methods are safe for
// concurrent use.
type Engine struct {
	c       Config
	writing sync.Mutex // held from a change of the records until the index knows of it
}

// New returns an engine over an open store and an open index. The index may be
// behind the store: see [Engine.CatchUp].
func New(c Config) *Engine { return &Engine{c: c} }

// View runs fn on the present records.
func (e *Engine) View(ctx context.Context, fn func(*store.Tx) error) error {
	return e.c.Store.View(ctx, fn)
}

// Search queries the index.
func (e *Engine) Search(ctx context.Context, q recall.Query) (recall.Result, error) {
	return e.c.Index.Search(ctx, q)
}

// IDsOfType returns the ids of the memories of a type that the index has, in any order.
func (e *Engine) IDsOfType(t memory.Type) []memory.ID { return e.c.Index.IDsOfType(t) }

// UtteranceTimes returns the times in [from, to) at which something was said. See [recall.Index.UtteranceTimes].
func (e *Engine) UtteranceTimes(from, to time.Time) []int64 {
	return e.c.Index.UtteranceTimes(from, to)
}

// UtteranceTimesAround returns the nearest times before and after t at which something was said.
// See [recall.Index.UtteranceTimesAround].
func (e *Engine) UtteranceTimesAround(t time.Time) (before, after time.Time) {
	return e.c.Index.UtteranceTimesAround(t)
}

// Commit changes the records and tells the index.
func (e *Engine) Commit(ctx context.Context, fn func(*store.Tx) error) error {
	w := e.AcquireWriter()
	defer w.Release()
	return w.Commit(ctx, fn)
}

// CommitInReserve is Commit for changes that make room, such as erasures. It may use the part of
// the disk that is kept in reserve.
func (e *Engine) CommitInReserve(ctx context.Context, fn func(*store.Tx) error) error {
	w := e.AcquireWriter()
	defer w.Release()
	return w.CommitInReserve(ctx, fn)
}

// CatchUp adds to the index what was committed without telling the index.
func (e *Engine) CatchUp(ctx context.Context) error {
	w := e.AcquireWriter()
	defer w.Release()
	var docs []store.Document
	err := e.View(ctx, func(tx *store.Tx) (err error) {
		docs, err = store.Collect(tx.IndexPending(e.c.Index.Covered()))
		return err
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	for page := range slices.Chunk(docs, catchUpPage) {
		if err := e.index(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// catchUpPage is how many documents are read at once.
const catchUpPage = 512

// Writer is an engine with its write lock held. It must be used by one goroutine only, and not
// after Release.
type Writer struct{ e *Engine }

// AcquireWriter takes the write lock. It waits for it.
func (e *Engine) AcquireWriter() *Writer {
	e.writing.Lock()
	return &Writer{e}
}

// Release releases the write lock.
func (w *Writer) Release() { w.e.writing.Unlock() }

// Commit changes the records and tells the index.
func (w *Writer) Commit(ctx context.Context, fn func(*store.Tx) error) error {
	return w.commit(ctx, w.e.c.Store.Update, fn)
}

// CommitInReserve is Commit for changes that make room, such as erasures. It may use the part of
// the disk that is kept in reserve.
func (w *Writer) CommitInReserve(ctx context.Context, fn func(*store.Tx) error) error {
	return w.commit(ctx, w.e.c.Store.UpdateInReserve, fn)
}

func (w *Writer) commit(ctx context.Context, update func(context.Context, func(*store.Tx) error) error, fn func(*store.Tx) error) (err error) {
	ctx, work := span.Start(ctx, "commit")
	defer func() { work.End(err) }()
	var touched []store.Document
	var after func(context.Context, *Writer) error
	err = update(ctx, func(tx *store.Tx) (err error) {
		after = nil
		if err := fn(tx); err != nil {
			return err
		}
		if w.e.c.Check != nil {
			if after, err = w.e.c.Check(ctx, tx); err != nil {
				return err
			}
		}
		touched = slices.Clone(tx.ChangedDocuments())
		return nil
	})
	if err != nil {
		return err
	}
	work.Count("locket.documents", len(touched))
	// A commit must be indexed and followed up even if the caller has left.
	ctx = context.WithoutCancel(ctx)
	if err := w.e.index(ctx, touched); err != nil || after == nil {
		return err
	}
	return after(ctx, w)
}

// Flush writes the index's segments, so that they cover everything that is
// committed. If they do already, it does nothing.
func (w *Writer) Flush(ctx context.Context) error {
	ix := w.e.c.Index
	covered := ix.Covered()
	err := w.e.View(ctx, func(tx *store.Tx) error {
		for d, err := range tx.IndexPending(covered) {
			if err != nil {
				return err
			}
			covered = d.Seq
		}
		return nil
	})
	if err != nil || covered == ix.Covered() {
		return err
	}
	return ix.Flush(ctx, covered)
}

// index brings the index up to date with documents that changed.
func (e *Engine) index(ctx context.Context, docs []store.Document) error {
	if e.c.Index == nil || len(docs) == 0 {
		return nil
	}
	var add []recall.Doc
	var remove []memory.ID
	err := e.View(ctx, func(tx *store.Tx) error {
		for _, d := range docs {
			if d.Same && e.c.Index.Has(d.ID) {
				continue
			}
			doc, m, err := document(tx, d)
			switch {
			case err != nil:
				return err
			case doc.ID.IsZero() && d.Kind == store.MemoryDocument:
				remove = append(append(remove, d.ID), chunkIDs(d.ID)...)
			case doc.ID.IsZero():
				remove = append(remove, d.ID)
			case m == nil:
				add = append(add, doc)
			default:
				docs, gone := split(doc, m)
				add, remove = append(add, docs...), append(remove, gone...)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := e.c.Index.Remove(remove...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := e.c.Index.Add(add...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// IndexCold adds a cold memory to an index that is being rebuilt, because no log has its document.
func (w *Writer) IndexCold(tx *store.Tx, m *memory.Memory) error {
	if !findable(m) || w.e.c.Index.Has(m.ID) {
		return nil
	}
	docs, _ := split(docOf(tx, m), m)
	if err := w.e.c.Index.Add(docs...); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}
