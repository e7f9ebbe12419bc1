package day

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"time"
)

// view is the subject of a photo: soft patches of light, and a few things with edges in front of
// them. Products are converted before they are added, so that a compiler can't fuse the two
// operations, and the bytes are the same on every machine.
type view struct {
	light [gridHeight][gridWidth][3]float64 // 0 to 255, at the corners of a grid
	disks []disk
}

type disk struct {
	x, y, rx, ry float64 // in pixels
	colour       [3]float64
}

const (
	viewWidth  = 240 // pixels
	viewHeight = 180
	gridWidth  = 5
	gridHeight = 4
)

// newView draws a view. From left to right it gets lighter or darker by so much that no small
// movement makes two views alike.
func newView(rng *rand.Rand) *view {
	v := &view{}
	for y := range v.light {
		grey := 30 + float64(195*rng.Float64())
		for x := range v.light[y] {
			for c := range 3 {
				v.light[y][x][c] = clamp(grey+float64(30*rng.Float64())-15, 0, 255)
			}
			step := 50 + float64(60*rng.Float64())
			if grey+step > 230 || grey-step > 25 && rng.IntN(2) == 0 {
				step = -step
			}
			grey += step
		}
	}
	for range 5 + rng.IntN(4) {
		d := disk{
			x: rng.Float64() * viewWidth, y: rng.Float64() * viewHeight,
			rx: 9 + float64(21*rng.Float64()), ry: 9 + float64(21*rng.Float64()),
		}
		for c := range d.colour {
			d.colour[c] = 30 + float64(200*rng.Float64())
		}
		v.disks = append(v.disks, d)
	}
	return v
}

// unlike reports whether w gets lighter where v gets darker in four of ten places or more.
func (v *view) unlike(w *view) bool {
	differ, all := 0, 0
	for y := range v.light {
		for x := 1; x < gridWidth; x++ {
			all++
			if (v.light[y][x][1] > v.light[y][x-1][1]) != (w.light[y][x][1] > w.light[y][x-1][1]) {
				differ++
			}
		}
	}
	return 10*differ >= 4*all
}

// place is the position of a coordinate in the grid of lights: the corner before it, and the
// distance towards the next.
type place struct {
	corner int
	part   float64 // 0 to 1, eased
}

// places are the positions of a row or column of pixels, the first of which is at from; beyond the
// edge it continues as at the edge.
func places(from, count, size, corners int) []place {
	out := make([]place, count)
	for i := range out {
		g := clamp(float64(from+i)/float64(size)*float64(corners-1), 0, float64(corners)-1.001)
		out[i] = place{int(g), smooth(g - math.Floor(g))}
	}
	return out
}

// lit is the colour where no disk is.
func (v *view) lit(x, y place) [3]float64 {
	var out [3]float64
	a, b := &v.light[y.corner][x.corner], &v.light[y.corner][x.corner+1]
	c, d := &v.light[y.corner+1][x.corner], &v.light[y.corner+1][x.corner+1]
	for k := range out {
		top := float64(a[k]*(1-x.part)) + float64(b[k]*x.part)
		low := float64(c[k]*(1-x.part)) + float64(d[k]*x.part)
		out[k] = float64(top*(1-y.part)) + float64(low*y.part)
	}
	return out
}

// covers reports whether a point lies on the disk.
func (d *disk) covers(x, y float64) bool {
	dx, dy := (x-d.x)/d.rx, (y-d.y)/d.ry
	return float64(dx*dx)+float64(dy*dy) <= 1
}

func smooth(t float64) float64 { return t * t * (3 - float64(2*t)) }

func clamp(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }

// picture is a photo of a view: moved by dx and dy pixels, with its light multiplied by gain,
// encoded at a quality from 1 to 100.
type picture struct {
	name    string
	view    *view
	dx, dy  int
	gain    float64
	quality int
}

func (p picture) jpeg() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, viewWidth, viewHeight))
	set := func(x, y int, c [3]float64) {
		i := img.PixOffset(x, y)
		for k := range 3 {
			img.Pix[i+k] = uint8(min(float64(c[k]*p.gain)+0.5, 255))
		}
		img.Pix[i+3] = 255
	}
	xs := places(p.dx, viewWidth, viewWidth, gridWidth)
	ys := places(p.dy, viewHeight, viewHeight, gridHeight)
	for y, py := range ys {
		for x, px := range xs {
			set(x, y, p.view.lit(px, py))
		}
	}
	for _, d := range p.view.disks {
		box := image.Rect(int(d.x-d.rx)-p.dx-1, int(d.y-d.ry)-p.dy-1, int(d.x+d.rx)-p.dx+2, int(d.y+d.ry)-p.dy+2).Intersect(img.Bounds())
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				if d.covers(float64(x+p.dx), float64(y+p.dy)) {
					set(x, y, d.colour)
				}
			}
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: p.quality}); err != nil {
		return nil, fmt.Errorf("draw %s: %w", p.name, err)
	}
	return out.Bytes(), nil
}

// drawNote draws the text of a printed note: a notice with a date, or a list.
func (m *maker) drawNote(date time.Time) []string {
	street := m.cast.street
	when := date.AddDate(0, 0, 3+m.rng.IntN(18)).Format("Monday 2 January")
	hour := func() string { return ones[1+m.rng.IntN(9)] }
	switch m.rng.IntN(5) {
	case 0:
		return []string{"FLEA MARKET", street, when, "Open from " + hour() + " until " + hour(), "Tables are free", "Bring your own lamp"}
	case 1:
		items := m.several([]string{"Two lemons", "Brown rice", "Dish soap", "Six eggs", "Olive oil", "Bin bags", "Black pepper", "Light bulbs", "Rye bread"}, 6)
		return append([]string{"SHOPPING LIST"}, items...)
	case 2:
		return []string{"WATER OFF", street, when, "From " + hour() + " in the morning", "for about " + hour() + " hours", "Please fill a bucket"}
	case 3:
		return []string{"LOST CAT", "Grey with white feet", "Last seen in " + street, "Answers to " + m.one(givenNames), "Please look in cellars"}
	}
	return []string{"OPEN HOUSE", m.one(firms), when, "Doors at " + hour(), "Music from " + hour() + " on", "Everybody is welcome"}
}
