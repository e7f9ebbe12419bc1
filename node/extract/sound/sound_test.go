package sound

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
)

func sine(rate, n int, hz float64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return pcm
}

// level returns the amplitude of one frequency in pcm at 16 kHz.
func level(pcm []int16, hz float64) float64 {
	var re, im float64
	for i, s := range pcm {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / Rate)
		re += float64(s) * cos
		im += float64(s) * sin
	}
	return 2 * math.Hypot(re, im) / float64(len(pcm))
}

func TestResamplingKeepsSpeechAndDropsWhatFolds(t *testing.T) {
	for _, rate := range []int{8000, 11025, 24000, 44100, 48000} {
		d := new(Decoder)
		var out []int16
		in := sine(rate, rate, 1000)
		for len(in) > 0 { // in messages of odd lengths, between which there must be no seams
			n := min(733, len(in))
			got, err := d.Decode("pcm16", rate, AppendPCM(nil, in[:n]))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, got...)
			in = in[n:]
		}
		if len(out) < Rate-40 || len(out) > Rate+40 {
			t.Errorf("%d Hz: a second became %d samples", rate, len(out))
		}
		if l := level(out[200:len(out)-200], 1000); l < 7600 || l > 8400 {
			t.Errorf("%d Hz: the tone's level is %.0f, want about 8000", rate, l)
		}
	}
	d := new(Decoder)
	out, err := d.Decode("pcm16", 48000, AppendPCM(nil, sine(48000, 48000, 11000)))
	if err != nil {
		t.Fatal(err)
	}
	if l := level(out[200:], 5000); l > 8 {
		t.Errorf("11 kHz folds to 5 kHz at level %.1f", l)
	}
}

func TestFormats(t *testing.T) {
	// G.711 µ-law, from its table: 0x00 is −32124, 0x80 is 32124, 0xff is 0, 0xef is 132.
	got, err := new(Decoder).Decode("ulaw", 16000, []byte{0x00, 0x80, 0xff, 0xef})
	if err != nil || got[0] != -32124 || got[1] != 32124 || got[2] != 0 || got[3] != 132 {
		t.Errorf("µ-law: %v, %v", got, err)
	}
	got, err = new(Decoder).Decode("pcm8", 16000, []byte{0x7f, 0x80})
	if err != nil || got[0] != 0x7f00 || got[1] != -0x8000 {
		t.Errorf("pcm8: %v, %v", got, err)
	}
	pcm := sine(Rate, 500, 440)
	back, err := WAV(ToWAV(pcm))
	if err != nil || len(back) != len(pcm) || back[77] != pcm[77] {
		t.Errorf("WAV does not come back: %d samples, %v", len(back), err)
	}
}

// riff returns a WAV file of 16-bit samples, 0 in every channel except the first.
func riff(channels, rate int, first []int16) []byte {
	le := binary.LittleEndian
	b := ToWAV(nil)
	le.PutUint16(b[22:], uint16(channels))
	le.PutUint32(b[24:], uint32(rate))
	le.PutUint32(b[28:], uint32(2*rate*channels))
	le.PutUint16(b[32:], uint16(2*channels))
	le.PutUint32(b[40:], uint32(2*channels*len(first)))
	for _, s := range first {
		b = le.AppendUint16(b, uint16(s))
		b = append(b, make([]byte, 2*(channels-1))...)
	}
	return b
}

// Recordings that no wearable makes, and what is heard in them.
func TestOddWAV(t *testing.T) {
	if pcm, err := WAV(riff(1, Rate, nil)); err != nil || len(pcm) != 0 {
		t.Errorf("of 0 s: %d samples, %v", len(pcm), err)
	}
	pcm, err := WAV(riff(5, 96000, sine(96000, 9600, 440)))
	if err != nil || len(pcm) < 1500 || len(pcm) > 1600 || level(pcm[200:], 440) < 7000 {
		t.Errorf("96 kHz in 5 channels: %d samples, %v", len(pcm), err)
	}
	whole := riff(5, 96000, sine(96000, 10, 440))
	for n := range 44 {
		if _, err := WAV(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut after %d bytes of its header: %v", n, err)
		}
	}
	if pcm, err := WAV(whole[:len(whole)-7]); err != nil || len(pcm) == 0 {
		t.Errorf("cut in its sound: %d samples, %v", len(pcm), err)
	}
	for _, bad := range []struct{ channels, rate int }{{0, Rate}, {17, Rate}, {1, 0}, {1, 192001}} {
		b := riff(1, Rate, []int16{1})
		binary.LittleEndian.PutUint16(b[22:], uint16(bad.channels))
		binary.LittleEndian.PutUint32(b[24:], uint32(bad.rate))
		if _, err := WAV(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A chunk may say that it has more bytes than the file, up to 4 GiB: a recorder that writes to a pipe
// says 0xffffffff. On 32-bit machines these sizes are no ints.
func TestWAVSizesBeyondTheFile(t *testing.T) {
	le, pcm := binary.LittleEndian, sine(Rate, 100, 440)
	for _, size := range []uint32{1<<31 - 1, 1 << 31, 1<<32 - 8, 1<<32 - 1} {
		b := ToWAV(pcm)
		le.PutUint32(b[40:], size)
		if got, err := WAV(b); err != nil || !slices.Equal(got, pcm) {
			t.Errorf("%#x bytes of sound: %d samples, %v", size, len(got), err)
		}
		copy(b[36:], "LIST")
		if _, err := WAV(b); !errors.Is(err, ErrFormat) {
			t.Errorf("another chunk of %#x bytes: %v", size, err)
		}
	}
}

// At 191,999 Hz the whole filter has 4.6 million taps. A wearable that changes the rate with each of
// its short messages must not have it made for each.
func TestOddRateOfAShortMessage(t *testing.T) {
	short := riff(1, 191999, sine(191999, 24, 440))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if pcm, err := WAV(short); err != nil || len(pcm) != 3 {
		t.Errorf("%d samples, %v", len(pcm), err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("24 samples took %d bytes", n)
	}
	in := sine(15873, 200_000, 440) // the product of this number and 16,000 is no int on 32-bit machines
	if pcm, err := WAV(riff(1, 15873, in)); err != nil || len(pcm) < 201_500 || len(pcm) > 201_700 || level(pcm, 440) < 7600 {
		t.Errorf("%d samples, %v", len(pcm), err)
	}
}

func TestBadSound(t *testing.T) {
	wav := ToWAV(sine(Rate, 100, 440))
	noData := append([]byte(nil), wav[:36]...)
	float := append([]byte(nil), wav...)
	binary.LittleEndian.PutUint16(float[20:], 3)
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("hello, this is not sound"), "no data": noData, "float": float} {
		if _, err := WAV(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		codec string
		data  []byte
	}{{"pcm16", []byte{1}}, {"opus", nil}, {"opus", []byte{0xff, 0xff, 0x01}}, {"mp3", []byte{1}}} {
		if _, err := new(Decoder).Decode(c.codec, 0, c.data); !errors.Is(err, ErrFormat) {
			t.Errorf("%s of %d bytes: %v", c.codec, len(c.data), err)
		}
	}
}

func FuzzSound(f *testing.F) {
	f.Add([]byte{0xfc, 0xff, 0xfe}, ToWAV(sine(Rate, 20, 440)))
	f.Add([]byte{0x0b, 0x51, 0x00, 0x7c}, []byte("RIFF\xff\xff\xff\xffWAVEdata\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, packet, file []byte) {
		if pcm, err := new(Decoder).Decode("opus", 0, packet); err == nil && len(pcm) > 2*maxOpusFrame {
			t.Fatalf("a packet of %d bytes became %d samples", len(packet), len(pcm))
		}
		WAV(file) // it must not panic
	})
}
