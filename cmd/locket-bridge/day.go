package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // the photos of a day may be PNG
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/voice"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
)

// scenes reads the day of a simulated device from a file that `locket replay` accepts. If the
// family has a microphone, espeak-ng speaks what was said.
func (a *app) scenes(ctx context.Context, family *carry.Family, file string) ([]carry.Scene, error) {
	events, err := day.Replay{Device: "day", Boot: 1, End: time.Now()}.ReadFiles(file)
	if err != nil {
		return nil, err
	}
	var out []carry.Scene
	var pcm []byte // samples of the current sound
	began := time.Time{}
	for _, e := range events {
		at := func(err error) error { return fmt.Errorf("%s:%d: %w", file, e.Line, err) }
		kind := e.Kind
		if kind == memory.KindText {
			kind = memory.KindAudio
		}
		if !slices.Contains(family.SceneKinds, kind) {
			continue
		}
		s := carry.Scene{Event: e.Event}
		switch e.Kind {
		case memory.KindText:
			spoken, err := voice.Speak(ctx, e.Text)
			if err != nil {
				return nil, at(err)
			}
			if s.Frames, err = frames(ctx, family.SceneCodec, spoken, voice.Rate); err != nil {
				return nil, at(err)
			}
			s.Kind, s.Text = memory.KindAudio, ""
		case memory.KindAudio:
			if e.Codec != "pcm16" {
				return nil, at(fmt.Errorf("the sound is %s: want WAV", e.Codec))
			}
			if len(pcm) == 0 {
				began = e.At
			}
			if pcm = append(pcm, e.Data...); !e.Last {
				continue
			}
			if s.Frames, err = frames(ctx, family.SceneCodec, pcm, e.Rate); err != nil {
				return nil, at(err)
			}
			s.At, s.Data, pcm = began, nil, nil
		case memory.KindPhoto:
			if s.Data, err = asJPEG(e.Data); err != nil {
				return nil, at(err)
			}
		case memory.KindSensor:
			if e.Name != "battery" || len(e.Values) == 0 {
				continue
			}
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		var kinds []string
		for _, k := range family.SceneKinds {
			kinds = append(kinds, string(k))
		}
		return nil, fmt.Errorf("%s has nothing for a device of the family %s: it sends only %s", file, family.Name, strings.Join(kinds, ", "))
	}
	a.printNote("", carry.Note{What: "day", Text: fmt.Sprintf("%d scenes of %s", len(out), file)})
	return out, nil
}

// frames encodes samples of 16 bits in a device's codec. It fills up the last frame with silence.
func frames(ctx context.Context, c carry.Codec, pcm []byte, rate int) ([][]byte, error) {
	switch c.Name {
	case "opus":
		return voice.Encode(ctx, resampled(pcm, rate, c.Rate), c.Rate, c.Frame)
	case "lc3":
		return lc3.Encode(ctx, resampled(pcm, rate, c.Rate), c.Bytes)
	}
	size := 2 * int(c.Frame*time.Duration(c.Rate)/time.Second)
	var out [][]byte
	for pcm = resampled(pcm, rate, c.Rate); len(pcm) > 0; {
		f := make([]byte, size)
		pcm = pcm[copy(f, pcm):]
		out = append(out, f)
	}
	return out, nil
}

// resampled interpolates linearly between neighbouring samples, which is enough for simulated
// speech.
func resampled(pcm []byte, from, to int) []byte {
	le := binary.LittleEndian
	n := len(pcm) / 2
	sample := func(i int) int { return int(int16(le.Uint16(pcm[2*min(i, n-1):]))) }
	out := make([]byte, 0, n*to/from*2)
	for i := range n * to / from {
		at, rest := i*from/to, i*from%to
		out = le.AppendUint16(out, uint16(int16((sample(at)*(to-rest)+sample(at+1)*rest)/to)))
	}
	return out
}

func asJPEG(b []byte) ([]byte, error) {
	p, format, err := image.Decode(bytes.NewReader(b))
	if err != nil || format == "jpeg" {
		return b, err
	}
	var out bytes.Buffer
	err = jpeg.Encode(&out, p, nil)
	return out.Bytes(), err
}
