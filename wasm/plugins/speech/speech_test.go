package speech

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// load reads the samples of a WAV file.
func load(t testing.TB, path string) []float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	for at := 12; at+8 <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		if string(b[at:at+4]) == "data" {
			b = b[at+8 : min(len(b), at+8+n)]
			break
		}
		at += 8 + n + n&1
	}
	s := make([]float64, len(b)/2)
	for i := range s {
		s[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	}
	return s
}

// frames returns the detector's decision for each frame.
func frames(x *Extractor, pcm []byte) []bool {
	var d detector
	got := make([]bool, len(pcm)/2/hop)
	for i := range len(pcm) / 2 {
		if d.push(float32(int16(binary.LittleEndian.Uint16(pcm[2*i:])))) {
			on := d.decide(d.frame(&x.spectrum))
			if f := int(d.frames) - 1 - delay; f >= 0 && f < len(got) {
				got[f] = on
			}
		}
	}
	return got
}

// plain is a simple detector for comparison: energy above a threshold that is set once, 6 dB above
// the first second, with the same hold.
func plain(pcm []byte) []bool {
	got := make([]bool, len(pcm)/2/hop)
	var floor float64
	held := 0
	for f := range got {
		var e float64
		for i := f * hop; i < (f+1)*hop; i++ {
			v := float64(int16(binary.LittleEndian.Uint16(pcm[2*i:])))
			e += v * v
		}
		if f < 50 {
			floor += e / 50
			continue
		}
		if e > 4*floor {
			held = 10
		}
		if held > 0 {
			held--
			got[f] = true
		}
	}
	return got
}

func score(got, truth []bool) (f1, falseAlarms float64) {
	var tp, fp, fn, tn float64
	for i := range truth {
		switch {
		case got[i] && truth[i]:
			tp++
		case got[i]:
			fp++
		case truth[i]:
			fn++
		default:
			tn++
		}
	}
	return 2 * tp / (2*tp + fp + fn), fp / (fp + tn)
}

func TestFrames(t *testing.T) {
	sound, truth, power := clean(t)
	x := New()
	t.Logf("%-8s %5s  %8s %8s  %8s %8s", "noise", "SNR", "F1", "alarms", "plain F1", "alarms")
	sum, worst := map[float64]float64{}, 0.0
	snrs := []float64{20, 10, 5, 0}
	for k, n := range noises {
		noise := n.make(t, len(sound), rand.New(rand.NewPCG(uint64(k), 5)))
		for _, snr := range snrs {
			pcm := mix(sound, noise, power, snr)
			f1, fa := score(frames(x, pcm), truth)
			p1, pa := score(plain(pcm), truth)
			t.Logf("%-8s %5.0f  %8.3f %8.3f  %8.3f %8.3f", n.name, snr, f1, fa, p1, pa)
			sum[snr] += f1 / float64(len(noises))
			if snr == 10 {
				worst = max(worst, fa)
			}
		}
	}
	t.Logf("mean F1: 20 dB %.3f, 10 dB %.3f, 5 dB %.3f, 0 dB %.3f; most false alarms at 10 dB %.3f", sum[20], sum[10], sum[5], sum[0], worst)
	if sum[10] < 0.95 || sum[5] < 0.90 || worst > 0.10 {
		t.Error("want a mean F1 of 0.95 at 10 dB and 0.90 at 5 dB, and at most 0.10 false alarms at 10 dB")
	}
}

// play sends pcm in parts of n samples, and returns the utterances as ranges of the stream.
func play(t testing.TB, pcm []byte, n int) [][2]int64 {
	t.Helper()
	x := New()
	var all [][2]int64
	var state []byte
	for at := 0; at < len(pcm); at += 2 * n {
		end := min(at+2*n, len(pcm))
		ev := &abi.Event{Kind: "audio", At: 1_000_000 + int64(at/2)*1000/rate, PCM: pcm[at:end], Rate: rate, Last: end == len(pcm), State: state}
		var out abi.Output
		if err := x.Extract(ev, &out); err != nil {
			t.Fatal(err)
		}
		state = out.State
		if len(state) > 4096 {
			t.Fatalf("state of %d bytes", len(state))
		}
		for _, d := range out.Derived {
			from := int64(at/2) + d.From
			if d.To > int64((end-at)/2) || from < 0 || d.At != ev.At+d.From*1000/rate {
				t.Fatalf("derived %+v in an event of %d samples at %d", d, (end-at)/2, at/2)
			}
			all = append(all, [2]int64{from, int64(at/2) + d.To})
		}
	}
	return all
}

func TestUtterances(t *testing.T) {
	sound, truth, power := clean(t)
	pcm := mix(sound, noises[1].make(t, len(sound), rand.New(rand.NewPCG(1, 1))), power, 15)
	got := play(t, pcm, rate)
	covered, speech := 0, 0
	for f, on := range truth {
		if !on {
			continue
		}
		speech++
		for _, u := range got {
			if int64(f)*hop >= u[0] && int64(f+1)*hop <= u[1] {
				covered++
				break
			}
		}
	}
	t.Logf("%d utterances hold %d of %d frames of speech", len(got), covered, speech)
	if float64(covered) < 0.98*float64(speech) || len(got) < 5 || len(got) > 12 {
		t.Errorf("utterances %v", got)
	}
	for i, u := range got {
		if i > 0 && u[0] < got[i-1][1] {
			t.Errorf("utterance %d begins at %d, within the one before, %v", i, u[0], got[i-1])
		}
		if u[1]-u[0] > (longest+1)*hop {
			t.Errorf("utterance %v is over 20 s", u)
		}
	}
	// However the stream is divided into events, the utterances are the same.
	for _, n := range []int{160, 777, 8000, 100 * rate} {
		if other := play(t, pcm, n); fmt.Sprint(other) != fmt.Sprint(got) {
			t.Errorf("in parts of %d: %v, in parts of a second %v", n, other, got)
		}
	}
}

func TestLongSpeechIsCut(t *testing.T) {
	var sound []float64
	jfk := load(t, "testdata/audio/jfk.wav")
	sound = append(sound, make([]float64, rate)...)
	for range 5 {
		sound = append(sound, jfk[rate/3:rate*26/10]...)
		sound = append(sound, jfk[rate*33/10:rate*44/10]...)
		sound = append(sound, jfk[rate*54/10:rate*104/10]...)
	}
	pcm := mix(sound, noises[0].make(t, len(sound), rand.New(rand.NewPCG(1, 1))), 1e6, 30)
	got := play(t, pcm, rate)
	for _, u := range got {
		if u[1]-u[0] > (longest+1)*hop {
			t.Errorf("utterance of %.2f s", float64(u[1]-u[0])/rate)
		}
	}
	if len(got) < 2 {
		t.Errorf("utterances %v", got)
	}
}

func TestNoiseHasNoUtterances(t *testing.T) {
	for k, n := range noises[:2] {
		noise := n.make(t, 20*rate, rand.New(rand.NewPCG(uint64(k), 9)))
		pcm := mix(make([]float64, len(noise)), noise, 1e5, 0)
		if got := play(t, pcm, rate); len(got) > 0 {
			t.Errorf("%s noise: utterances %v", n.name, got)
		}
	}
	if got := play(t, make([]byte, 20*rate), rate); len(got) > 0 {
		t.Errorf("silence: utterances %v", got)
	}
}

func TestAnnotations(t *testing.T) {
	pcm := make([]byte, 2*rate)
	for i := range rate {
		v := int16(32767)
		if i%2 == 1 {
			v = -32768
		}
		if i >= rate/2 {
			v = 0
		}
		binary.LittleEndian.PutUint16(pcm[2*i:], uint16(v))
	}
	var out abi.Output
	if err := New().Extract(&abi.Event{Kind: "audio", PCM: pcm, Rate: rate}, &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, a := range out.Annotations {
		got[a.Kind] = a.Number
	}
	if math.Abs(got["clipping"]-0.5) > 1e-9 || math.Abs(got["level"]+3.01) > 0.02 {
		t.Errorf("annotations %v", got)
	}
	for _, ev := range []*abi.Event{{Kind: "audio", PCM: make([]byte, 3), Rate: rate}, {Kind: "audio", PCM: make([]byte, 4), Rate: 8000}} {
		if err := New().Extract(ev, &out); err != ErrSound {
			t.Errorf("%d bytes at %d: %v", len(ev.PCM), ev.Rate, err)
		}
	}
}

func FuzzState(f *testing.F) {
	var out abi.Output
	pcm := make([]byte, 2*rate)
	for i := range pcm {
		pcm[i] = byte(i * 37)
	}
	if err := New().Extract(&abi.Event{Kind: "audio", PCM: pcm, Rate: rate}, &out); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, false)
	f.Add(out.State, true)
	f.Add(out.State[:len(out.State)-2], true)
	f.Fuzz(func(t *testing.T, state []byte, last bool) {
		var out abi.Output
		if err := New().Extract(&abi.Event{Kind: "audio", PCM: pcm, Rate: rate, State: state, Last: last}, &out); err != nil {
			t.Fatal(err)
		}
		for _, d := range out.Derived {
			if d.To <= d.From || d.To > rate {
				t.Fatalf("derived %+v", d)
			}
		}
	})
}

func BenchmarkSecond(b *testing.B) {
	sound, _, power := clean(b)
	pcm := mix(sound, noises[1].make(b, len(sound), rand.New(rand.NewPCG(1, 1))), power, 10)[4*rate*2:]
	x := New()
	var state []byte
	b.ReportAllocs()
	for b.Loop() {
		var out abi.Output
		if err := x.Extract(&abi.Event{Kind: "audio", PCM: pcm[:2*rate], Rate: rate, State: state}, &out); err != nil {
			b.Fatal(err)
		}
		state = out.State
	}
}
