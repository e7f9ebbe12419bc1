package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/frame/friend"
	"github.com/locket-dev/locket/firmware-bridge/frame/g1"
	"github.com/locket-dev/locket/firmware-bridge/frame/halo"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/internal/media"
	samples "github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// decoders measures the decoders for devices' sound, compared with the reference program of each
// codec on the same speech: the node's Opus decoder with opusdec, and the bridge's LC3 decoder with
// dlc3. A program's time is from its start to its end.
func (b *bridgeBench) decoders(ctx context.Context) ([]result, error) {
	speech, err := samples.WAV(audio.Speech())
	if err != nil {
		return nil, err
	}
	var pcm []int16
	for len(pcm) < min(b.minutes, 10)*60*samples.Rate {
		pcm = append(pcm, speech...)
	}
	wav := filepath.Join(b.dir, "speech.wav")
	if err := os.WriteFile(wav, samples.ToWAV(pcm), 0o600); err != nil {
		return nil, err
	}
	var out []result
	for _, d := range []struct{ family, frame string }{{"omi", "20"}, {"limitless", "10"}, {"xiaozhi", "60"}} {
		r, err := b.opus(ctx, wav, d.family, d.frame)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	for _, d := range []struct {
		family string
		size   int
	}{{"g1", g1.FrameSize}, {"friend", friend.FrameSize}, {"halo", halo.FrameSize}} {
		r, err := b.lc3(ctx, wav, samples.AppendPCM(nil, pcm), d.family, d.size)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// timed runs a program, and returns how many seconds it took.
func timed(ctx context.Context, name string, args ...string) (float64, error) {
	began := time.Now()
	if said, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %.300s", name, err, said)
	}
	return time.Since(began).Seconds(), nil
}

// opus decodes Opus in packets of this many milliseconds.
func (b *bridgeBench) opus(ctx context.Context, wav, family, frame string) (r result, err error) {
	ogg := filepath.Join(b.dir, frame+".ogg")
	if _, err := timed(ctx, "opusenc", "--quiet", "--bitrate", "24", "--framesize", frame, wav, ogg); err != nil {
		return r, err
	}
	file, err := os.ReadFile(ogg)
	if err != nil {
		return r, err
	}
	packets, _, err := media.ReadOpus(file)
	if err != nil {
		return r, err
	}
	var d samples.Decoder
	heard := 0
	began := time.Now()
	for _, p := range packets {
		pcm, err := d.Decode("opus", samples.Rate, p.Data)
		if err != nil {
			return r, err
		}
		heard += len(pcm)
	}
	ours := time.Since(began).Seconds()
	peer, err := timed(ctx, "opusdec", "--quiet", "--rate", "16000", "--no-dither", ogg, filepath.Join(b.dir, "out.wav"))
	n := float64(len(packets))
	return result{Suite: "bridge", Case: "decoded_per_s_" + family, N: len(packets), Value: round(n / ours), Unit: "frames/s",
		Note: fmt.Sprintf("Opus of %s ms at the node, %.0f s of speech", frame, float64(heard)/samples.Rate)}.beside("opusdec", round(n/peer), true), err
}

// lc3 decodes what a family sends, in frames of this many bytes.
func (b *bridgeBench) lc3(ctx context.Context, wav string, pcm []byte, family string, size int) (r result, err error) {
	frames, err := lc3.Encode(ctx, pcm, size)
	if err != nil {
		return r, err
	}
	file := filepath.Join(b.dir, "speech.lc3")
	if _, err := timed(ctx, "elc3", "-b", strconv.Itoa(800*size), wav, file); err != nil {
		return r, err
	}
	var ours carry.LC3
	var got bytes.Buffer
	began := time.Now()
	for i, f := range frames {
		m, err := ours.Add(f, began.Add(time.Duration(i)*lc3.Lasts))
		if err != nil {
			return r, err
		}
		if m != nil {
			got.Write(m.Data)
		}
	}
	if m := ours.End(); m != nil {
		got.Write(m.Data)
	}
	took := time.Since(began).Seconds()
	if short := len(pcm) - got.Len(); short > 4*lc3.Rate/100 {
		return r, fmt.Errorf("lc3: %d bytes of samples are missing", short)
	}
	peer, err := timed(ctx, "dlc3", file, filepath.Join(b.dir, "out.wav"))
	n := float64(len(frames))
	return result{Suite: "bridge", Case: "decoded_per_s_" + family, N: len(frames), Value: round(n / took), Unit: "frames/s",
		Note: "LC3 of 10 ms, speech"}.beside("dlc3", round(n/peer), true), err
}
