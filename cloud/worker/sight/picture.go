package sight

import (
	"bytes"
	"image"
	"image/draw"
	_ "image/jpeg" // what wearables send
	_ "image/png"
	"strconv"

	"github.com/locket-dev/locket/cloud/worker/engine"
)

// Limits on a photo.
const (
	MaxPhoto  = 32 << 20 // bytes
	MaxPixels = 40 << 20
)

// decode gives a photo in grey, upright. The programs that read print are given
// these pixels and never the file, so that no decoder in C sees it.
func decode(name string, photo []byte, turn int) (*image.Gray, error) {
	if len(photo) > MaxPhoto {
		return nil, engine.Faultf(name, engine.Refused, "the photo: %d bytes, at most %d", len(photo), MaxPhoto)
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(photo))
	if err != nil {
		return nil, engine.Faultf(name, engine.Refused, "the photo: %v", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > MaxPixels/cfg.Height {
		return nil, engine.Faultf(name, engine.Refused, "the photo: %d×%d pixels, at most %d in all", cfg.Width, cfg.Height, MaxPixels)
	}
	m, _, err := image.Decode(bytes.NewReader(photo))
	if err != nil {
		return nil, engine.Faultf(name, engine.Refused, "the photo: %s: %v", format, err)
	}
	return turned(grey(m), turn), nil
}

func grey(m image.Image) *image.Gray {
	r := m.Bounds()
	out := image.NewGray(image.Rect(0, 0, r.Dx(), r.Dy()))
	switch m := m.(type) {
	case *image.YCbCr: // a JPEG's Y is its grey
		for y := range r.Dy() {
			from := m.YOffset(r.Min.X, r.Min.Y+y)
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], m.Y[from:from+r.Dx()])
		}
	default:
		draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src) // under what is transparent
		draw.Draw(out, out.Bounds(), m, r.Min, draw.Over)
	}
	return out
}

// turned turns m clockwise by quarters.
func turned(m *image.Gray, quarters int) *image.Gray {
	quarters = (quarters%4 + 4) % 4
	if quarters == 0 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	ow, oh := w, h
	if quarters%2 == 1 {
		ow, oh = h, w
	}
	out := image.NewGray(image.Rect(0, 0, ow, oh))
	for y := range h {
		for x := range w {
			var ox, oy int
			switch quarters {
			case 1:
				ox, oy = h-1-y, x
			case 2:
				ox, oy = w-1-x, h-1-y
			case 3:
				ox, oy = y, w-1-x
			}
			out.Pix[oy*out.Stride+ox] = m.Pix[y*m.Stride+x]
		}
	}
	return out
}

// pgm writes m as a portable grey map (netpbm, P5).
func pgm(m *image.Gray) []byte {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	b := append([]byte{}, "P5\n"+strconv.Itoa(w)+" "+strconv.Itoa(h)+"\n255\n"...)
	return append(b, m.Pix[:w*h]...)
}
