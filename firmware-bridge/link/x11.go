package link

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"
)

// X11 is a Dialer for the screen of an X11 desktop. There is nothing to subscribe to or to write.
// Read returns a [Desktop] under ScreenState, and the pixels of a part of it under [Window.Shot].
type X11 struct {
	Display string // as in $DISPLAY
	Bus     string // D-Bus address of logind; empty: the system bus
}

// quiet stops xgb from printing: errors are returned.
var quiet = sync.OnceFunc(func() { xgb.Logger = log.New(io.Discard, "", 0) })

// Connect connects to the X server.
func (x *X11) Connect(ctx context.Context) (Device, error) {
	quiet()
	c, err := xgb.NewConnDisplay(x.Display)
	if err != nil {
		return nil, fmt.Errorf("connect to the display %q: %w", x.Display, err)
	}
	d := &desktop{x: c, out: make(chan Notification), gone: make(chan struct{})}
	if err := d.setup(); err != nil {
		c.Close()
		return nil, fmt.Errorf("the display %q: %w", x.Display, err)
	}
	d.login = dialLogind(ctx, x.Bus)
	go d.wait()
	return d, nil
}

type desktop struct {
	x     *xgb.Conn
	root  xproto.Window
	whole Window // the screen
	atoms map[string]xproto.Atom
	saver bool // the server reports the screen saver
	login logind
	out   chan Notification
	gone  chan struct{} // closed when the server is gone
	once  sync.Once
	stop  atomic.Bool // Close was called

	turn, titled atomic.Uint64 // as in [Desktop]
	named        atomic.Uint32 // the window with the focus at the last look; its title changes count
}

func (d *desktop) setup() error {
	s := xproto.Setup(d.x)
	screen := s.DefaultScreen(d.x)
	bits := byte(0)
	for _, f := range s.PixmapFormats {
		if f.Depth == screen.RootDepth {
			bits = f.BitsPerPixel
		}
	}
	if bits != 32 || s.ImageByteOrder != xproto.ImageOrderLSBFirst {
		return fmt.Errorf("pixels of %d bits, in order %d, are not read", bits, s.ImageByteOrder)
	}
	d.root, d.whole = screen.Root, Window{Width: int(screen.WidthInPixels), Height: int(screen.HeightInPixels)}
	d.atoms = map[string]xproto.Atom{}
	for _, name := range []string{"_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "WM_NAME", "WM_CLASS"} {
		r, err := xproto.InternAtom(d.x, false, uint16(len(name)), name).Reply()
		if err != nil {
			return err
		}
		d.atoms[name] = r.Atom
	}
	d.saver = screensaver.Init(d.x) == nil
	d.subscribe(d.root, xproto.EventMaskPropertyChange|xproto.EventMaskSubstructureNotify)
	return nil
}

// subscribe subscribes to a window's events. It is no error if the window has gone.
func (d *desktop) subscribe(w xproto.Window, mask uint32) {
	xproto.ChangeWindowAttributes(d.x, w, xproto.CwEventMask, []uint32{mask})
}

func (d *desktop) wait() {
	for {
		e, err := d.x.WaitForEvent()
		if e == nil && err == nil {
			close(d.gone)
			close(d.out)
			return
		}
		d.count(e)
	}
}

// count handles the server's events. They are the only trace of what happens between two looks.
func (d *desktop) count(e xgb.Event) {
	switch e := e.(type) {
	case xproto.MapNotifyEvent, xproto.UnmapNotifyEvent, xproto.ConfigureNotifyEvent:
		d.turn.Add(1)
	case xproto.PropertyNotifyEvent:
		switch title := e.Atom == d.atoms["_NET_WM_NAME"] || e.Atom == d.atoms["WM_NAME"]; {
		case e.Window == d.root && e.Atom == d.atoms["_NET_ACTIVE_WINDOW"]:
			d.turn.Add(1)
		case uint32(e.Window) == d.named.Load() && title:
			d.titled.Add(1)
		}
	}
}

func (d *desktop) MTU() int                           { return 0 }
func (d *desktop) Notifications() <-chan Notification { return d.out }

func (d *desktop) Write(_ context.Context, char string, _ []byte) error { return absent(char) }
func (d *desktop) Subscribe(_ context.Context, char string) error       { return absent(char) }

func (d *desktop) Err() error {
	<-d.gone
	if d.stop.Load() {
		return nil
	}
	return fmt.Errorf("%w: the X server is gone", ErrLost)
}

func (d *desktop) Close() error {
	d.once.Do(func() {
		d.stop.Store(true)
		d.x.Close()
		d.login.close()
	})
	<-d.gone
	return nil
}

func (d *desktop) Read(ctx context.Context, char string) ([]byte, error) {
	if char == ScreenState {
		s, err := d.state(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(s)
	}
	w, ok := parseShot(char)
	if !ok || !d.holds(w) {
		return nil, absent(char)
	}
	r, err := xproto.GetImage(d.x, xproto.ImageFormatZPixmap, xproto.Drawable(d.root), int16(w.X), int16(w.Y), uint16(w.Width), uint16(w.Height), ^uint32(0)).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the screen: %w", err)
	}
	if len(r.Data) < 4*w.Width*w.Height {
		return nil, fmt.Errorf("read the screen: %d bytes of %d×%d pixels", len(r.Data), w.Width, w.Height)
	}
	return shot(w.Width, w.Height, r.Data[:4*w.Width*w.Height]), nil
}

// holds reports whether a part lies within the screen.
func (d *desktop) holds(w Window) bool {
	return w.X >= 0 && w.Y >= 0 && w.Width > 0 && w.Height > 0 && w.X+w.Width <= d.whole.Width && w.Y+w.Height <= d.whole.Height
}

func (d *desktop) state(ctx context.Context) (s Desktop, err error) {
	if s.Locked, err = d.locked(ctx); err != nil || s.Locked {
		return s, err
	}
	front, top := d.front()
	if front == nil {
		return s, nil
	}
	tree, err := xproto.QueryTree(d.x, d.root).Reply()
	if err != nil {
		return s, fmt.Errorf("the screen's windows: %w", err)
	}
	over := false
	for _, w := range tree.Children { // from the lowest to the topmost
		if w == top {
			over = true
			continue
		}
		a, err := xproto.GetWindowAttributes(d.x, w).Reply()
		if !over || err != nil || a.MapState != xproto.MapStateViewable || a.Class == xproto.WindowClassInputOnly {
			continue // below, or gone, or invisible
		}
		if part, ok := d.place(w); ok && part.cut(*front) {
			d.name(&part, w, 2)
			s.Above = append(s.Above, part)
		}
	}
	if over { // otherwise it has gone meanwhile
		s.Front = front
	}
	s.Turn, s.Titled = d.turn.Load(), d.titled.Load()
	return s, nil
}

// locked asks the X server's screen saver, and logind if there is one.
func (d *desktop) locked(ctx context.Context) (bool, error) {
	if d.saver {
		r, err := screensaver.QueryInfo(d.x, xproto.Drawable(d.root)).Reply()
		if err != nil {
			return false, fmt.Errorf("the screen saver: %w", err)
		}
		if r.State == screensaver.StateOn {
			return true, nil
		}
	}
	return d.login.locked(ctx)
}

// front returns the window with the focus, and the child of the root that it is or lies in.
func (d *desktop) front() (*Window, xproto.Window) {
	at := xproto.Window(0)
	if b := d.property(d.root, "_NET_ACTIVE_WINDOW"); len(b) >= 4 {
		at = xproto.Window(xgb.Get32(b))
	}
	if at == 0 { // there is no window manager to ask
		r, err := xproto.GetInputFocus(d.x).Reply()
		if err != nil || r.Focus == d.root || r.Focus <= xproto.InputFocusPointerRoot {
			return nil, 0
		}
		at = r.Focus
	}
	if was := d.named.Swap(uint32(at)); was != uint32(at) {
		d.subscribe(xproto.Window(was), xproto.EventMaskNoEvent)
		d.subscribe(at, xproto.EventMaskPropertyChange)
	}
	w, ok := d.place(at)
	if !ok {
		return nil, 0
	}
	for top := at; ; {
		if w.App == "" {
			d.name(&w, top, 0)
		}
		r, err := xproto.QueryTree(d.x, top).Reply()
		if err != nil {
			return nil, 0
		}
		if r.Parent == d.root {
			return &w, top
		}
		if r.Parent == 0 {
			return nil, 0
		}
		top = r.Parent
	}
}

// place returns where a window is, cut at the screen's edge. It returns false if the window is
// gone, or nothing of it is visible.
func (d *desktop) place(w xproto.Window) (Window, bool) {
	g, err := xproto.GetGeometry(d.x, xproto.Drawable(w)).Reply()
	if err != nil {
		return Window{}, false
	}
	at, err := xproto.TranslateCoordinates(d.x, w, d.root, 0, 0).Reply()
	if err != nil {
		return Window{}, false
	}
	p := Window{X: int(at.DstX), Y: int(at.DstY), Width: int(g.Width), Height: int(g.Height)}
	return p, p.cut(d.whole)
}

// name fills in the class and the title of a window, or of the first one below it that has a class,
// because a window manager puts windows into frames of its own.
func (d *desktop) name(to *Window, w xproto.Window, depth int) {
	if _, class, ok := bytes.Cut(d.property(w, "WM_CLASS"), []byte{0}); ok {
		to.App = strings.TrimRight(string(class), "\x00")
		for _, p := range []string{"_NET_WM_NAME", "WM_NAME"} {
			if to.Title == "" {
				to.Title = strings.ToValidUTF8(string(d.property(w, p)), "�")
			}
		}
		return
	}
	if depth == 0 {
		return
	}
	tree, err := xproto.QueryTree(d.x, w).Reply()
	if err != nil {
		return
	}
	for _, child := range tree.Children {
		if d.name(to, child, depth-1); to.App != "" {
			return
		}
	}
}

// property returns a window's property, up to 4 KiB; empty if there is none.
func (d *desktop) property(w xproto.Window, name string) []byte {
	r, err := xproto.GetProperty(d.x, false, w, d.atoms[name], xproto.GetPropertyTypeAny, 0, 1024).Reply()
	if err != nil {
		return nil // the window is gone
	}
	return r.Value
}
