package sight

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/locket-dev/locket/internal/engine"
)

func photo(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "day", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fault(t *testing.T, err error, kind engine.Kind, words string) {
	t.Helper()
	var f *engine.Fault
	if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(f.Error(), words) {
		t.Fatalf("%v, want a fault of kind %s with %q", err, kind, words)
	}
}

func TestReadNotePhoto(t *testing.T) {
	p, err := (&Tesseract{Command: engine.Command{Dir: t.TempDir()}}).Read(t.Context(), photo(t, "note.png"), Hints{})
	if err != nil {
		t.Fatalf("%v (.ci/needs installs it)", err)
	}
	for _, want := range []string{"LANE 128", "BOOK SWAP", "Saturday 26 September", "Open from two until five", "in the courtyard", "Bring two books,", "take two home.", "Tea from Mrs. Shen"} {
		if !strings.Contains(p.Text(), want) {
			t.Errorf("%q is not in %q", want, p.Text())
		}
	}
	if p.Size != image.Pt(640, 480) || p.Confidence() < 0.9 || len(p.Blocks) == 0 {
		t.Errorf("%v, %f, %d blocks", p.Size, p.Confidence(), len(p.Blocks))
	}
	if l := p.Layout(4096); !strings.HasPrefix(l, "640x480 ") || len(strings.Fields(l)) != len(p.Blocks)+1 || len(p.Layout(20)) > 20 {
		t.Errorf("%q", l)
	}
	y := 0
	for _, b := range p.Blocks {
		for _, l := range b.Lines {
			if !l.Box.In(b.Box) || l.Box.Min.Y < y {
				t.Errorf("%+v in %v after %d", l, b.Box, y)
			}
			y = l.Box.Min.Y
		}
	}
}

// written draws lines in two columns, turned anticlockwise by quarters.
func written(t *testing.T, quarters int, left, right []string) []byte {
	t.Helper()
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 28, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	m := image.NewGray(image.Rect(0, 0, 900, 400))
	draw.Draw(m, m.Bounds(), image.White, image.Point{}, draw.Src)
	for i, col := range [][]string{left, right} {
		for j, s := range col {
			d := font.Drawer{Dst: m, Src: image.NewUniform(color.Black), Face: face, Dot: fixed.P(40+i*470, 60+j*44)}
			d.DrawString(s)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, turned(m, -quarters)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadColumns(t *testing.T) {
	left := []string{"The boiler is serviced", "by Harrow & Sons on", "the ninth of October.", "Please leave the key", "with the neighbour."}
	right := []string{"Rubbish is collected", "on Tuesday mornings.", "Glass goes into the", "green container near", "the bicycle shed."}
	for _, quarters := range []int{0, 1, 2, 3} {
		p, err := (&Tesseract{}).Read(t.Context(), written(t, quarters, left, right), Hints{Turn: quarters})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(left, "\n") + "\n\n" + strings.Join(right, "\n")
		if got := p.Text(); got != want || p.Size != image.Pt(900, 400) {
			t.Errorf("turned %d: %v %q, want %q", quarters, p.Size, got, want)
		}
	}
}

func TestPhotosWithoutText(t *testing.T) {
	for _, name := range []string{"coffee-1.jpg", "cat.jpg", "astronaut.jpg"} {
		p, err := (&Tesseract{}).Read(t.Context(), photo(t, name), Hints{})
		if err != nil || p.Text() != "" {
			t.Errorf("%s: %q, %v", name, p.Text(), err)
		}
	}
}

func TestLanguages(t *testing.T) {
	have, lack, err := (&Tesseract{Langs: []string{"eng", "chi_sim", "xyz"}}).Languages(t.Context())
	if err != nil || strings.Join(have, "+") != "eng+chi_sim" || strings.Join(lack, "+") != "xyz" {
		t.Fatalf("%v, %v, %v (.ci/needs installs them)", have, lack, err)
	}
	_, _, err = (&Tesseract{Langs: []string{"xyz"}}).Languages(t.Context())
	fault(t, err, engine.Missing, "xyz")
	_, err = (&Tesseract{Command: engine.Command{Path: t.TempDir()}}).Read(t.Context(), photo(t, "note.png"), Hints{})
	fault(t, err, engine.Missing, "tesseract is not in")
}

func TestBadPhotos(t *testing.T) {
	note := photo(t, "note.png")
	bomb := bytes.Clone(note)
	copy(bomb[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 × 65,536, and the header's checksum with it
	copy(bomb[29:], pngSum(bomb[12:29]))
	for _, c := range map[string]struct {
		data  []byte
		words string
	}{
		"bomb":      {bomb, "65536×65536 pixels"},
		"cut short": {note[:len(note)/2], "png"},
		"no photo":  {[]byte("GIF89a"), "unknown format"},
		"nothing":   {nil, "unknown format"},
	} {
		_, err := (&Tesseract{}).Read(t.Context(), c.data, Hints{})
		fault(t, err, engine.Refused, c.words)

	}
}

func TestTSV(t *testing.T) {
	const head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
	p, err := parseTSV(head + "2\t1\t1\t0\t0\t0\t0\t0\t9\t9\t-1\t\n4\t1\t1\t1\t1\t0\t0\t0\t9\t9\t-1\t\n" +
		"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\t明\n5\t1\t1\t1\t1\t2\t0\t0\t9\t9\t90\t天\n5\t1\t1\t1\t1\t3\t0\t0\t9\t9\t90\t9:30\n" +
		"5\t1\t1\t1\t1\t4\t0\t0\t9\t9\t12\t~~\n5\t1\t1\t1\t1\t4\t0\t0\t9\t9\t90\t开会\n")
	if err != nil || p.Text() != "明天 9:30 开会" {
		t.Errorf("%q, %v", p.Text(), err)
	}
	for _, bad := range []string{
		"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\tword\n",
		"4\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\t\n",
		"2\t1\tx\t0\t0\t0\t0\t0\t9\t9\t-1\t\n",
		"2\t1\t1\t0\t0\t0\t-4\t0\t9\t9\t-1\t\n",
	} {
		_, err := parseTSV(head + bad)
		fault(t, err, engine.Babbled, "")
	}
	if p, err := parseTSV("what is this\n"); err != nil || p.Text() != "" {
		t.Errorf("%q, %v", p.Text(), err)
	}
}

func pngSum(b []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}
