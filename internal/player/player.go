// Package player publishes events to a broker as their wearables would. Each
// device has its own connection and credentials, and keeps each event until the
// node has acknowledged it.
package player

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Config says where to publish, and as whom.
type Config struct {
	URL      string
	TLS      *tls.Config
	Password func(device string) string
	Boot     uint64                 // boot of all devices; 0: a random one for each
	Format   wire.Format            // format of the messages
	Speed    float64                // 1: at the events' own pace; 60: an hour in a minute; 0: as fast as they are acknowledged
	Answer   func(day.Event, error) // called for each event's acknowledgement with nil, wear.ErrPaused or wear.ErrRefused; may be nil
	OnWait   func(why string)       // called when the node stops accepting for now; may be nil; must not block
}

// Report counts the outcomes of the events.
type Report struct {
	Sent     int                 `json:"sent"`
	Acked    int                 `json:"acked"`
	Refused  int                 `json:"refused"`
	Paused   int                 `json:"paused"`
	ByKind   map[memory.Kind]int `json:"by_kind"`
	ByDevice map[string]int      `json:"by_device"`
}

// Play publishes events in order and returns when every one is answered. If an event belongs to
// another device than the one before, it first waits for that one's answer, to keep the order.
func Play(ctx context.Context, cfg Config, events []day.Event) (rep Report, err error) {
	rep.ByKind, rep.ByDevice = map[memory.Kind]int{}, map[string]int{}
	devices := map[string]*wear.Client{}
	defer func() {
		for _, c := range devices {
			err = errors.Join(err, c.Close())
		}
	}()
	var waiting []sent
	settle := func() error {
		for _, s := range waiting {
			why := s.receipt.Wait(ctx)
			if cfg.Answer != nil {
				cfg.Answer(s.event, why)
			}
			switch {
			case why == nil:
				rep.Acked++
			case errors.Is(why, wear.ErrRefused):
				rep.Refused++
			case errors.Is(why, wear.ErrPaused):
				rep.Paused++
			default:
				return fmt.Errorf("publish line %d (%s): %w", s.event.Line, s.event.ID, errors.Join(why, devices[s.event.ID.Device].Err()))
			}
		}
		waiting = waiting[:0]
		return nil
	}
	last, began := "", time.Now()
	for i, e := range events {
		name := e.ID.Device
		if name != last {
			if err := settle(); err != nil {
				return rep, err
			}
		}
		last = name
		if cfg.Speed > 0 && i > 0 {
			due := began.Add(time.Duration(float64(e.At.Sub(events[0].At)) / cfg.Speed))
			if time.Until(due) > time.Second { // the answers come during the wait
				if err := settle(); err != nil {
					return rep, err
				}
			}
			if !wait.For(ctx, time.Until(due)) {
				return rep, ctx.Err()
			}
		}
		c := devices[name]
		if c == nil {
			c, err = wear.Dial(wear.Config{URL: cfg.URL, TLS: cfg.TLS, Device: name, Password: cfg.Password(name), Boot: cfg.Boot, Format: cfg.Format, OnWait: cfg.OnWait,
				Hello: wire.Hello{Model: "locket replay", Firmware: "1", Codecs: []string{"pcm16", "opus", "jpeg", "png"}}})
			if err != nil {
				return rep, err
			}
			devices[name] = c
		}
		m, err := message(&e.Event)
		if err != nil {
			return rep, fmt.Errorf("line %d: %w", e.Line, err)
		}
		r, err := c.Publish(ctx, m)
		if err != nil {
			return rep, fmt.Errorf("publish line %d: %w", e.Line, errors.Join(err, c.Err()))
		}
		rep.Sent++
		rep.ByKind[e.Kind]++
		rep.ByDevice[name]++
		if waiting = append(waiting, sent{e, r}); len(waiting) == 64 {
			if err := settle(); err != nil {
				return rep, err
			}
		}
	}
	return rep, settle()
}

type sent struct {
	event   day.Event
	receipt *wear.Receipt
}

// message returns an event in the form in which a device sends it.
func message(e *memory.Event) (wire.Message, error) {
	h := wire.Header{Seq: e.ID.Seq, Boot: e.ID.Boot, At: e.At, Up: e.Uptime, Zone: e.Zone}
	switch e.Kind {
	case memory.KindText:
		return &wire.Words{Header: h, Text: e.Text, Speaker: e.Speaker, Lang: e.Lang}, nil
	case memory.KindAudio:
		return &wire.Audio{Header: h, Codec: e.Codec, Rate: e.Rate, Data: e.Data, Last: e.Last}, nil
	case memory.KindPhoto:
		return &wire.Photo{Header: h, Codec: e.Codec, Data: e.Data}, nil
	case memory.KindLocation:
		return &wire.Location{Header: h, Place: *e.Place}, nil
	case memory.KindSensor:
		return &wire.Sensor{Header: h, Name: e.Name, Values: e.Values, Unit: e.Unit}, nil
	case memory.KindButton:
		m := &wire.Button{Header: h, Name: e.Name, Gesture: wire.Gestures[0]}
		if n := len(e.Values); n > 0 && e.Values[0] >= 1 && int(e.Values[0]) <= len(wire.Gestures) {
			m.Gesture = wire.Gestures[int(e.Values[0])-1]
		}
		return m, nil
	case memory.KindGap:
		if e.Missing == nil {
			return nil, fmt.Errorf("%w: gap without a range", memory.ErrInvalid)
		}
		return &wire.Gap{Header: h, Missing: *e.Missing, Reason: e.Reason}, nil
	}
	return nil, fmt.Errorf("%w: a %s event can't be played", memory.ErrInvalid, e.Kind)
}
