// Package speech finds speech in sound and cuts it into utterances, in a stream
// of audio events.
//
// The words:
//
//   - A frame is 20 ms. Decisions are made for frames.
//   - The floor is the estimated energy of each of 20 bands without speech; it follows the
//     noise.
//   - The rise is how far a frame is above the floor, in dB, averaged over the bands. A frame is
//     speech if its rise is above a threshold, which depends on how much the rise varies in the
//     noise.
//   - An utterance extends from 200 ms before speech to 600 ms without, at most 20
//     s.
//
// Sound itself is not kept: an utterance is a range of the stream's samples, which may begin before
// the event in which it ends.
package speech

import (
	"errors"
	"math"

	"github.com/locket-dev/locket/wasm/abi"
)

// Version of the extractor, as its manifest says.
const Version = "1.0.0"

const (
	rate = 16000
	hop  = 320 // samples a frame: 20 ms
	size = 512 // samples of a window: 32 ms
)

// Lengths in frames.
const (
	preRoll   = 10   // 200 ms before the first speech
	endAfter  = 30   // 600 ms without speech end an utterance
	postRoll  = 10   // 200 ms of which belong to it
	longest   = 1000 // 20 s
	searchCut = 100  // an utterance that gets too long is cut at the quietest frame of the last 2 s
	fewest    = 8    // frames of speech that make an utterance: 160 ms
)

// ErrSound: the event's samples have another format.
var ErrSound = errors.New("speech: want 16-bit samples at 16000 a second")

// Extractor finds speech. It holds tables only, and is safe for concurrent use.
type Extractor struct {
	spectrum spectrum
}

// New makes an extractor.
func New() *Extractor { return &Extractor{spectrum: newSpectrum()} }

// Extract reads the sound of an audio event and appends to out the utterances that
// ended in it and annotations: "speech" (share of its frames, 0 to 1), "level"
// (root mean square in dB of full scale, −100 at least) and "clipping" (share of
// samples at the limits). Its state is the detector's: about 2.5 KB. An event with
// Last ends an open utterance. It returns ErrSound for sound that is not 16 kHz
// PCM16.
func (x *Extractor) Extract(ev *abi.Event, out *abi.Output) error {
	if ev.Kind != "audio" {
		return nil
	}
	if len(ev.PCM)%2 != 0 || ev.Rate != rate && ev.Rate != 0 {
		return ErrSound
	}
	var d detector
	d.decode(ev.State)
	start := d.heard // start of this event, in samples of the stream
	n := len(ev.PCM) / 2
	loud, clipped := 0.0, 0
	speech, frames := 0, 0
	emit := func(from, to int64) {
		if to <= from {
			return
		}
		out.Derived = append(out.Derived, abi.Derived{Kind: "utterance", At: ev.At + (from-start)*1000/rate, From: from - start, To: to - start})
	}
	for i := range n {
		s := int16(uint16(ev.PCM[2*i]) | uint16(ev.PCM[2*i+1])<<8)
		loud += float64(s) * float64(s)
		if s == 32767 || s <= -32767 {
			clipped++
		}
		if d.push(float32(s)) {
			frames++
			rise := d.frame(&x.spectrum)
			if d.decide(rise) {
				speech++
			}
			d.cut(emit)
		}
	}
	if n > 0 {
		level := -100.0
		if loud > 0 {
			level = max(level, 10*math.Log10(loud/float64(n)/(32768*32768)))
		}
		to := int64(n) * 1000 / rate
		note := func(kind string, v float64) {
			out.Annotations = append(out.Annotations, abi.Annotation{Kind: kind, To: to, Number: v})
		}
		if frames > 0 {
			note("speech", float64(speech)/float64(frames))
		}
		note("level", level)
		note("clipping", float64(clipped)/float64(n))
	}
	if ev.Last {
		d.finish(emit)
		out.State = nil
		return nil
	}
	out.State = d.encode()
	return nil
}
