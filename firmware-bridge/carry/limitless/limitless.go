// Package limitless is the session of a Limitless pendant: live sound, presses, battery, and the
// pages that the pendant stores while nobody listens.
package limitless

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the pendant's entry in the list of families.
var Family = carry.Family{
	Name: "limitless", Short: "Carry a Limitless pendant over Bluetooth",
	Long: `Connects to a Limitless pendant over Bluetooth (BlueZ), and publishes its sound, presses
and battery to the node as the wearable --name, again and again until it is stopped. With
--storage it also fetches the pages that the pendant kept while nobody listened; the
pendant deletes them only after the node has them on disk. The pendant has to be paired
with this machine, and takes one host: end Limitless' and Omi's apps first.`,
	Carrier: carry.Bluetooth, Service: frame.Service, Accepts: carry.WithStorage | carry.WithMetered, Begin: begin, Simulate: func(p carry.Play) link.Dialer { return NewPendant(p) },
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "opus", Rate: 16000, Frame: 20 * time.Millisecond},
}

// rate is the declared sample rate of the sound. Opus does not depend on it.
const rate = 16000

type session struct {
	*carry.Conn
	enc     frame.Encoder
	in      frame.Assembler
	sound   carry.Sound
	store   *download // nil: not asked for
	battery int       // %; -1: not known
	muted   bool
	part    part
}

// begin follows the order in which Omi's app begins, with its pauses of a second, which FirstWait
// is.
func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, battery: -1, sound: carry.Sound{Codec: "opus", Rate: rate}, muted: c.Client.Paused()}
	if err := c.State.Stored(partName, &s.part, &s.part.Boot); err != nil {
		return nil, err
	}
	if err := s.mute(s.muted); err != nil {
		return nil, err
	}
	if err := c.Dev.Subscribe(ctx, frame.NotifyChar); err != nil {
		return nil, err
	}
	if b, err := c.Dev.Read(ctx, frame.BatteryChar); err == nil && len(b) == 1 && b[0] <= 100 {
		s.battery = int(b[0])
	}
	if err := c.Dev.Subscribe(ctx, frame.BatteryChar); err != nil && !errors.Is(err, link.ErrAbsent) {
		return nil, err
	}
	s.pause(ctx)
	if err := s.write(ctx, s.enc.SetClock(time.Now())); err != nil {
		return nil, err
	}
	s.pause(ctx)
	if err := s.mode(ctx); err != nil {
		return nil, err
	}
	s.pause(ctx)
	s.Note("connected", "Limitless pendant")
	mic := !s.muted
	h := &wire.Hello{Header: wire.Header{At: time.Now()}, Model: "Limitless pendant", Firmware: "unknown", Codecs: []string{"opus"}, Mic: &mic}
	if s.battery >= 0 {
		h.Battery = &s.battery
	}
	if err := s.PublishLive(ctx, h); err != nil {
		return nil, err
	}
	if c.Options.Storage {
		s.store = newDownload(s)
	}
	return s, s.Recording(ctx, !s.muted, "")
}

func (s *session) pause(ctx context.Context) { wait.For(ctx, s.FirstWait) }

func (s *session) write(ctx context.Context, b []byte) error {
	return s.Dev.Write(ctx, frame.WriteChar, b)
}

// mute stores on disk that a pause begins or ends. That may have been long before the pendant came
// back, or this process started. Until the node has said when a pause ended, it continues.
func (s *session) mute(on bool) error {
	at := s.Client.PauseChangedAt()
	if s.muted = on; at.IsZero() || !s.part.pause(on, at) {
		return nil
	}
	return s.State.Keep(partName, s.part)
}

// mode switches the pendant to live sound, or, while the wearer pauses, to its flash.
func (s *session) mode(ctx context.Context) error {
	s.in.Reset()
	if s.muted {
		return s.write(ctx, s.enc.Record())
	}
	return s.write(ctx, s.enc.Live())
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.EndSilent(ctx, &s.sound); err != nil {
		return err
	}
	if n.Char == frame.BatteryChar {
		return s.charge(ctx, n)
	}
	if n.Char != frame.NotifyChar {
		return nil
	}
	lost := s.in.Lost
	b, err := s.in.Push(n.Data)
	if n := s.in.Lost - lost; n > 0 {
		s.Report.Lost += n
		s.Losses.Other(fmt.Sprintf("%d messages of the pendant lost a fragment", n), s.Now)
	}
	if err != nil {
		s.NoteDamaged(err.Error())
	}
	if b == nil {
		return nil
	}
	m, err := frame.Parse(b)
	if err != nil {
		s.NoteDamaged(err.Error())
		return nil
	}
	if m.Press != nil {
		if err := s.press(ctx, *m.Press, n.At); err != nil {
			return err
		}
	}
	if m.Status != nil && s.store != nil {
		if err := s.store.status(ctx, *m.Status); err != nil {
			return err
		}
	}
	if m.Storage == nil {
		return s.takeLiveSound(ctx, m.Live)
	}
	if s.store != nil && s.store.reading {
		return s.store.page(ctx, m.Storage, m.Err)
	}
	return s.takeLiveSound(ctx, m.Storage.Frames)
}

// takeLiveSound handles live sound.
func (s *session) takeLiveSound(ctx context.Context, frames [][]byte) error {
	for _, f := range frames {
		s.Report.Frames++
		s.Report.Sound += frame.Duration(f)
		m, err := s.sound.Add(f, frame.Duration(f), s.Now)
		if err != nil {
			s.NoteDamaged(err.Error())
		}
		if m == nil {
			continue
		}
		if err := s.PublishLive(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) press(ctx context.Context, b frame.Button, at time.Time) error {
	gesture := map[frame.Button]string{1: "single", 2: "long", 3: "double"}[b]
	s.Report.Presses++
	s.Note("button", "%s", gesture)
	return s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: at}, Gesture: gesture})
}

func (s *session) charge(ctx context.Context, n link.Notification) error {
	if len(n.Data) != 1 || n.Data[0] > 100 {
		s.NoteDamaged(fmt.Sprintf("limitless: battery: % x", n.Data[:min(len(n.Data), 8)]))
		return nil
	}
	if int(n.Data[0]) == s.battery {
		return nil
	}
	s.battery = int(n.Data[0])
	s.Note("battery", "%d %%", s.battery)
	return s.PublishLive(ctx, &wire.Sensor{Header: wire.Header{At: n.At}, Name: "battery", Values: []float64{float64(s.battery)}, Unit: "%"})
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	if err := s.EndSilent(ctx, &s.sound); err != nil || s.store == nil {
		return err
	}
	return s.store.tick(ctx, now)
}

func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause, wire.CmdResume:
		was := s.muted
		if err := s.mute(s.Client.Paused()); err != nil || s.muted == was {
			return err
		}
		s.Note("pause", "the node says %s", cmd.Cmd)
		if s.store == nil || !s.store.reading { // otherwise when the download ends
			if err := s.mode(ctx); err != nil {
				return err
			}
		}
		return s.Recording(ctx, !s.muted, "the wearer's wish")
	case wire.CmdTime:
		return s.write(ctx, s.enc.SetClock(cmd.At))
	}
	return nil
}

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.sound.EndRecording(ctx, s.Conn), s.TellLosses(ctx, true), s.Status(ctx, "offline", "the wearable is not connected"))
}
