package pictures

import (
	"bytes"
	"image"
	"testing"
)

func TestScenes(t *testing.T) {
	a, err := Scenes(2, 7)
	if err != nil || len(a) != 4+2*2*3 {
		t.Fatalf("%d scenes: %v", len(a), err)
	}
	b, err := Scenes(2, 7)
	if err != nil {
		t.Fatal(err)
	}
	names, families := map[string]bool{}, map[string]int{}
	for i, s := range a {
		if s.Gray.Rect != image.Rect(0, 0, Width, Height) || names[s.Name] {
			t.Errorf("%s: %v", s.Name, s.Gray.Rect)
		}
		if !bytes.Equal(s.Gray.Pix, b[i].Gray.Pix) {
			t.Errorf("%s: one seed, two pictures", s.Name)
		}
		names[s.Name] = true
		families[s.Family]++
		for _, o := range a[:i] {
			if bytes.Equal(o.Gray.Pix, s.Gray.Pix) {
				t.Errorf("%s is %s", s.Name, o.Name)
			}
		}
	}
	if len(families) != 8 || families["page 1"] != 3 || families["room 0"] != 3 {
		t.Errorf("families %v", families)
	}
}

// A variant changes a scene, fills the frame, and leaves the scene as it was.
func TestVariants(t *testing.T) {
	scenes, err := Scenes(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := scenes[0].Gray
	before := bytes.Clone(g.Pix)
	for _, v := range Variants() {
		o := v.Make(g)
		if o.Rect != g.Rect || bytes.Equal(o.Pix, before) {
			t.Errorf("%s: %v", v.Name, o.Rect)
		}
		if !bytes.Equal(g.Pix, before) {
			t.Fatalf("%s changes the scene", v.Name)
		}
		var off int
		for i, p := range o.Pix {
			d := int(p) - int(before[i])
			off += max(d, -d)
		}
		if mean := off / len(before); mean > 60 {
			t.Errorf("%s: off by %d on the mean", v.Name, mean)
		}
	}
}

// White on black, moved by 8 pixels, is a ramp of that width.
func TestMoved(t *testing.T) {
	g := image.NewGray(image.Rect(0, 0, 64, 8))
	for i := range g.Pix {
		if i%64 >= 32 {
			g.Pix[i] = 240
		}
	}
	o := moved(g, 8, 0)
	ramp := 0
	for _, p := range o.Pix[:64] {
		if p > 0 && p < 240 {
			ramp++
		}
	}
	if ramp != 7 || o.Pix[0] != 0 || o.Pix[63] != 240 {
		t.Errorf("a ramp of %d pixels: %v", ramp, o.Pix[:64])
	}
}
