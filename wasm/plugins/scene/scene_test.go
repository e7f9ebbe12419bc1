package scene

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/draw"

	"github.com/locket-dev/locket/wasm/abi"
)

func load(t testing.TB) map[string]*image.Gray {
	t.Helper()
	files, err := filepath.Glob("testdata/photo/*.jpg")
	if err != nil || len(files) < 4 {
		t.Fatalf("testdata/photo: %d pictures, %v", len(files), err)
	}
	all := map[string]*image.Gray{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".jpg")] = toGray(img)
	}
	return all
}

func toGray(img image.Image) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(g, g.Bounds(), img, img.Bounds().Min, draw.Src)
	return g
}

func crop(g *image.Gray, left, top, right, bottom float64) *image.Gray {
	w, h := float64(g.Rect.Dx()), float64(g.Rect.Dy())
	return toGray(g.SubImage(image.Rect(int(left*w), int(top*h), int((1-right)*w), int((1-bottom)*h))))
}

func levels(g *image.Gray, gain, lift float64) *image.Gray {
	o := image.NewGray(g.Rect)
	for i, p := range g.Pix {
		o.Pix[i] = byte(max(0, min(255, float64(p)*gain+lift)))
	}
	return o
}

func requality(t testing.TB, g *image.Gray, q int) *image.Gray {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, g, &jpeg.Options{Quality: q}); err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return toGray(img)
}

// rotate rotates about the middle and cuts off the empty corners.
func rotate(g *image.Gray, degrees float64) *image.Gray {
	w, h := g.Rect.Dx(), g.Rect.Dy()
	o := image.NewGray(g.Rect)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for y := range h {
		for x := range w {
			px, py := float64(x)-float64(w)/2, float64(y)-float64(h)/2
			o.SetGray(x, y, g.GrayAt(int(cos*px-sin*py+float64(w)/2), int(sin*px+cos*py+float64(h)/2)))
		}
	}
	cut := 0.012 * math.Abs(degrees)
	return crop(o, cut, cut, cut, cut)
}

func noisy(g *image.Gray, sd float64, seed uint64) *image.Gray {
	r := rand.New(rand.NewPCG(seed, 1))
	o := image.NewGray(g.Rect)
	for i, p := range g.Pix {
		o.Pix[i] = byte(max(0, min(255, float64(p)+sd*r.NormFloat64())))
	}
	return o
}

func blur(g *image.Gray, by int) *image.Gray {
	small := image.NewGray(image.Rect(0, 0, g.Rect.Dx()/by, g.Rect.Dy()/by))
	draw.ApproxBiLinear.Scale(small, small.Rect, g, g.Rect, draw.Src, nil)
	o := image.NewGray(g.Rect)
	draw.CatmullRom.Scale(o, o.Rect, small, small.Rect, draw.Src, nil)
	return o
}

func flip(g *image.Gray, horizontal, vertical bool) *image.Gray {
	o := image.NewGray(g.Rect)
	w, h := g.Rect.Dx(), g.Rect.Dy()
	for y := range h {
		for x := range w {
			sx, sy := x, y
			if horizontal {
				sx = w - 1 - x
			}
			if vertical {
				sy = h - 1 - y
			}
			o.SetGray(x, y, color.Gray{Y: g.GrayAt(sx, sy).Y})
		}
	}
	return o
}

// drawn makes a scene: sky, ground and some boxes. Scenes of different seeds share their light and
// horizon, which makes them hard to distinguish.
func drawn(seed uint64) *image.Gray {
	r := rand.New(rand.NewPCG(seed, 7))
	g := image.NewGray(image.Rect(0, 0, 480, 360))
	for y := range 360 {
		for x := range 480 {
			v := 200 - y/5
			if y > 200 {
				v = 90 - (y-200)/6
			}
			g.SetGray(x, y, color.Gray{Y: byte(v)})
		}
	}
	for range 9 {
		x, y, w, h, v := r.IntN(420), r.IntN(300), 40+r.IntN(140), 40+r.IntN(140), byte(r.IntN(256))
		for yy := y; yy < min(y+h, 360); yy++ {
			for xx := x; xx < min(x+w, 480); xx++ {
				g.SetGray(xx, yy, color.Gray{Y: v})
			}
		}
	}
	return g
}

func event(id string, g *image.Gray, state []byte) *abi.Event {
	return &abi.Event{ID: id, Kind: "photo", At: 1_800_000_000_000, Width: g.Rect.Dx(), Height: g.Rect.Dy(), Gray: g.Pix, State: state}
}

func extract(t testing.TB, ev *abi.Event) *abi.Output {
	t.Helper()
	var out abi.Output
	if err := New().Extract(ev, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// duplicate reports whether b, taken after a, is refused because it shows the same.
func duplicate(t testing.TB, a, b *image.Gray) bool {
	t.Helper()
	first := extract(t, event("glasses/1/1", a, nil))
	second := extract(t, event("glasses/1/2", b, first.State))
	for _, r := range second.Refusals {
		if r.Kind == "duplicate" {
			if !strings.Contains(r.Reason, "glasses/1/1") {
				t.Fatalf("refusal %q does not name the earlier photo", r.Reason)
			}
			if len(second.Candidates) > 0 {
				t.Fatal("refused, and a candidate all the same")
			}
			return true
		}
	}
	return false
}

func TestDuplicates(t *testing.T) {
	photos := load(t)
	for i := range 8 {
		photos["drawn"+strconv.Itoa(i)] = drawn(uint64(i))
	}
	type variant struct {
		name string
		make func(*image.Gray) *image.Gray
	}
	variants := []variant{
		{"crop 5 % all round", func(g *image.Gray) *image.Gray { return crop(g, .05, .05, .05, .05) }},
		{"crop 10 % left", func(g *image.Gray) *image.Gray { return crop(g, .1, 0, 0, 0) }},
		{"crop 8 % top, 4 % right", func(g *image.Gray) *image.Gray { return crop(g, 0, .08, .04, 0) }},
		{"crop 10 % all round", func(g *image.Gray) *image.Gray { return crop(g, .1, .1, .1, .1) }},
		{"brighter", func(g *image.Gray) *image.Gray { return levels(g, 1, 40) }},
		{"darker", func(g *image.Gray) *image.Gray { return levels(g, .6, 0) }},
		{"contrast", func(g *image.Gray) *image.Gray { return levels(g, 1.3, -30) }},
		{"quality 40", func(g *image.Gray) *image.Gray { return requality(t, g, 40) }},
		{"quality 10", func(g *image.Gray) *image.Gray { return requality(t, g, 10) }},
		{"turned 2°", func(g *image.Gray) *image.Gray { return rotate(g, 2) }},
		{"turned -3°", func(g *image.Gray) *image.Gray { return rotate(g, -3) }},
		{"turned 5°", func(g *image.Gray) *image.Gray { return rotate(g, 5) }},
		{"noise", func(g *image.Gray) *image.Gray { return noisy(g, 15, 3) }},
		{"out of focus", func(g *image.Gray) *image.Gray { return blur(g, 6) }},
	}
	negatives := []variant{
		{"mirrored", func(g *image.Gray) *image.Gray { return flip(g, true, false) }},
		{"upside down", func(g *image.Gray) *image.Gray { return flip(g, true, true) }},
		{"left half", func(g *image.Gray) *image.Gray { return crop(g, 0, 0, .5, 0) }},
		{"lower right quarter", func(g *image.Gray) *image.Gray { return crop(g, .5, .5, 0, 0) }},
		{"a drawn one", func(*image.Gray) *image.Gray { return drawn(99) }},
	}
	var hit, missed, wrong, right int
	for name, g := range photos {
		for _, v := range variants {
			if duplicate(t, g, v.make(g)) {
				hit++
			} else {
				missed++
				t.Logf("missed: %s, %s", name, v.name)
			}
		}
		for _, v := range negatives {
			if duplicate(t, g, v.make(g)) {
				wrong++
				t.Logf("wrongly a duplicate: %s, %s", name, v.name)
			} else {
				right++
			}
		}
		for other, o := range photos {
			if name == other {
				continue
			}
			if duplicate(t, g, o) {
				wrong++
				t.Logf("wrongly a duplicate: %s, %s", name, other)
			} else {
				right++
			}
		}
	}
	precision, recall := float64(hit)/float64(hit+wrong), float64(hit)/float64(hit+missed)
	t.Logf("duplicates: %d variations, %d other pairs: precision %.3f, recall %.3f", hit+missed, wrong+right, precision, recall)
	if precision < 0.97 || recall < 0.95 {
		t.Errorf("precision %.3f, recall %.3f: want 0.97 and 0.95", precision, recall)
	}
}

func TestFirstOfScene(t *testing.T) {
	g := load(t)["astronaut"]
	out := extract(t, event("glasses/1/1", g, nil))
	if len(out.Candidates) != 1 || len(out.Refusals) != 0 {
		t.Fatalf("candidates %v, refusals %v", out.Candidates, out.Refusals)
	}
	c := out.Candidates[0]
	if c.Type != "resource" || c.Title != "Photo, sharp, new scene" || c.Text != c.Title || c.MediaType == "" {
		t.Errorf("candidate %+v", c)
	}
	if a := out.Annotations[0]; a.Kind != "hash" || len(a.Text) != 16 || a.Text != c.Slot.Value {
		t.Errorf("hash annotation %+v", a)
	}
	// The same event again, with the state that it left, gives the same answer.
	if again := extract(t, event("glasses/1/1", g, out.State)); len(again.Candidates) != 1 || !bytes.Equal(again.State, out.State) {
		t.Errorf("redelivered: %d candidates, refusals %v", len(again.Candidates), again.Refusals)
	}
}

func TestSharpnessFallsWithBlur(t *testing.T) {
	for name, g := range load(t) {
		sharp, soft := sharpness(g.Pix, g.Rect.Dx(), g.Rect.Dy()), 0.0
		for _, by := range []int{2, 4, 8} {
			b := blur(g, by)
			soft = sharpness(b.Pix, b.Rect.Dx(), b.Rect.Dy())
			if soft >= sharp {
				t.Errorf("%s blurred by %d: %.1f, was %.1f", name, by, soft, sharp)
			}
			sharp = soft
		}
		if soft >= softAt {
			t.Errorf("%s blurred by 8: %.1f, want under %d", name, soft, softAt)
		}
	}
}

func TestBlankPictureIsRefused(t *testing.T) {
	out := extract(t, event("glasses/1/1", noisy(levels(drawn(1), 0, 6), 2, 1), nil))
	if len(out.Candidates) != 0 || len(out.Refusals) != 1 || out.Refusals[0].Kind != "blank" {
		t.Errorf("%+v", out)
	}
}

func TestStateIsBoundedAndAgeing(t *testing.T) {
	var state []byte
	first := drawn(1000)
	for i := range maxViews + 6 {
		state = extract(t, event("glasses/1/"+strconv.Itoa(i), drawn(uint64(1000+i)), state)).State
	}
	if len(state) > 64<<10 || len(decodeViews(state)) > maxViews {
		t.Fatalf("state: %d bytes, %d views", len(state), len(decodeViews(state)))
	}
	if out := extract(t, event("glasses/1/99", first, state)); len(out.Candidates) != 1 {
		t.Error("a scene older than what is kept is new again")
	}
}

func TestBadPictures(t *testing.T) {
	for _, ev := range []*abi.Event{
		{Kind: "photo"},
		{Kind: "photo", Width: 640, Height: 480, Gray: make([]byte, 10)},
		{Kind: "photo", Width: -640, Height: -480, Gray: make([]byte, 640*480)},
		{Kind: "photo", Width: 8, Height: 8, Gray: make([]byte, 64)},
	} {
		if err := New().Extract(ev, &abi.Output{}); err != ErrPicture {
			t.Errorf("%d×%d with %d bytes: %v", ev.Width, ev.Height, len(ev.Gray), err)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte{})
	f.Add(encodeViews([]view{{event: "glasses/1/1", hash: 3}}))
	g := drawn(1)
	f.Fuzz(func(t *testing.T, state []byte) {
		ev := event("glasses/1/2", g, state)
		var out abi.Output
		if err := New().Extract(ev, &out); err != nil {
			t.Fatal(err)
		}
		if len(decodeViews(out.State)) == 0 {
			t.Error("the state left holds no view")
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	g := image.NewGray(image.Rect(0, 0, 640, 480))
	src := drawn(1)
	draw.ApproxBiLinear.Scale(g, g.Rect, src, src.Rect, draw.Src, nil)
	var state []byte
	for i := range maxViews {
		state = extract(b, event(strconv.Itoa(i), drawn(uint64(i)), state)).State
	}
	x := New()
	ev := event("new", g, state)
	b.ReportAllocs()
	for b.Loop() {
		var out abi.Output
		if err := x.Extract(ev, &out); err != nil {
			b.Fatal(err)
		}
	}
}
