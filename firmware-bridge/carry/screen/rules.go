package screen

import (
	"encoding/binary"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

// never are window classes of programs that show or ask for secrets.
var never = []string{"keepass", "bitwarden", "1password", "lastpass", "enpass", "proton pass", "seahorse", "pinentry", "polkit", "askpass", "gcr-prompter", "kwallet", "gksu", "tor browser", "authenticator"}

// private are words in titles of private windows, and of pages that ask for a password, in many
// languages. A browser shows them in its own language.
var private = []string{
	"private browsing", "incognito", "inprivate", "(private)", "inkognito", "privater modus", "privates fenster", "navigation privée", "navegación privada", "navegación de incógnito",
	"navigazione anonima", "navegação anônima", "приватный просмотр", "инкогнито", "隐私浏览", "隐私窗口", "无痕", "無痕", "プライベート", "シークレット",
	"password", "passwort", "kennwort", "mot de passe", "contraseña", "密码", "パスワード", "sign in", "log in", "login", "anmelden",
}

// hides says why nothing of a desktop may be taken now; empty: it may. The text does not name what
// is hidden.
func hides(d link.Desktop, deny []string) string {
	switch {
	case d.Locked:
		return "the screen is locked"
	case d.Front == nil:
		return "no window is in front"
	}
	for _, w := range append([]link.Window{*d.Front}, d.Above...) {
		app, title := strings.ToLower(w.App), strings.ToLower(w.Title)
		in := func(s string) func(string) bool {
			return func(part string) bool { return strings.Contains(s, strings.ToLower(part)) }
		}
		switch {
		case app == "":
			return "a window does not say what it is"
		case slices.ContainsFunc(never, in(app)), slices.ContainsFunc(private, in(title)):
			return "a private window is open"
		case slices.ContainsFunc(deny, in(app)), slices.ContainsFunc(deny, in(title)):
			return "a window is open that must not be remembered"
		}
	}
	return ""
}

// picture decodes a shot, in the format of [link.Window.Shot].
func picture(b []byte) (*image.RGBA, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("screen: a shot of %d bytes", len(b))
	}
	width, height := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	b = b[8:]
	if width > maxSide || height > maxSide || uint64(len(b)) != 4*uint64(width)*uint64(height) {
		return nil, fmt.Errorf("screen: %d bytes of %d×%d pixels", len(b), width, height)
	}
	m := image.NewRGBA(image.Rect(0, 0, int(width), int(height)))
	for i := 0; i < len(b); i += 4 {
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = b[i+2], b[i+1], b[i], 255
	}
	return m, nil
}

// maxSide is the most pixels along a side of an X11 screen, or of a shot.
const maxSide = 1<<16 - 1

const (
	block = 16 // side, in pixels, of the blocks that are compared
	small = 24 // of 255: differences up to it do not count, such as a cursor's shadow
)

// alike returns the share of two pictures, in blocks, that does not differ, from 0 to 1; 0 if their
// sizes differ.
func alike(a, b *image.RGBA) float64 {
	if a == nil || a.Rect != b.Rect {
		return 0
	}
	same, all := 0, 0
	for y := 0; y < b.Rect.Dy(); y += block {
		for x := 0; x < b.Rect.Dx(); x += block {
			all++
			if sameBlock(a, b, x, y) {
				same++
			}
		}
	}
	return float64(same) / float64(max(all, 1))
}

func sameBlock(a, b *image.RGBA, x, y int) bool {
	for row := y; row < min(y+block, b.Rect.Dy()); row++ {
		from, to := b.PixOffset(x, row), b.PixOffset(min(x+block, b.Rect.Dx()), row)
		for i := from; i < to; i++ {
			if d := int(a.Pix[i]) - int(b.Pix[i]); d > small || d < -small {
				return false
			}
		}
	}
	return true
}
