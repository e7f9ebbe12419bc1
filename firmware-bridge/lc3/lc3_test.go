package lc3

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/locket-dev/locket/internal/testing/lc3test"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode returns the samples of frames.
func decode(t testing.TB, list [][]byte) (out []byte) {
	t.Helper()
	var d Decoder
	for i, f := range list {
		b, err := d.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != 2*frameSamples && (i > 0 || len(b) != 2*(frameSamples-Delay)) {
			t.Fatalf("frame %d: %d bytes", i, len(b))
		}
		out = append(out, b...)
	}
	return out
}

// far is the root mean square of the difference of samples, relative to that of want.
func far(got, want []byte) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var d, w float64
	for i := 0; i < len(want); i += 2 {
		g, w1 := int16(binary.LittleEndian.Uint16(got[i:])), int16(binary.LittleEndian.Uint16(want[i:]))
		d += math.Pow(float64(g)-float64(w1), 2)
		w += math.Pow(float64(w1), 2)
	}
	return math.Sqrt(d / max(w, 1))
}

// Speech is decoded as by liblc3, and is close to the original.
func TestSpeech(t *testing.T) {
	pcm := file(t, "jfk-3s-16k.pcm")
	for rate, near := range map[string]float64{"16k": .7, "32k": .35} {
		frames, golden := lc3test.Speech(t, "testdata", rate)
		got := decode(t, frames)
		if len(got) < len(golden) {
			t.Fatalf("%s: %d bytes of samples", rate, len(got))
		}
		got = got[:len(golden)]
		if f := far(got, golden); f > .0001 {
			t.Errorf("%s: %.7f from the golden file", rate, f)
		}
		if f := far(got, pcm[:len(golden)]); f > near {
			t.Errorf("%s: %.2f from what was said", rate, f)
		}
	}
}

// The specification's own numbers, before rounding.
func TestSpecification(t *testing.T) {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(file(t, "lc3-appendix-c.json"), &v); err != nil {
		t.Fatal(err)
	}
	var c struct {
		Bytes []string
		Clip  [][]float64
	}
	if err := json.Unmarshal(v["10000"], &c); err != nil {
		t.Fatal(err)
	}
	var list [][]byte
	for _, f := range c.Bytes {
		b, err := hex.DecodeString(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	got := decode(t, list)
	if len(got) != 2*(2*frameSamples-Delay) {
		t.Fatal(len(got))
	}
	for i := 0; i < len(got); i += 2 {
		at, g := i/2+Delay, int16(binary.LittleEndian.Uint16(got[i:]))
		if want := c.Clip[at/frameSamples][at%frameSamples]; math.Abs(float64(g)-want) > 1 {
			t.Errorf("sample %d: %d, want %.2f", at, g, want)
		}
	}
}

// A frame has 20 to 400 bytes. Another length changes nothing.
func TestSizes(t *testing.T) {
	frames, _ := lc3test.Speech(t, "testdata", "16k")
	var plain, disturbed Decoder
	for i, f := range frames[:50] {
		for _, n := range []int{0, 19, 401} {
			if _, err := disturbed.Decode(make([]byte, n)); !errors.Is(err, ErrFrame) {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
		want, err := plain.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := disturbed.Decode(f); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("frame %d is another after frames of a wrong size: %v", i, err)
		}
	}
}

// Any bytes are decoded or concealed.
func FuzzDecode(f *testing.F) {
	for _, rate := range []string{"16k", "32k"} {
		frames, _ := lc3test.Speech(f, "testdata", rate)
		for _, b := range frames[20:23] {
			f.Add(b)
		}
	}
	f.Add(bytes.Repeat([]byte{0xff}, 400))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Decoder
		for i := range 3 {
			pcm, err := d.Decode(b)
			switch {
			case len(b) < 20 || len(b) > 400:
				if !errors.Is(err, ErrFrame) {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatal(err)
			case len(pcm) != 2*frameSamples && (i > 0 || len(pcm) != 2*(frameSamples-Delay)):
				t.Fatalf("%d bytes", len(pcm))
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	frames, _ := lc3test.Speech(b, "testdata", "32k")
	var d Decoder
	for i := 0; b.Loop(); i++ {
		if _, err := d.Decode(frames[i%len(frames)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// Silence matches what elc3 writes, in the sizes that devices send.
func TestSilence(t *testing.T) {
	for _, size := range []int{20, 30, 40} {
		list, err := Encode(t.Context(), make([]byte, 10*2*frameSamples), size)
		if err != nil {
			t.Fatal(err)
		}
		if got := Silence(size); len(list) < 10 || !bytes.Equal(got, list[5]) {
			t.Errorf("%d bytes: %x, the program has %x", size, got, list[5])
		}
	}
}
