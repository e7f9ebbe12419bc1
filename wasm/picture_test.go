package wasm

import (
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

func TestScale(t *testing.T) {
	// Columns of 10, 20, 30, 40 and so on; the colours 0, 1 and 2 more.
	gray, rgb := make([]byte, 8*4), make([]byte, 3*8*4)
	for i := range gray {
		gray[i] = byte(10 * (i%8 + 1))
		for c := range 3 {
			rgb[3*i+c] = gray[i] + byte(c)
		}
	}
	ev := abi.Event{Width: 8, Height: 4, Gray: gray, RGB: rgb}
	Scale(&ev, 4)
	if ev.Width != 4 || ev.Height != 2 || len(ev.Gray) != 8 || len(ev.RGB) != 24 {
		t.Fatalf("%d×%d, %d and %d bytes", ev.Width, ev.Height, len(ev.Gray), len(ev.RGB))
	}
	for i, v := range ev.Gray {
		if want := byte(20*(i%4) + 15); v != want || ev.RGB[3*i] != want || ev.RGB[3*i+2] != want+2 {
			t.Errorf("pixel %d: %d and %v, want %d", i, v, ev.RGB[3*i:3*i+3], want)
		}
	}
	if gray[0] != 10 {
		t.Error("wrote into what was given")
	}
	for _, c := range [][5]int{{640, 480, 320, 320, 240}, {480, 640, 320, 240, 320}, {640, 7, 320, 320, 3}, {640, 1, 320, 320, 1}, {300, 200, 320, 300, 200}, {641, 479, 100, 100, 74}, {640, 480, 0, 640, 480}} {
		ev := abi.Event{Width: c[0], Height: c[1], Gray: make([]byte, c[0]*c[1])}
		if Scale(&ev, c[2]); ev.Width != c[3] || ev.Height != c[4] || len(ev.Gray) != c[3]*c[4] {
			t.Errorf("%d×%d within %d: %d×%d, %d bytes", c[0], c[1], c[2], ev.Width, ev.Height, len(ev.Gray))
		}
	}
	// A picture with a wrong size is left for the plugin to refuse.
	ev = abi.Event{Width: 640, Height: 480, Gray: make([]byte, 10)}
	if Scale(&ev, 320); len(ev.Gray) != 10 {
		t.Errorf("%d bytes", len(ev.Gray))
	}
	ev = abi.Event{Width: 640}
	if Scale(&ev, 320); ev.Width != 640 {
		t.Errorf("a picture without a row is %d wide", ev.Width)
	}
}

// TestScaleIsTheMean compares each pixel with the mean of those that it covers.
func TestScaleIsTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, c := range []struct{ w, h, side, bytes int }{
		{640, 480, 320, 1}, {480, 640, 320, 1}, {16, 8, 8, 1}, {640, 480, 320, 3}, {640, 480, 192, 1},
		{641, 479, 100, 1}, {97, 33, 32, 3}, {12, 6, 6, 1}, {640, 2, 320, 1}, {64, 64, 63, 1},
	} {
		pix := make([]byte, c.w*c.h*c.bytes)
		for i := range pix {
			pix[i] = byte(r.IntN(256)) | byte(r.IntN(2))*255
		}
		nw, nh := c.side, max(1, c.h*c.side/c.w)
		if c.h > c.w {
			nw, nh = max(1, c.w*c.side/c.h), c.side
		}
		got := average(pix, c.w, c.h, nw, nh, c.bytes)
		if len(got) != nw*nh*c.bytes {
			t.Fatalf("%+v: %d bytes", c, len(got))
		}
		for i, g := range got {
			x, y := i/c.bytes%nw, i/c.bytes/nw
			sum, n := 0, 0
			for sy := y * c.h / nh; sy < (y+1)*c.h/nh; sy++ {
				for sx := x * c.w / nw; sx < (x+1)*c.w/nw; sx++ {
					sum, n = sum+int(pix[(sy*c.w+sx)*c.bytes+i%c.bytes]), n+1
				}
			}
			if want := (sum + n/2) / n; int(g) != want {
				t.Fatalf("%+v: byte %d is %d, want %d", c, i, g, want)
			}
		}
	}
}
