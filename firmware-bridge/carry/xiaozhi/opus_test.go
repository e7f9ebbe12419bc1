package xiaozhi_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/node/extract/sound"
)

// The firmware's own sounds (SILK of 60 ms, and hybrid with three frames a packet) decode to what
// opusdec decodes: the difference is 40 dB below.
func TestOpusOfTheFirmware(t *testing.T) {
	b, err := os.ReadFile("../../frame/xiaozhi/testdata/packets.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Packets int
		TOC     []string
		Bytes   [2]int
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../frame/xiaozhi/testdata/ogg/*.ogg")
	if err != nil || len(files) != len(want) {
		t.Fatal(files, err)
	}
	for _, file := range files {
		ogg, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		packets, _, err := media.ReadOpus(ogg)
		w := want[filepath.Base(file)]
		if err != nil || len(packets) != w.Packets {
			t.Fatalf("%s: %d packets, %v", file, len(packets), err)
		}
		var d, same sound.Decoder
		var got []int16
		for _, p := range packets {
			pcm, err := d.Decode("opus", 16000, p.Data)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			got = append(got, pcm...)
			if n := len(p.Data); frame.Duration(p.Data) != 60*time.Millisecond || n < w.Bytes[0] || n > w.Bytes[1] || !slices.Contains(w.TOC, hexByte(p.Data[0])) {
				t.Errorf("%s: a packet of %d bytes, %x", file, n, p.Data[0])
			}
		}
		raw, err := exec.Command("opusdec", "--quiet", "--rate", "48000", "--no-dither", "--force-stereo", file, "-").Output()
		if err != nil {
			t.Fatalf("opusdec (Debian's opus-tools): %v", err)
		}
		mono := make([]byte, 0, len(raw)/2)
		for ; len(raw) >= 4; raw = raw[4:] {
			mono = append(mono, raw[0], raw[1])
		}
		ref, err := same.Decode("pcm16", 48000, mono)
		if err != nil {
			t.Fatal(err)
		}
		skip := int(binary.LittleEndian.Uint16(ogg[28+10:])) / 3 // samples to skip, from the header, at 48 kHz
		got = got[skip:]
		var signal, noise float64
		for i := range min(len(got), len(ref)) - 100 {
			signal += float64(ref[i]) * float64(ref[i])
			noise += math.Pow(float64(got[i])-float64(ref[i]), 2)
		}
		if db := 10 * math.Log10(signal/max(noise, 1)); db < 40 {
			t.Errorf("%s: %.1f dB", file, db)
		} else {
			t.Logf("%s: %.1f dB", filepath.Base(file), db)
		}
	}
}

func hexByte(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}
