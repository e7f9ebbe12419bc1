package omi

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// errNoOmi: such a device would stay silent for ever.
var errNoOmi = errors.New("omi: the device is no Omi: it has neither sound, photos, a button nor a battery; 'locket-bridge list' shows of which family it is")

// begin asks what the device is, sends it the settings that it forgets between connections, and
// subscribes.
func (s *session) begin(ctx context.Context) error {
	s.model, s.firmware = s.text(ctx, frame.ModelChar), s.text(ctx, frame.FirmwareChar)
	if b, err := s.Dev.Read(ctx, frame.FeaturesChar); err == nil {
		if s.features, err = frame.ParseFeatures(b); err != nil {
			s.Note("warning", "%v", err)
		}
	}
	if b, err := s.Dev.Read(ctx, frame.BatteryChar); err == nil {
		if level, err := frame.ParseBattery(b); err == nil {
			s.battery = level
		}
	}
	if err := s.health(ctx); err != nil {
		return err
	}
	b, err := s.Dev.Read(ctx, frame.CodecChar)
	switch {
	case errors.Is(err, link.ErrAbsent):
		s.codec = frame.Codec{Name: "opus", Rate: 16000, Samples: 320}
		s.Note("warning", "the device does not say its codec: Opus of 20 ms is assumed")
	case err != nil:
		return err
	default:
		if s.codec, err = frame.ParseCodec(b); err != nil {
			return err
		}
	}
	s.sound.Codec, s.sound.Rate = s.codec.Name, s.codec.Rate
	mtu := s.Dev.MTU()
	s.Note("connected", "%s, firmware %s, %s at %d Hz, MTU %d", cmp.Or(s.model, "Omi"), cmp.Or(s.firmware, "unknown"), s.codec.Name, s.codec.Rate, mtu)
	if mtu > 0 && mtu < frame.MinMTU {
		s.Note("warning", "MTU %d: below %d the device sends no live sound", mtu, frame.MinMTU)
	} else if mtu > 0 && mtu < frame.GoodMTU {
		s.Note("warning", "MTU %d: %d or more is wanted", mtu, frame.GoodMTU)
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
	if err := s.setPhotos(ctx); err != nil {
		return err
	}
	any := false
	for _, char := range []string{frame.AudioChar, frame.PhotoChar, frame.ButtonChar, frame.BatteryChar} {
		switch err := s.Dev.Subscribe(ctx, char); {
		case err == nil:
			any = true
		case !errors.Is(err, link.ErrAbsent):
			return err
		}
	}
	if !any {
		return errNoOmi
	}
	if s.Options.Storage {
		if err := s.openStore(ctx); err != nil {
			return err
		}
	}
	return s.Status(ctx, s.state(), "")
}

// health reads the device's own counters, if it has them, and reports to the node what was lost
// since the last look.
func (s *session) health(ctx context.Context) error {
	b, err := s.Dev.Read(ctx, frame.Diagnostics)
	if err != nil {
		return nil // most devices don't have it
	}
	h, err := frame.ParseHealth(b)
	if err != nil {
		s.Note("warning", "%v", err)
		return nil
	}
	lost, err := s.kept.counted(h)
	for _, l := range lost {
		s.Losses.Other("the device counts "+l, time.Now())
	}
	return err
}

// text reads a text characteristic; empty if there is none.
func (s *session) text(ctx context.Context, char string) string {
	b, err := s.Dev.Read(ctx, char)
	if err != nil {
		return ""
	}
	t := strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "")
	return memory.Cut(t, 64)
}

// write ignores characteristics that the device does not have.
func (s *session) write(ctx context.Context, char string, b []byte) error {
	if err := s.Dev.Write(ctx, char, b); err != nil && !errors.Is(err, link.ErrAbsent) {
		return err
	}
	return nil
}

func (s *session) hello(ctx context.Context) error {
	mic := !s.muted
	h := &wire.Hello{
		Header: wire.Header{At: time.Now()},
		Model:  cmp.Or(s.model, "omi"), Firmware: cmp.Or(s.firmware, "unknown"), Codecs: []string{s.codec.Name}, Mic: &mic,
	}
	if s.battery >= 0 {
		h.Battery = &s.battery
	}
	return s.PublishLive(ctx, h)
}

func (s *session) setTime(ctx context.Context, now time.Time) error {
	b, err := frame.TimeSync(now)
	if err != nil {
		return err
	}
	return s.write(ctx, frame.TimeChar, b)
}

// setMic turns the microphone off while paused, and afterwards back to its gain. OmiGlass uses that
// characteristic for something else.
func (s *session) setMic(ctx context.Context) error {
	s.gain = s.features.Has(frame.MicGain) && !strings.Contains(strings.ToLower(s.model), "glass")
	if s.gain {
		b, err := s.Dev.Read(ctx, frame.MicGainChar)
		switch {
		case errors.Is(err, link.ErrAbsent):
			s.gain = false
		case err != nil:
			return err
		case len(b) == 1 && b[0] > 0:
			if err := s.kept.setGain(b[0]); err != nil {
				return err
			}
		}
	}
	return s.mic(ctx)
}

// mic writes the gain: 0 while paused; otherwise the last one that was not 0.
func (s *session) mic(ctx context.Context) error {
	s.muted = s.Client.Paused()
	gain := s.kept.MicGain
	if !s.gain || gain == 0 {
		return nil
	}
	if s.muted {
		gain = 0
	}
	return s.write(ctx, frame.MicGainChar, []byte{gain})
}

// buzz vibrates for a pause, and shorter for its end. A failing motor does not affect the pause.
func (s *session) buzz(ctx context.Context) {
	if !s.features.Has(frame.Haptic) {
		return
	}
	b := frame.ShortBuzz
	if s.muted {
		b = frame.LongBuzz
	}
	if err := s.write(ctx, frame.HapticChar, b[:]); err != nil {
		s.Note("warning", "the device can't vibrate: %v", err)
	}
}

func (s *session) state() string {
	if s.muted {
		return "muted"
	}
	return "recording"
}

// setPhotos sets the device's photo interval, if it differs from the last one.
func (s *session) setPhotos(ctx context.Context) error {
	each := s.Options.PhotoEach(s.battery)
	if each == s.each {
		return nil
	}
	b, err := frame.PhotoEvery(each)
	if err != nil {
		return err
	}
	s.each = each
	return s.write(ctx, frame.PhotoControl, b)
}
