package main

import (
	"image"
	"testing"
)

func TestSceneSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "scene", "--families", "1", "--frames", "3", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "scene", stdout)
	for _, c := range []string{"duplicate_precision", "duplicate_recall"} {
		if r := got[c]; r.Value < 0.5 || r.Value > 1 || r.Peer != "average hash" || r.N == 0 {
			t.Errorf("%s: %+v", c, r)
		}
	}
	// Ten scenes in twelve variants. Six of the pairs of each variant show two pages or two rooms.
	if got["duplicate_recall"].N != 120 || got["wrong_pages_of_one_layout"].N != 72 || got["wrong_frames_of_one_room"].N != 72 {
		t.Errorf("%+v", got)
	}
	if r := got["wrong_other_scenes"]; r.Value > 10 || r.N != 10*9-2*6 {
		t.Errorf("%+v", r)
	}
	if r := got["frame_640x480"]; r.Value <= 0 || r.Peer != "native Go" || r.N != 3 {
		t.Errorf("%+v", r)
	}
	if code, _, _ := bench(t, "scene", "--families", "0"); code != 2 {
		t.Errorf("exit %d", code)
	}
}

func TestAverageHash(t *testing.T) {
	g := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range g.Pix {
		if i%64 < 32 {
			g.Pix[i] = 200
		}
	}
	if h := averageHash(g); h != 0x0f0f0f0f0f0f0f0f {
		t.Errorf("left half bright: %x", h)
	}
}
