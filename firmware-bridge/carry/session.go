package carry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wire"
)

// tick is how often a session looks whether something is over or due.
const tick = 250 * time.Millisecond

// session is one connection to the device. One goroutine runs it.
type session struct {
	*carrier
	dev      link.Device
	model    string
	firmware string
	features omi.Features
	battery  int  // %; -1: not known
	gain     bool // the microphone's can be set
	muted    bool // as the device and the node were last told

	audio  omi.Audio
	photos omi.Photos
	sound  sound
	losses losses
	now    time.Time // of the link's clock: that of the latest notification or tick
	store  *download // nil: not asked for, or none there
}

// session carries one connection to its end. The error says why it ended.
func (c *carrier) session(ctx context.Context, dev link.Device) error {
	s := &session{carrier: c, dev: dev, battery: -1}
	if err := s.begin(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.store != nil {
		defer s.store.wait()
	}
	defer cancel() // before wait
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		var err error
		select {
		case n, ok := <-dev.Notifications():
			if !ok {
				return errors.Join(s.dev.Err(), s.end(ctx))
			}
			s.now = n.At
			err = s.notified(ctx, n)
		case t := <-ticker.C:
			if c.Lossless {
				continue // a capture's time is that of its notifications
			}
			s.now = t
			s.out.settle()
			err = s.rest(ctx)
			if err == nil && s.store != nil {
				err = s.store.tick(ctx, t)
			}
		case cmd := <-c.Commands:
			err = s.command(ctx, cmd)
		case end := <-s.store.published():
			err = s.store.safe(ctx, end)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.end(ctx))
		}
		if err != nil {
			return errors.Join(err, s.end(ctx))
		}
	}
}

// command does what the node asks.
func (s *session) command(ctx context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause, wire.CmdResume:
		if s.Client.Paused() == s.muted {
			return nil // it says so after each hello
		}
		s.note("pause", "the node says %s", cmd.Cmd)
		if err := s.mic(ctx); err != nil {
			return err
		}
		return s.out.live(ctx, s.status(s.state(), "the wearer's wish"))
	case wire.CmdTime:
		return s.setTime(ctx, cmd.At)
	case wire.CmdCapture:
		if cmd.What == "photo" && !s.Client.Paused() {
			if err := s.write(ctx, omi.PhotoControl, omi.SinglePhoto[:]); err != nil {
				return err
			}
			s.note("photo", "the node asked for one")
		}
	}
	return nil
}

// rest ends a recording in which nothing came for a while, and tells losses.
func (s *session) rest(ctx context.Context) error {
	if s.sound.idle(s.now) {
		if err := s.frames(ctx, s.audio.Flush()); err != nil {
			return err
		}
		if err := s.send(ctx, s.sound.take(true)); err != nil {
			return err
		}
	}
	if s.losses.due(s.now) {
		return s.tellLosses(ctx)
	}
	return nil
}

func (s *session) tellLosses(ctx context.Context) error {
	at, reason := s.losses.take()
	if reason == "" {
		return nil
	}
	s.note("lost", "%s", reason)
	return s.out.gap(ctx, at, reason)
}

// end publishes what is left of the connection, even after ctx has ended.
func (s *session) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	s.report.Doubled += s.audio.Doubles
	err := s.frames(ctx, s.audio.Flush())
	err = errors.Join(err, s.send(ctx, s.sound.take(true)))
	err = errors.Join(err, s.photo(ctx, s.photos.Flush()))
	err = errors.Join(err, s.tellLosses(ctx))
	return errors.Join(err, s.out.live(ctx, s.status("offline", "the wearable is not connected")))
}

func (s *session) send(ctx context.Context, m *wire.Audio) error {
	if m == nil {
		return nil
	}
	return s.out.live(ctx, m)
}

// spoilt counts a notification that could not be used, and has it told.
func (s *session) spoilt(reason string) {
	s.report.Spoilt++
	s.losses.other(reason, s.now)
}

func (s *session) notified(ctx context.Context, n link.Notification) error {
	s.report.Notifications++
	if err := s.rest(ctx); err != nil {
		return err
	}
	switch n.Char {
	case omi.AudioChar:
		return s.frames(ctx, s.audio.Push(n.Data))
	case omi.PhotoChar:
		return s.photo(ctx, s.photos.Push(n.Data))
	case omi.ButtonChar:
		gesture, err := omi.ParseButton(n.Data)
		if err != nil {
			s.spoilt(err.Error())
		}
		if gesture == "" {
			return nil
		}
		s.report.Presses++
		err = s.out.live(ctx, &wire.Button{Header: wire.Header{At: n.At}, Gesture: gesture})
		s.note("button", "%s", gesture)
		return err
	case omi.BatteryChar:
		level, err := omi.ParseBattery(n.Data)
		if err != nil {
			s.spoilt(err.Error())
			return nil
		}
		if level == s.battery {
			return nil
		}
		s.battery = level
		s.note("battery", "%d %%", level)
		return s.out.live(ctx, &wire.Sensor{Header: wire.Header{At: n.At}, Name: "battery", Values: []float64{float64(level)}, Unit: "%"})
	case omi.StorageChar:
		if s.store != nil {
			return s.store.notified(ctx, n.Data)
		}
	}
	return nil
}

func (s *session) frames(ctx context.Context, items []omi.AudioItem) error {
	for _, i := range items {
		switch i := i.(type) {
		case omi.Frame:
			m, err := s.sound.add(i, s.now)
			if err != nil {
				s.spoilt(err.Error())
			} else {
				s.report.Frames++
				s.report.Sound += s.sound.codec.Duration(i)
			}
			if err := s.send(ctx, m); err != nil {
				return err
			}
		case omi.Gap:
			s.report.Lost += i.Count
			s.losses.gap(i, s.now)
		case omi.Reset:
			s.report.Resets++
			s.losses.other(fmt.Sprintf("audio notifications count anew: %d after %d", i.After, i.Before), s.now)
		case omi.Spoilt:
			s.spoilt(i.Reason)
		}
	}
	return nil
}

func (s *session) photo(ctx context.Context, items []omi.PhotoItem) error {
	for _, i := range items {
		switch i := i.(type) {
		case omi.Photo:
			s.report.Photos++
			s.note("photo", "%d bytes, turned by %d°", len(i.JPEG), i.Orientation)
			m := &wire.Photo{Header: wire.Header{At: s.now}, Codec: "jpeg", Data: i.JPEG, Orientation: i.Orientation}
			if err := s.out.live(ctx, m); err != nil {
				return err
			}
		case omi.LostPhoto:
			s.report.LostPhotos++
			reason := fmt.Sprintf("photo dropped after %d bytes: %s", i.Bytes, i.Reason)
			s.note("lost", "%s", reason)
			if err := s.out.gap(ctx, s.now, reason); err != nil {
				return err
			}
		}
	}
	return nil
}
