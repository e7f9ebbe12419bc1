package lc3

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/lc3test"
)

// liblc3 decodes frames with the program dlc3, which leaves out the codec's delay at the beginning.
func liblc3(t testing.TB, frames [][]byte) []byte {
	t.Helper()
	// The header of liblc3's files (tools/lc3bin.c): magic, size, rate and bit rate in hundreds, channels, frame in
	// 10 µs, error protection, samples low and high.
	var in []byte
	n := frameSamples*len(frames) - Delay
	for _, v := range []int{0xcc1c, 18, Rate / 100, 160, 1, 1000, 0, n & 0xffff, n >> 16} {
		in = binary.LittleEndian.AppendUint16(in, uint16(v))
	}
	for _, f := range frames {
		in = append(binary.LittleEndian.AppendUint16(in, uint16(len(f))), f...)
	}
	var said bytes.Buffer
	c := exec.CommandContext(t.Context(), "dlc3")
	c.Stdin, c.Stderr = bytes.NewReader(in), &said
	wav, err := c.Output()
	if err != nil {
		t.Fatalf("dlc3: %v: %s", err, &said)
	}
	const head = 44
	if len(wav) < head+2*n {
		t.Fatalf("dlc3 wrote %d bytes, want %d", len(wav), head+2*n)
	}
	return wav[head : head+2*n]
}

// Frames of all sizes that devices may send are decoded as by liblc3: speech, and loud tones and
// noise, which use other parts of the codec.
func TestAgreesWithLiblc3(t *testing.T) {
	speech := file(t, "jfk-3s-16k.pcm")
	dice := rand.New(rand.NewPCG(1, 2))
	var loud []byte
	for i := range len(speech) / 2 {
		v := dice.IntN(60_000) - 30_000
		if i/4000%2 == 0 {
			v = i%(60+i/2000)*1000%60_000 - 30_000
		}
		loud = binary.LittleEndian.AppendUint16(loud, uint16(int16(v)))
	}
	for name, pcm := range map[string][]byte{"speech": speech, "loud": loud} {
		for _, size := range []int{20, 21, 30, 40, 41, 59, 60, 80, 120, 200, 400} {
			frames, err := Encode(t.Context(), pcm, size)
			if err != nil {
				t.Fatal(err)
			}
			if f := far(decode(t, frames), liblc3(t, frames)); f > .0001 {
				t.Errorf("%s in frames of %d bytes: %.7f from liblc3", name, size, f)
			}
		}
	}
}

// A broken frame is concealed as by liblc3, and those after it are good again.
func TestBrokenFrames(t *testing.T) {
	frames, _ := lc3test.Speech(t, "testdata", "16k")
	frames = slices.Clone(frames)
	for at, n := 40, 1; at+n < len(frames); at, n = at+25, n+1 { // 1 to 10 in a row
		for i := range n {
			frames[at+i] = bytes.Repeat([]byte{0xff}, 20)
		}
	}
	if f := far(decode(t, frames), liblc3(t, frames)); f > .0001 {
		t.Errorf("%.7f from liblc3", f)
	}
}

// Frames that no encoder wrote are decoded or concealed as by liblc3.
func TestRandomFramesAgreeWithLiblc3(t *testing.T) {
	good, _ := lc3test.Speech(t, "testdata", "32k")
	dice := rand.NewChaCha8([32]byte{3})
	var frames [][]byte
	for i := range 2000 {
		f := make([]byte, 20+i%60)
		dice.Read(f)
		frames = append(frames, good[i%len(good)], f)
	}
	if f := far(decode(t, frames), liblc3(t, frames)); f > .01 {
		t.Errorf("%.7f from liblc3", f)
	}
}
