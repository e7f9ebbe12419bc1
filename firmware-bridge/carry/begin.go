package carry

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake/wire"
)

// setup bounds what is asked and told at the beginning.
const setup = 30 * time.Second

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
	if err := s.health(ctx); err != nil {
		return err
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

// health reads what the device counts about itself, where it does, and has the
// node told what was lost since the last look.
func (s *session) health(ctx context.Context) error {
	b, err := s.dev.Read(ctx, omi.Diagnostics)
	if err != nil {
		return nil // most devices don't have it
	}
	h, err := omi.ParseHealth(b)
	if err != nil {
		s.note("warning", "%v", err)
		return nil
	}
	lost, err := s.State.counted(h)
	for _, l := range lost {
		s.losses.other("the device counts "+l, time.Now())
	}
	return err
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
