// Package carry takes what a device sends over a link and publishes it to a node as a wearable
// would (docs/mqtt.md), until its context ends or the link has no more connections. The package of
// each family, below this one, knows what a device's bytes mean.
//
// The words:
//
//   - A [Family] is a kind of device that speaks one protocol. A [Session] is its
//     state machine for one connection.
//   - Live is what comes as it happens: sound, photos, presses. It is published
//     with the client's own boot and numbers.
//   - Stored is what the device kept on its own while nobody listened. It is published under a boot
//     of its own and numbered by the device's records, so if it is fetched twice, the node still
//     has it once.
//   - A batch is a part of the stored records. As a unit, it is fetched, published, acknowledged by
//     the node, and only then deleted on the device.
//   - A loss is something that the device sent and that did not arrive; it becomes a gap event.
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

// Window is how many messages may wait for the node; it is the Window that the client needs. Live
// messages are dropped from 3072 on, about 50 minutes of sound.
const Window = 4096

const (
	firstWait = time.Second
	maxWait   = time.Minute
	lasting   = time.Minute      // a connection that held so long does not count as a failure
	parting   = 20 * time.Second // time for the node to acknowledge the rest
)

// Config is the configuration of one wearable. Dialer, Client, State and Family must be set.
type Config struct {
	Dialer    link.Dialer
	Client    *wear.Client     // made with Window messages, and the boot of State.Begin
	Commands  <-chan *wire.Cmd // what the client's OnCmd received; nil: none
	State     *State
	Family    Family
	Options   Options
	Spool     *spool.Spool  // nil: live sound that waits for the node is lost with the process
	Lossless  bool          // wait for the node rather than drop, for a source that can wait, such as a capture
	FirstWait time.Duration // wait before the second attempt, then doubled up to a minute; 0: 1 s
	OnNote    func(Note)    // gets what happens; nil: nobody
}

// Note is one thing that happened, for a person to read.
type Note struct {
	What string `json:"what"` // connected, disconnected, waiting, codec, lost, photo, button, battery, storage, pause, warning
	Text string `json:"text"`
	From uint64 `json:"from,omitempty"` // storage: first record that is safe now
	To   uint64 `json:"to,omitempty"`   // storage: the record after them
	Left uint64 `json:"left,omitempty"` // storage: records that are not safe yet
}

// Report sums up a run.
type Report struct {
	Connections   int           `json:"connections"`
	Notifications int           `json:"notifications"`
	Frames        int           `json:"frames"`   // frames of live sound
	Sound         time.Duration `json:"sound_ns"` // live sound
	Lost          int           `json:"lost"`     // audio notifications that were lost
	Resets        int           `json:"resets"`
	Doubled       int           `json:"doubled"`
	Spoilt        int           `json:"spoilt"` // notifications that could not be used
	Photos        int           `json:"photos"`
	LostPhotos    int           `json:"lost_photos"`
	Presses       int           `json:"presses"`
	Places        int           `json:"places"`    // places of the wearer
	Sightings     int           `json:"sightings"` // what cameras saw
	Records       uint64        `json:"records"`   // stored records, or pages, that are safe and deleted on the device
	Published     int           `json:"published"` // messages
	Dropped       int           `json:"dropped"`   // messages that were dropped because the node was away for too long
	Refused       int           `json:"refused"`   // messages that the node refused for good
	Paused        int           `json:"paused"`    // messages that were thrown away because the wearer paused
	Waiting       int           `json:"waiting"`   // messages that the node had not acknowledged at the end
}

// carrier is the state of one Run.
type carrier struct {
	Config
	report Report
	out    publisher
}

// Run carries until ctx ends, which is no error, or until the link has no more connections.
func Run(ctx context.Context, cfg Config) (Report, error) {
	c := &carrier{Config: cfg}
	if c.OnNote == nil {
		c.OnNote = func(Note) {}
	}
	if c.FirstWait <= 0 {
		c.FirstWait = firstWait
	}
	c.out = publisher{client: c.Client, lossless: c.Lossless, report: &c.report, spool: c.Spool, tell: c.OnNote, stored: map[*wear.Receipt]wire.Message{}, unkept: map[*wear.Receipt]error{}}
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
	if !c.Lossless { // a capture is still there
		c.out.state = c.State
		err = c.out.resendUnacked(ctx)
	}
	looked := err == nil // only if it is known how the last bridge ended; otherwise the next start looks
	if looked {
		err = c.endedWell(ctx)
	}
	if err == nil {
		err = c.connections(ctx)
	}
	err = errors.Join(err, c.out.finish(context.WithoutCancel(ctx)))
	if ctx.Err() == nil && c.Spool != nil {
		left.waitIdle(ctx, c.Spool) // the link has ended, and the node can be reached
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

// runsPart is the part of the state that is set while a bridge runs, and stays set if it was
// killed.
const runsPart = "runs"

// endedWell reports if the last bridge was killed. Live sound that was not a message yet is lost
// then, and the loss becomes a gap. A family without sound loses nothing this way, and only a
// person is told: its files are still in their folder, its messages still at their broker, and a
// screen is looked at again.
func (c *carrier) endedWell(ctx context.Context) error {
	if c.Lossless {
		return nil // a capture, which is still there
	}
	runs := false
	if err := c.State.Part(runsPart, &runs); err != nil {
		return err
	}
	if !runs {
		return c.State.Keep(runsPart, true)
	}
	const ended = "the bridge was ended before it could report"
	if c.Family.SceneCodec == (Codec{}) {
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
		connectErr := err
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
				continue // a capture does not go out of range, and a device that connects to us does not wait
			}
			if time.Since(began) > lasting {
				pace.Reset()
			}
		}
		rest := pace.Next()
		if connectErr != nil && ctx.Err() == nil {
			c.note("waiting", "%v; next attempt in %s", connectErr, rest.Round(time.Millisecond))
		}
		wait.For(ctx, rest)
	}
	return nil
}

func (c *Config) note(what, format string, args ...any) {
	c.OnNote(Note{What: what, Text: fmt.Sprintf(format, args...)})
}
