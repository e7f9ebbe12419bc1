package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	folder     = "../../testdata/day/"
	recordings = "../../wasm/plugins/speech/testdata/audio/"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	path := folder + name
	if filepath.Ext(name) == ".wav" {
		path = recordings + name
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSniffAndPicture(t *testing.T) {
	for name, want := range map[string]Format{"jfk.wav": WAV, "jfk.opus": OggOpus, "cat.jpg": JPEG, "note.png": PNG, "day.jsonl": Unknown} {
		if got := Sniff(file(t, name)); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for name, want := range map[string][2]int{"cat.jpg": {451, 300}, "note.png": {640, 480}} {
		w, h, err := Picture(file(t, name))
		if err != nil || w != want[0] || h != want[1] {
			t.Errorf("%s: %d×%d, %v", name, w, h, err)
		}
	}
	for _, b := range [][]byte{nil, []byte("GIF89a"), file(t, "note.png")[:20], file(t, "cat.jpg")[:20]} {
		if _, _, err := Picture(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

// wav builds a file from chunks.
func wav(chunks ...[]byte) []byte {
	body := slices.Concat(chunks...)
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(4+len(body)))...)
	return append(append(b, "WAVE"...), body...)
}

func chunk(name string, body []byte) []byte {
	b := append([]byte(name), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func format(code, channels uint16, rate uint32, bits uint16) []byte {
	b := binary.LittleEndian.AppendUint16(nil, code)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels)*uint32(bits)/8)
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)
	return chunk("fmt ", binary.LittleEndian.AppendUint16(b, bits))
}

func samples(v ...int16) []byte {
	var b []byte
	for _, s := range v {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

func TestReadWAV(t *testing.T) {
	s, err := ReadWAV(file(t, "jfk.wav"))
	if err != nil || s.Rate != 16000 || s.Duration() != 11*time.Second {
		t.Errorf("jfk.wav: %d Hz, %v, %v", s.Rate, s.Duration(), err)
	}
	s, err = ReadWAV(wav(chunk("LIST", []byte("odd")), format(1, 2, 44100, 16), chunk("data", samples(100, 300, -32768, -32768, 32767, 32767, -1, 0))))
	if err != nil || s.Rate != 44100 || !bytes.Equal(s.PCM, samples(200, -32768, 32767, 0)) {
		t.Errorf("stereo: %+v, %v", s, err)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":          {nil, "offset 0"},
		"no chunks":      {wav(), "offset 12: no samples"},
		"data first":     {wav(chunk("data", samples(1))), "before their format"},
		"short format":   {wav(chunk("fmt ", make([]byte, 14))), "offset 12: format chunk"},
		"float":          {wav(format(3, 1, 16000, 32)), "format 3"},
		"8 bit":          {wav(format(1, 1, 16000, 8)), "8 bits"},
		"6 channels":     {wav(format(1, 6, 16000, 16)), "6 channels"},
		"no rate":        {wav(format(1, 1, 0, 16)), "0 Hz"},
		"half a sample":  {wav(format(1, 1, 16000, 16), chunk("data", []byte{1})), "not a whole number"},
		"half a frame":   {wav(format(1, 2, 16000, 16), chunk("data", samples(1, 2, 3))), "not a whole number"},
		"cut":            {file(t, "jfk.wav")[:1000], "are left"},
		"size of 4 GiB":  {append(wav(format(1, 1, 16000, 16)), "data\xff\xff\xff\xff"...), "4294967295 bytes"},
		"of 0 s":         {wav(format(1, 1, 16000, 16), chunk("data", nil)), "offset 36: no samples"},
		"endless chunks": {wav(format(1, 1, 16000, 16), bytes.Repeat(chunk("none", nil), 1000)), "no samples"},
	} {
		if _, err := ReadWAV(c.b); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// page builds an Ogg page (RFC 3533 section 6) with whole packets.
func page(kind byte, index uint32, packets ...[]byte) []byte {
	b := append([]byte("OggS\x00"), kind)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint32(b, 7)
	b = binary.LittleEndian.AppendUint32(b, index)
	b = append(b, 0, 0, 0, 0)
	var lacing []byte
	for _, p := range packets {
		lacing = append(lacing, bytes.Repeat([]byte{255}, len(p)/255)...)
		lacing = append(lacing, byte(len(p)%255))
	}
	b = append(append(b, byte(len(lacing))), lacing...)
	b = append(b, slices.Concat(packets...)...)
	binary.LittleEndian.PutUint32(b[22:], checksum(b))
	return b
}

// checksum is Ogg's CRC-32: polynomial 04c11db7, most significant bit first.
func checksum(b []byte) (c uint32) {
	for _, v := range b {
		c ^= uint32(v) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
	}
	return c
}

func opusHead(channels byte) []byte {
	return append([]byte("OpusHead\x01"), channels, 0x38, 1, 0x80, 0x3e, 0, 0, 0, 0, 0)
}

func tags() []byte { return append([]byte("OpusTags"), make([]byte, 8)...) }

func ogg(packets ...[]byte) []byte {
	return slices.Concat(page(2, 0, opusHead(1)), page(0, 1, tags()), page(4, 2, packets...))
}

// A file that consists only of packets of one byte would take twenty times its size in memory.
func TestManyPackets(t *testing.T) {
	b := ogg([]byte{8}, []byte{8}, []byte{8})
	if ps, _, err := readOpus(b, 3); err != nil || len(ps) != 3 {
		t.Errorf("%d packets, %v", len(ps), err)
	}
	if _, _, err := readOpus(b, 2); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than 2 packets") {
		t.Error(err)
	}
}

func TestReadOpus(t *testing.T) {
	long := append([]byte{3 << 3}, bytes.Repeat([]byte{9}, 600)...) // SILK, 60 ms, spans three segments
	ps, channels, err := ReadOpus(ogg([]byte{1 << 3, 1}, long, []byte{16<<3 | 1, 2}, []byte{15<<3 | 3, 3, 4}))
	if err != nil || channels != 1 || len(ps) != 4 {
		t.Fatalf("%d packets, %d channels, %v", len(ps), channels, err)
	}
	for i, want := range []time.Duration{20 * time.Millisecond, 60 * time.Millisecond, 5 * time.Millisecond, 60 * time.Millisecond} {
		if ps[i].Duration != want {
			t.Errorf("packet %d plays %v, want %v", i, ps[i].Duration, want)
		}
	}
	if !bytes.Equal(ps[1].Data, long) {
		t.Error("a packet over several segments is not whole")
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":      {[]byte("OggS"), "ogg: offset"},
		"no packets":   {ogg()[:len(ogg())-0], "no packets"},
		"three voices": {page(2, 0, opusHead(3)), "ogg: offset"},
		"changed byte": {func() []byte { b := ogg([]byte{8, 1}); b[len(b)-1] ^= 1; return b }(), "checksum"},
		"cut":          {ogg(long)[:300], "ogg: offset"},
		"empty packet": {ogg([]byte{}), "0 bytes"},
		"no count":     {ogg([]byte{3}), "frame count"},
		"too long":     {ogg([]byte{3<<3 | 3, 3}), "at most 120ms"},
	} {
		if _, _, err := ReadOpus(c.b); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzRead: no bytes make a reader panic, and results are within the limits.
func FuzzRead(f *testing.F) {
	f.Add(wav(format(1, 2, 44100, 16), chunk("data", samples(1, 2))))
	f.Add(ogg([]byte{8, 1}))
	f.Add(file(f, "note.png")[:64])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ReadWAV(b); err == nil && (len(s.PCM) > len(b) || s.Rate < minRate || s.Rate > maxRate) {
			t.Errorf("%d bytes of sound at %d Hz from %d", len(s.PCM), s.Rate, len(b))
		}
		if ps, _, err := ReadOpus(b); err == nil {
			for _, p := range ps {
				if p.Duration <= 0 || p.Duration > 120*time.Millisecond || len(p.Data) > len(b) {
					t.Errorf("packet of %d bytes, %v", len(p.Data), p.Duration)
				}
			}
		}
		_, _, _ = Picture(b)
	})
}
