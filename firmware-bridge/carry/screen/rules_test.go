package screen

import (
	"image"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

func TestHiddenWindows(t *testing.T) {
	w := func(app, title string) link.Window { return link.Window{App: app, Title: title, Width: 1, Height: 1} }
	front := func(app, title string, above ...link.Window) link.Desktop {
		f := w(app, title)
		return link.Desktop{Front: &f, Above: above}
	}
	deny := []string{"signal", "My Diary"}
	for _, c := range []struct {
		name string
		d    link.Desktop
		want string
	}{
		{"a text", front("Editor", "Letter"), ""},
		{"a title in Chinese", front("LibreOffice", "报告"), ""},
		{"no title", front("Editor", ""), ""},
		{"locked", link.Desktop{Locked: true}, "the screen is locked"},
		{"nothing", link.Desktop{}, "no window is in front"},
		{"no class", front("", "x"), "a window does not say what it is"},
		{"no class above", front("Editor", "x", w("", "")), "a window does not say what it is"},
		{"Firefox", front("firefox", "News — Mozilla Firefox Private Browsing"), "a private window is open"},
		{"Chromium", front("Chromium", "New Tab - Chromium (Incognito)"), "a private window is open"},
		{"in German", front("Google-chrome", "Neuer Tab - Google Chrome (Inkognito)"), "a private window is open"},
		{"in Chinese", front("Google-chrome", "新标签页 (无痕模式)"), "a private window is open"},
		{"a manager of passwords", front("KeePassXC", "Wallet"), "a private window is open"},
		{"one above", front("Editor", "x", w("Gcr-prompter", "Unlock")), "a private window is open"},
		{"a login", front("firefox", "Sign in — Bank"), "a private window is open"},
		{"denied class", front("Signal", "x"), "a window is open that must not be remembered"},
		{"denied title", front("Editor", "my diary.txt"), "a window is open that must not be remembered"},
		{"not denied", front("Editor", "diary of a house"), ""},
	} {
		if got := hides(c.d, deny); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSimilarPictures(t *testing.T) {
	shot := append([]byte{160, 0, 0, 0, 160, 0, 0, 0}, make([]byte, 4*160*160)...)
	a, err := picture(shot)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := picture(shot)
	if got := alike(a, b); got != 1 {
		t.Error(got)
	}
	b.Pix[b.PixOffset(0, 0)] = small // does not count as a difference
	b.Pix[b.PixOffset(159, 159)] = small + 1
	if got := alike(a, b); got != .99 {
		t.Error(got)
	}
	odd := image.NewRGBA(image.Rect(0, 0, 17, 1))
	if got := alike(odd, image.NewRGBA(odd.Rect)); got != 1 {
		t.Error(got)
	}
	if alike(nil, a) != 0 || alike(odd, a) != 0 {
		t.Error("other sizes are alike")
	}
	m, err := picture([]byte{1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 0})
	if err != nil || m.Pix[0] != 3 || m.Pix[1] != 2 || m.Pix[2] != 1 || m.Pix[3] != 255 {
		t.Errorf("%v, %v", m.Pix, err)
	}
	for _, bad := range [][]byte{nil, {1, 0, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3}, {0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 128, 0, 0, 0, 128}} {
		if _, err := picture(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
