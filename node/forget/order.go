package forget

import (
	"context"
	"errors"
	"strconv"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Order is what is to be forgotten, by ids. It is kept in the store from
// before the first erasure until no file holds what Went, so that whoever
// opens the node after a crash goes on with it.
type Order struct {
	Memories   []memory.ID      `json:"m,omitempty"`
	Utterances []memory.ID      `json:"u,omitempty"`
	Events     []memory.EventID `json:"e,omitempty"`
	Malformed  []uint64         `json:"q,omitempty"`
	Cascade    bool             `json:"c,omitempty"` // what was made from it goes, too
	Reason     string           `json:"r,omitempty"` // for the history; empty: the wearer's Wish
}

// Names of the notes: how many parts an order has, and each part.
const (
	orderMeta = "forgetting"
	orderPart = "forgetting/"
	orderPage = 2000 // ids of one part, of 17 bytes each and events of about 30
)

// forgetPage is how many records one transaction erases.
const forgetPage = 50

// Went is what an order took.
type Went struct {
	Chosen
	Held []memory.EventID // that wait for nothing any more
}

// Forget does what is ordered, here and in what is shared, but for the journal.
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
	} else if ok { // whose files are not gone yet: the caller has them go with these
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

// Resume goes on with an order that was cut off; without one it does nothing.
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

// Done takes the order back: it is done. asked is how many orders there
// were when the journal was asked to let go; with a later one, that one's
// asking is waited for.
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

// writeOrder writes one in parts, and then how many they are: without that it
// does not count.
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

// OrderSweep notes an order of nothing where there is none: something was erased in
// this transaction, and files and journal are to be rid of it.
func OrderSweep(tx *store.Tx) error {
	var pages int
	if ok, err := tx.Meta(orderMeta, &pages); err != nil || ok {
		return err // what is ordered already ends in the same way
	}
	return tx.PutMeta(orderMeta, 0)
}

// Swept has no file hold what was erased in a transaction that ordered it by
// OrderSweep; the journal follows.
func (fg *Forgetting) Swept(ctx context.Context, lock *engine.Writer) error {
	if err := fg.c.Flush(ctx, lock); err != nil { // segments that held what is gone are written anew
		return err
	}
	if err := fg.c.Compact(ctx); err != nil {
		return err
	}
	fg.unfinished.Store(true)
	asked := fg.orders.Add(1)
	fg.c.PurgeSoon(func(err error) { fg.Purged(err, asked) })
	return nil
}

// ErrStopped: the journal was not purged, because its working through ended.
var ErrStopped = errors.New("stopped before the journal was let go of; it is at the next start")

// Purged takes back the order that something be forgotten, where the journal
// has let go of it. asked is as for Done.
func (fg *Forgetting) Purged(err error, asked int64) {
	if err == nil {
		err = fg.Done(context.Background(), asked)
	}
	if err != nil && !errors.Is(err, ErrStopped) {
		fg.c.Log.Error("what is to be forgotten is not gone yet: it will be tried again", "error", err)
	}
}

// Asked is how often something was ordered to be forgotten.
func (fg *Forgetting) Asked() int64 { return fg.orders.Load() }

// Unfinished reports whether something is to be forgotten, and is not gone yet.
func (fg *Forgetting) Unfinished() bool { return fg.unfinished.Load() }

// Carried is how often an order was carried out; the engine's lock is held.
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
