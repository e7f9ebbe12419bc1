package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/serve"
)

// PlanForget implements serve.Forgetter. It waits until what was taken is
// worked through: what is not there yet can't be shown.
func (n *Node) PlanForget(ctx context.Context, s serve.ForgetSelection) (plan serve.ForgetPlan, err error) {
	w, err := n.want(&s)
	if err != nil {
		return plan, err
	}
	if err := n.settled(ctx); err != nil {
		return plan, err
	}
	o, release, err := n.use()
	if err != nil {
		return plan, err
	}
	defer release()
	lock := o.engine.Hold()
	held := o.extract.Held()
	lock.Release()
	if len(w.IDs) > 0 { // with their sources, where they can be fetched
		if err := o.warm(ctx, w.IDs...); err != nil && !errors.Is(err, serve.ErrCold) {
			return plan, err
		}
	}
	for again := true; again && err == nil; {
		var c forget.Chosen
		back := o.cold.Fetched()
		err = o.store.View(ctx, func(tx *store.Tx) error {
			if c, err = forget.Choose(tx, w, held); err == nil {
				plan = planOf(tx, &c)
			}
			return err
		})
		if err == nil {
			plan.Unseen, again, err = n.fetchForForgetting(ctx, o, &w, &c)
			// What came back meanwhile was looked at neither here nor there.
			again = again || err == nil && o.cold.Fetched() != back
		}
	}
	if plan.From, plan.To = w.From, w.To; !w.To.IsZero() && w.From.IsZero() {
		plan.From = time.Unix(0, 0).UTC()
	}
	return plan, err
}

// want reads a selection.
func (n *Node) want(s *serve.ForgetSelection) (w forget.Want, err error) {
	now := time.Now().In(n.zone)
	w = forget.Want{IDs: s.IDs, Words: s.Query, From: s.Since, To: s.Until, Person: s.Person, Place: s.Place, Device: s.Device, Scope: s.Scope}
	if w.Words != "" && memory.Normal(w.Words) == "" {
		return w, fmt.Errorf("%w: query: no words in it", memory.ErrInvalid)
	}
	for field, text := range map[string]string{"person": w.Person, "place": w.Place} {
		if text != "" && memory.Normal(text) == "" {
			return w, fmt.Errorf("%w: %s: no words in it", memory.ErrInvalid, field)
		}
	}
	if s.Last > 0 {
		w.From, w.To, w.Received = now.Add(-time.Duration(s.Last)), now, true
	}
	if s.When != "" {
		t, err := forget.ParseWhen(s.When, now)
		if err != nil {
			return w, err
		}
		if t.Place != "" && w.Place != "" {
			return w, fmt.Errorf("%w: when: it names %q, and place names %q: give one", memory.ErrInvalid, t.Place, w.Place)
		}
		w.From, w.To, w.Received = t.From, t.To, t.Received
		if t.Place != "" {
			w.Place = t.Place
		}
	}
	if !w.To.IsZero() && !w.From.Before(w.To) {
		return w, fmt.Errorf("%w: until: it is not after since", memory.ErrInvalid)
	}
	if w.Scope != nil && w.Scope.User == "" {
		scope := *w.Scope
		scope.User = config.Owner
		w.Scope = &scope
	}
	return w, nil
}

func planOf(tx *store.Tx, c *forget.Chosen) serve.ForgetPlan {
	p := serve.ForgetPlan{Memories: []serve.Related{}, Utterances: []serve.Related{}, Trimmed: []serve.Related{}, Sources: c.Events, Malformed: c.Malformed}
	for i := range c.Memories {
		m := &c.Memories[i]
		p.Memories = append(p.Memories, serve.Related{ID: m.ID, Text: m.Text, At: m.When()})
		if f := m.Fields.Resource; f != nil && f.Blob != "" {
			p.Bytes += tx.BlobSize(f.Blob)
		}
	}
	for i := range c.Trimmed {
		m := &c.Trimmed[i].Memory
		p.Trimmed = append(p.Trimmed, serve.Related{ID: m.ID, Text: m.Text, At: m.When()})
	}
	for _, u := range c.Utterances {
		p.Utterances = append(p.Utterances, serve.Related{ID: u.ID, Text: u.Text, At: u.At})
	}
	for _, list := range [][]serve.Related{p.Memories, p.Utterances, p.Trimmed} {
		slices.SortStableFunc(list, func(a, b serve.Related) int { return a.At.Compare(b.At) })
	}
	p.Events = len(c.Events) + len(c.Malformed)
	return p
}

// Forget implements serve.Forgetter: from the records, the index, what plugins
// remember, what is shared, and the journal; and from what lies in old versions
// of files. What is asked for is written down first: a node that is killed in
// the middle goes on with it when it is opened again.
func (n *Node) Forget(ctx context.Context, p serve.ForgetPlan) (res serve.ForgetResult, err error) {
	todo := forgetOrder{Events: p.Sources, Malformed: p.Malformed, Cascade: true}
	for _, m := range p.Memories {
		todo.Memories = append(todo.Memories, m.ID)
	}
	for _, u := range p.Utterances {
		todo.Utterances = append(todo.Utterances, u.ID)
	}
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	c, err := n.forgetIn(ctx, o, todo)
	release()
	if err != nil {
		return res, fmt.Errorf("forget: it goes on with the next start: %w", err)
	}
	if err := n.purge(ctx, c.held); err != nil {
		return res, fmt.Errorf("forget: erased, but the journal still has it: it goes on with the next start: %w", err)
	}
	return serve.ForgetResult{Memories: len(c.Memories), Utterances: len(c.Utterances), Events: p.Events, Trimmed: len(c.Trimmed)}, nil
}

// purge lets go of all that the journal holds of what is worked through, and
// then of the note that something is being forgotten. held are events that wait
// for nothing any more.
func (n *Node) purge(ctx context.Context, held []memory.EventID) error {
	n.mu.RLock()
	o := n.open
	runs := o != nil && o.stop != nil
	done := make(chan error, 1)
	ask := func() {
		asked := o.orders.Load()
		o.pump.purges.ask(purgeRequest{held, func(err error) {
			if err == nil {
				err = o.forgotten(context.WithoutCancel(ctx), asked)
			}
			done <- err
		}})
	}
	if runs {
		ask()
		n.mu.RUnlock()
		select {
		case err := <-done:
			return err
		case <-ctx.Done(): // it goes on
			return ctx.Err()
		}
	}
	n.mu.RUnlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == nil || n.running {
		return fmt.Errorf("%w: meanwhile", memory.ErrLocked)
	}
	o = n.open
	if err := n.startPump(o); err != nil {
		return err
	}
	ask()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	o.stop()
	err = errors.Join(err, <-o.done)
	o.stop = nil
	return err
}

// forgetIn does what is ordered, here and in what is shared, but for the journal.
func (n *Node) forgetIn(ctx context.Context, o *session, todo forgetOrder) (went, error) {
	c, err := o.forget(ctx, todo)
	if err == nil {
		n.forgetShared(ctx, o)
	}
	return c, err
}

// forgetShared takes what is forgotten out of the copies that are kept for
// readers and workers. Where that fails it is done when they are looked after
// the next time: the originals are gone, by which it is known.
func (n *Node) forgetShared(ctx context.Context, o *session) {
	if !o.sync.HasRelay() {
		return
	}
	s, err := n.openSharing(o)
	if err == nil {
		err = s.Forget(ctx)
	}
	if err != nil {
		n.log.Warn("what is shared still holds what was forgotten: it will be tried again", "error", err)
	}
}

// Delete implements serve.Writer.
func (n *Node) Delete(ctx context.Context, id memory.ID) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	ids := []memory.ID{id}
	err = o.engine.View(ctx, func(tx *store.Tx) error {
		if _, is, err := tx.Cold(id); err != nil || is {
			return err // no other is made of what is cold
		}
		if _, err := engine.Live(tx, id); err != nil {
			return err
		}
		made, err := dream.MadeOf(tx, id)
		ids = append(ids, made...)
		return err
	})
	if err == nil {
		_, err = n.forgetIn(ctx, o, forgetOrder{Memories: ids})
	}
	release()
	if err != nil {
		return err
	}
	return n.purge(ctx, nil)
}
