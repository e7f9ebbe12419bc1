package sight

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"  // the format of wearables
	_ "image/png" // the format of screenshots
	"strconv"

	scale "golang.org/x/image/draw"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/llm"
)

// Limits on a photo.
const (
	MaxPhoto  = 32 << 20 // bytes
	MaxPixels = 40 << 20
)

// decode returns a photo in grey, upright. The programs that read text are given these pixels and
// never the file, so that no decoder in C reads it.
func decode(name string, photo []byte, turn int) (*image.Gray, error) {
	m, err := opened(name, photo)
	if err != nil {
		return nil, err
	}
	return turned(grey(m), turn), nil
}

// opened decodes a photo within the limits.
func opened(name string, photo []byte) (image.Image, error) {
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
	return m, nil
}

// sent converts a photo for a service.
func sent(photo []byte, turn, side int) (llm.Picture, error) {
	m, err := opened("vision", photo)
	if err != nil {
		return llm.Picture{}, err
	}
	return small(m, turn, side)
}

// small converts a picture for a service: only its pixels, upright, with a longer side of at most
// side pixels, as a JPEG. Other data of the camera, such as the place, is not sent.
func small(m image.Image, turn, side int) (llm.Picture, error) {
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	if long := max(w, h); long > side {
		w, h = max(1, w*side/long), max(1, h*side/long)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src) // behind transparent pixels
	scale.ApproxBiLinear.Scale(out, out.Bounds(), m, m.Bounds(), scale.Over, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, upright(out, turn), &jpeg.Options{Quality: 85}); err != nil {
		return llm.Picture{}, fmt.Errorf("vision: write the photo anew: %w", err)
	}
	return llm.Picture{Media: "image/jpeg", Data: b.Bytes()}, nil
}

// upright turns m clockwise by quarters.
func upright(m *image.RGBA, quarters int) *image.RGBA {
	for range (quarters%4 + 4) % 4 {
		w, h := m.Rect.Dx(), m.Rect.Dy()
		out := image.NewRGBA(image.Rect(0, 0, h, w))
		for y := range h {
			for x := range w {
				out.SetRGBA(h-1-y, x, m.RGBAAt(x, y))
			}
		}
		m = out
	}
	return m
}

func grey(m image.Image) *image.Gray {
	r := m.Bounds()
	out := image.NewGray(image.Rect(0, 0, r.Dx(), r.Dy()))
	switch m := m.(type) {
	case *image.YCbCr: // the Y of a JPEG is its grey
		for y := range r.Dy() {
			from := m.YOffset(r.Min.X, r.Min.Y+y)
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], m.Y[from:from+r.Dx()])
		}
	default:
		draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src) // behind transparent pixels
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
