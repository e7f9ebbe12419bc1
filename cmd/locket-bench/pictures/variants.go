package pictures

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"golang.org/x/image/draw"
)

// Variant is a way in which a scene is seen again. Make does not change its argument.
type Variant struct {
	Name string
	Make func(*image.Gray) *image.Gray
}

// Variants are crops of 5 to 10 %, light, JPEG of quality 40 and 15, motion of
// up to 15 pixels, turns of up to 5°, and all of them at once.
func Variants() []Variant {
	return []Variant{
		{"crop 5 % all round", func(g *image.Gray) *image.Gray { return crop(g, .05, .05, .05, .05) }},
		{"crop 10 % left", func(g *image.Gray) *image.Gray { return crop(g, .1, 0, 0, 0) }},
		{"crop 8 % top, 4 % right", func(g *image.Gray) *image.Gray { return crop(g, 0, .08, .04, 0) }},
		{"brighter", func(g *image.Gray) *image.Gray { return light(g, 1, 30) }},
		{"darker", func(g *image.Gray) *image.Gray { return light(g, .6, 0) }},
		{"quality 40", func(g *image.Gray) *image.Gray { return quality(g, 40) }},
		{"quality 15", func(g *image.Gray) *image.Gray { return quality(g, 15) }},
		{"moved 9 pixels", func(g *image.Gray) *image.Gray { return moved(g, 9, 3) }},
		{"moved 15 pixels", func(g *image.Gray) *image.Gray { return moved(g, 4, 15) }},
		{"turned 2°", func(g *image.Gray) *image.Gray { return turned(g, 2) }},
		{"turned -5°", func(g *image.Gray) *image.Gray { return turned(g, -5) }},
		{"all together", func(g *image.Gray) *image.Gray {
			return quality(moved(light(turned(crop(g, .03, .02, .02, .04), 1.5), .85, 10), 5, 2), 50)
		}},
	}
}

// crop cuts shares of the sides away; the rest fills the frame.
func crop(g *image.Gray, left, top, right, bottom float64) *image.Gray {
	w, h := float64(g.Rect.Dx()), float64(g.Rect.Dy())
	o := image.NewGray(g.Rect)
	draw.ApproxBiLinear.Scale(o, o.Rect, g, image.Rect(int(left*w), int(top*h), int((1-right)*w), int((1-bottom)*h)), draw.Src, nil)
	return o
}

func light(g *image.Gray, gain, lift float64) *image.Gray {
	o := image.NewGray(g.Rect)
	for i, p := range g.Pix {
		o.Pix[i] = byte(max(0, min(255, float64(p)*gain+lift)))
	}
	return o
}

func quality(g *image.Gray, q int) *image.Gray {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, g, &jpeg.Options{Quality: q}); err != nil {
		panic(fmt.Sprintf("encode a picture in memory: %v", err))
	}
	img, err := jpeg.Decode(&b)
	if err != nil {
		panic(fmt.Sprintf("decode what was just encoded: %v", err))
	}
	o := image.NewGray(g.Rect)
	draw.Draw(o, o.Rect, img, img.Bounds().Min, draw.Src)
	return o
}

// moved blurs a picture as if it moved by dx and dy pixels while the shutter was open.
func moved(g *image.Gray, dx, dy int) *image.Gray {
	w, h, steps := g.Rect.Dx(), g.Rect.Dy(), max(dx, dy)
	sum := make([]int, len(g.Pix))
	for s := range steps {
		ox, oy := s*dx/steps-dx/2, s*dy/steps-dy/2
		for y := range h {
			row := max(0, min(h-1, y+oy)) * g.Stride
			for x := range w {
				sum[y*g.Stride+x] += int(g.Pix[row+max(0, min(w-1, x+ox))])
			}
		}
	}
	o := image.NewGray(g.Rect)
	for i, v := range sum {
		o.Pix[i] = byte(v / steps)
	}
	return o
}

// turned rotates about the centre, and cuts off the empty corners.
func turned(g *image.Gray, degrees float64) *image.Gray {
	w, h := float64(g.Rect.Dx()), float64(g.Rect.Dy())
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	o := image.NewGray(g.Rect)
	for y := range g.Rect.Dy() {
		for x := range g.Rect.Dx() {
			px, py := float64(x)-w/2, float64(y)-h/2
			o.SetGray(x, y, color.Gray{Y: g.GrayAt(int(cos*px-sin*py+w/2), int(sin*px+cos*py+h/2)).Y})
		}
	}
	cut := 0.012 * math.Abs(degrees) // of a side, for 4:3: tan(degrees)·(3/4)/2 is a little less
	return crop(o, cut, cut, cut, cut)
}
