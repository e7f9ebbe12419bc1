package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"testing"
)

func encode(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{200, 100, 50, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSizes(t *testing.T) {
	for _, c := range [][4]int{{1280, 960, 640, 480}, {960, 1280, 480, 640}, {100, 50, 100, 50}, {4000, 100, 640, 16}, {1, 3000, 1, 640}} {
		p, err := Decode(encode(t, c[0], c[1]))
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != c[2] || p.Height != c[3] || len(p.Gray) != p.Width*p.Height || len(p.RGB) != 3*len(p.Gray) {
			t.Errorf("%d×%d became %d×%d", c[0], c[1], p.Width, p.Height)
		}
		if g := p.Gray[len(p.Gray)/2]; g < 123 || g > 125 { // 0.299·200 + 0.587·100 + 0.114·50
			t.Errorf("grey is %d", g)
		}
	}
}

func TestBadPictures(t *testing.T) {
	whole := encode(t, 64, 64)
	bomb := append([]byte(nil), whole...)
	copy(bomb[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // the header claims 65,536×65,536
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("not a photo"), "cut": whole[:40], "bomb": bomb} {
		if _, err := Decode(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRotatePicture(t *testing.T) {
	p := &Picture{Width: 3, Height: 2, Gray: []byte{1, 2, 3, 4, 5, 6}, RGB: make([]byte, 18)}
	for _, step := range []struct {
		turn int
		want string
	}{{90, "\x04\x01\x05\x02\x06\x03"}, {270, "\x01\x02\x03\x04\x05\x06"}, {180, "\x06\x05\x04\x03\x02\x01"}, {45, "\x06\x05\x04\x03\x02\x01"}} {
		if p.Turn(step.turn); string(p.Gray) != step.want {
			t.Errorf("turned by %d: %v", step.turn, p.Gray)
		}
	}
}
