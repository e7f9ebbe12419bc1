package link

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// ScreenState is the characteristic of a desktop's state, a [Desktop] as JSON.
const ScreenState = "screen"

// Desktop is what can be seen now.
type Desktop struct {
	Locked bool     `json:"locked"` // or the screen saver is on
	Front  *Window  `json:"front"`  // has the focus; nil: none
	Above  []Window `json:"above"`  // windows that cover it or shine through it, or might
	// Turn counts changes of the windows and of the focus, and Titled counts changes of the focused
	// window's title. If two values are equal, nothing has changed in between.
	Turn   uint64 `json:"turn,omitempty"`
	Titled uint64 `json:"titled,omitempty"`
	// Unseen: more may cover the window in front than Above lists, such as notifications.
	Unseen bool `json:"unseen,omitempty"`
}

// Window is a part of a screen, cut at the screen's edge, in pixels from its top left.
type Window struct {
	App    string `json:"app"`   // its class; empty: it has none
	Title  string `json:"title"` // empty: it has none
	X      int    `json:"x"`
	Y      int    `json:"y"`
	Width  int    `json:"width"` // 0: its place is not known, so it can't be shown alone
	Height int    `json:"height"`
	// With several screens: the screen's name, and its size in the units of the window's place. Its
	// physical pixels may be more.
	Screen       string `json:"screen,omitempty"`
	ScreenWidth  int    `json:"screen_width,omitempty"`
	ScreenHeight int    `json:"screen_height,omitempty"`
}

// Shot is the characteristic of the window's pixels: width and height, of 4 bytes each, the lowest
// first, and rows from the top, of 4 bytes a pixel: blue, green, red, and an unused one.
func (w Window) Shot() string {
	return fmt.Sprintf("shot/%d/%d/%d/%d/%d/%d/%s", w.X, w.Y, w.Width, w.Height, w.ScreenWidth, w.ScreenHeight, w.Screen)
}

// parseShot returns the part of the screen that a characteristic of Shot names.
func parseShot(char string) (w Window, ok bool) {
	list := strings.SplitN(char, "/", 8)
	if len(list) != 8 || list[0] != "shot" {
		return w, false
	}
	for i, to := range []*int{&w.X, &w.Y, &w.Width, &w.Height, &w.ScreenWidth, &w.ScreenHeight} {
		n, err := strconv.Atoi(list[i+1])
		if err != nil {
			return w, false
		}
		*to = n
	}
	w.Screen = list[7]
	return w, true
}

// shot encodes the value of Shot.
func shot(width, height int, pix []byte) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+len(pix)), uint32(width))
	return append(binary.LittleEndian.AppendUint32(b, uint32(height)), pix...)
}

// cut reduces w to its intersection with by, and reports whether that is not empty.
func (w *Window) cut(by Window) bool {
	right, bottom := min(w.X+w.Width, by.X+by.Width), min(w.Y+w.Height, by.Y+by.Height)
	w.X, w.Y = max(w.X, by.X), max(w.Y, by.Y)
	w.Width, w.Height = right-w.X, bottom-w.Y
	return w.Width > 0 && w.Height > 0
}
