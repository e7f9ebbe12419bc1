package omi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wear"
)

const (
	batchSize  = 600              // records, commonly a minute of sound
	silence    = 30               // timeout of the storage in units of FirstWait; it is then asked again
	freshStock = 10 * time.Minute // between looks at whether there is more
	maxPause   = time.Minute      // wait after a failure, at most
)

type phase uint8

const (
	idle       phase = iota
	asking           // asking for the ring's cursors
	reading          // reading records
	publishing       // the records are sent, and the node has not acknowledged all of them
	advancing        // the device has been told to delete them
)

// download fetches the ring, batch by batch. Its methods are called by the session's goroutine
// alone; an error ends the connection.
type download struct {
	s     *session
	phase phase
	until time.Time // idle: the next look; otherwise the timeout of the device's answer
	info  frame.RingInfo
	from  uint64
	to    uint64
	in    *frame.Transfer
	flow  flow
	pause time.Duration // wait after the next failure
	most  uint64        // most records of a batch: fewer over a bad radio
}

// openStore finds out which storage the device has.
func (s *session) openStore(ctx context.Context) error {
	b, err := s.Dev.Read(ctx, frame.StorageState)
	if errors.Is(err, link.ErrAbsent) {
		s.Note("storage", "the device has none")
		return nil
	}
	if err != nil {
		return err
	}
	state, err := frame.ParseStorage(b)
	if err != nil {
		s.Note("warning", "%v", err)
		return nil
	}
	if !state.Ring {
		return s.openLegacy(ctx)
	}
	if mtu := s.Dev.MTU(); mtu > 0 && mtu < frame.InfoMTU {
		s.Note("warning", "MTU %d: below %d newer firmware does not say what is stored", mtu, frame.InfoMTU)
	}
	if err := s.Dev.Subscribe(ctx, frame.StorageChar); err != nil {
		return err
	}
	s.store = &download{s: s, pause: s.FirstWait, most: batchSize}
	return nil
}

// patience is how long the storage may be silent. It is never so short that a device seems silent
// because this machine is busy.
func (s *session) patience() time.Duration {
	return max(silence*s.FirstWait, 500*time.Millisecond)
}

func (d *download) tick(ctx context.Context, now time.Time) error {
	switch {
	case d.phase == publishing || now.Before(d.until):
		return nil
	case d.phase != idle:
		return d.fail(ctx, errors.New("no answer"))
	case d.s.Client.Paused(), !d.s.HasRoom(), d.s.IsMetered(ctx, carry.StoredSound):
		return nil
	}
	return d.ask(ctx)
}

func (d *download) ask(ctx context.Context) error { return d.command(ctx, asking, frame.AskInfo[:]) }

func (d *download) command(ctx context.Context, next phase, b []byte) error {
	d.phase, d.until = next, time.Now().Add(d.s.patience())
	return d.s.Dev.Write(ctx, frame.StorageChar, b)
}

// fail gives up this batch for a while. The device keeps its records.
func (d *download) fail(ctx context.Context, err error) error {
	d.s.Note("warning", "storage: %v; again in %s", err, d.pause)
	d.phase, d.until, d.in = idle, time.Now().Add(d.pause), nil
	d.pause = min(2*d.pause, maxPause)
	if d.most > 1 {
		d.most /= 2
	}
	return d.s.Dev.Write(ctx, frame.StorageChar, frame.RingStop[:])
}

func (d *download) notified(ctx context.Context, b []byte) error {
	item, err := frame.ParseRing(b)
	if err != nil {
		if d.phase == idle || d.phase == publishing {
			return nil
		}
		return d.fail(ctx, err)
	}
	ack, isAck := item.(frame.RingAck)
	switch d.phase {
	case asking:
		if i, ok := item.(frame.RingInfo); ok {
			return d.read(ctx, i)
		}
		if isAck && ack.Status != frame.RingOK {
			return d.fail(ctx, errors.New(ack.Status.String()))
		}
	case reading:
		d.until = time.Now().Add(d.s.patience())
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
		if ack.Status != frame.RingOK {
			return d.fail(ctx, fmt.Errorf("advance to %d: %s", d.to, ack.Status))
		}
		d.pause, d.most = d.s.FirstWait, min(2*d.most, batchSize)
		n := d.to - d.from
		d.s.Report.Records += n
		left := d.info.Write - d.to
		d.s.OnNote(carry.Note{
			What: "storage", Text: fmt.Sprintf("records %d to %d are with the node; %d left", d.from, d.to-1, left),
			From: d.from, To: d.to, Left: left,
		})
		d.phase, d.until = idle, time.Time{} // the next tick continues
		if !d.s.HasRoom() || d.s.IsMetered(ctx, carry.StoredSound) {
			return nil
		}
		return d.ask(ctx)
	}
	return nil
}

// read asks for the next batch, if there is one.
func (d *download) read(ctx context.Context, i frame.RingInfo) error {
	if n := d.s.kept.overwritten(i.Dropped); n > 0 {
		reason := fmt.Sprintf("%d stored records were overwritten before they were fetched", n)
		d.s.Note("lost", "%s", reason)
		if err := d.s.Gap(ctx, time.Now(), reason); err != nil {
			return err
		}
	}
	if i.Read == i.Write {
		d.phase, d.until = idle, time.Now().Add(freshStock)
		d.s.OnNote(carry.Note{What: "storage", Text: "nothing is left in the device", To: i.Write})
		return nil
	}
	d.info = i
	d.from, d.to = d.s.kept.plan(i, d.most)
	d.in = frame.NewTransfer(d.from, uint32(d.to-d.from))
	return d.command(ctx, reading, frame.RingRead(d.from, uint32(d.to-d.from)))
}

// publish sends a batch to the node, and waits for the acknowledgement in the background. If fewer
// records were read, those are the batch.
func (d *download) publish(ctx context.Context) error {
	b := d.in.Bytes()
	d.in = nil
	if len(b) == 0 {
		return d.fail(ctx, errors.New("it has unread records and gives none"))
	}
	d.to = d.from + uint64(len(b)/frame.RecordSize)
	if err := d.s.kept.batch(d.from, d.to, sha256.Sum256(b)); err != nil {
		return err
	}
	end := d.to == d.info.Write
	messages, bad, err := storedSound(d.s.codec, d.s.kept.Ring.Boot, d.from, b, &d.flow, end)
	if err != nil {
		return d.fail(ctx, err)
	}
	if bad > 0 {
		d.s.Report.Spoilt += bad
		d.s.Losses.Other(fmt.Sprintf("%d stored frames could not be used", bad), d.s.Now)
	}
	var receipts []*wear.Receipt
	for _, m := range messages {
		r, err := d.s.Publish(ctx, m)
		if err != nil {
			return err
		}
		receipts = append(receipts, r)
	}
	d.phase = publishing
	d.s.Note("storage", "records %d to %d wait for the node", d.from, d.to-1)
	d.s.Await(ctx, receipts, d.safe)
	return nil
}

// safe is called after publish. Only what the node has on disk may be deleted on the device.
func (d *download) safe(ctx context.Context, end error) error {
	if errors.Is(end, wear.ErrPaused) {
		d.phase, d.until = idle, time.Now().Add(d.s.FirstWait) // it stays in the device until the wearer resumes
		d.s.Note("storage", "not fetched while paused")
		return nil
	}
	if errors.Is(end, wear.ErrRefused) {
		return d.fail(ctx, end) // only the device has it
	}
	if end != nil {
		return end
	}
	if d.info.Caps&frame.CapRingID != 0 {
		return d.command(ctx, advancing, frame.RingAdvanceIn(d.info.Ring, d.to))
	}
	return d.command(ctx, advancing, frame.RingAdvance(d.to))
}
