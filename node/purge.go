package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/forget"
)

// purgeRequest is one: held are events that wait for nothing any more.
type purgeRequest struct {
	held []memory.EventID
	done func(error) // called once
}

// purges are requests to let go of everything in the journal that is worked
// through, however recent.
type purges struct {
	mu    sync.Mutex // guards the rest
	asked []purgeRequest
	up    func() // has the pump look
	ended bool
}

// ask has the request's done called when the journal holds nothing of what was worked
// through before the call, or when that could not be reached.
func (p *purges) ask(r purgeRequest) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		r.done(forget.ErrStopped)
		return
	}
	p.asked = append(p.asked, r)
	up := p.up
	p.mu.Unlock()
	if up != nil {
		up()
	}
}

func (p *purges) wake(up func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up = up
	if len(p.asked) > 0 {
		up()
	}
}

func (p *purges) take() []purgeRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

func (p *purges) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	for _, r := range p.take() {
		r.done(forget.ErrStopped)
	}
}

func (p *pump) purgeAsked(ctx context.Context) {
	asked := p.purges.take()
	if len(asked) == 0 {
		return
	}
	var held []memory.EventID
	for _, r := range asked {
		held = append(held, r.held...)
	}
	err := p.purge(ctx, held)
	for _, r := range asked {
		r.done(err)
	}
}

// purge ends the journal's segment, works through what is in it, and deletes
// it. Entries whose events wait for more are copied into the next one first.
// The pump's goroutine alone calls it.
func (p *pump) purge(ctx context.Context, forgotten []memory.EventID) error {
	for _, id := range forgotten {
		delete(p.held, id)
	}
	last := p.journal.Stats().Last
	if err := p.journal.Rotate(); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	for p.last < last {
		e, err := p.reader.Next(ctx)
		var damaged *journal.CorruptError
		if errors.As(err, &damaged) {
			if err := p.tellDamage(ctx, damaged); err != nil {
				return fmt.Errorf("purge: %w", err)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		if !p.take(ctx, e) {
			return forget.ErrStopped
		}
	}
	if err := p.move(ctx, last); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	if err := p.save(ctx); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return p.journal.Release(p.doneWith())
}

// move copies the entries up to last whose events wait for more to the end of
// the journal. After a crash between that and their deletion they come twice,
// which the extractor passes over.
func (p *pump) move(ctx context.Context, last uint64) error {
	old := map[uint64]memory.EventID{}
	for id, seq := range p.held {
		if seq <= last {
			old[seq] = id
		}
	}
	if len(old) == 0 {
		return nil
	}
	first := last
	for seq := range old {
		first = min(first, seq)
	}
	r, err := p.journal.Reader(p.identity, first)
	if err != nil {
		return err
	}
	defer r.Close()
	var ids []memory.EventID
	var data [][]byte
	for len(ids) < len(old) {
		e, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if id, waits := old[e.Seq]; waits {
			ids, data = append(ids, id), append(data, slices.Clone(e.Data))
		}
		if e.Seq >= last {
			break
		}
	}
	if len(data) == 0 {
		return nil
	}
	seq, err := p.journal.Append(ctx, data...)
	if err != nil {
		return err
	}
	for i, id := range ids {
		p.held[id] = seq + uint64(i)
		p.moved[seq+uint64(i)] = true
	}
	return nil
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
		asked := o.forgets.Asked()
		o.pump.purges.ask(purgeRequest{held, func(err error) {
			if err == nil {
				err = o.forgets.Done(context.WithoutCancel(ctx), asked)
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
