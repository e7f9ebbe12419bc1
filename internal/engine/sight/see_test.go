package sight

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
)

// seeing returns a vision model, and the costs that were booked for it.
func seeing(t *testing.T, s *llmtest.Server) (*cost.Meter, *cost.Spent) {
	t.Helper()
	c, err := llm.New(llm.Config{URL: s.URL, Model: s.Model(), Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	booked := &cost.Spent{}
	return &cost.Meter{Model: c, Named: s.Model(), Afford: func(context.Context) error { return nil },
		Book: func(_ context.Context, s cost.Spent) error { booked.Add(s); return nil }}, booked
}

// shown returns the pictures of a request.
func shown(t *testing.T, r *llmtest.Request) (out []image.Image, raw [][]byte) {
	t.Helper()
	for _, part := range strings.Split(r.Body, "base64,")[1:] {
		data, _, _ := strings.Cut(part, `"`)
		b, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out, raw = append(out, m), append(raw, b)
	}
	return out, raw
}

func TestCaption(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Say(" A cat on a sofa. "))
	m, booked := seeing(t, s)
	got, err := Caption(t.Context(), m, photo(t, "cat.jpg"), Hints{Turn: 1})
	if err != nil || got != "A cat on a sofa." || booked.Calls != 1 || booked.Tokens() == 0 {
		t.Fatalf("%q, %v, %+v", got, err, booked)
	}
	cat, _, err := image.DecodeConfig(bytes.NewReader(photo(t, "cat.jpg")))
	if err != nil {
		t.Fatal(err)
	}
	pictures, _ := shown(t, &s.Requests()[0])
	if size := pictures[0].Bounds().Size(); len(pictures) != 1 || size != image.Pt(cat.Height, cat.Width) {
		t.Errorf("%d pictures, %v", len(pictures), size)
	}
	s.Otherwise(llmtest.Say(strings.Repeat("a ", MaxCaption)))
	_, err = Caption(t.Context(), m, photo(t, "cat.jpg"), Hints{})
	fault(t, err, engine.Babbled, "a caption of")
	_, err = Caption(t.Context(), m, []byte("<svg/>"), Hints{})
	fault(t, err, engine.Refused, "unknown format")
}

// What the camera wrote in addition to the pixels, such as the place, is not sent.
func TestExifIsNotSent(t *testing.T) {
	marked := photo(t, "cat.jpg")
	secret := append([]byte("Exif\x00\x00"), "N 51 03 E 003 43"...)
	segment := append([]byte{0xff, 0xe1, 0, byte(len(secret) + 2)}, secret...)
	marked = append(append(append([]byte{}, marked[:2]...), segment...), marked[2:]...)
	s := llmtest.New(t, llmtest.Options{})
	m, _ := seeing(t, s)
	if _, err := Caption(t.Context(), m, marked, Hints{}); err != nil {
		t.Fatal(err)
	}
	_, raw := shown(t, &s.Requests()[0])
	if len(raw) != 1 || bytes.Contains(raw[0], []byte("E 003 43")) || bytes.Contains(raw[0], []byte("Exif")) {
		t.Error("what the camera wrote was sent")
	}
}

func TestDescribeSeries(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	at := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	var series Series
	for i, name := range []string{"cat.jpg", "cat.jpg", "note.png"} { // the second cat is not shown
		shown, err := series.Add(Frame{At: at.Add(time.Duration(i) * time.Minute), Photo: photo(t, name)})
		if err != nil || shown != (i != 1) {
			t.Fatalf("%s: %v, %v", name, shown, err)
		}
	}
	_, err := series.Add(Frame{At: at, Photo: photo(t, "note.png")[:900]})
	fault(t, err, engine.Refused, "photo")
	s.Script(
		llmtest.Say(`{"summary":"","frames":[]}`),
		llmtest.Say(`{"summary":"A cat, and then a note.","frames":[{"n":3,"caption":"A third."}]}`),
		llmtest.Say(`{"summary":"A cat, and then a note.","frames":[{"n":2,"caption":"A note on a wall."}]}`))
	m, booked := seeing(t, s)
	got, err := series.Watch(t.Context(), m)
	if err != nil || got.Text() != "A cat, and then a note.\n10:02:00 A note on a wall." || got.Summary != "A cat, and then a note." || got.Captions[0] != "" || got.Captions[1] != "A note on a wall." {
		t.Fatalf("%+v, %v", got, err)
	}
	asked := s.Requests()
	if len(asked) != 3 || asked[2].Pictures != 2 || !strings.Contains(asked[2].Messages[0].Content, "2026-09-14T10:02:00Z") || booked.Tokens() < 6000 {
		t.Errorf("%d requests, %+v, %+v", len(asked), asked[2].Messages[0], booked)
	}
	_, err = series.Watch(t.Context(), m)
	fault(t, err, engine.Refused, "no photo")
	s.Otherwise(llmtest.Say(`{"summary":"Notes.","frames":[]}`))
	p, err := sent(photo(t, "note.png"), 0, sideAmong)
	if err != nil {
		t.Fatal(err)
	}
	for range MaxFrames + 1 {
		series.pictures, series.times = append(series.pictures, p), append(series.times, at)
	}
	for _, n := range []int{MaxFrames, 1} { // and at most that many at once
		if got, err := series.Watch(t.Context(), m); err != nil || len(got.Captions) != n || len(got.Times) != n {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestAsk(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Script(llmtest.Say(`{"known":true,"answer":"","seen":""}`), llmtest.Say(`{"known":true,"answer":"On Saturday.","seen":"the note's second line"}`),
		llmtest.Say(`{"known":false,"answer":"Perhaps on Sunday.","seen":"a guess"}`))
	m, _ := seeing(t, s)
	f := Frame{At: time.Now(), Photo: photo(t, "note.png")}
	if r, err := Ask(t.Context(), m, "When is the swap?", f); err != nil || r != (Reply{true, "On Saturday.", "the note's second line"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := Ask(t.Context(), m, "Who was there?", f); err != nil || r != (Reply{}) {
		t.Errorf("a guess is taken: %+v, %v", r, err)
	}
	s.Otherwise(llmtest.Say("I can't see anything"))
	_, err := Ask(t.Context(), m, "When?", f)
	if f := (*llm.Fault)(nil); !errors.As(err, &f) || f.Kind != llm.Babbled {
		t.Error(err)
	}
}

// Photos of one scene with another exposure or compression are similar. Other scenes are not, nor
// are two printed pages, nor a page with one more line.
func TestSimilarPhotos(t *testing.T) {
	look := func(b []byte) *Look {
		t.Helper()
		m, err := decode("test", b, 0)
		if err != nil {
			t.Fatal(err)
		}
		return lookOf(m)
	}
	again := func(b []byte, brighter int) []byte {
		t.Helper()
		m, _, err := image.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out := image.NewRGBA(m.Bounds())
		draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Src)
		for i := range out.Pix {
			if i%4 < 3 {
				out.Pix[i] = uint8(min(255, int(out.Pix[i])+brighter))
			}
		}
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, out, &jpeg.Options{Quality: 60}); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	names := []string{"cat.jpg", "coffee-1.jpg", "astronaut.jpg", "note.png"}
	for i, name := range names {
		for _, brighter := range []int{0, 6} {
			if !look(photo(t, name)).alike(look(again(photo(t, name), brighter))) {
				t.Errorf("%s, brighter by %d, is another picture", name, brighter)
			}
		}
		for _, other := range names[:i] {
			if look(photo(t, name)).alike(look(photo(t, other))) {
				t.Errorf("%s is alike to %s", name, other)
			}
		}
	}
	lines := []string{"The boiler is serviced", "by Harrow & Sons on", "the ninth of October.", "Please leave the key", "with the neighbour."}
	page := look(written(t, 0, lines, nil))
	for what, other := range map[string][]byte{
		"with a line more":   written(t, 0, append(lines[:5:5], "Thank you."), nil),
		"scrolled by a line": written(t, 0, append(lines[1:5:5], "Thank you very much."), nil),
		"with another line":  written(t, 0, []string{lines[0], lines[1], "the tenth of November.", lines[3], lines[4]}, nil),
		"white":              white(t),
	} {
		if page.alike(look(other)) {
			t.Errorf("a page is alike to one %s", what)
		}
	}
}

func white(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 900, 400))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
