package carry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// How full the window may be, in messages, for more of a kind to be taken. A batch of stored sound
// has up to batchSize messages if the times jump about.
const (
	roomStored = Window / 2
	roomLive   = Window - 1024
	roomGaps   = Window - 128
)

// publisher passes messages to the client, and counts the results.
type publisher struct {
	client   *wear.Client
	lossless bool
	report   *Report
	open     []*wear.Receipt
	spool    *spool.Spool // nil: nothing is stored on disk
	tell     func(Note)
	warned   bool                           // a person was told that something could not be stored
	stored   map[*wear.Receipt]wire.Message // messages that are on their way; those that the node refuses are quarantined
	unkept   map[*wear.Receipt]error        // refused, and not quarantined
	dropped  int                            // dropped messages since the last gap that reported them
	since    time.Time
	state    *State       // nil: gaps are not stored
	unacked  []unackedGap // gaps that the node has not acknowledged; also in state
}

// live publishes a message, or drops it if the node is away for too long. kept reports whether the
// message is on disk; r is nil if it was not published.
func (p *publisher) live(ctx context.Context, m wire.Message) (kept bool, r *wear.Receipt, err error) {
	p.settle()
	if !p.lossless {
		ctx = context.WithoutCancel(ctx) // there is room, and a message must not be lost when the bridge ends
	}
	if p.spool != nil && sealable(m) && !p.client.Paused() {
		// Earlier messages that wait on disk have to reach the node first.
		due := p.spool.Due() > 0 || p.client.Pending() >= roomLive
		if kept = p.enqueue(m, due); kept && due {
			return true, nil, nil
		}
	}
	if p.drop(roomLive) {
		return kept, nil, nil
	}
	if err := p.tellDropped(ctx); err != nil {
		return kept, nil, err
	}
	r, err = p.publish(ctx, m)
	return kept, r, err
}

func sealable(m wire.Message) bool {
	return slices.Contains(wire.Sealable[:], m.Kind())
}

// enqueue stores a message on disk before it is sent, under a number that it takes here, and reports
// whether that worked.
func (p *publisher) enqueue(m wire.Message, due bool) bool {
	h := m.Head()
	if h.Boot == 0 {
		h.Boot, h.Seq = p.client.Reserve(1)
	}
	b, err := wire.Wrap(m)
	if err == nil {
		err = p.spool.Keep(spool.ID{Boot: h.Boot, Seq: h.Seq}, h.At, b, due)
	}
	switch {
	case err == nil:
		p.warned = false
	case !p.warned:
		p.warned = true
		p.tell(Note{What: "warning", Text: fmt.Sprintf("what the node has not acknowledged would be lost with this process: %v", err)})
	}
	return err == nil
}

// putBy quarantines a message that the node refused for good, until the next start.
func (p *publisher) putBy(m wire.Message) error {
	if p.spool == nil {
		return spool.ErrNoKey
	}
	h := m.Head()
	id := spool.ID{Boot: h.Boot, Seq: h.Seq}
	b, err := wire.Wrap(m)
	if err == nil {
		err = p.spool.Keep(id, h.At, b, false)
	}
	if err != nil {
		return err
	}
	return p.spool.Quarantine(id)
}

func (p *publisher) tellDropped(ctx context.Context) error {
	n := p.dropped
	if n == 0 {
		return nil
	}
	p.dropped = 0
	return p.gap(ctx, time.Now(), fmt.Sprintf("the node was away: %d messages dropped since %s", n, p.since.UTC().Format(time.RFC3339)))
}

// drop gives up a message if there is no room for it. Waiting would hold up the link, and memory
// would fill behind it.
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

// gap reports that something without a number is missing: the gap's range is its own
// (docs/mqtt.md).
func (p *publisher) gap(ctx context.Context, at time.Time, reason string) error {
	if p.drop(roomGaps) {
		return nil
	}
	boot, seq := p.client.Reserve(1)
	o := unackedGap{boot, seq, at, reason}
	p.noteUnacked(o)
	_, err := p.publish(ctx, o.message())
	return err
}

// settle counts the messages that have been answered.
func (p *publisher) settle() {
	keep := p.open[:0]
	for _, r := range p.open {
		select {
		case <-r.Done():
			p.answered(r, r.Wait(context.Background()))
		default:
			keep = append(keep, r)
		}
	}
	clear(p.open[len(keep):])
	p.open = keep
}

// answered counts the result of a message, and frees what is stored of it.
func (p *publisher) answered(r *wear.Receipt, err error) {
	p.count(err)
	if !errors.Is(err, wear.ErrClosed) {
		p.paid(r.ID.Boot, r.ID.Seq)
	}
	m, id := p.stored[r], spool.ID{Boot: r.ID.Boot, Seq: r.ID.Seq}
	delete(p.stored, r)
	switch refused := errors.Is(err, wear.ErrRefused); {
	case errors.Is(err, wear.ErrClosed):
	case refused && m != nil:
		if e := p.putBy(m); e != nil {
			p.tell(Note{What: "warning", Text: fmt.Sprintf("the node refuses a stored message (%v), which can't be kept: %v", err, e)})
			p.unkept[r] = err
		}
	case p.spool == nil:
	case refused:
		if err := p.spool.Quarantine(id); err != nil {
			p.tell(Note{What: "warning", Text: err.Error()})
		}
	default:
		p.spool.Done(id)
	}
}

func (p *publisher) count(err error) {
	switch {
	case errors.Is(err, wear.ErrRefused):
		p.report.Refused++
	case errors.Is(err, wear.ErrPaused):
		p.report.Paused++
	}
}

// finish waits until everything is answered, or until the timeout.
func (p *publisher) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	err := p.client.Flush(ctx)
	if p.dropped > 0 {
		told := p.tellDropped(ctx) // if the node is still away, the next start reports it
		if err == nil {
			err = errors.Join(told, p.client.Flush(ctx))
		}
	}
	p.settle()
	p.report.Waiting = len(p.open)
	if err != nil {
		return fmt.Errorf("wait for the node to acknowledge: %w", err)
	}
	return nil
}
