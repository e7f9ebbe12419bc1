package carry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// How full the window may be, in messages, for more of a kind to be taken. A
// batch of stored sound has up to batchSize messages, where times jump about.
const (
	roomStored = Window / 2
	roomLive   = Window - 1024
	roomGaps   = Window - 128
)

// publisher gives messages to the client, and counts their ends.
type publisher struct {
	client   *wear.Client
	lossless bool
	report   *Report
	open     []*wear.Receipt
	dropped  int // messages since the last gap that said so
	since    time.Time
}

// live publishes, or drops where the node is away for too long.
func (p *publisher) live(ctx context.Context, m wire.Message) error {
	p.settle()
	if !p.lossless {
		ctx = context.WithoutCancel(ctx) // it has room, and what came is not to be lost by an end
	}
	if p.drop(roomLive) {
		return nil
	}
	if err := p.tellDropped(ctx); err != nil {
		return err
	}
	_, err := p.publish(ctx, m)
	return err
}

func (p *publisher) tellDropped(ctx context.Context) error {
	n := p.dropped
	if n == 0 {
		return nil
	}
	p.dropped = 0
	return p.gap(ctx, time.Now(), fmt.Sprintf("the node was away: %d messages dropped since %s", n, p.since.UTC().Format(time.RFC3339)))
}

// drop gives a message up where there is no room for it. To wait would hold up
// the link, behind which memory fills.
func (p *publisher) drop(room int) bool {
	if p.lossless || p.client.Pending() < room {
		return false
	}
	if p.dropped == 0 {
		p.since = time.Now()
	}
	p.dropped++
	p.report.Dropped++
	return true
}

func (p *publisher) publish(ctx context.Context, m wire.Message) (*wear.Receipt, error) {
	r, err := p.client.Publish(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("publish %s: %w", m.Kind(), err)
	}
	p.report.Published++
	p.open = append(p.open, r)
	return r, nil
}

// gap says that something is missing that never had a number: its range is the
// gap's own (docs/mqtt.md).
func (p *publisher) gap(ctx context.Context, at time.Time, reason string) error {
	if p.drop(roomGaps) {
		return nil
	}
	boot, seq := p.client.Reserve(1)
	if len(reason) > wire.MaxReason {
		reason = reason[:wire.MaxReason] // it is ASCII
	}
	_, err := p.publish(ctx, &wire.Gap{
		Header:  wire.Header{Boot: boot, Seq: seq, At: at},
		Missing: memory.Range{From: seq, To: seq}, Reason: reason,
	})
	return err
}

// settle counts what has been answered.
func (p *publisher) settle() {
	keep := p.open[:0]
	for _, r := range p.open {
		select {
		case <-r.Done():
			p.count(r.Wait(context.Background()))
		default:
			keep = append(keep, r)
		}
	}
	clear(p.open[len(keep):])
	p.open = keep
}

func (p *publisher) count(err error) {
	switch {
	case errors.Is(err, wear.ErrRefused):
		p.report.Refused++
	case errors.Is(err, wear.ErrPaused):
		p.report.Paused++
	}
}

// finish waits until everything is answered, or for a while.
func (p *publisher) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	err := p.client.Flush(ctx)
	if err == nil && p.dropped > 0 {
		err = errors.Join(p.tellDropped(ctx), p.client.Flush(ctx))
	}
	p.settle()
	p.report.Waiting = len(p.open)
	if err != nil {
		return fmt.Errorf("wait for the node to acknowledge: %w", err)
	}
	return nil
}
