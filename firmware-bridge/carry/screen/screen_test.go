package screen_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// xvfb runs an X server without a screen until the test ends.
func xvfb(t *testing.T) (display string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install xvfb", err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	defer r.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return ":" + strings.TrimSpace(number)
}

// client makes windows, as programs and a window manager do.
type client struct {
	*xgb.Conn
	t    *testing.T
	root xproto.Window
}

func (c client) ok(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c client) set(w xproto.Window, name, value string) {
	c.t.Helper()
	a, err := xproto.InternAtom(c.Conn, false, uint16(len(name)), name).Reply()
	c.ok(err)
	c.ok(xproto.ChangePropertyChecked(c.Conn, xproto.PropModeReplace, w, a.Atom, xproto.AtomString, 8, uint32(len(value)), []byte(value)).Check())
}

func (c client) open(app, title string, x, y int16, width, height uint16, colour uint32) xproto.Window {
	c.t.Helper()
	w, err := xproto.NewWindowId(c.Conn)
	c.ok(err)
	c.ok(xproto.CreateWindowChecked(c.Conn, 0, w, c.root, x, y, width, height, 0, xproto.WindowClassInputOutput, 0, xproto.CwBackPixel, []uint32{colour}).Check())
	c.set(w, "WM_CLASS", strings.ToLower(app)+"\x00"+app+"\x00")
	c.set(w, "_NET_WM_NAME", title)
	c.ok(xproto.MapWindowChecked(c.Conn, w).Check())
	return w
}

// front moves the focus to a window.
func (c client) front(w xproto.Window) {
	c.t.Helper()
	c.ok(xproto.SetInputFocusChecked(c.Conn, xproto.InputFocusPointerRoot, w, xproto.TimeCurrentTime).Check())
}

// paint fills an area of a window.
func (c client) paint(w xproto.Window, x, y int16, width, height uint16, colour uint32) {
	c.t.Helper()
	g, err := xproto.NewGcontextId(c.Conn)
	c.ok(err)
	c.ok(xproto.CreateGCChecked(c.Conn, g, xproto.Drawable(w), xproto.GcForeground, []uint32{colour}).Check())
	c.ok(xproto.PolyFillRectangleChecked(c.Conn, xproto.Drawable(w), g, []xproto.Rectangle{{X: x, Y: y, Width: width, Height: height}}).Check())
}

// session is logind's session, whose screen can be locked.
func session(t *testing.T) (bus string, lock func(bool)) {
	t.Helper()
	bus = linktest.Bus(t)
	c, err := dbus.Connect(bus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if r, err := c.RequestName("org.freedesktop.login1", 0); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
	p, err := prop.Export(c, "/org/freedesktop/login1/session/auto", prop.Map{
		"org.freedesktop.login1.Session": {"LockedHint": {Value: false, Writable: true, Emit: prop.EmitTrue}}})
	if err != nil {
		t.Fatal(err)
	}
	return bus, func(on bool) { p.SetMust("org.freedesktop.login1.Session", "LockedHint", on) }
}

// What the window in front shows is remembered once. Nothing is remembered while something private
// is there, the screen is locked, or the wearer pauses.
func TestScreen(t *testing.T) {
	display := xvfb(t)
	x, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	c := client{x, t, xproto.Setup(x).DefaultScreen(x).Root}
	bus, lock := session(t)
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), screen.Family, &link.X11{Display: display, Bus: bus})
	b.Cfg.Options.Deny = []string{"Diary"}
	editor := c.open("Editor", "Letter to Ben – Editor", 100, 50, 400, 300, 0x3366cc)
	c.front(editor)
	paused := b.NoteWith("not remembered: paused")
	stop := b.Start(t)
	photos := func() int { return len(carrytest.OfKind(n.Disk.Events, memory.KindPhoto)) }
	state := func() string {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		if len(list) == 0 {
			return ""
		}
		last := list[len(list)-1]
		return last.Metadata[wire.MetaState] + " " + last.Reason
	}
	until := func(want string) {
		t.Helper()
		n.Disk.Until(t, want, func() bool { return strings.TrimSpace(state()) == want })
	}
	n.Disk.Until(t, "the first photo", func() bool { return photos() == 1 })
	p, err := jpeg.Decode(bytes.NewReader(n.Disk.OfKind(memory.KindPhoto)[0].Data))
	if err != nil || p.Bounds().Dx() != 400 || p.Bounds().Dy() != 300 {
		t.Fatalf("%v, %v", p.Bounds(), err)
	}
	if r, g, blue, _ := p.At(200, 150).RGBA(); r>>8 < 0x28 || r>>8 > 0x3e || g>>8 < 0x5b || g>>8 > 0x70 || blue>>8 < 0xc0 || blue>>8 > 0xd8 {
		t.Errorf("the colour is %x %x %x", r>>8, g>>8, blue>>8)
	}
	if said := n.Disk.OfKind(memory.KindText); len(said) != 1 || said[0].Text != "Letter to Ben – Editor" || said[0].Speaker != "screen Editor" {
		t.Errorf("%+v", said)
	}
	c.paint(editor, 0, 0, 10, 10, 0xffffff) // like a blinking cursor: it makes no new picture
	private := c.open("Firefox", "News — Mozilla Firefox Private Browsing", 450, 300, 200, 200, 0xff0000)
	until("muted a private window is open") // it lies over a corner
	c.ok(xproto.DestroyWindowChecked(x, private).Check())
	until("recording")
	diary := c.open("Notes", "My diary", 0, 0, 800, 600, 0x00ff00)
	c.front(diary)
	until("muted a window is open that must not be remembered")
	c.ok(xproto.DestroyWindowChecked(x, diary).Check())
	c.front(editor)
	until("recording")
	// A third-party program, which has no window manager either.
	asks := exec.Command("xmessage", "-display", display, "-title", "Enter password", "-geometry", "200x100+110+60", "hunter2")
	if err := asks.Start(); err != nil {
		t.Fatalf("%v: install x11-utils", err)
	}
	until("muted a private window is open")
	_ = asks.Process.Kill() // it runs until then
	_ = asks.Wait()         // it was killed
	until("recording")
	c.ok(xproto.ForceScreenSaverChecked(x, xproto.ScreenSaverActive).Check())
	until("muted the screen is locked")
	c.ok(xproto.ForceScreenSaverChecked(x, xproto.ScreenSaverReset).Check())
	until("recording")
	lock(true)
	until("muted the screen is locked")
	lock(false)
	until("recording")
	n.Disk.Until(t, "nothing new", func() bool { return photos() == 1 })
	n.In.SetPaused(true)
	carrytest.Await(t, paused)
	c.paint(editor, 0, 0, 400, 300, 0x000000) // this must not be seen
	c.paint(editor, 0, 0, 400, 300, 0x3366cc)
	n.In.SetPaused(false)
	n.Disk.Until(t, "the photo after the pause", func() bool { return photos() == 2 })
	c.paint(editor, 0, 0, 400, 100, 0xffffff)
	n.Disk.Until(t, "the next photo", func() bool { return photos() == 3 })
	if rep := stop(); rep.Photos != 3 || rep.Connections != 1 || rep.Spoilt != 0 {
		t.Errorf("%+v", rep)
	}
	if said := n.Disk.OfKind(memory.KindText); len(said) != 1 {
		t.Errorf("%+v", said)
	}
	for _, e := range n.Disk.OfKind(memory.KindStatus) {
		if strings.Contains(fmt.Sprint(e), "diary") || strings.Contains(fmt.Sprint(e), "Firefox") {
			t.Errorf("it names what is hidden: %+v", e)
		}
	}
}

// The count shows that something happened between two looks; other windows' titles do not count.
func TestX11ChangeCounter(t *testing.T) {
	display := xvfb(t)
	x, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	c := client{x, t, xproto.Setup(x).DefaultScreen(x).Root}
	other := c.open("Notes", "My diary", 500, 0, 200, 200, 0x00ff00)
	editor := c.open("Editor", "Letter", 0, 0, 400, 300, 0x3366cc)
	c.front(editor)
	dev, err := (&link.X11{Display: display, Bus: linktest.Bus(t)}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	ctx := carrytest.Deadline(t)
	until := func(what string, ok func(link.Desktop) bool) (d link.Desktop) {
		t.Helper()
		for ctx.Err() == nil {
			b, err := dev.Read(ctx, link.ScreenState)
			if err != nil {
				t.Fatal(err)
			}
			d = link.Desktop{}
			if err := json.Unmarshal(b, &d); err != nil {
				t.Fatal(err)
			}
			if ok(d) {
				return d
			}
		}
		t.Fatal(what)
		return d
	}
	was := until("the editor", func(d link.Desktop) bool { return d.Front != nil && d.Front.App == "Editor" })
	c.ok(xproto.DestroyWindowChecked(x, c.open("Firefox", "Private Browsing", 0, 0, 100, 100, 0xff0000)).Check())
	is := until("a window came and went", func(d link.Desktop) bool { return d.Turn >= was.Turn+2 })
	if is.Titled != was.Titled || len(is.Above) != 0 {
		t.Errorf("%+v, then %+v", was, is)
	}
	c.set(other, "_NET_WM_NAME", "My other diary")
	c.set(editor, "_NET_WM_NAME", "Bank")
	c.set(editor, "_NET_WM_NAME", "Letter")
	if is = until("two titles", func(d link.Desktop) bool { return d.Titled >= was.Titled+2 }); is.Titled != was.Titled+2 || is.Front.Title != "Letter" {
		t.Errorf("%+v", is)
	}
	c.front(other)
	until("the other's", func(d link.Desktop) bool { return d.Front != nil && d.Front.App == "Notes" })
	c.set(editor, "_NET_WM_NAME", "spins behind")
	c.set(other, "_NET_WM_NAME", "My diary")
	if is = until("one more", func(d link.Desktop) bool { return d.Titled > was.Titled+2 }); is.Titled != was.Titled+3 {
		t.Errorf("%+v", is)
	}
}

// A missing display is tried again, and reported.
func TestNoDisplay(t *testing.T) {
	if _, err := (&link.X11{Display: ":65000"}).Connect(t.Context()); err == nil || !strings.Contains(err.Error(), `the display ":65000"`) {
		t.Error(err)
	}
}
