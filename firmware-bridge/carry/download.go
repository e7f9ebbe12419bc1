package carry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wear"
)

const (
	batchSize  = 600              // records, commonly a minute of sound
	silence    = 30 * time.Second // of the storage: it is asked anew
	freshStock = 10 * time.Minute // between looks at whether there is more
)

type phase uint8

const (
	idle       phase = iota
	asking           // for the ring's cursors
	reading          // records
	publishing       // they are with the node, which has not acknowledged all
	advancing        // the device has been told that they may go
)

// download fetches the ring, batch by batch. Its methods are called by the
// session's goroutine alone; an error is the connection's.
type download struct {
	s     *session
	phase phase
	until time.Time // idle: the next look; else: when the device's answer is late
	info  omi.RingInfo
	from  uint64
	to    uint64
	in    *omi.Transfer
	flow  flow
	pause time.Duration // after the next failure
	ends  chan error    // of a batch's publication
	wg    sync.WaitGroup
}

// openStore looks which storage the device has.
func (s *session) openStore(ctx context.Context) error {
	b, err := s.dev.Read(ctx, omi.StorageState)
	if errors.Is(err, link.ErrAbsent) {
		s.note("storage", "the device has none")
		return nil
	}
	if err != nil {
		return err
	}
	state, err := omi.ParseStorage(b)
	if err != nil {
		s.note("warning", "%v", err)
		return nil
	}
	if !state.Ring {
		s.note("warning", "the storage of firmware before 3.0.20 (%d bytes in it) is not fetched: it has no times", state.Used)
		return nil
	}
	if mtu := s.dev.MTU(); mtu > 0 && mtu < omi.InfoMTU {
		s.note("warning", "MTU %d: below %d newer firmware does not say what is stored", mtu, omi.InfoMTU)
	}
	if err := s.dev.Subscribe(ctx, omi.StorageChar); err != nil {
		return err
	}
	s.store = &download{s: s, ends: make(chan error, 1), pause: s.FirstWait}
	return nil
}

// published gives the end of a batch's publication. A nil download has none.
func (d *download) published() <-chan error {
	if d == nil {
		return nil
	}
	return d.ends
}

// wait is for after the session's context has ended.
func (d *download) wait() { d.wg.Wait() }

func (d *download) tick(ctx context.Context, now time.Time) error {
	switch {
	case d.phase == publishing || now.Before(d.until):
		return nil
	case d.phase != idle:
		return d.fail(ctx, errors.New("no answer"))
	case d.s.Client.Paused(), d.s.Client.Pending() > roomStored:
		return nil
	}
	return d.ask(ctx)
}

func (d *download) ask(ctx context.Context) error { return d.command(ctx, asking, omi.AskInfo[:]) }

func (d *download) command(ctx context.Context, next phase, b []byte) error {
	d.phase, d.until = next, time.Now().Add(silence)
	return d.s.dev.Write(ctx, omi.StorageChar, b)
}

// fail gives this batch up for a while; what the device holds, it keeps.
func (d *download) fail(ctx context.Context, err error) error {
	d.s.note("warning", "storage: %v; again in %s", err, d.pause)
	d.phase, d.until, d.in = idle, time.Now().Add(d.pause), nil
	d.pause = min(2*d.pause, maxWait)
	return d.s.dev.Write(ctx, omi.StorageChar, omi.RingStop[:])
}

func (d *download) notified(ctx context.Context, b []byte) error {
	item, err := omi.ParseRing(b)
	if err != nil {
		if d.phase == idle || d.phase == publishing {
			return nil
		}
		return d.fail(ctx, err)
	}
	ack, isAck := item.(omi.RingAck)
	switch d.phase {
	case asking:
		if i, ok := item.(omi.RingInfo); ok {
			return d.read(ctx, i)
		}
		if isAck && ack.Status != omi.RingOK {
			return d.fail(ctx, errors.New(ack.Status.String()))
		}
	case reading:
		d.until = time.Now().Add(silence)
		done, err := d.in.Push(item)
		if err != nil {
			return d.fail(ctx, err)
		}
		if done {
			return d.publish(ctx)
		}
	case advancing:
		if !isAck {
			return nil
		}
		if ack.Status != omi.RingOK {
			return d.fail(ctx, fmt.Errorf("advance to %d: %s", d.to, ack.Status))
		}
		d.pause = d.s.FirstWait
		n := d.to - d.from
		d.s.report.Records += n
		left := d.info.Write - d.to
		d.s.Tell(Note{
			What: "storage", Text: fmt.Sprintf("records %d to %d are with the node; %d left", d.from, d.to-1, left),
			From: d.from, To: d.to, Left: left,
		})
		d.phase, d.until = idle, time.Time{} // the next tick goes on
		if d.s.Client.Pending() > roomStored {
			return nil
		}
		return d.ask(ctx)
	}
	return nil
}

// read asks for the next batch, where there is one.
func (d *download) read(ctx context.Context, i omi.RingInfo) error {
	if n := d.s.State.overwritten(i.Dropped); n > 0 {
		reason := fmt.Sprintf("%d stored records were overwritten before they were fetched", n)
		d.s.note("lost", "%s", reason)
		if err := d.s.out.gap(ctx, time.Now(), reason); err != nil {
			return err
		}
	}
	if i.Read == i.Write {
		d.phase, d.until = idle, time.Now().Add(freshStock)
		d.s.Tell(Note{What: "storage", Text: "nothing is left in the device", To: i.Write})
		return nil
	}
	d.info = i
	d.from, d.to = d.s.State.plan(i, batchSize)
	d.in = omi.NewTransfer(d.from, uint32(d.to-d.from))
	return d.command(ctx, reading, omi.RingRead(d.from, uint32(d.to-d.from)))
}

// publish gives a batch to the node, and waits for its acknowledgement in the
// background. What is read short counts as the batch.
func (d *download) publish(ctx context.Context) error {
	b := d.in.Bytes()
	d.in = nil
	if len(b) == 0 {
		return d.fail(ctx, errors.New("it has unread records and gives none"))
	}
	d.to = d.from + uint64(len(b)/omi.RecordSize)
	if err := d.s.State.batch(d.from, d.to, sha256.Sum256(b)); err != nil {
		return err
	}
	end := d.to == d.info.Write
	messages, bad, err := storedSound(d.s.sound.codec, d.s.State.v.Ring.Boot, d.from, b, &d.flow, end)
	if err != nil {
		return d.fail(ctx, err)
	}
	if bad > 0 {
		d.s.report.Spoilt += bad
		d.s.losses.other(fmt.Sprintf("%d stored frames could not be used", bad), d.s.now)
	}
	var receipts []*wear.Receipt
	for _, m := range messages {
		r, err := d.s.out.publish(ctx, m)
		if err != nil {
			return err
		}
		receipts = append(receipts, r)
	}
	d.phase = publishing
	d.s.note("storage", "records %d to %d wait for the node", d.from, d.to-1)
	d.wg.Go(func() {
		var end error
		for _, r := range receipts {
			if err := r.Wait(ctx); err != nil && !errors.Is(err, wear.ErrRefused) {
				end = err // refused for good is an end too: the node has kept it for its owner
			}
		}
		d.ends <- end
	})
	return nil
}

// safe follows on publish: only what the node has on disk may leave the device.
func (d *download) safe(ctx context.Context, end error) error {
	if errors.Is(end, wear.ErrPaused) {
		d.phase, d.until = idle, time.Now().Add(d.s.FirstWait) // it stays in the device until the wearer goes on
		d.s.note("storage", "not fetched while paused")
		return nil
	}
	if end != nil {
		return end
	}
	if d.info.Caps&omi.CapRingID != 0 {
		return d.command(ctx, advancing, omi.RingAdvanceIn(d.info.Ring, d.to))
	}
	return d.command(ctx, advancing, omi.RingAdvance(d.to))
}
