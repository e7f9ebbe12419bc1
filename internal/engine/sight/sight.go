// Package sight reads what a photo shows: text, with Tesseract as a program,
// and what the picture shows, with an OpenAI-compatible service if the user has
// configured one.
//
// A [Frame] is a photo with its time, and a sequence is several photos taken
// one after another; similar ones count as one.
//
// A [Page] is the text of one photo: blocks of lines of words, each with a box
// and a confidence. Most photos have no text, and Tesseract sees letters in
// leaves and fur, so a page counts only if enough of it was read with
// confidence.
package sight

import (
	"context"
	"fmt"
	"image"
	"strings"
	"unicode"
)

// Reader reads the text in one photo at a time. Its errors are *engine.Fault,
// or that of ctx. Implementations are safe for concurrent use.
type Reader interface {
	Name() string
	Read(ctx context.Context, photo []byte, hint Hints) (Page, error)
}

// Hints are what is already known about a photo.
type Hints struct {
	Turn int // quarter turns clockwise that put it upright, 0 to 3
}

// Page is the text of a photo.
type Page struct {
	Size   image.Point // of the photo, upright, in pixels
	Blocks []Block
}

// Block is a group of lines that belong together, such as a column, a caption
// or a label.
type Block struct {
	Box   image.Rectangle
	Lines []Line
}

// Line is one line of text.
type Line struct {
	Box        image.Rectangle
	Text       string
	Confidence float64 // 0 to 1, the mean over its words
}

// These are the least values for text to count. They were chosen by hand with
// the photos of testdata/day, in which Tesseract finds up to 3 letters where
// there are none.
const (
	leastWord    = 0.6 // confidence of a word that is kept
	leastLine    = 0.7 // mean confidence of a line that is kept
	leastLetters = 8   // letters and digits in all; half as many of Chinese
)

// Text returns the page's text, with an empty line between blocks.
func (p *Page) Text() string {
	var b strings.Builder
	for i, blk := range p.Blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range blk.Lines {
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

// Layout describes the blocks' positions, for showing them on the photo: WIDTHxHEIGHT of the photo,
// then for each block its number of lines, left, top, width, height in pixels and confidence in
// hundredths, with spaces between blocks: "640x480 2:12,40,300,60:93". It has at most n bytes;
// blocks for which there is no room are left out.
func (p *Page) Layout(n int) string {
	out := fmt.Sprintf("%dx%d", p.Size.X, p.Size.Y)
	for _, b := range p.Blocks {
		one := Page{Blocks: []Block{b}}
		next := fmt.Sprintf(" %d:%d,%d,%d,%d:%.0f", len(b.Lines), b.Box.Min.X, b.Box.Min.Y, b.Box.Dx(), b.Box.Dy(), 100*one.Confidence())
		if len(out)+len(next) > n {
			break
		}
		out += next
	}
	return out
}

// Confidence is the mean of the lines', weighted by their length in bytes; 0 if there are none.
func (p *Page) Confidence() float64 {
	var sum, n float64
	for _, blk := range p.Blocks {
		for _, l := range blk.Lines {
			sum += l.Confidence * float64(len(l.Text))
			n += float64(len(l.Text))
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// printed reports whether the page has enough text to count.
func (p *Page) printed() bool {
	n := 0
	for _, r := range p.Text() {
		switch {
		case unicode.Is(unicode.Han, r):
			n += 2
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n >= leastLetters
}
