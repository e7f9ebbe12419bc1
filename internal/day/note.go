package day

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The size of a note's picture in pixels: what a plugin is given at most.
const (
	noteWidth  = 640
	noteHeight = 480
)

// RenderNote draws a printed note, black on paper, and gives it as a PNG. The
// first line is its heading, in bold. The type is the Go fonts', at a size
// that an optical reader is at home with (capitals of about 25 pixels); eight
// lines of 30 letters have room.
func RenderNote(lines []string) ([]byte, error) {
	img := image.NewGray(image.Rect(0, 0, noteWidth, noteHeight))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.Gray{Y: 238}), image.Point{}, draw.Src)
	const margin, leading = 48, 52
	y := margin + 26
	heading, err := newFace(gobold.TTF, 40)
	if err != nil {
		return nil, fmt.Errorf("render note: %w", err)
	}
	body, err := newFace(goregular.TTF, 34)
	if err != nil {
		return nil, fmt.Errorf("render note: %w", err)
	}
	for i, l := range lines {
		face := body
		if i == 0 {
			face = heading
		}
		d := font.Drawer{Dst: img, Src: image.NewUniform(color.Gray{Y: 24}), Face: face, Dot: fixed.P(margin, y)}
		if d.MeasureString(l).Ceil() > noteWidth-2*margin || y > noteHeight-margin/2 {
			return nil, fmt.Errorf("render note: line %d, %q, does not fit", i+1, l)
		}
		d.DrawString(l)
		y += leading
	}
	frame(img, 14, color.Gray{Y: 150})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, fmt.Errorf("render note: %w", err)
	}
	return out.Bytes(), nil
}

func newFace(ttf []byte, size float64) (font.Face, error) {
	f, err := opentype.Parse(ttf)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
}

// frame draws the paper's edge, two pixels wide.
func frame(img draw.Image, inset int, c color.Color) {
	r := img.Bounds().Inset(inset)
	src := image.NewUniform(c)
	for _, side := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+2)}, {image.Pt(r.Min.X, r.Max.Y-2), r.Max},
		{r.Min, image.Pt(r.Min.X+2, r.Max.Y)}, {image.Pt(r.Max.X-2, r.Min.Y), r.Max},
	} {
		draw.Draw(img, side, src, image.Point{}, draw.Src)
	}
}
