// Package lc3test reads the speech that liblc3 encoded for tests.
package lc3test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// header is the size of the header in liblc3's files.
const header = 18

// Speech returns frames of 10 ms that liblc3 encoded at a rate, "16k" or "32k" bit/s, and what it
// decodes them to: 16-bit samples at 16 kHz, little-endian. testdata is the path of
// firmware-bridge/lc3/testdata.
func Speech(t testing.TB, testdata, rate string) (frames [][]byte, golden []byte) {
	t.Helper()
	name := filepath.Join(testdata, "jfk-3s-"+rate)
	file, err := os.ReadFile(name + ".lc3")
	if err != nil {
		t.Fatal(err)
	}
	if golden, err = os.ReadFile(name + "-liblc3.pcm"); err != nil {
		t.Fatal(err)
	}
	for file = file[header:]; len(file) > 2; {
		n := 2 + int(binary.LittleEndian.Uint16(file))
		frames, file = append(frames, file[2:n]), file[n:]
	}
	return frames, golden
}
