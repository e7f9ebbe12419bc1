package lc3

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"
	"time"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// frames cuts a file of liblc3.
func frames(b []byte) (out [][]byte) {
	for b = b[18:]; len(b) > 2; {
		n := 2 + int(binary.LittleEndian.Uint16(b))
		out = append(out, b[2:n])
		b = b[n:]
	}
	return out
}

// decode gives the samples, in as many steps as there are frames.
func decode(t testing.TB, list [][]byte) (out []int16) {
	t.Helper()
	d, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Unix(1e9, 0)
	var all []Piece
	for i, f := range list {
		if err := d.Push(f, began.Add(time.Duration(i)*Lasts)); err != nil {
			t.Fatal(err)
		}
		all = append(all, d.Take()...)
	}
	rest, err := d.Flush()
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, rest...)
	if len(all) != len(list) {
		t.Fatalf("%d pieces of %d frames", len(all), len(list))
	}
	for i, p := range all {
		if !p.At.Equal(began.Add(time.Duration(i) * Lasts)) {
			t.Fatalf("piece %d is of %v", i, p.At)
		}
		for at := 0; at < len(p.PCM); at += 2 {
			out = append(out, int16(binary.LittleEndian.Uint16(p.PCM[at:])))
		}
	}
	return out
}

// far is the root mean square of the difference, as a part of that of want.
func far(got []int16, want func(i int) float64) float64 {
	var d, w float64
	for i, g := range got {
		d += math.Pow(float64(g)-want(i), 2)
		w += math.Pow(want(i), 2)
	}
	return math.Sqrt(d / w)
}

// Speech is decoded as liblc3 decodes it, and is near to what was said.
func TestSpeech(t *testing.T) {
	pcm := file(t, "jfk-3s-16k.pcm")
	for rate, near := range map[string]float64{"16k": .7, "32k": .35} {
		got := decode(t, frames(file(t, "jfk-3s-"+rate+".lc3")))
		golden := file(t, "jfk-3s-"+rate+"-liblc3.pcm")
		sample := func(b []byte) func(int) float64 {
			return func(i int) float64 { return float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) }
		}
		if len(got) < len(golden)/2 {
			t.Fatalf("%s: %d samples", rate, len(got))
		}
		got = got[:len(golden)/2]
		if f := far(got, sample(golden)); f > .01 {
			t.Errorf("%s: %.4f from the golden file", rate, f)
		}
		if f := far(got, sample(pcm)); f > near {
			t.Errorf("%s: %.2f from what was said", rate, f)
		}
	}
}

// The specification's own numbers, before they are rounded.
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
	if len(got) != 2*160-delay {
		t.Fatal(len(got))
	}
	for i, g := range got {
		at := i + delay
		if want := c.Clip[at/160][at%160]; math.Abs(float64(g)-want) > 1 {
			t.Errorf("sample %d: %d, want %.2f", at, g, want)
		}
	}
}

// However fast frames come, no more than a second of them is undecoded, and so on no disk, when Push returns.
func TestBacklog(t *testing.T) {
	t.Parallel()
	list := frames(file(t, "jfk-3s-16k.lc3"))
	d, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	pushed, taken := 0, 0
	for range 9 {
		for _, f := range list {
			if err := d.Push(f, time.Unix(1e9, 0)); err != nil {
				t.Fatal(err)
			}
			pushed++
		}
	}
	taken += len(d.Take())
	if behind := pushed - taken; behind > backlog {
		t.Errorf("%d of %d frames are not decoded", behind, pushed)
	}
	rest, err := d.Flush()
	if err != nil || taken+len(rest) != pushed {
		t.Errorf("%d of %d frames, %v", taken+len(rest), pushed, err)
	}
}

func TestOdd(t *testing.T) {
	d, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 19, 401} {
		if err := d.Push(make([]byte, n), time.Now()); !errors.Is(err, ErrFrame) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if rest, err := d.Flush(); err != nil || len(rest) != 0 {
		t.Errorf("%d pieces, %v", len(rest), err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if d, err = Start(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.gone
	for err == nil { // the pipe may take some
		err = d.Push(make([]byte, 400), time.Now())
	}
	if !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
}

// Any bytes are decoded or replaced, and nothing hangs.
func FuzzFrames(f *testing.F) {
	for _, b := range frames(file(f, "jfk-3s-16k.lc3"))[20:23] {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Start()
		if err != nil {
			t.Fatal(err)
		}
		good := true
		for range 3 {
			if err := d.Push(b, time.Time{}); err != nil {
				good = false
				if !errors.Is(err, ErrFrame) {
					t.Fatal(err)
				}
			}
		}
		if list, err := d.Flush(); err != nil || good != (len(list) == 3) {
			t.Errorf("%d pieces, %v", len(list), err)
		}
	})
}
