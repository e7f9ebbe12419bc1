package forget

import (
	"context"
	"errors"
	"strconv"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Order is what has to be forgotten, by ids. The store keeps it from before the
// first erasure until no file holds any of it, so that a node that is opened after
// a crash goes on with it.
type Order struct {
	Memories   []memory.ID      `json:"m,omitempty"`
	Utterances []memory.ID      `json:"u,omitempty"`
	Events     []memory.EventID `json:"e,omitempty"`
	Malformed  []uint64         `json:"q,omitempty"`
	Cascade    bool             `json:"c,omitempty"` // forget what was made from it, too
	Reason     string           `json:"r,omitempty"` // for the history; empty: the wearer's Wish
}

// Names of the notes: one for the number of an order's parts, and one for each
// part.
const (
	orderMeta = "forgetting"
	orderPart = "forgetting/"
	orderPage = 2000 // ids of one part, of 17 bytes each and events of about 30
)

// forgetPage is how many records one transaction erases.
const forgetPage = 50

// Went is what an order removed.
type Went struct {
	Chosen
	Held []memory.EventID // held events that need not wait any longer
}

// Forget carries out an order here and in shares, but not in the journal.
func (fg *Forgetting) Forget(ctx context.Context, todo Order) (Went, error) {
	w, err := fg.forget(ctx, todo)
	if err == nil {
		fg.c.Shared(ctx)
	}
	return w, err
}

func (fg *Forgetting) forget(ctx context.Context, todo Order) (Went, error) {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	if before, ok, err := fg.readOrder(ctx); err != nil {
		return Went{}, err
	} else if ok { // its files are not purged yet: the caller purges them with these
		if _, err := fg.carryOut(ctx, before); err != nil {
			return Went{}, err
		}
		if err := fg.dropOrder(ctx); err != nil {
			return Went{}, err
		}
	}
	fg.unfinished.Store(true)
	fg.orders.Add(1)
	if err := fg.writeOrder(ctx, todo); err != nil {
		return Went{}, err
	}
	return fg.carryOut(context.WithoutCancel(ctx), todo)
}

// Resume goes on with an order that was interrupted. Without one it does nothing.
func (fg *Forgetting) Resume(ctx context.Context) (w Went, err error) {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	todo, ok, err := fg.readOrder(ctx)
	if err != nil || !ok {
		return w, err
	}
	fg.unfinished.Store(true)
	return fg.carryOut(ctx, todo)
}

// Done removes the order, because it is carried out. asked is the number of orders
// at the time when the journal was told to purge. If another order came since, the
// purge for that one calls Done again, and this call does nothing.
func (fg *Forgetting) Done(ctx context.Context, asked int64) error {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	if fg.orders.Load() != asked {
		return nil
	}
	err := fg.dropOrder(ctx)
	if err == nil {
		fg.unfinished.Store(false)
	}
	return err
}

func (fg *Forgetting) dropOrder(ctx context.Context) error {
	return fg.c.Engine.Relieve(ctx, func(tx *store.Tx) error {
		var names []string
		for name, err := range tx.MetaNames(orderMeta) {
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		for _, name := range names {
			if err := tx.DeleteMeta(name); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeOrder writes an order in parts, and then the number of parts. Without that
// number the order does not count.
func (fg *Forgetting) writeOrder(ctx context.Context, todo Order) error {
	var pages []Order
	page := func() *Order {
		if n := len(pages); n == 0 || len(pages[n-1].Memories)+len(pages[n-1].Utterances)+len(pages[n-1].Events)+len(pages[n-1].Malformed) >= orderPage {
			pages = append(pages, Order{Cascade: todo.Cascade, Reason: todo.Reason})
		}
		return &pages[len(pages)-1]
	}
	for _, id := range todo.Memories {
		p := page()
		p.Memories = append(p.Memories, id)
	}
	for _, id := range todo.Utterances {
		p := page()
		p.Utterances = append(p.Utterances, id)
	}
	for _, id := range todo.Events {
		p := page()
		p.Events = append(p.Events, id)
	}
	for _, id := range todo.Malformed {
		p := page()
		p.Malformed = append(p.Malformed, id)
	}
	for i := range pages {
		err := fg.c.Engine.Relieve(ctx, func(tx *store.Tx) error {
			return tx.PutMeta(orderPart+strconv.Itoa(i), pages[i])
		})
		if err != nil {
			return err
		}
	}
	return fg.c.Engine.Relieve(ctx, func(tx *store.Tx) error { return tx.PutMeta(orderMeta, len(pages)) })
}

// OrderSweep notes an empty order, unless there is an order already. It is for a
// transaction that erased something, of which files and journal must be purged.
func OrderSweep(tx *store.Tx) error {
	var pages int
	if ok, err := tx.Meta(orderMeta, &pages); err != nil || ok {
		return err // the order that is there ends in the same purge
	}
	return tx.PutMeta(orderMeta, 0)
}

// Swept purges files of what was erased in a transaction that called OrderSweep.
// The journal follows.
func (fg *Forgetting) Swept(ctx context.Context, lock *engine.Writer) error {
	fg.unfinished.Store(true)                     // if this fails, it is tried again in a quiet moment
	if err := fg.c.Flush(ctx, lock); err != nil { // rewrites the segments that held it
		return err
	}
	if err := fg.c.Compact(ctx); err != nil {
		return err
	}
	asked := fg.orders.Add(1)
	fg.c.PurgeSoon(func(err error) { fg.Purged(err, asked) })
	return nil
}

// ErrStopped: the journal was not purged, because the node stopped.
var ErrStopped = errors.New("stopped before the journal was let go of; it is at the next start")

// Purged removes the order once the journal is purged. asked is as for Done.
func (fg *Forgetting) Purged(err error, asked int64) {
	if err == nil {
		err = fg.Done(context.Background(), asked)
	}
	if err != nil && !errors.Is(err, ErrStopped) {
		fg.c.Log.Error("what is to be forgotten is not gone yet: it will be tried again", "error", err)
	}
}

// Asked is how many orders were given.
func (fg *Forgetting) Asked() int64 { return fg.orders.Load() }

// Unfinished reports whether an order is not carried out completely yet.
func (fg *Forgetting) Unfinished() bool { return fg.unfinished.Load() }

// Carried is how many orders were carried out. The caller holds the engine's lock.
func (fg *Forgetting) Carried() uint64 { return fg.carried }

func (fg *Forgetting) readOrder(ctx context.Context) (todo Order, ok bool, err error) {
	err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
		var pages int
		if ok, err = tx.Meta(orderMeta, &pages); err != nil || !ok {
			return err
		}
		for i := range pages {
			var p Order
			if _, err := tx.Meta(orderPart+strconv.Itoa(i), &p); err != nil {
				return err
			}
			todo.Memories, todo.Utterances = append(todo.Memories, p.Memories...), append(todo.Utterances, p.Utterances...)
			todo.Events, todo.Malformed = append(todo.Events, p.Events...), append(todo.Malformed, p.Malformed...)
			todo.Cascade, todo.Reason = todo.Cascade || p.Cascade, p.Reason
		}
		return nil
	})
	return todo, ok, err
}
