package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/locket-dev/locket/cmd/locket-bench/noisy"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/speech"
)

// detector reports for each frame of 20 ms whether it is speech. pcm is 16 kHz, little-endian
// signed 16 bit, in whole frames.
type detector struct {
	name   string
	frames func(ctx context.Context, pcm []byte) ([]bool, error)
}

// speechLag is how many one-frame events the extractor hears before it decides on a frame: one
// until its window of 32 ms is full, and 11 that it looks ahead.
const speechLag = 12

// extractorFrames gives the extractor an event for each frame, as a stream of
// audio has them, and reads the "speech" annotation of each: whether the frame
// speechLag events ago is speech. Silence is added at the end, so that the last
// frames are decided too.
func extractorFrames(ctx context.Context, pcm []byte) ([]bool, error) {
	x := speech.New()
	n := len(pcm) / 2 / noisy.Frame
	got := make([]bool, n)
	var state []byte
	silence := make([]byte, 2*noisy.Frame)
	for f := range n + speechLag {
		ev := abi.Event{Kind: "audio", Rate: noisy.Rate, PCM: silence, State: state}
		if f < n {
			ev.PCM = pcm[2*f*noisy.Frame : 2*(f+1)*noisy.Frame]
		}
		var out abi.Output
		if err := x.Extract(&ev, &out); err != nil {
			return nil, err
		}
		state = out.State
		for _, a := range out.Annotations {
			if a.Kind == "speech" && f >= speechLag {
				got[f-speechLag] = a.Number > 0
			}
		}
	}
	return got, ctx.Err()
}

// energyFrames is the obvious baseline: a frame is speech if it is 6 dB over the mean of the first
// second, and so are the following 200 ms.
func energyFrames(_ context.Context, pcm []byte) ([]bool, error) {
	const first, over, hold = 50, 4.0, 10
	got := make([]bool, len(pcm)/2/noisy.Frame)
	floor, held := 0.0, 0
	for f := range got {
		var e float64
		for i := f * noisy.Frame; i < (f+1)*noisy.Frame; i++ {
			v := float64(int16(binary.LittleEndian.Uint16(pcm[2*i:])))
			e += v * v
		}
		if f < first {
			floor += e / first
			continue
		}
		if e > over*floor {
			held = hold
		}
		if held > 0 {
			held--
			got[f] = true
		}
	}
	return got, nil
}

//go:embed speech_webrtc.js
var webrtcScript string

// webrtcFrames is WebRTC's detector as npm's webrtcvad_js 1.0.0 has it, C
// compiled to JavaScript, which lies in dir; mode is its aggressiveness, 0 to 3.
func webrtcFrames(dir string, mode int) func(context.Context, []byte) ([]bool, error) {
	return func(ctx context.Context, pcm []byte) ([]bool, error) {
		cmd := exec.CommandContext(ctx, "node", "-e", webrtcScript, dir, strconv.Itoa(mode))
		cmd.Stdin = bytes.NewReader(pcm)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("webrtcvad_js in %s: %w: %s", dir, err, bytes.TrimSpace(stderr.Bytes()))
		}
		if n := len(pcm) / 2 / noisy.Frame; len(out) != n {
			return nil, fmt.Errorf("webrtcvad_js in %s: %d frames decided, of %d", dir, len(out), n)
		}
		got := make([]bool, len(out))
		for i, c := range out {
			got[i] = c == '1'
		}
		return got, nil
	}
}
