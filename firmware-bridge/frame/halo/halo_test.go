package halo

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/internal/testing/lc3test"
)

// encoded returns speech as liblc3 encoded it at 32,000 bit/s, without the lengths in the file.
func encoded(t testing.TB) []byte {
	t.Helper()
	frames, _ := lc3test.Speech(t, "../../lc3/testdata", "32k")
	return bytes.Join(frames, nil)
}

// Good and bad pieces: the frames are those that were encoded, wherever the pieces end.
func TestStream(t *testing.T) {
	said := encoded(t)
	for _, c := range []struct {
		name   string
		sizes  []int // sizes of the pieces, repeated
		upTo   int   // how many bytes come
		frames int
		push   error
		end    error
	}{
		{"six frames each", []int{240}, 2400, 60, nil, nil},
		{"a frame each", []int{40}, 2400, 60, nil, nil},
		{"within frames", []int{7, 100, 240, 33, 1}, 2400, 60, nil, nil},
		{"a byte each", []int{1}, 400, 10, nil, nil},
		{"the end is within a frame", []int{240}, 2410, 60, nil, ErrCut},
		{"not one frame", []int{39}, 39, 0, nil, ErrCut},
		{"an empty piece", []int{0}, 0, 0, ErrLength, nil},
		{"more than the app reads", []int{241}, 241, 0, ErrLength, nil},
	} {
		var s Stream
		var got []byte
		var bad error
		for at, i := 0, 0; at < c.upTo || i == 0; i++ {
			n := min(c.sizes[i%len(c.sizes)], c.upTo-at)
			frames, err := s.Push(said[at : at+n])
			for _, f := range frames {
				got = append(got, f...)
			}
			bad, at = errors.Join(bad, err), at+n
		}
		if !errors.Is(bad, c.push) || (bad == nil) != (c.push == nil) || bad != nil && !errors.Is(bad, ErrFormat) {
			t.Errorf("%s: %v", c.name, bad)
		}
		if err := s.End(); !errors.Is(err, c.end) || (err == nil) != (c.end == nil) {
			t.Errorf("%s: in the end %v", c.name, err)
		}
		if len(got) != c.frames*FrameSize || !bytes.Equal(got, said[:len(got)]) {
			t.Errorf("%s: %d bytes, or others", c.name, len(got))
		}
	}
}

// If a piece of whole frames is lost, only those frames are missing. After the end, the next sound
// starts afresh.
func TestLost(t *testing.T) {
	said := encoded(t)
	var s Stream
	for i, at := range []int{0, 480} { // the piece at 240 is lost
		frames, err := s.Push(said[at : at+Piece])
		if err != nil || len(frames) != 6 || !bytes.Equal(frames[0], said[at:at+FrameSize]) {
			t.Errorf("%d: %d frames, %v", i, len(frames), err)
		}
	}
	if _, err := s.Push(said[:50]); err != nil {
		t.Fatal(err)
	}
	if err := s.End(); !errors.Is(err, ErrCut) {
		t.Error(err)
	}
	if frames, err := s.Push(said[:FrameSize]); err != nil || len(frames) != 1 || !bytes.Equal(frames[0], said[:FrameSize]) {
		t.Errorf("after the end: %d frames, %v", len(frames), err)
	}
}

// No piece adds bytes of its own, and none is kept for ever.
func FuzzStream(f *testing.F) {
	f.Add(encoded(f)[:500], uint8(7))
	f.Add([]byte{1}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var s Stream
		var got []byte
		for rest := b; len(rest) > 0; {
			n := min(1+int(size)%Piece, len(rest))
			frames, err := s.Push(rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			for _, fr := range frames {
				got = append(got, fr...)
			}
			rest = rest[n:]
		}
		if !bytes.Equal(got, b[:len(b)/FrameSize*FrameSize]) || len(s.rest) != len(b)%FrameSize {
			t.Errorf("%d of %d bytes, %d kept", len(got), len(b), len(s.rest))
		}
	})
}
