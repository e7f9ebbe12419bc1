// Package pictures makes photos that show the same scene again, and photos that only look similar.
//
// The words:
//
//   - A scene is an original picture: a photo of the fixed day, a printed page,
//     or a drawn room.
//   - A family is a set of scenes that are hard to tell apart: pages of one
//     layout, or frames of one room, with the same light and walls, and things
//     in other places.
//   - A variant is a scene as a wearable sees it again: cropped, brighter, of
//     less quality, moved while it was taken, turned a little.
package pictures

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the day's photos
	_ "image/png"  // the day's pages
	"math/rand/v2"

	"golang.org/x/image/draw"

	"github.com/locket-dev/locket/internal/day"
	files "github.com/locket-dev/locket/testdata/day"
)

// Width and Height of what the wearable sends.
const (
	Width  = 640
	Height = 480
)

// Scene is a picture of 640×480.
type Scene struct {
	Name, Family string
	Gray         *image.Gray
}

// Scenes returns the photos of the day, and then pages and rooms: this many families of each, with
// three scenes per family, drawn from a seed.
func Scenes(families int, seed uint64) ([]Scene, error) {
	var all []Scene
	for _, name := range []string{"astronaut", "cat", "coffee-1", "rocket"} {
		b, err := files.Files.ReadFile(name + ".jpg")
		if err != nil {
			return nil, err
		}
		g, err := decode(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, Scene{name, name, g})
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for f := range families {
		heading := []string{"Shopping", "Minutes", "Timetable", "Recipe", "Rules of the house", "Parts", "Orders", "Guests"}[f%8]
		shape := make([]int, 4+r.IntN(4)) // words of each line: the layout
		for i := range shape {
			shape[i] = 1 + r.IntN(4)
		}
		for k := range 3 {
			b, err := day.RenderNote(page(heading, shape, r))
			if err != nil {
				return nil, err
			}
			g, err := decode(b)
			if err != nil {
				return nil, err
			}
			all = append(all, Scene{fmt.Sprintf("page %d.%d", f, k), fmt.Sprint("page ", f), g})
		}
	}
	for f := range families {
		walls := rand.New(rand.NewPCG(seed, uint64(100+f)))
		room := drawRoom(walls)
		for k := range 3 {
			all = append(all, Scene{fmt.Sprintf("room %d.%d", f, k), fmt.Sprint("room ", f), furnish(room, r)})
		}
	}
	return all, nil
}

// decode reads a picture as the wearable would send it.
func decode(b []byte) (*image.Gray, error) {
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	g := image.NewGray(image.Rect(0, 0, Width, Height))
	draw.CatmullRom.Scale(g, g.Rect, img, img.Bounds(), draw.Src, nil)
	return g, nil
}

var words = []string{"milk", "bread", "two", "o'clock", "Tuesday", "window", "oil", "chair", "before", "Anna", "call", "eleven",
	"never", "salt", "the", "green", "bus", "42", "paper", "flour", "pay", "back", "door", "with", "lamp", "7.50", "tea", "Mr Ito"}

// page returns the lines of a note: one heading, and lines with as many words as shape says.
func page(heading string, shape []int, r *rand.Rand) []string {
	lines := []string{heading}
	for _, n := range shape {
		line := ""
		for range n {
			if w := words[r.IntN(len(words))]; len(line)+len(w) < 26 {
				line += w + " "
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// drawRoom draws a wall, a floor, and what doesn't move: three large things.
func drawRoom(r *rand.Rand) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, Width, Height))
	horizon, light, slope := Height/2+r.IntN(Height/5), 150+r.IntN(80), 2+r.IntN(6)
	for y := range Height {
		for x := range Width {
			v := light - y/slope - x/16
			if y > horizon {
				v = light/2 - (y-horizon)/8
			}
			g.SetGray(x, y, color.Gray{Y: byte(max(0, v))})
		}
	}
	for range 3 {
		box(g, r, 80, 200)
	}
	return g
}

// furnish adds six smaller things at random places.
func furnish(room *image.Gray, r *rand.Rand) *image.Gray {
	g := image.NewGray(room.Rect)
	copy(g.Pix, room.Pix)
	for range 6 {
		box(g, r, 50, 150)
	}
	return g
}

func box(g *image.Gray, r *rand.Rand, least, most int) {
	w, h := least+r.IntN(most-least), least+r.IntN(most-least)
	at := image.Pt(r.IntN(Width-w), r.IntN(Height-h))
	draw.Draw(g, image.Rectangle{at, at.Add(image.Pt(w, h))}, image.NewUniform(color.Gray{Y: byte(r.IntN(256))}), image.Point{}, draw.Src)
}
