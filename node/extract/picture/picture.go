// Package picture decodes photos into the form that plugins see: grey and RGB
// of at most 640×480, upright.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// The largest picture that plugins are given.
const (
	MaxWidth  = 640
	MaxHeight = 480
)

// These limit the size that a photo may claim: 24 megapixels, which decode to
// about 100 MB, which a small board can still spare for a moment. A progressive
// JPEG takes up to four times as much.
const (
	maxPixels = 24 << 20
	maxBytes  = 4 * maxPixels
)

// ErrFormat: the bytes are not a photo that can be read.
var ErrFormat = errors.New("picture format")

// Picture is a decoded photo.
type Picture struct {
	Width, Height             int
	Gray                      []byte // Width×Height
	RGB                       []byte // 3×Width×Height
	SourceWidth, SourceHeight int
	MediaType                 string
}

// Decode reads a JPEG or PNG. Sizes are checked before anything is allocated
// for the pixels.
func Decode(file []byte) (p *Picture, err error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	most := maxPixels
	if cfg.ColorModel == color.RGBA64Model || cfg.ColorModel == color.NRGBA64Model {
		most = maxBytes / 8
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > most/cfg.Height {
		return nil, fmt.Errorf("%w: %d×%d pixels, at most %d", ErrFormat, cfg.Width, cfg.Height, most)
	}
	var img image.Image
	switch format {
	case "jpeg":
		img, err = jpeg.Decode(bytes.NewReader(file))
	case "png":
		img, err = png.Decode(bytes.NewReader(file))
	default:
		return nil, fmt.Errorf("%w: the format %s is not supported", ErrFormat, format)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	p = &Picture{SourceWidth: cfg.Width, SourceHeight: cfg.Height, MediaType: "image/" + format}
	p.Width, p.Height = fit(cfg.Width, cfg.Height)
	small := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
	p.Gray, p.RGB = make([]byte, p.Width*p.Height), make([]byte, 3*p.Width*p.Height)
	for i := range p.Gray {
		r, g, b := small.Pix[4*i], small.Pix[4*i+1], small.Pix[4*i+2]
		p.RGB[3*i], p.RGB[3*i+1], p.RGB[3*i+2] = r, g, b
		p.Gray[i] = byte((299*int(r) + 587*int(g) + 114*int(b) + 500) / 1000) // ITU-R BT.601
	}
	return p, nil
}

// fit returns the size that fits the bounds, in landscape or portrait, and
// never enlarged.
func fit(w, h int) (int, int) {
	mw, mh := MaxWidth, MaxHeight
	if h > w {
		mw, mh = mh, mw
	}
	if w <= mw && h <= mh {
		return w, h
	}
	if w*mh > h*mw {
		return mw, max(1, h*mw/w)
	}
	return max(1, w*mh/h), mh
}

// Turn turns the picture clockwise by 90, 180 or 270 degrees; anything else
// leaves it as it is.
func (p *Picture) Turn(degrees int) {
	if degrees != 90 && degrees != 180 && degrees != 270 {
		return
	}
	w, h := p.Width, p.Height
	if degrees != 180 {
		p.Width, p.Height = h, w
	}
	gray, rgb := make([]byte, len(p.Gray)), make([]byte, len(p.RGB))
	for y := range h {
		for x := range w {
			nx, ny := w-1-x, h-1-y // 180
			switch degrees {
			case 90:
				nx, ny = h-1-y, x
			case 270:
				nx, ny = y, w-1-x
			}
			from, to := y*w+x, ny*p.Width+nx
			gray[to] = p.Gray[from]
			copy(rgb[3*to:3*to+3], p.RGB[3*from:])
		}
	}
	p.Gray, p.RGB = gray, rgb
}
