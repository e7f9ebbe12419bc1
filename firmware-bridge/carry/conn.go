package carry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	// tick is how often a session checks whether something is over or due.
	tick = 250 * time.Millisecond
	// setup bounds the questions and settings at the beginning of a connection.
	setup = 30 * time.Second
)

// Conn is one connection to a device, as its session sees it. Its methods are
// for the session's goroutine alone.
type Conn struct {
	Config
	Dev    link.Device
	Report *Report
	Losses Losses
	Now    time.Time // time of the latest notification or tick, by the link's clock

	costly bool // whether the way to the node cost by the byte when IsMetered last asked
	out    *publisher
	keep   []kept                           // messages of a broker that are not acknowledged yet, in order
	ends   chan func(context.Context) error // functions of Await, to be called by the session's goroutine
	turn   <-chan struct{}                  // closed when the latest Await has been passed to ends
	wg     sync.WaitGroup
}

// serve carries one connection to its end. The error says why it ended.
func (c *carrier) serve(ctx context.Context, dev link.Device) error {
	conn := &Conn{Config: c.Config, Dev: dev, Report: &c.report, Now: time.Now(), out: &c.out, ends: make(chan func(context.Context) error)}
	conn.forget()
	if err := conn.nothingWaits(); err != nil {
		return err
	}
	begin, done := context.WithTimeout(ctx, setup)
	s, err := c.Family.Begin(begin, conn)
	done()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer conn.forgetKept()
	defer conn.wg.Wait()
	defer cancel() // before Wait
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		var err error
		select {
		case n, ok := <-dev.Notifications():
			if !ok {
				return errors.Join(dev.Err(), conn.end(ctx, s))
			}
			conn.Now = n.At
			c.report.Notifications++
			err = s.Handle(ctx, n)
		case t := <-ticker.C:
			if c.Lossless {
				continue // in a capture, the notifications tell the time
			}
			conn.Now = t
			c.out.settle()
			conn.forgetKept()
			err = s.Tick(ctx, t)
		case cmd := <-c.Commands:
			err = s.Command(ctx, cmd)
		case then := <-conn.ends:
			err = then(ctx)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), conn.end(ctx, s))
		}
		if err != nil {
			return errors.Join(err, conn.end(ctx, s))
		}
	}
}

// end publishes what is left of the connection, even after ctx has ended.
func (c *Conn) end(ctx context.Context, s Session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	return s.End(ctx)
}

// forget drops commands from before the connection: an old time is wrong, and the client knows
// whether there is a pause.
func (c *Conn) forget() {
	for {
		select {
		case <-c.Commands:
		default:
			return
		}
	}
}

// Note tells a person what happened.
func (c *Conn) Note(what, format string, args ...any) { c.note(what, format, args...) }

// PublishLive publishes what comes as it happens, or drops and counts it if the node has been away for too
// long.
func (c *Conn) PublishLive(ctx context.Context, m wire.Message) error {
	_, _, err := c.PublishKept(ctx, m)
	return err
}

// PublishKept is PublishLive, and also reports whether the message is on disk until the node has it. If it is
// not, the receipt tells when the node has it; nil: the message was dropped.
func (c *Conn) PublishKept(ctx context.Context, m wire.Message) (kept bool, r *wear.Receipt, err error) {
	if h, ok := m.(*wire.Hello); ok {
		h.Tells = c.Family.ShowsAnswers
	}
	return c.out.live(ctx, m)
}

// Publish publishes a message that has an identity of its own; it waits for room.
func (c *Conn) Publish(ctx context.Context, m wire.Message) (*wear.Receipt, error) {
	r, err := c.out.publish(ctx, m)
	if err == nil {
		c.out.stored[r] = m
	}
	return r, err
}

// Gap says that something is missing which never had a number.
func (c *Conn) Gap(ctx context.Context, at time.Time, reason string) error {
	return c.out.gap(ctx, at, reason)
}

// HasRoom reports whether the node keeps up, so that stored things may be fetched.
func (c *Conn) HasRoom() bool { return c.Client.Pending() <= roomStored }

// Await calls then on the session's goroutine once the node has answered all receipts. The error is
// nil if everything is on the node's disk, and [wear.ErrPaused] if some was thrown away because the
// wearer pauses now. What the node refused for good is quarantined in the spool, and then counts as
// answered; if that fails, the error is [wear.ErrRefused], and the device is to keep it. What
// happened in a pause or a private zone counts as answered, since the node would throw it away
// again. The calls come in the order of Await. then is not called if the connection ends before.
func (c *Conn) Await(ctx context.Context, receipts []*wear.Receipt, then func(context.Context, error) error) {
	before, mine := c.turn, make(chan struct{})
	c.turn = mine
	c.wg.Go(func() {
		var end error
		for _, r := range receipts {
			if err := r.Wait(ctx); err != nil && !errors.Is(err, wear.ErrThen) && !errors.Is(err, wear.ErrRefused) {
				end = err
			}
		}
		if before != nil {
			select {
			case <-before:
			case <-ctx.Done():
				return
			}
		}
		select {
		case c.ends <- func(ctx context.Context) error { return then(ctx, c.putBy(receipts, end)) }:
			close(mine)
		case <-ctx.Done():
		}
	})
}

// putBy returns the final error of receipts that are answered. end is that of those which the node
// did not refuse. A refused one adds an error unless it was quarantined.
func (c *Conn) putBy(receipts []*wear.Receipt, end error) error {
	c.out.settle()
	for _, r := range receipts {
		if err := c.out.unkept[r]; err != nil && end == nil {
			end = err
		}
		delete(c.out.unkept, r)
	}
	return end
}

// kept is a broker's message that is acknowledged once the node has what came of it.
type kept struct {
	receipts []*wear.Receipt
	ack      func()
}

// AckAfter acknowledges n to the broker once the node has answered all receipts, and after every
// earlier n. So what a broker keeps survives a kill of the bridge.
func (c *Conn) AckAfter(n link.Notification, receipts ...*wear.Receipt) {
	if n.Ack != nil {
		c.keep = append(c.keep, kept{receipts, n.Ack})
	}
	c.forgetKept()
}

// forgetKept acknowledges the messages that are done.
func (c *Conn) forgetKept() {
	for len(c.keep) > 0 {
		for _, r := range c.keep[0].receipts {
			select {
			case <-r.Done():
				if errors.Is(r.Wait(context.Background()), wear.ErrClosed) {
					return // it was not answered, and will come again
				}
			default:
				return
			}
		}
		c.out.settle() // quarantines what the node refused
		c.keep[0].ack()
		c.keep = c.keep[1:]
	}
}

// NoteDamaged counts a notification that could not be used, and notes it as a loss for the node.
func (c *Conn) NoteDamaged(reason string) {
	c.Report.Spoilt++
	c.Losses.Other(reason, c.Now)
}

// TellLosses reports the losses to the node, a second after the first of them, or at once if the
// connection is over.
func (c *Conn) TellLosses(ctx context.Context, over bool) error {
	if !over && !c.Losses.due(c.Now) {
		return nil
	}
	at, reason := c.Losses.drain()
	if reason == "" {
		return nil
	}
	c.Note("lost", "%s", reason)
	return c.Gap(ctx, at, reason)
}

// EndSilent ends a recording that has been silent for a while, and reports losses. s is a [Sound] or an
// [LC3].
func (c *Conn) EndSilent(ctx context.Context, s interface {
	Idle(now time.Time) bool
	EndRecording(ctx context.Context, c *Conn) error
}) error {
	if s.Idle(c.Now) {
		if err := s.EndRecording(ctx, c); err != nil {
			return err
		}
	}
	return c.TellLosses(ctx, false)
}

// Seq derives a message's number from what it is about: the same each time, and below 2^53.
func Seq(about []byte) uint64 {
	sum := sha256.Sum256(about)
	return binary.BigEndian.Uint64(sum[:]) >> 11
}

// Greet announces a source without a microphone.
func (c *Conn) Greet(ctx context.Context, model string) error {
	if err := c.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: model, Firmware: "unknown"}); err != nil {
		return err
	}
	return c.Status(ctx, "online", "")
}

// Status says what the device is doing: recording, muted, offline.
func (c *Conn) Status(ctx context.Context, state, reason string) error {
	return c.PublishLive(ctx, &wire.Status{Header: wire.Header{At: time.Now()}, State: state, Reason: reason})
}

// Recording says that the device records, or that its microphone is off, and why that
// has changed.
func (c *Conn) Recording(ctx context.Context, on bool, reason string) error {
	if on {
		return c.Status(ctx, "recording", reason)
	}
	return c.Status(ctx, "muted", reason)
}
