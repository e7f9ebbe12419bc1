package screen_test

import (
	"errors"
	"fmt"
	"image"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
)

const (
	blue  = 0x3366cc
	white = 0xffffff
	black = 0x000000
	red   = 0xcc2222 // colour of what must not be seen
	green = 0x00ff00 // colour of the locked screen
)

// Of several windows on a Sway, X11 windows included, only what the one in front shows is
// remembered.
func TestSway(t *testing.T) {
	const denied = "muted a window is open that must not be remembered"
	d := sway(t)
	n := watched{carrytest.NewNode(t), t}
	dialer := &meanwhile{Dialer: &link.Wayland{Display: d.wayland, Sway: d.ipc}}
	b := n.Bridge(t, carrytest.StatePath(t), screen.Family, dialer)
	b.Cfg.Options.Deny = []string{"diary", "xmessage"}
	d.open("notes", "My diary", red)
	show := d.open("editor", "Letter to Ben", blue)
	stop := b.Start(t)
	n.shows("half of the screen without borders", func(m image.Image) bool { return m.Bounds().Dx() == 390 && m.Bounds().Dy() == 570 && only(m, blue) })
	d.do("[app_id=notes] focus")
	n.until(denied)
	d.do("[app_id=notes] floating enable, resize set 300 300, move position 1000 1000") // beyond the edge of the screen
	d.do("[app_id=editor] focus")
	n.until("recording")
	n.shows("the whole screen", func(m image.Image) bool { return m.Bounds().Dx() == 790 && only(m, blue) })
	d.do("[app_id=notes] move position 450 100")
	n.until(denied) // it covers a part
	d.do("[app_id=notes] floating disable")
	d.do("layout tabbed")
	d.do("[app_id=editor] focus")
	show("\x1b]2;Letter to Jo\x07\x1b]11;#ffffff\x07")
	n.until("recording")
	n.shows("no title of the other tab", func(m image.Image) bool { return only(m, white) })
	d.do("layout splith")
	moves := func() { d.do("[app_id=notes] focus") }
	dialer.do.Store(&moves)
	show("\x1b]11;#000000\x07")
	n.until(denied)
	dialer.do.Store(nil)
	n.none(black, "was taken though another window came in front meanwhile")
	show("\x1b]11;#3366cc\x07")
	d.do("[app_id=editor] focus")
	n.until("recording")
	closeAbout := d.start(d.command("xmessage", "-title", "About", "hunter2")) // an X11 window beside it
	n.until(denied)
	closeAbout()
	n.until("recording")
	d.do("[app_id=editor] fullscreen enable")
	n.shows("full screen", func(m image.Image) bool { return m.Bounds().Dx() == 800 && m.Bounds().Dy() == 600 && only(m, blue) })
	lock := d.command("swaylock", "-c", fmt.Sprintf("%06x", green))
	d.start(lock)
	n.until("muted no window is in front")
	if err := lock.Process.Signal(syscall.SIGUSR1); err != nil { // unlocks
		t.Fatal(err)
	}
	n.until("recording")
	if rep := stop(); rep.Connections != 1 || rep.Spoilt != 0 {
		t.Errorf("%+v", rep)
	}
	n.none(red, "shows another window")
	n.none(green, "shows the locked screen")
	for _, e := range n.Disk.Events {
		if s := fmt.Sprint(e); strings.Contains(s, "diary") || strings.Contains(s, "About") {
			t.Errorf("it names what is hidden: %s", s)
		}
	}
}

// A screen can be turned, and can have another resolution than its windows' places.
func TestSwayTurned(t *testing.T) {
	d := sway(t)
	n := watched{carrytest.NewNode(t), t}
	d.open("notes", "My diary", red)
	show := d.open("editor", "Letter to Ben", blue)
	for range 3 { // white in the top left corner
		show("\x1b[48;2;255;255;255m      \x1b[0m\r\n")
	}
	b := n.Bridge(t, carrytest.StatePath(t), screen.Family, &link.Wayland{Display: d.wayland, Sway: d.ipc})
	stop := b.Start(t)
	for _, c := range []struct {
		turn string
		wide int // pixels of the window
	}{{"90 scale 1.5", 285}, {"270 scale 1", 290}, {"flipped-90 scale 2", 280}} {
		d.do("output HEADLESS-1 transform " + c.turn)
		n.shows(c.turn, func(m image.Image) bool {
			w, h := m.Bounds().Dx(), m.Bounds().Dy()
			return w >= c.wide-1 && w <= c.wide && h > 2*w && of(m, 20, 20, white) && of(m, w-20, 20, blue) && only(m.(*image.YCbCr).SubImage(image.Rect(4, h/2, w-4, h-4)), blue) // an edge may lie inside a pixel
		})
	}
	stop()
	n.none(red, "shows another window")
}

// If the compositor tells no places, a picture is taken of a window that fills a screen alone.
// Otherwise only the title is published.
func TestCompositorWithoutPositions(t *testing.T) {
	d := sway(t)
	n := watched{carrytest.NewNode(t), t}
	b := n.Bridge(t, carrytest.StatePath(t), screen.Family, &link.Wayland{Display: d.wayland})
	b.Cfg.Options.Deny = []string{"secrets"}
	show := d.open("editor", "Letter to Ben", blue)
	stop := b.Start(t)
	titles := func() (list []string) {
		for _, e := range carrytest.OfKind(n.Disk.Events, memory.KindText) {
			list = append(list, e.Text)
		}
		return list
	}
	said := func(want string) {
		t.Helper()
		n.Disk.Until(t, want, func() bool { return strings.Join(titles(), ", ") == want })
	}
	said("Letter to Ben")
	d.do("[app_id=editor] fullscreen enable")
	n.shows("the screen", func(m image.Image) bool { return m.Bounds().Dx() == 800 && only(m, blue) })
	notes := d.open("notes", "My diary", red)
	d.do("[app_id=editor] fullscreen disable")
	show("\x1b]2;Letter to Jo\x07\x1b]11;#000000\x07")
	said("Letter to Ben, Letter to Jo") // and no picture, because it is unknown what is visible of both
	n.none(black, "was taken of two windows")
	notes("\x1b]2;My secrets\x07")
	d.do("[app_id=notes] fullscreen enable, focus")
	n.until("muted a window is open that must not be remembered")
	stop()
	n.none(red, "shows another window")
	if got := strings.Join(titles(), ", "); strings.Contains(got, "secrets") {
		t.Errorf("%s", got)
	}
}

func TestNoCompositor(t *testing.T) {
	if _, err := (&link.Wayland{Display: t.TempDir() + "/wayland-9"}).Connect(t.Context()); err == nil || errors.Is(err, link.ErrUnserved) || !strings.Contains(err.Error(), "wayland-9") {
		t.Error(err)
	}
}
