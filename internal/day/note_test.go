package day

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

var update = flag.Bool("update", false, "write the glyphs anew")

// The glyphs match the Go fonts.
func TestGlyphs(t *testing.T) {
	sheet := image.NewGray(image.Rect(0, 0, (lastGlyph-firstGlyph+1)*cellWidth, 2*cellHeight))
	for row, face := range noteFaces(t) {
		for r := rune(firstGlyph); r <= lastGlyph; r++ {
			cell := image.Pt(int(r-firstGlyph)*cellWidth, row*cellHeight)
			at, mask, from, advance, ok := face.Glyph(fixed.P(cell.X+cellX, cell.Y+cellY), r)
			if !ok || advance&63 != 0 || !at.In(image.Rect(0, 1, cellWidth, cellHeight).Add(cell)) {
				t.Fatalf("%c is at %v of %v and advances by %v", r, at, cell, advance)
			}
			draw.DrawMask(sheet, at, image.White, image.Point{}, mask, from, draw.Over)
			sheet.SetGray(cell.X, cell.Y, color.Gray{Y: uint8(advance.Round())})
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, sheet); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("glyphs.png", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	held, err := png.Decode(bytes.NewReader(glyphs))
	if err != nil || !bytes.Equal(held.(*image.Gray).Pix, sheet.Pix) {
		t.Errorf("glyphs.png is not what the fonts draw: go test ./internal/day -run Glyphs -update; %v", err)
	}
}

// A line looks as if written with the fonts.
func TestLetteringMatchesTheFonts(t *testing.T) {
	sheet, err := png.Decode(bytes.NewReader(glyphs))
	if err != nil {
		t.Fatal(err)
	}
	for row, face := range noteFaces(t) {
		for _, line := range []string{"FLEA MARKET", "AVATAR, Ty. \"fj\"", "Open from two until ~seven", "WATER OFF {1} To: jq@y|"} {
			got, want := image.NewGray(image.Rect(0, 0, 800, 80)), image.NewGray(image.Rect(0, 0, 800, 80))
			end := writeLine(got, sheet.(*image.Gray), row, 10, 50, line)
			d := font.Drawer{Dst: want, Src: image.NewUniform(color.Gray{Y: 24}), Face: face, Dot: fixed.P(10, 50)}
			d.DrawString(line)
			if !bytes.Equal(got.Pix, want.Pix) || end != d.Dot.X.Ceil() {
				t.Errorf("%q is written otherwise, to %d and not %v", line, end, d.Dot.X)
			}
		}
	}
}

func noteFaces(t *testing.T) (faces []font.Face) {
	t.Helper()
	for _, f := range []struct {
		ttf  []byte
		size float64
	}{{gobold.TTF, 40}, {goregular.TTF, 34}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			t.Fatal(err)
		}
		face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			t.Fatal(err)
		}
		faces = append(faces, face)
	}
	return faces
}
