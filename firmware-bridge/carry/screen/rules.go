package screen

import (
	"encoding/binary"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

// never are classes of programs that show or ask for secrets.
var never = []string{"keepass", "bitwarden", "1password", "lastpass", "enpass", "proton pass", "seahorse", "pinentry", "polkit", "askpass", "gcr-prompter", "kwallet", "gksu", "tor browser", "authenticator"}

// private is what titles of private windows have, and of pages that ask for a password, in the
// languages of many. A browser says it in its own language.
var private = []string{
	"private browsing", "incognito", "inprivate", "(private)", "inkognito", "privater modus", "privates fenster", "navigation privée", "navegación privada", "navegación de incógnito",
	"navigazione anonima", "navegação anônima", "приватный просмотр", "инкогнито", "隐私浏览", "隐私窗口", "无痕", "無痕", "プライベート", "シークレット",
	"password", "passwort", "kennwort", "mot de passe", "contraseña", "密码", "パスワード", "sign in", "log in", "login", "anmelden",
}

// hides says why nothing may be taken of a desktop now; empty: it may. The words don't name what is hidden.
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

// picture makes one of a shot, as [link.Window.Shot] has it.
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

// maxSide is the most pixels that a side of an X11 screen has, or a shot.
const maxSide = 1<<16 - 1

const (
	block = 16 // pixels: the side of what is compared as one
	small = 24 // of 255: a difference that is none, as of a cursor's shadow
)

// alike gives the part of two pictures, in blocks, in which nothing differs, from 0 to 1; 0 where
// they have other sizes.
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
