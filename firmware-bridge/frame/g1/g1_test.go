package g1

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/lc3test"
)

func packets(t testing.TB) (out [][]byte) {
	t.Helper()
	b, err := os.ReadFile("testdata/mic-notifications.json")
	var v struct{ Packets []string }
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	for _, s := range v.Packets {
		p, e := hex.DecodeString(s)
		err = errors.Join(err, e)
		out = append(out, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The packets match the encoded file.
func TestSound(t *testing.T) {
	frames, _ := lc3test.Speech(t, "../../lc3/testdata", "16k")
	var s Seqs
	for i, p := range packets(t) {
		item, err := Parse(p)
		got, ok := item.(Sound)
		if err != nil || !ok || int(got.Seq) != i {
			t.Fatalf("%d: %v, %v", i, item, err)
		}
		if missing, twice := s.Next(got.Seq); missing != 0 || twice {
			t.Errorf("%d: %d missing", i, missing)
		}
		for f := range slices.Chunk(got.Data, FrameSize) {
			if !bytes.Equal(f, frames[0]) {
				t.Fatalf("a frame of packet %d is another", i)
			}
			frames = frames[1:]
		}
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]Item{
		"f500": DoubleTap, "f501": SingleTap, "f504": Triple, "f505": TripleOff, "f517": Ask, "f518": Asked, "f5120000": Touch(0x12),
		"0ec901": Answer{Microphone, true, 1}, "0eca01": Answer{Microphone, false, 1}, "0ec900": Answer{Microphone, true, 0}, "4ec9": Answer{Text, true, 0}, "4eca": Answer{Text, false, 0},
		"250600010401": Answer{Heart, true, 1}, "250600010501": Answer{Heart, false, 1}, "34aa": Other(0x34),
	} {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(b); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	p := packets(t)[0]
	for _, bad := range [][]byte{nil, p[:201], append(bytes.Clone(p), 0), {0xf1}, {0xf5}, {0x0e}, {0x0e, 0xc9}, {0x4e}, {0x25, 6, 0, 1, 4}} {
		if got, err := Parse(bad); !errors.Is(err, ErrLength) || !errors.Is(err, ErrFormat) {
			t.Errorf("%.6x: %+v, %v", bad, got, err)
		}
	}
	var s Seqs
	for _, c := range []struct {
		seq     byte
		missing int
		twice   bool
	}{{250, 0, false}, {251, 0, false}, {251, 0, true}, {255, 3, false}, {0, 0, false}, {5, 4, false}, {3, 0, true}, {6, 0, false}} {
		if missing, twice := s.Next(c.seq); missing != c.missing || twice != c.twice {
			t.Errorf("%d: %d missing, %v", c.seq, missing, twice)
		}
	}
}

func TestWrites(t *testing.T) {
	if got := hex.EncodeToString(slices.Concat(Hello(), Heartbeat(7), Mic(true), Mic(false))); got != "f401"+"250600070407"+"0e01"+"0e00" {
		t.Error(got)
	}
	got, err := Page(254, strings.Repeat("a", 192), 1, 3)
	if err != nil || len(got) != 2 || hex.EncodeToString(got[0][:9]) != "4efe02007100000103" || len(got[0]) != 200 || hex.EncodeToString(got[1]) != "4eff0201710000010361" {
		t.Errorf("%x, %v", got, err)
	}
	for _, c := range []struct {
		n, page, pages int
	}{{191*255 + 1, 0, 1}, {1, 1, 1}, {1, 0, 256}} {
		if _, err := Page(0, strings.Repeat("a", c.n), c.page, c.pages); !errors.Is(err, ErrText) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(packets(f)[0])
	f.Add([]byte{0xf5, 0x17})
	f.Fuzz(func(t *testing.T, b []byte) {
		item, err := Parse(b)
		if (err == nil) != (item != nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v, %v", item, err)
		}
		if s, ok := item.(Sound); ok && len(s.Data) != Frames*FrameSize {
			t.Errorf("%d bytes", len(s.Data))
		}
	})
}
