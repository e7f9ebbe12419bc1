// Package carry takes what a device says over a link and publishes it to a node as
// a wearable would (docs/mqtt.md), until its context ends or the link has no
// more connections. What a device's bytes mean, its family's package below this
// one knows.
//
// The words:
//
//   - A [Family] is a kind of device that speaks one protocol. A [Session] is its
//     state machine for one connection.
//   - Live is what comes as it happens: sound, photos, presses. It is published
//     with the client's own boot and numbers.
//   - Stored is what the device kept on its own while nobody listened. It is
//     published under a boot of its own, numbered by the device's records, so
//     that it may be fetched twice and still is one thing.
//   - A batch is the part of the stored that is fetched, published, acknowledged
//     by the node, and only then given up on the device, as one.
//   - A loss is something that the device sent and that did not come through; it
//     becomes a gap event.
package carry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Window is how many messages may wait for the node: what the client's Window is
// to be. Live ones are dropped from 3072 on, about 50 minutes of sound.
const Window = 4096

const (
	firstWait = time.Second
	maxWait   = time.Minute
	lasting   = time.Minute      // a connection that held so long was no failure
	parting   = 20 * time.Second // for the node to acknowledge what is left
)

// Config is one wearable's. Dialer, Client, State and Family must be set.
type Config struct {
	Dialer    link.Dialer
	Client    *wear.Client     // with Window messages, and the boot of State.Begin
	Commands  <-chan *wire.Cmd // what the client's OnCmd was given; nil: none
	State     *State
	Family    Family
	Options   Options
	Spool     *spool.Spool  // nil: live sound that waits for the node is lost with the process
	Lossless  bool          // wait for the node rather than drop: for what can wait, as a capture
	FirstWait time.Duration // before the second attempt at what failed, then doubled up to a minute; 0: 1 s
	Tell      func(Note)    // is told what happens; nil: nobody
}

// Note is one thing that happened, for a person to read.
type Note struct {
	What string `json:"what"` // connected, disconnected, waiting, codec, lost, photo, button, battery, storage, pause, warning
	Text string `json:"text"`
	From uint64 `json:"from,omitempty"` // storage: records that are safe now
	To   uint64 `json:"to,omitempty"`   // storage: the record after them
	Left uint64 `json:"left,omitempty"` // storage: records that are not
}

// Report is what was done.
type Report struct {
	Connections   int           `json:"connections"`
	Notifications int           `json:"notifications"`
	Frames        int           `json:"frames"`   // of live sound
	Sound         time.Duration `json:"sound_ns"` // live
	Lost          int           `json:"lost"`     // audio notifications that did not come
	Resets        int           `json:"resets"`
	Doubled       int           `json:"doubled"`
	Spoilt        int           `json:"spoilt"` // notifications that could not be used
	Photos        int           `json:"photos"`
	LostPhotos    int           `json:"lost_photos"`
	Presses       int           `json:"presses"`
	Places        int           `json:"places"`    // where somebody was
	Sightings     int           `json:"sightings"` // what a camera saw
	Records       uint64        `json:"records"`   // stored ones, or pages, that are safe and given up
	Published     int           `json:"published"` // messages
	Dropped       int           `json:"dropped"`   // messages, as the node was away for too long
	Refused       int           `json:"refused"`   // messages, by the node for good
	Paused        int           `json:"paused"`    // messages, by the wearer's wish
	Waiting       int           `json:"waiting"`   // messages that the node did not acknowledge before the end
}

// carrier is one Run.
type carrier struct {
	Config
	report Report
	out    publisher
}

// Run carries until ctx ends, which is no error, or the link's connections do.
func Run(ctx context.Context, cfg Config) (Report, error) {
	c := &carrier{Config: cfg}
	if c.Tell == nil {
		c.Tell = func(Note) {}
	}
	if c.FirstWait <= 0 {
		c.FirstWait = firstWait
	}
	c.out = publisher{client: c.Client, lossless: c.Lossless, report: &c.report, spool: c.Spool, tell: c.Tell, stored: map[*wear.Receipt]wire.Message{}, unkept: map[*wear.Receipt]error{}}
	var left drain
	ended := make(chan struct{})
	drains, stop := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		if c.Spool != nil {
			left.run(drains, &c.Config)
		}
	}()
	var err error
	if !c.Lossless { // a capture is there still
		c.out.state = c.State
		err = c.out.resendUnacked(ctx)
	}
	looked := err == nil // for how the last bridge ended; else that is left to the next start
	if looked {
		err = c.endedWell(ctx)
	}
	if err == nil {
		err = c.connections(ctx)
	}
	err = errors.Join(err, c.out.finish(context.WithoutCancel(ctx)))
	if ctx.Err() == nil && c.Spool != nil {
		left.rest(ctx, c.Spool) // the link is over, and the node is there
	}
	stop()
	<-ended
	if !c.Lossless && looked {
		err = errors.Join(err, c.State.Keep(runsPart, false))
	}
	c.report.Published += int(left.sent.Load())
	c.report.Refused += int(left.refused.Load())
	if c.Spool != nil {
		c.report.Waiting += c.Spool.Due()
	}
	return c.report, err
}

// runsPart is the part of the state that says that a bridge runs, or did not come to its end.
const runsPart = "runs"

// endedWell says where the last bridge did not: live sound that was no message yet is lost with it, and that
// is a gap. Of a family without sound nothing is lost so, and a person alone is told: its files are in their folder
// and its messages at their broker still, and a screen is looked at again.
func (c *carrier) endedWell(ctx context.Context) error {
	if c.Lossless {
		return nil // a capture, which is there still
	}
	runs := false
	if err := c.State.Part(runsPart, &runs); err != nil {
		return err
	}
	if !runs {
		return c.State.Keep(runsPart, true)
	}
	const ended = "the bridge was ended before it could report"
	if c.Family.Hears == (Codec{}) {
		c.note("warning", "%s: losses that it had not reported are not known", ended)
		return nil
	}
	const reason = ended + ": up to a second of sound is missing, and losses that it had not reported"
	c.note("warning", "%s", reason)
	return c.out.gap(ctx, time.Now(), reason)
}

func (c *carrier) connections(ctx context.Context) error {
	pace := retry.Backoff{First: c.FirstWait, Most: maxWait}
	for ctx.Err() == nil {
		began := time.Now()
		dev, err := c.Dialer.Connect(ctx)
		away := err
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, link.ErrCapture), errors.Is(err, link.ErrUnserved):
			return err
		case err == nil:
			c.report.Connections++
			err = c.serve(ctx, dev)
			if e := dev.Close(); e != nil {
				c.note("warning", "close the connection: %v", e)
			}
			if errors.Is(err, link.ErrCapture) {
				return err
			}
			if ctx.Err() == nil {
				c.note("disconnected", "%v", err)
			}
			if c.Lossless || c.Family.Carrier == Served {
				continue // a capture has no range to come back into, and a device that connects to us waits for nobody
			}
			if time.Since(began) > lasting {
				pace.Reset()
			}
		}
		rest := pace.Next()
		if away != nil && ctx.Err() == nil {
			c.note("waiting", "%v; next attempt in %s", away, rest.Round(time.Millisecond))
		}
		wait.For(ctx, rest)
	}
	return nil
}

func (c *Config) note(what, format string, args ...any) {
	c.Tell(Note{What: what, Text: fmt.Sprintf(format, args...)})
}
