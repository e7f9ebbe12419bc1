// Package noisy makes speech in noise with a known position of the speech.
//
// The words:
//
//   - A frame is 20 ms of 16 kHz sound: 320 samples.
//   - A take is one clean recording. Its truth follows from its own frames: a
//     frame is speech if it is over −30 dB of the take's loudest, and so is a
//     pause of up to 300 ms between two such frames.
//   - A track is a series of takes at one loudness, with enough silence around
//     them that half of its frames are speech.
//   - A noise is mixed to a track at a ratio of mean power within the frames of
//     speech to mean power of the noise, in dB.
package noisy

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
)

const (
	Rate  = 16000 // samples a second
	Frame = 320   // samples
)

const (
	loudest = 3000 // root mean square of a take's loudest frame in a track: room for noise at 0 dB
	audible = 1e-3 // of the loudest frame's power: −30 dB
	within  = 15   // frames: a pause of up to 300 ms within speech counts as speech
)

// ErrSilent means that the takes contain nothing to measure.
var ErrSilent = errors.New("noisy: a take is silent or shorter than a frame")

// Take is one clean recording.
type Take struct {
	Name    string
	Source  string // of which kind; results are told apart by it
	Samples []int16
}

// Track is takes with silence around them. It is read only.
type Track struct {
	sound []float64
	power float64 // mean of the frames of speech
	// Truth says for each frame whether it is speech, and Sources where it is
	// from: "" for the silence between takes.
	Truth   []bool
	Sources []string
}

// NewTrack puts takes one after the other. The lengths of the silences are drawn from r and are
// about equal. Together with the pauses within takes they are as long as the speech.
func NewTrack(takes []Take, r *rand.Rand) (*Track, error) {
	var t Track
	speech, pauses := 0, 0
	type laid struct {
		gain  float64
		truth []bool
	}
	parts := make([]laid, len(takes))
	for i, k := range takes {
		truth, power := k.truth()
		top := 0.0
		for f, p := range power {
			top = max(top, p)
			if truth[f] {
				speech++
			} else {
				pauses++
			}
		}
		if top == 0 {
			return nil, ErrSilent
		}
		parts[i] = laid{loudest / math.Sqrt(top), truth}
		for f, p := range power {
			if truth[f] {
				t.power += p * parts[i].gain * parts[i].gain
			}
		}
	}
	if speech == 0 {
		return nil, ErrSilent
	}
	t.power /= float64(speech)
	silences := shares(max(0, speech-pauses), len(takes)+1, r)
	t.silence(silences[0])
	for i, k := range takes {
		n := len(parts[i].truth)
		for _, s := range k.Samples[:n*Frame] {
			t.sound = append(t.sound, parts[i].gain*float64(s))
		}
		t.Truth = append(t.Truth, parts[i].truth...)
		for range n {
			t.Sources = append(t.Sources, k.Source)
		}
		t.silence(silences[i+1])
	}
	return &t, nil
}

func (t *Track) silence(frames int) {
	t.sound = append(t.sound, make([]float64, frames*Frame)...)
	t.Truth = append(t.Truth, make([]bool, frames)...)
	t.Sources = append(t.Sources, make([]string, frames)...)
}

// shares divides n into k parts, none of which is more than twice another.
func shares(n, k int, r *rand.Rand) []int {
	weights, sum := make([]float64, k), 0.0
	for i := range weights {
		weights[i] = 1 + r.Float64()
		sum += weights[i]
	}
	parts, done, at := make([]int, k), 0, 0.0
	for i, w := range weights {
		at += w / sum * float64(n)
		parts[i] = int(math.Round(at)) - done
		done += parts[i]
	}
	return parts
}

// truth returns which of the take's frames are speech, and the power of each.
func (k Take) truth() (speech []bool, power []float64) {
	power = make([]float64, len(k.Samples)/Frame)
	top := 0.0
	for f := range power {
		for _, s := range k.Samples[f*Frame : (f+1)*Frame] {
			power[f] += float64(s) * float64(s) / Frame
		}
		top = max(top, power[f])
	}
	speech = make([]bool, len(power))
	last := -within - 1
	for f, p := range power {
		if p <= top*audible {
			continue
		}
		if f-last <= within {
			for g := last + 1; g < f; g++ {
				speech[g] = true
			}
		}
		speech[f], last = true, f
	}
	return speech, power
}

// Len is the number of samples.
func (t *Track) Len() int { return len(t.sound) }

// Mix returns the track with a noise of at least its length, snr dB below the speech, as
// little-endian signed 16 bit.
func (t *Track) Mix(noise []float64, snr float64) []byte {
	var p float64
	for _, v := range noise[:t.Len()] {
		p += v * v / float64(t.Len())
	}
	gain := math.Sqrt(t.power / math.Pow(10, snr/10) / p)
	b := make([]byte, 0, 2*t.Len())
	for i, s := range t.sound {
		v := max(math.MinInt16, min(math.MaxInt16, math.Round(s+gain*noise[i])))
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	return b
}
