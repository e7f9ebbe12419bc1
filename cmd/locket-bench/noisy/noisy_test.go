package noisy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, n)) }

func TestTrack(t *testing.T) {
	takes, err := Recordings()
	if err != nil || len(takes) < 5 {
		t.Fatalf("%d takes: %v", len(takes), err)
	}
	track, err := NewTrack(takes, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	n := track.Len() / Frame
	if len(track.Truth) != n || len(track.Sources) != n || track.Len()%Frame != 0 {
		t.Fatalf("%d frames, %d truths, %d sources", n, len(track.Truth), len(track.Sources))
	}
	speech := 0
	for f, on := range track.Truth {
		if on {
			speech++
			if track.Sources[f] != Recorded {
				t.Fatalf("frame %d is speech from %q", f, track.Sources[f])
			}
		}
	}
	if 2*speech-n < -1 || 2*speech-n > 1 {
		t.Errorf("%d of %d frames are speech", speech, n)
	}
	if track.Truth[0] || track.Truth[n-1] {
		t.Error("no silence around")
	}
	again, err := NewTrack(takes, seeded(1))
	if err != nil || again.Len() != track.Len() {
		t.Errorf("one seed, two tracks: %v", err)
	}
	for _, silent := range []Take{{}, {Samples: make([]int16, 10*Frame)}} {
		if _, err := NewTrack([]Take{silent}, seeded(1)); !errors.Is(err, ErrSilent) {
			t.Errorf("%d samples of silence: %v", len(silent.Samples), err)
		}
	}
}

// For each noise, what a mix adds to the track is as loud as requested.
func TestMix(t *testing.T) {
	takes, err := Recordings()
	if err != nil {
		t.Fatal(err)
	}
	track, err := NewTrack(takes[:2], seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range Noises() {
		noise := n.Make(takes, track.Len(), seeded(2))
		if len(noise) != track.Len() {
			t.Fatalf("%s: %d samples, want %d", n.Name, len(noise), track.Len())
		}
		pcm := track.Mix(noise, 10)
		if !bytes.Equal(pcm, track.Mix(n.Make(takes, track.Len(), seeded(2)), 10)) {
			t.Errorf("%s: one seed, two noises", n.Name)
		}
		var signal, added, frames float64
		for i, s := range track.sound {
			d := float64(int16(binary.LittleEndian.Uint16(pcm[2*i:]))) - s
			added += d * d / float64(track.Len())
			if track.Truth[i/Frame] {
				signal += s * s
				frames++
			}
		}
		if got := 10 * math.Log10(signal/frames/added); math.Abs(got-10) > 0.1 {
			t.Errorf("%s: %.2f dB, want 10", n.Name, got)
		}
	}
}

// Pink noise has as much power in an octave as in the next, white twice.
func TestColours(t *testing.T) {
	power := func(s []float64, hz float64) (p float64) { // about hz, by Goertzel over windows
		const window = 1600
		for at := 0; at+window <= len(s); at += window {
			var re, im float64
			for i, v := range s[at : at+window] {
				sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / Rate)
				re, im = re+v*cos, im+v*sin
			}
			p += re*re + im*im
		}
		return p
	}
	const n = 60 * Rate
	w, p := white(nil, n, seeded(3)), pink(nil, n, seeded(3))
	if fall := 10 * math.Log10(power(w, 500)/power(w, 2000)); math.Abs(fall) > 1 {
		t.Errorf("white falls by %.1f dB in two octaves, want 0", fall)
	}
	if fall := 10 * math.Log10(power(p, 500)/power(p, 2000)); math.Abs(fall-6) > 1 {
		t.Errorf("pink falls by %.1f dB in two octaves, want 6", fall)
	}
}

// A pause of 300 ms is speech, a longer one is not.
func TestPauses(t *testing.T) {
	take := func(pause int) Take {
		s := make([]int16, (pause+2)*Frame)
		for i := range Frame {
			s[i], s[len(s)-1-i] = 1000, 1000
		}
		return Take{Samples: s}
	}
	for pause, want := range map[int]bool{14: true, 15: false} {
		if truth, _ := take(pause).truth(); truth[1] != want || !truth[0] || !truth[pause+1] {
			t.Errorf("a pause of %d frames: %v", pause, truth)
		}
	}
}

func TestSynthesise(t *testing.T) {
	takes, err := Synthesise(t.Context())
	if err != nil || len(takes) != len(spoken) {
		t.Fatalf("%d takes: %v", len(takes), err)
	}
	for _, k := range takes {
		if len(k.Samples) < Rate || len(k.Samples) > 12*Rate {
			t.Errorf("%s: %d samples", k.Name, len(k.Samples))
		}
	}
}
