package carry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	tick  = 250 * time.Millisecond
	setup = 30 * time.Second // for what is asked and told at the beginning
)

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

// begin asks what the device is, tells it what it forgets over a connection,
// and subscribes.
func (s *session) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setup)
	defer cancel()
	s.forget()
	s.model, s.firmware = s.text(ctx, omi.ModelChar), s.text(ctx, omi.FirmwareChar)
	if b, err := s.dev.Read(ctx, omi.FeaturesChar); err == nil {
		if s.features, err = omi.ParseFeatures(b); err != nil {
			s.note("warning", "%v", err)
		}
	}
	if b, err := s.dev.Read(ctx, omi.BatteryChar); err == nil {
		if level, err := omi.ParseBattery(b); err == nil {
			s.battery = level
		}
	}
	b, err := s.dev.Read(ctx, omi.CodecChar)
	switch {
	case errors.Is(err, link.ErrAbsent):
		s.sound.codec = omi.Codec{Name: "opus", Rate: 16000, Samples: 320}
		s.note("warning", "the device does not say its codec: taken as Opus of 20 ms")
	case err != nil:
		return err
	default:
		if s.sound.codec, err = omi.ParseCodec(b); err != nil {
			return err
		}
	}
	mtu := s.dev.MTU()
	s.note("connected", "%s, firmware %s, %s at %d Hz, MTU %d", or(s.model, "Omi"), or(s.firmware, "unknown"), s.sound.codec.Name, s.sound.codec.Rate, mtu)
	if mtu > 0 && mtu < omi.MinMTU {
		s.note("warning", "MTU %d: below %d the device sends no live sound", mtu, omi.MinMTU)
	} else if mtu > 0 && mtu < omi.GoodMTU {
		s.note("warning", "MTU %d: %d or more is wanted", mtu, omi.GoodMTU)
	}
	if err := s.setMic(ctx); err != nil {
		return err
	}
	if err := s.hello(ctx); err != nil {
		return err
	}
	if err := s.setTime(ctx, time.Now()); err != nil {
		return err
	}
	if s.PhotoEvery > 0 {
		b, err := omi.PhotoEvery(s.PhotoEvery)
		if err != nil {
			return err
		}
		if err := s.write(ctx, omi.PhotoControl, b); err != nil {
			return err
		}
	}
	for _, char := range []string{omi.AudioChar, omi.PhotoChar, omi.ButtonChar, omi.BatteryChar} {
		if err := s.dev.Subscribe(ctx, char); err != nil && !errors.Is(err, link.ErrAbsent) {
			return err
		}
	}
	if s.Storage {
		if err := s.openStore(ctx); err != nil {
			return err
		}
	}
	return s.out.live(ctx, s.status(s.state(), ""))
}

// forget drops commands of before: an old time is a wrong one, and whether
// there is a pause the client knows.
func (s *session) forget() {
	for {
		select {
		case <-s.Commands:
		default:
			return
		}
	}
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// text reads a characteristic that holds text; empty where there is none.
func (s *session) text(ctx context.Context, char string) string {
	b, err := s.dev.Read(ctx, char)
	if err != nil {
		return ""
	}
	t := strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "")
	return t[:min(len(t), 64)]
}

// write passes over what the device does not have.
func (s *session) write(ctx context.Context, char string, b []byte) error {
	if err := s.dev.Write(ctx, char, b); err != nil && !errors.Is(err, link.ErrAbsent) {
		return err
	}
	return nil
}

func (s *session) hello(ctx context.Context) error {
	mic := !s.muted
	h := &wire.Hello{
		Header: wire.Header{At: time.Now()},
		Model:  or(s.model, "omi"), Firmware: or(s.firmware, "unknown"), Codecs: []string{s.sound.codec.Name}, Mic: &mic,
	}
	if s.battery >= 0 {
		h.Battery = &s.battery
	}
	return s.out.live(ctx, h)
}

func (s *session) setTime(ctx context.Context, now time.Time) error {
	b, err := omi.TimeSync(now)
	if err != nil {
		return err
	}
	return s.write(ctx, omi.TimeChar, b)
}

// setMic turns the microphone off while paused, and back to what it was.
// OmiGlass uses its characteristic for something else.
func (s *session) setMic(ctx context.Context) error {
	s.gain = s.features.Has(omi.MicGain) && !strings.Contains(strings.ToLower(s.model), "glass")
	if s.gain {
		b, err := s.dev.Read(ctx, omi.MicGainChar)
		switch {
		case errors.Is(err, link.ErrAbsent):
			s.gain = false
		case err != nil:
			return err
		case len(b) == 1 && b[0] > 0:
			if err := s.State.setGain(b[0]); err != nil {
				return err
			}
		}
	}
	return s.mic(ctx)
}

// mic writes the gain: 0 while paused; else the last that was not 0.
func (s *session) mic(ctx context.Context) error {
	s.muted = s.Client.Paused()
	gain := s.State.gain()
	if !s.gain || gain == 0 {
		return nil
	}
	if s.muted {
		gain = 0
	}
	return s.write(ctx, omi.MicGainChar, []byte{gain})
}

func (s *session) state() string {
	if s.muted {
		return "muted"
	}
	return "recording"
}

func (s *session) status(state, reason string) *wire.Status {
	return &wire.Status{Header: wire.Header{At: time.Now()}, State: state, Reason: reason}
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
