package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/sync/journal"
)

// forgetOrder is what is to be forgotten, by ids. It is kept in the store from
// before the first erasure until no file holds what went, so that whoever
// opens the node after a crash goes on with it.
type forgetOrder struct {
	Memories   []memory.ID      `json:"m,omitempty"`
	Utterances []memory.ID      `json:"u,omitempty"`
	Events     []memory.EventID `json:"e,omitempty"`
	Malformed  []uint64         `json:"q,omitempty"`
	Cascade    bool             `json:"c,omitempty"` // what was made from it goes, too
	Reason     string           `json:"r,omitempty"` // for the history; empty: the wearer's wish
}

// Names of the notes: how many parts an order has, and each part.
const (
	orderMeta = "forgetting"
	orderPart = "forgetting/"
	orderPage = 2000 // ids of one part, of 17 bytes each and events of about 30
)

// forgetPage is how many records one transaction erases.
const forgetPage = 50

// went is what an order took.
type went struct {
	forget.Chosen
	held []memory.EventID
}

// forget does what is ordered, but for the journal.
func (o *session) forget(ctx context.Context, todo forgetOrder) (went, error) {
	o.forgetting.Lock()
	defer o.forgetting.Unlock()
	if before, ok, err := o.readOrder(ctx); err != nil {
		return went{}, err
	} else if ok { // whose files are not gone yet: the caller has them go with these
		if _, err := o.carryOut(ctx, before); err != nil {
			return went{}, err
		}
		if err := o.dropOrder(ctx); err != nil {
			return went{}, err
		}
	}
	o.unfinished.Store(true)
	o.orders.Add(1)
	if err := o.writeOrder(ctx, todo); err != nil {
		return went{}, err
	}
	return o.carryOut(context.WithoutCancel(ctx), todo)
}

// resume goes on with an order that was cut off; without one it does nothing.
func (o *session) resume(ctx context.Context) (w went, err error) {
	o.forgetting.Lock()
	defer o.forgetting.Unlock()
	todo, ok, err := o.readOrder(ctx)
	if err != nil || !ok {
		return w, err
	}
	o.unfinished.Store(true)
	return o.carryOut(ctx, todo)
}

// forgotten takes the order back: it is done. asked is how many orders there
// were when the journal was asked to let go; with a later one, that one's
// asking is waited for.
func (o *session) forgotten(ctx context.Context, asked int64) error {
	o.forgetting.Lock()
	defer o.forgetting.Unlock()
	if o.orders.Load() != asked {
		return nil
	}
	err := o.dropOrder(ctx)
	if err == nil {
		o.unfinished.Store(false)
	}
	return err
}

func (o *session) dropOrder(ctx context.Context) error {
	return o.engine.Relieve(ctx, func(tx *store.Tx) error {
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
func (o *session) writeOrder(ctx context.Context, todo forgetOrder) error {
	var pages []forgetOrder
	page := func() *forgetOrder {
		if n := len(pages); n == 0 || len(pages[n-1].Memories)+len(pages[n-1].Utterances)+len(pages[n-1].Events)+len(pages[n-1].Malformed) >= orderPage {
			pages = append(pages, forgetOrder{Cascade: todo.Cascade, Reason: todo.Reason})
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
		err := o.engine.Relieve(ctx, func(tx *store.Tx) error {
			return tx.PutMeta(orderPart+strconv.Itoa(i), pages[i])
		})
		if err != nil {
			return err
		}
	}
	return o.engine.Relieve(ctx, func(tx *store.Tx) error { return tx.PutMeta(orderMeta, len(pages)) })
}

// eraseOut forgets a memory and some lines, out of every file.
func (o *session) eraseOut(ctx context.Context, lock *engine.Writer, id memory.ID, lines []memory.ID) error {
	if _, err := lock.Erase(ctx, engine.Person, wish, id); err != nil {
		return err
	}
	if err := o.drop(ctx, lock, lines, nil); err != nil {
		return err
	}
	if err := o.flushHeld(ctx, lock); err != nil {
		return err
	}
	return o.store.Compact(ctx)
}

// orderSweep notes an order of nothing where there is none: something was erased in
// this transaction, and files and journal are to be rid of it.
func orderSweep(tx *store.Tx) error {
	var pages int
	if ok, err := tx.Meta(orderMeta, &pages); err != nil || ok {
		return err // what is ordered already ends in the same way
	}
	return tx.PutMeta(orderMeta, 0)
}

// swept has no file hold what was erased in a transaction that ordered it by
// orderSweep; the journal follows.
func (n *Node) swept(ctx context.Context, o *session, lock *engine.Writer) error {
	if err := o.flushHeld(ctx, lock); err != nil { // segments that held what is gone are written anew
		return err
	}
	if err := o.store.Compact(ctx); err != nil {
		return err
	}
	o.unfinished.Store(true)
	o.orders.Add(1)
	n.purgeSoon(o)
	return nil
}

// taking is exchange.Config's Take.
func (n *Node) taking(o *session) func(ctx context.Context, fn func(*store.Tx) (*store.Targets, error)) error {
	return func(ctx context.Context, fn func(*store.Tx) (*store.Targets, error)) error {
		lock := o.engine.Hold()
		defer lock.Release()
		var gone *store.Targets
		err := o.take(ctx, lock, func(tx *store.Tx) (err error) {
			if gone, err = fn(tx); err != nil || gone == nil {
				return err
			}
			return orderSweep(tx)
		})
		if err != nil || gone == nil {
			return err
		}
		if _, err := o.extract.Forget(ctx, lock, extract.Gone{Utterances: gone.Utterances, Events: gone.Events, Latest: n.now()}); err != nil {
			return err
		}
		if err := o.plugins.Forget(); err != nil {
			return err
		}
		return n.swept(ctx, o, lock)
	}
}

func (o *session) readOrder(ctx context.Context) (todo forgetOrder, ok bool, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		var pages int
		if ok, err = tx.Meta(orderMeta, &pages); err != nil || !ok {
			return err
		}
		for i := range pages {
			var p forgetOrder
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

// carryOut erases, from the records, from memory, from the index and its
// segments, and from what lies in old versions of files. Memories that stand on
// other evidence are said anew without what goes, before their sources go: so
// that an order that is begun again finds the same.
func (o *session) carryOut(ctx context.Context, todo forgetOrder) (w went, err error) {
	lock := o.engine.Hold()
	defer lock.Release()
	o.carried++
	if err := lock.Relieve(ctx, dream.DropPlan); err != nil {
		return w, err
	}
	if w.Chosen, err = o.chosen(ctx, &todo); err != nil {
		return w, err
	}
	for i := range w.Trimmed {
		if err := o.trim(ctx, lock, &w.Trimmed[i]); err != nil {
			return w, err
		}
	}
	var memories, utterances []memory.ID
	for i := range w.Memories {
		memories = append(memories, w.Memories[i].ID)
	}
	for i := range w.Utterances {
		utterances = append(utterances, w.Utterances[i].ID)
	}
	w.held, err = o.extract.Forget(ctx, lock, extract.Gone{Utterances: utterances, Events: w.Events, Places: w.Places, Latest: w.Latest})
	if err = errors.Join(err, o.plugins.Forget()); err != nil {
		return w, err
	}
	for ids := range slices.Chunk(memories, forgetPage) {
		if _, err := lock.Erase(ctx, engine.Person, cmp.Or(todo.Reason, wish), ids...); err != nil {
			return w, err
		}
	}
	if err := o.drop(ctx, lock, utterances, w.Events); err != nil {
		return w, err
	}
	waits := journal.Journal{Space: o.ring.Space(), Member: o.ring.Member(), Store: o.store}
	err = lock.Relieve(ctx, func(tx *store.Tx) error {
		for _, seq := range w.Malformed {
			if err := tx.DropMalformed(seq); err != nil {
				return err
			}
		}
		return waits.Withdraw(tx, store.Targets{Memories: memories, Utterances: utterances, Events: w.Events})
	})
	if err != nil {
		return w, err
	}
	if err := o.flushHeld(ctx, lock); err != nil { // segments that held what is gone are written anew
		return w, err
	}
	return w, o.store.Compact(ctx)
}

func (o *session) chosen(ctx context.Context, todo *forgetOrder) (c forget.Chosen, err error) {
	c.Events, c.Malformed = todo.Events, todo.Malformed
	for _, id := range todo.Memories {
		c.Memories = append(c.Memories, memory.Memory{ID: id})
	}
	for _, id := range todo.Utterances {
		c.Utterances = append(c.Utterances, memory.Utterance{ID: id})
	}
	if !todo.Cascade {
		return c, nil
	}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		c, err = forget.Again(tx, c)
		return err
	})
	return c, err
}

// trim has a memory stand on the evidence that is left. Its assertions name
// what goes, and so does its id: so it is erased, and said anew as it would
// have been if what goes had never been said. One that is there under that id,
// or was erased there, stays as it is.
func (o *session) trim(ctx context.Context, lock *engine.Writer, t *forget.Trimmed) error {
	c := t.Memory.Candidate
	c.Evidence = t.Left[max(0, len(t.Left)-memory.MaxEvidence):]
	id := o.ring.MemoryID(t.Left[0].Event, c.Source.Plugin, c.Fingerprint())
	err := store.Divided([]memory.ID{t.Memory.ID}, func(fn func(*store.Tx) error) error {
		return lock.Commit(ctx, fn)
	}, func(tx *store.Tx, ids []memory.ID) error {
		if _, err := o.engine.Erase(tx, engine.Person, "what it was made from was forgotten in part", ids...); err != nil {
			return err
		}
		return o.say(tx, id, &c, &t.Memory)
	})
	if err != nil {
		return fmt.Errorf("keep %s on other evidence: %w", t.Memory.ID, err)
	}
	return nil
}

// wish is why a memory is erased where nothing else is said.
const wish = "erased by the wearer"

// drop erases lines, and then events, as many as there are.
func (o *session) drop(ctx context.Context, lock *engine.Writer, lines []memory.ID, events []memory.EventID) error {
	erase := func(t store.Targets) error {
		return lock.Relieve(ctx, func(tx *store.Tx) error { return tx.Erase(t) })
	}
	for us := range slices.Chunk(lines, forgetPage) {
		if err := erase(store.Targets{Utterances: us}); err != nil {
			return err
		}
	}
	for es := range slices.Chunk(events, forgetPage) {
		if err := erase(store.Targets{Events: es}); err != nil {
			return err
		}
	}
	return nil
}
