package friend

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

func packets(t testing.TB) (out [][]byte) {
	t.Helper()
	var v struct{ Packets []string }
	frametest.Vectors(t, "notifications.json", &v)
	for _, p := range v.Packets {
		out = append(out, frametest.Unhex(t, p))
	}
	return out
}

// Good notifications and bad ones, with any number of frames.
func TestParse(t *testing.T) {
	p := packets(t)
	for _, c := range []struct {
		name   string
		b      []byte
		frames int
		err    error
	}{
		{"three frames", p[0], 3, nil},
		{"one frame", p[0][:35], 1, nil},
		{"as many as fit into 512 bytes", bytes.Repeat(p[0], 6)[:16*30+5], 16, nil},
		{"nothing", nil, 0, ErrShort},
		{"a footer alone", p[0][90:], 0, ErrShort},
		{"a frame without all of its footer", p[0][:34], 0, ErrShort},
		{"half a frame behind one", p[0][:50], 1, ErrCut},
		{"a byte too many", append(bytes.Clone(p[0]), 0), 3, ErrCut},
		{"a byte too few", p[0][:94], 2, ErrCut},
	} {
		got, err := Parse(c.b)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || err != nil && !errors.Is(err, ErrFormat) || len(got) != c.frames {
			t.Errorf("%s: %d frames, %v", c.name, len(got), err)
		}
		for i, f := range got {
			if !bytes.Equal(f, c.b[FrameSize*i:FrameSize*(i+1)]) {
				t.Errorf("%s: frame %d is another", c.name, i)
			}
		}
	}
}

// The layout here matches notifications laid out elsewhere.
func TestNotification(t *testing.T) {
	for i, p := range packets(t) {
		frames, err := Parse(p)
		if err != nil || len(frames) != Frames || !bytes.Equal(Notification(frames...), p) {
			t.Errorf("%d: %d frames, %v", i, len(frames), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(packets(f)[0])
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		frames, err := Parse(b)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
		if whole := FrameSize*len(frames) + footer; err == nil && whole != len(b) || whole > len(b)+footer {
			t.Errorf("%d frames of %d bytes, %v", len(frames), len(b), err)
		}
		for _, fr := range frames {
			if len(fr) != FrameSize {
				t.Errorf("a frame of %d bytes", len(fr))
			}
		}
	})
}
