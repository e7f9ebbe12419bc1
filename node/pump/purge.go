package pump

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

// request asks for a purge.
type request struct {
	held []memory.EventID // events that do not wait for anything any more
	done func(error)      // called once
}

// purges are requests to remove everything from the journal that is processed,
// however recent it is.
type purges struct {
	mu    sync.Mutex // guards the fields below
	asked []request
	up    func() // interrupts the pump, so that it checks asked
	ended bool
}

// PurgeSoon asks for a purge of everything that was processed before the call. held
// are events that need not wait any longer. done is called once: with nil when the
// journal no longer contains any of it, or with the reason why it still does.
func (p *Pump) PurgeSoon(held []memory.EventID, done func(error)) {
	p.purges.ask(request{held, done})
}

func (p *purges) ask(r request) {
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

func (p *purges) drain() []request {
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
	for _, r := range p.drain() {
		r.done(forget.ErrStopped)
	}
}

func (p *Pump) purgeAsked(ctx context.Context) {
	asked := p.purges.drain()
	if len(asked) == 0 {
		return
	}
	var held []memory.EventID
	for _, r := range asked {
		held = append(held, r.held...)
	}
	err := p.Purge(ctx, held)
	for _, r := range asked {
		r.done(err)
	}
}

// Purge ends the journal's segment, processes its entries, and deletes it. Entries
// whose events wait for more are copied into the next segment first. Only OnIdle may
// call it, and therefore only the goroutine of Run.
func (p *Pump) Purge(ctx context.Context, forgotten []memory.EventID) error {
	for _, id := range forgotten {
		delete(p.held, id)
	}
	last := p.c.Journal.Stats().Last
	if err := p.c.Journal.Rotate(); err != nil {
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
		if !p.processRetrying(ctx, e) {
			return forget.ErrStopped
		}
	}
	if err := p.move(ctx, last); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	if err := p.save(ctx); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return p.c.Journal.Release(p.doneWith())
}

// move copies entries up to last whose events wait for more to the end of the
// journal. After a crash before the old ones are deleted there are two copies; the
// extractor skips the second.
func (p *Pump) move(ctx context.Context, last uint64) error {
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
	r, err := p.c.Journal.Reader(p.c.Identity, first)
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
	seq, err := p.c.Journal.Append(ctx, data...)
	if err != nil {
		return err
	}
	for i, id := range ids {
		p.held[id] = seq + uint64(i)
		p.moved[seq+uint64(i)] = true
	}
	return nil
}
