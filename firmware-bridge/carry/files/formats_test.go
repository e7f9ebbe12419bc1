package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	day        = "../../../testdata/day/"
	recordings = "../../../wasm/plugins/speech/testdata/audio/"
)

// made runs one of Debian's programs in a folder of its own, and returns the file that it writes;
// OUT in the arguments stands for that file.
func made(t testing.TB, name, program string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "OUT", out)
	}
	if said, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: install what .ci/needs names (%v: %s)", program, err, said)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wav(t testing.TB) media.Sound {
	t.Helper()
	b, err := os.ReadFile(recordings + "jfk.wav")
	if err != nil {
		t.Fatal(err)
	}
	s, err := media.ReadWAV(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// aac is a phone's recording.
func aac(t testing.TB) []byte {
	return made(t, "memo.m4a", "ffmpeg", "-v", "error", "-i", recordings+"jfk.wav", "-c:a", "aac", "OUT")
}

// photoHEIC is a picture encoded by libheif, with the Exif of [Tagged].
func photoHEIC(t testing.TB) []byte {
	t.Helper()
	jpeg, err := os.ReadFile(day + "astronaut.jpg")
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "in.jpg")
	if err := os.WriteFile(in, Tagged(jpeg), 0o600); err != nil {
		t.Fatal(err)
	}
	return made(t, "photo.heic", "heif-enc", "-q", "40", "-o", "OUT", in)
}

// FLAC files decode to the samples that flac was given.
func TestFLAC(t *testing.T) {
	want := wav(t)
	got, err := readFLAC(t.Context(), made(t, "a.flac", "flac", "-s", "-o", "OUT", recordings+"jfk.wav"), maxSamples)
	if err != nil || got.Rate != want.Rate || !bytes.Equal(got.PCM, want.PCM) {
		t.Errorf("%d Hz, %d bytes, %v", got.Rate, len(got.PCM), err)
	}
	if list, err := messages(t.Context(), made(t, "a.flac", "flac", "-s", "-o", "OUT", recordings+"jfk.wav"), time.Now(), 7, 0); err != nil || len(list) != 1 {
		t.Errorf("%d messages, %v", len(list), err)
	}
	two := made(t, "b.flac", "ffmpeg", "-v", "error", "-i", recordings+"jfk.wav", "-ac", "2", "-sample_fmt", "s32", "-bits_per_raw_sample", "24", "-c:a", "flac", "OUT")
	got, err = readFLAC(t.Context(), two, maxSamples)
	if r := alike(want.PCM, got.PCM, 0); err != nil || len(got.PCM) != len(want.PCM) || r < .9999 {
		t.Errorf("24 bits, two channels: %d bytes of %d, %.5f alike, %v", len(got.PCM), len(want.PCM), r, err)
	}
}

// alike returns the correlation of 16-bit samples, with b shifted by from samples.
func alike(a, b []byte, from int) float64 {
	var ab, aa, bb float64
	for i := 0; i+2 <= len(a) && 2*from+i+2 <= len(b); i += 2 {
		x, y := float64(int16(binary.LittleEndian.Uint16(a[i:]))), float64(int16(binary.LittleEndian.Uint16(b[2*from+i:])))
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa*bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// M4A and MP3 decode to the sound that was encoded.
func TestForeignSound(t *testing.T) {
	want := wav(t)
	for format, b := range map[string][]byte{"mov": aac(t), "mp3": made(t, "a.mp3", "ffmpeg", "-v", "error", "-i", recordings+"jfk.wav", "-c:a", "libmp3lame", "OUT")} {
		if format == "mp3" != isMP3(b) {
			t.Errorf("%s is taken for another", format)
		}
		ogg, err := ffmpegOpus(t.Context(), b, format)
		if err != nil {
			t.Fatal(err)
		}
		in := filepath.Join(t.TempDir(), "in.ogg")
		if err := os.WriteFile(in, ogg, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := media.ReadWAV(made(t, "out.wav", "opusdec", "--quiet", "--rate", "16000", in, "OUT"))
		if err != nil {
			t.Fatal(err)
		}
		best, at := 0.0, 0
		for from := range 2000 { // AAC and MP3 begin with their own delay
			if r := alike(want.PCM[:64000], got.PCM, from); r > best {
				best, at = r, from
			}
		}
		if off := (got.Duration() - want.Duration()).Abs(); best < .9 || off > 200*time.Millisecond {
			t.Errorf("%s: %.3f alike from sample %d on, %s for %s", format, best, at, got.Duration(), want.Duration())
		}
	}
}

// A picture's time and place are also read if heif-convert is missing, and the message is the same
// then.
func TestHEIC(t *testing.T) {
	b := photoHEIC(t)
	at := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	whole, err := messages(t.Context(), b, time.Now(), 7, 8192)
	if err != nil || len(whole) != 2 {
		t.Fatalf("%d messages, %v", len(whole), err)
	}
	p := whole[0].(*wire.Photo)
	w, h, err := media.Picture(p.Data)
	if err != nil || p.Codec != "jpeg" || !p.At.Equal(at) || p.Orientation != 0 || w != 448 || h != 448 {
		t.Errorf("%d×%d at %s, turned by %d, %v", w, h, p.At, p.Orientation, err)
	}
	t.Setenv("PATH", t.TempDir())
	place, err := messages(t.Context(), b, time.Now(), 7, 8192)
	if !errors.Is(err, errHEIC) || len(place) != 1 {
		t.Fatalf("%d messages, %v", len(place), err)
	}
	for _, m := range []wire.Message{whole[1], place[0]} {
		l := m.(*wire.Location)
		if !l.At.Equal(at) || l.Place.Lat != 52.5 || l.Place.Lon != -13.25 || l.Seq != 8192+perFile-1 {
			t.Errorf("%+v", l)
		}
	}
}

// Without its program, a recording is refused with a message that says so.
func TestMissingPrograms(t *testing.T) {
	b := aac(t)
	t.Setenv("PATH", t.TempDir())
	if _, err := messages(t.Context(), b, time.Now(), 7, 0); !errors.Is(err, errAAC) {
		t.Error(err)
	}
}

// A truncated file is refused, wherever it ends.
func TestTruncatedFiles(t *testing.T) {
	flac := made(t, "a.flac", "flac", "-s", "-o", "OUT", recordings+"jfk.wav")
	for name, c := range map[string]struct {
		b    []byte
		read func([]byte) error
	}{
		"flac": {flac, func(b []byte) error { _, err := readFLAC(t.Context(), b, maxSamples); return err }},
		"heic": {photoHEIC(t), func(b []byte) error { _, err := readHEIC(b); return err }},
		"m4a": {aac(t), func(b []byte) error {
			list, err := boxes(b, 0)
			if err == nil {
				err = isSound(list)
			}
			return err
		}},
	} {
		if err := c.read(c.b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := 1; i < 50; i++ {
			n := len(c.b) * i / 50
			if err := c.read(c.b[:n]); !errors.Is(err, media.ErrFormat) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(c.b), err)
			}
		}
	}
}

// isoBox makes a box that claims the given size.
func isoBox(size uint32, kind string, body ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, size), kind...), body...)
}

// False sizes are errors that name the place.
func TestFalseSizes(t *testing.T) {
	ftyp := isoBox(16, "ftyp", []byte("M4A \x00\x00\x00\x00")...)
	huge := binary.BigEndian.AppendUint64(isoBox(1, "mdat"), 10<<30)
	flac := made(t, "a.flac", "flac", "-s", "-o", "OUT", recordings+"jfk.wav")
	// STREAMINFO (RFC 9639, 8.2) begins at 8; the number of samples is 36 bits from bit 108 on.
	claimed := bytes.Clone(flac)
	claimed[21] |= 0x0f
	unknown := bytes.Clone(flac)
	unknown[21] &= 0xf0
	clear(unknown[22:26])
	other := bytes.Clone(flac)
	other[26] ^= 1
	block := bytes.Clone(flac) // the block after STREAMINFO
	block[43], block[44], block[45] = 0xff, 0xff, 0xff
	heic := photoHEIC(t)
	far := bytes.Clone(heic)
	i := bytes.Index(far, []byte("iloc"))
	clear(far[i+4+4 : i+4+6])
	far[i+4+4] = 0x33
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"10 GB claimed":         {append(bytes.Clone(ftyp), huge...), `m4a: unreadable file: box at offset 16: "mdat" says 10737418240 bytes, 16 are left`},
		"less than a header":    {append(bytes.Clone(ftyp), isoBox(4, "moov")...), `"moov" says 4 bytes, less than its header`},
		"no 64 bits":            {append(bytes.Clone(ftyp), isoBox(1, "mdat")...), "8 bytes, want 16"},
		"a child over its end":  {append(bytes.Clone(ftyp), isoBox(16, "moov", isoBox(64, "trak")...)...), `offset 24: "trak" says 64 bytes, 8 are left`},
		"a track of nothing":    {append(bytes.Clone(ftyp), isoBox(16, "moov", isoBox(8, "trak")...)...), "a track without a type"},
		"no film box":           {ftyp, "no sound in it"},
		"samples claimed":       {claimed, "flac: it says"},
		"another checksum":      {other, "flac: its samples do not match"},
		"a block over the end":  {block, "flac: offset"},
		"a heic without places": {append(isoBox(16, "ftyp", []byte("heic\x00\x00\x00\x00")...), isoBox(12, "meta", 0, 0, 0, 0)...), "heic: unreadable file: no places"},
		"numbers of 3 bytes":    {far, "numbers of 3 bytes"},
		"a film":                {made(t, "a.mp4", "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-c:v", "mpeg4", "OUT"), "a video"},
	} {
		if _, err := messages(t.Context(), c.b, time.Now(), 7, 0); !errors.Is(err, media.ErrFormat) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// A stopped encoder leaves the length unknown; the limit holds even then.
	if s, err := readFLAC(t.Context(), unknown, maxSamples); err != nil || s.Duration() != 11*time.Second {
		t.Errorf("%s, %v", s.Duration(), err)
	}
	if _, err := readFLAC(t.Context(), unknown, 100_000); err == nil || !strings.Contains(err.Error(), "more than 50000 samples") {
		t.Error(err)
	}
}

// Items that claim extents without any bytes are refused at the first one, so a small file can't
// cost hours. The number of extents that are looked at is limited, too.
func TestExtentsAreBounded(t *testing.T) {
	file := func(sizes byte, items, extents int) []byte {
		body := []byte{0, 0, 0, 0, sizes, 0, byte(items >> 8), byte(items)}
		item := append([]byte{0, 1, 0, 0, byte(extents >> 8), byte(extents)}, make([]byte, extents*int(sizes>>4+sizes&15))...)
		for range items {
			body = append(body, item...)
		}
		iloc := isoBox(uint32(8+len(body)), "iloc", body...)
		meta := isoBox(uint32(12+len(iloc)), "meta", append(make([]byte, 4), iloc...)...)
		return append(isoBox(16, "ftyp", []byte("heic\x00\x00\x00\x00")...), meta...)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"of no bytes": {file(0, 1, 2), "item 1 has 2 pieces, and no place for any"},
		"all of them": {file(0x44, 257, 256), "more than 65536 pieces"},
	} {
		if _, err := readHEIC(c.b); !errors.Is(err, media.ErrFormat) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, b := range map[string][]byte{"one of no bytes": file(0, 1, 1), "as many as may be": file(0x44, 256, 256)} {
		if _, err := readHEIC(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A small FLAC file can hold minutes of samples; reading it ends when the bridge does.
func TestFLACIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readFLAC(ctx, made(t, "a.flac", "flac", "-s", "-o", "OUT", recordings+"jfk.wav"), maxSamples); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzFormats: no input makes a reader panic, or return more than the limit. Programs are not run.
func FuzzFormats(f *testing.F) {
	f.Add(made(f, "a.flac", "ffmpeg", "-v", "error", "-t", "0.2", "-i", recordings+"jfk.wav", "OUT"))
	f.Add(made(f, "a.m4a", "ffmpeg", "-v", "error", "-t", "0.2", "-i", recordings+"jfk.wav", "-c:a", "aac", "OUT"))
	f.Add(photoHEIC(f)[:2000])
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := readFLAC(t.Context(), b, 1<<20); err == nil && (len(s.PCM) > 1<<20 || s.Rate < 8000 || s.Rate > 48000) {
			t.Errorf("%d bytes at %d Hz", len(s.PCM), s.Rate)
		}
		list, err := boxes(b, 0)
		sum := 0
		for _, x := range list {
			sum += len(x.body)
		}
		if sum > len(b) {
			t.Errorf("%d bytes in boxes of %d", sum, len(b))
		}
		if err == nil {
			_ = isSound(list)
		}
		_, _ = readHEIC(b)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that no program is run
		_, _ = messages(ctx, b, time.Now(), 1, 0)
	})
}
