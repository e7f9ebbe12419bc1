package day

import (
	"bytes"
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// The size of a note's picture in pixels: the largest that a plugin is given.
const (
	noteWidth  = 640
	noteHeight = 480
)

// glyphs.png has the ASCII characters of the Go fonts: a row of bold ones of 40 pixels, and below
// it one of regular ones of 34, a cell each. TestGlyphs draws them with the fonts themselves, which
// would make up a hundredth of the program.
//
//go:embed glyphs.png
var glyphs []byte

// The size of a cell in pixels, and the position of a character's origin in it. The value of the
// first pixel is the character's advance; the others are its ink.
const (
	cellWidth, cellHeight = 56, 56
	cellX, cellY          = 8, 40
	firstGlyph, lastGlyph = ' ', '~'
)

// RenderNote draws a printed note, black on paper, and returns it as a PNG. The first line is its
// heading, in bold. The typeface is the Go fonts', at a size that an optical reader reads well
// (capitals of about 25 pixels); there is room for eight lines of 30 letters. The lines are ASCII.
func RenderNote(lines []string) ([]byte, error) {
	sheet, err := png.Decode(bytes.NewReader(glyphs))
	if err != nil {
		return nil, fmt.Errorf("render note: %w", err)
	}
	img := image.NewGray(image.Rect(0, 0, noteWidth, noteHeight))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.Gray{Y: 238}), image.Point{}, draw.Src)
	const margin, leading = 48, 52
	y := margin + 26
	for i, l := range lines {
		if x := writeLine(img, sheet.(*image.Gray), min(i, 1), margin, y, l); x < 0 || x > noteWidth-margin || y > noteHeight-margin/2 {
			return nil, fmt.Errorf("render note: line %d, %q, does not fit", i+1, l)
		}
		y += leading
	}
	frame(img, 14, color.Gray{Y: 150})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, fmt.Errorf("render note: %w", err)
	}
	return out.Bytes(), nil
}

// writeLine writes a line with the characters of a row, and returns where it ends; -1: a character
// is missing.
func writeLine(img draw.Image, sheet *image.Gray, row, x, y int, line string) int {
	ink := &image.Alpha{Pix: sheet.Pix, Stride: sheet.Stride, Rect: sheet.Rect}
	for _, r := range line {
		if r < firstGlyph || r > lastGlyph {
			return -1
		}
		cell := image.Pt(int(r-firstGlyph)*cellWidth, row*cellHeight)
		// The row with the advance has no ink.
		draw.DrawMask(img, image.Rect(x-cellX, y-cellY+1, x-cellX+cellWidth, y-cellY+cellHeight), image.NewUniform(color.Gray{Y: 24}), image.Point{},
			ink, cell.Add(image.Pt(0, 1)), draw.Over)
		x += int(sheet.GrayAt(cell.X, cell.Y).Y)
	}
	return x
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
