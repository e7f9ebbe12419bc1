// Package omi is the session of an Omi pendant or OmiGlass: live sound, photos,
// presses and battery, and the records that the device stored while nobody listened.
package omi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is Omi's entry in the list of families.
var Family = carry.Family{
	Name: "omi", Short: "Carry an Omi pendant or OmiGlass over Bluetooth",
	Long: `Connects to an Omi over Bluetooth (BlueZ), and publishes its sound, photos, presses
and battery to the broker as the wearable --name, again and again until it is stopped.
What is lost on the way becomes gap events. With --storage it also fetches what the
device recorded while nobody listened; the device forgets it only after the node has
acknowledged it.`,
	Carrier: carry.Bluetooth, Service: frame.Service, Accepts: carry.WithStorage | carry.WithPhotos | carry.WithMetered, Begin: begin, Simulate: func(p carry.Play) link.Dialer { return NewPendant(p) },
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "opus", Rate: 16000, Frame: 20 * time.Millisecond},
}

// session is one connection to the device. One goroutine runs it.
type session struct {
	*carry.Conn
	kept     *state
	model    string
	firmware string
	features frame.Features
	battery  int  // %; -1: not known
	each     int  // photo interval in seconds that the device was sent; 0: none
	gain     bool // the microphone's gain can be set
	muted    bool // as last told to the device and the node

	codec  frame.Codec
	audio  frame.Audio
	photos frame.Photos
	sound  carry.Sound
	store  store // nil: not asked for, or not there
}

// store fetches what the device stored. Its methods are for the session's goroutine.
type store interface {
	tick(ctx context.Context, now time.Time) error
	notified(ctx context.Context, b []byte) error
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	kept, err := openState(c.State)
	if err != nil {
		return nil, err
	}
	s := &session{Conn: c, kept: kept, battery: -1}
	return s, s.begin(ctx)
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	if err := s.onIdle(ctx); err != nil || s.store == nil {
		return err
	}
	return s.store.tick(ctx, now)
}

// Command does what the node asks for.
func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause, wire.CmdResume:
		if s.Client.Paused() == s.muted {
			return nil // the node repeats its order after each hello
		}
		s.Note("pause", "the node says %s", cmd.Cmd)
		if err := s.mic(ctx); err != nil {
			return err
		}
		s.buzz(ctx)
		return s.Status(ctx, s.state(), "the wearer's wish")
	case wire.CmdTime:
		return s.setTime(ctx, cmd.At)
	case wire.CmdCapture:
		if cmd.What == "photo" && !s.Client.Paused() {
			if err := s.write(ctx, frame.PhotoControl, frame.SinglePhoto[:]); err != nil {
				return err
			}
			s.Note("photo", "the node asked for one")
		}
	}
	return nil
}

// onIdle ends a recording that has been silent for a while, and reports losses.
func (s *session) onIdle(ctx context.Context) error {
	if s.sound.Idle(s.Now) {
		if err := s.frames(ctx, s.audio.Flush()); err != nil {
			return err
		}
		if err := s.sound.EndRecording(ctx, s.Conn); err != nil {
			return err
		}
	}
	return s.TellLosses(ctx, false)
}

func (s *session) End(ctx context.Context) error {
	s.Report.Doubled += s.audio.Doubles
	err := s.frames(ctx, s.audio.Flush())
	err = errors.Join(err, s.sound.EndRecording(ctx, s.Conn))
	err = errors.Join(err, s.photo(ctx, s.photos.Flush()))
	err = errors.Join(err, s.TellLosses(ctx, true))
	return errors.Join(err, s.Status(ctx, "offline", "the wearable is not connected"))
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.onIdle(ctx); err != nil {
		return err
	}
	switch n.Char {
	case frame.AudioChar:
		return s.frames(ctx, s.audio.Push(n.Data))
	case frame.PhotoChar:
		return s.photo(ctx, s.photos.Push(n.Data))
	case frame.ButtonChar:
		gesture, err := frame.ParseButton(n.Data)
		if err != nil {
			s.NoteDamaged(err.Error())
		}
		if gesture == "" {
			return nil
		}
		s.Report.Presses++
		err = s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: n.At}, Gesture: gesture})
		s.Note("button", "%s", gesture)
		return err
	case frame.BatteryChar:
		level, err := frame.ParseBattery(n.Data)
		if err != nil {
			s.NoteDamaged(err.Error())
			return nil
		}
		if level == s.battery {
			return nil
		}
		s.battery = level
		s.Note("battery", "%d %%", level)
		if err := s.setPhotos(ctx); err != nil {
			return err
		}
		return s.PublishLive(ctx, &wire.Sensor{Header: wire.Header{At: n.At}, Name: "battery", Values: []float64{float64(level)}, Unit: "%"})
	case frame.StorageChar:
		if s.store != nil {
			return s.store.notified(ctx, n.Data)
		}
	}
	return nil
}

func (s *session) frames(ctx context.Context, items []frame.AudioItem) error {
	for _, i := range items {
		switch i := i.(type) {
		case frame.Frame:
			m, err := s.sound.Add(i, s.codec.Duration(i), s.Now)
			if err != nil {
				s.NoteDamaged(err.Error())
			} else {
				s.Report.Frames++
				s.Report.Sound += s.codec.Duration(i)
			}
			if m != nil {
				if err := s.PublishLive(ctx, m); err != nil {
					return err
				}
			}
		case frame.Gap:
			s.Report.Lost += i.Count
			s.Losses.Run(int(i.First), int(i.Last()), i.Count, s.Now)
		case frame.Reset:
			s.Report.Resets++
			s.Losses.Other(fmt.Sprintf("audio notifications are numbered from the start again: %d after %d", i.After, i.Before), s.Now)
		case frame.Damaged:
			s.NoteDamaged(i.Reason)
		}
	}
	return nil
}

func (s *session) photo(ctx context.Context, items []frame.PhotoItem) error {
	for _, i := range items {
		switch i := i.(type) {
		case frame.Photo:
			s.Report.Photos++
			s.Note("photo", "%d bytes, turned by %d°", len(i.JPEG), i.Orientation)
			m := &wire.Photo{Header: wire.Header{At: s.Now}, Codec: "jpeg", Data: i.JPEG, Orientation: i.Orientation}
			if err := s.PublishLive(ctx, m); err != nil {
				return err
			}
		case frame.LostPhoto:
			s.Report.LostPhotos++
			reason := fmt.Sprintf("photo dropped after %d bytes: %s", i.Bytes, i.Reason)
			s.Note("lost", "%s", reason)
			if err := s.Gap(ctx, s.Now, reason); err != nil {
				return err
			}
		}
	}
	return nil
}
