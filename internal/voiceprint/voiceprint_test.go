package voiceprint

import (
	"encoding/binary"
	"io/fs"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// take returns the samples of a recording at 16 kHz.
func take(t *testing.T, from fs.FS, name string) (pcm []int16) {
	t.Helper()
	b, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	for b = b[44:]; len(b) > 1; b = b[2:] {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(b)))
	}
	return pcm
}

// For three people, each recording resembles another of the same voice more than the others'.
// Spk2's first sentence scores above zero with spk1's, who sounds similar: 2 s are too little to be
// sure.
func TestRealVoices(t *testing.T) {
	jfk := take(t, audio.Files, "jfk.wav")
	voices := [][2]Print{
		{Of(jfk[:len(jfk)/2]), Of(jfk[len(jfk)/2:])},
		{Of(take(t, audio.Files, "spk1_snt1.wav")), Of(take(t, audio.Files, "spk1_snt2.wav"))},
		{Of(take(t, audio.Files, "spk2_snt1.wav")), Of(take(t, audio.Files, "spk2_snt2.wav"))},
	}
	for i := range voices {
		for j := range voices {
			same, s := Compare(&voices[i][0], &voices[i][1]), Compare(&voices[i][0], &voices[j][1])
			if i != j && s >= same || same < 0 {
				t.Errorf("voices %d and %d: %.1f, and %.1f of the same", i, j, s, same)
			}
			if a, b := Compare(&voices[i][0], &voices[j][1]), Compare(&voices[j][1], &voices[i][0]); a != b {
				t.Errorf("%v one way and %v the other", a, b)
			}
		}
	}
}

// Turns cover a recording; two people who sound different are two voices.
func TestTurns(t *testing.T) {
	jfk, spk := take(t, audio.Files, "jfk.wav"), take(t, audio.Files, "spk1_snt1.wav")
	pcm := append(append([]int16{}, spk...), append(make([]int16, Rate/3), jfk[:5*Rate]...)...)
	at := 0
	turns := Turns(pcm)
	for _, v := range turns {
		if v.From != at || v.To <= v.From {
			t.Fatalf("%d to %d after %d", v.From, v.To, at)
		}
		at = v.To
	}
	if at != len(pcm) || len(turns) < 2 || turns[0].Voice == turns[len(turns)-1].Voice {
		t.Errorf("%d turns to %d of %d", len(turns), at, len(pcm))
	}
	if first := turns[0].To; first < len(spk)-Rate/2 || first > len(spk)+Rate/2 {
		t.Errorf("the first turn ends at %d, and the first voice at %d", first, len(spk))
	}
}

// Nothing, silence, a click, noise and full scale all give finite numbers.
func TestUnusualSound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise, square, click := make([]int16, 3*Rate), make([]int16, 2*Rate), make([]int16, Rate)
	for i := range noise {
		noise[i] = int16(r.IntN(65536) - 32768)
	}
	for i := range square {
		square[i] = 32767
		if i/80%2 == 0 {
			square[i] = -32768
		}
	}
	click[700] = 32767
	voice := Of(take(t, audio.Files, "jfk.wav"))
	for i, pcm := range [][]int16{nil, {1}, make([]int16, 399), make([]int16, 2*Rate), click, noise, square} {
		p := Of(pcm)
		if s := Compare(&voice, &p); math.IsNaN(s) || math.IsInf(s, 0) || s > 0 {
			t.Errorf("%d: scores %v", i, s)
		}
		if turns := Turns(pcm); (len(turns) > 0) != (len(pcm) > 0) || len(pcm) > 0 && turns[len(turns)-1].To != len(pcm) {
			t.Errorf("%d: %d turns", i, len(turns))
		}
	}
	if s := Compare(&Print{}, &Print{}); s != 0 {
		t.Errorf("nothing scores %v", s)
	}
}

// Prints of parts add up to a print that resembles that of the whole.
func TestAdd(t *testing.T) {
	jfk := take(t, audio.Files, "jfk.wav")
	whole, a, b := Of(jfk), Of(jfk[:len(jfk)/2]), Of(jfk[len(jfk)/2:])
	a.Add(&b)
	if s := Compare(&whole, &a); s < 20 || a.Frames < whole.Frames*9/10 {
		t.Errorf("%.1f, %d of %d frames", s, a.Frames, whole.Frames)
	}
}
