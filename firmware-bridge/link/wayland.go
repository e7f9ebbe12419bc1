package link

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link/sway"
	"github.com/locket-dev/locket/firmware-bridge/link/wayland"
)

var (
	// ErrUnserved: this desktop does not tell what has to be known about it, and never will.
	ErrUnserved = errors.New("link: this desktop is not served")
	// ErrNoShot: the pixels of a part are not available now. They may be a moment later.
	ErrNoShot = errors.New("link: no picture now")
	// ErrUnread: pixels of this screen can't be read, though its windows are known.
	ErrUnread = wayland.ErrUnread
)

// Wayland is a Dialer for the screen of a desktop whose compositor reports its windows, as those of
// the wlroots family do. Its values are those of [X11]. Only Sway reports where a window is: with
// another compositor a window has no place, unless it fills a screen.
type Wayland struct {
	Display string        // as in $WAYLAND_DISPLAY
	Sway    string        // socket of Sway's IPC, as in $SWAYSOCK; empty: where Sway makes it
	Bus     string        // D-Bus address of logind; empty: the system bus
	Wait    time.Duration // timeout of the compositor's answers; 0: 5 s
}

const compositorWait = 5 * time.Second

// Connect connects to the compositor. The errors include ErrUnserved.
func (w *Wayland) Connect(ctx context.Context) (Device, error) {
	path, dir := w.Display, os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	d := &waylandDesktop{wait: cmp.Or(w.Wait, compositorWait), out: make(chan Notification)}
	ask, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	var err error
	if d.c, err = wayland.Dial(ask, path); err != nil {
		return nil, fmt.Errorf("connect to the Wayland compositor %s: %w", w.Display, err)
	}
	if missing := d.c.Missing(); len(missing) > 0 {
		return nil, errors.Join(fmt.Errorf("%w: the Wayland compositor %s has no %s, so that which window is in front, and what is private, can't be known",
			ErrUnserved, w.Display, strings.Join(missing, " and no ")), d.c.Close())
	}
	for _, ipc := range []string{w.Sway, filepath.Join(dir, fmt.Sprintf("sway-ipc.%d.%d.sock", os.Getuid(), d.c.PID()))} {
		if _, err := sway.Tree(ask, ipc, d.c.PID()); err == nil {
			d.sway = ipc
			break
		}
	}
	d.login = dialLogind(ctx, w.Bus)
	go func() {
		<-d.c.Done()
		close(d.out)
	}()
	return d, nil
}

// waylandDesktop is one connection to a compositor.
type waylandDesktop struct {
	c     *wayland.Client
	sway  string // socket of Sway's IPC; empty: the compositor is not Sway
	login logind
	wait  time.Duration
	out   chan Notification
	once  sync.Once
	stop  atomic.Bool // Close was called
}

func (d *waylandDesktop) MTU() int                           { return 0 }
func (d *waylandDesktop) Notifications() <-chan Notification { return d.out }

func (d *waylandDesktop) Write(_ context.Context, char string, _ []byte) error { return absent(char) }
func (d *waylandDesktop) Subscribe(_ context.Context, char string) error       { return absent(char) }

func (d *waylandDesktop) Err() error {
	<-d.c.Done()
	if d.stop.Load() {
		return nil
	}
	return fmt.Errorf("%w: the compositor: %v", ErrLost, d.c.Err())
}

func (d *waylandDesktop) Close() error {
	d.once.Do(func() {
		d.stop.Store(true)
		d.login.close()
	})
	return d.c.Close()
}

func (d *waylandDesktop) Read(ctx context.Context, char string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	if char == ScreenState {
		s, err := d.state(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(s)
	}
	part, ok := parseShot(char)
	if !ok || part.Width <= 0 || part.Height <= 0 {
		return nil, absent(char)
	}
	s, err := d.c.State(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Outputs, func(o wayland.Output) bool { return screenName(o) == part.Screen })
	if i < 0 {
		return nil, ErrNoShot // it existed when it was named
	}
	p, err := d.c.Capture(ctx, s.Outputs[i].ID, image.Pt(part.ScreenWidth, part.ScreenHeight), image.Rect(part.X, part.Y, part.X+part.Width, part.Y+part.Height))
	switch {
	case errors.Is(err, wayland.ErrNoPicture):
		return nil, ErrNoShot
	case err != nil:
		return nil, fmt.Errorf("read the screen: %w", err)
	}
	return shot(p.Width, p.Height, p.Pix), nil
}

// screenName is an output's name, which Sway uses too, or else its number.
func screenName(o wayland.Output) string { return cmp.Or(o.Name, fmt.Sprint(o.ID)) }

// state reads both of the compositor's interfaces until they agree.
func (d *waylandDesktop) state(ctx context.Context) (s Desktop, err error) {
	s.Unseen = true // surfaces of wlr-layer-shell, and those of X11 that bypass the window manager
	if s.Locked, err = d.login.locked(ctx); err != nil || s.Locked {
		return s, err
	}
	for range 3 {
		is, err := d.c.State(ctx)
		if err != nil {
			return s, err
		}
		s.Turn, s.Titled = is.Turn, is.Titled
		front := active(is.Windows)
		if front == nil {
			return s, nil
		}
		if d.sway == "" {
			s.Front, s.Above = alone(is, *front)
			return s, nil
		}
		tree, err := sway.Tree(ctx, d.sway, d.c.PID())
		if err != nil {
			return s, fmt.Errorf("%w: %v", ErrLost, err)
		}
		then, err := d.c.State(ctx)
		if err != nil {
			return s, err
		}
		view, above := tree.Front()
		if view == nil {
			return s, nil
		}
		if then.Turn == is.Turn && view.App == front.App && view.Title == front.Title {
			s.Front, s.Above = placed(view, above)
			return s, nil
		}
	}
	return s, nil // it changes all the time: the next look sees the result
}

// active returns the window that has the focus. Nil: none has it, as while the screen is locked, or
// more than one does.
func active(list []wayland.Window) (front *wayland.Window) {
	for i, w := range list {
		if w.Activated && front != nil {
			return nil
		}
		if w.Activated {
			front = &list[i]
		}
	}
	return front
}

// placed gives windows their places on the screen of the one in front.
func placed(front *sway.View, above []sway.View) (*Window, []Window) {
	part := func(v sway.View, r image.Rectangle) Window {
		r = r.Intersect(front.Content).Sub(front.On.Min)
		return Window{App: v.App, Title: v.Title, X: r.Min.X, Y: r.Min.Y, Width: r.Dx(), Height: r.Dy(),
			Screen: front.Output, ScreenWidth: front.On.Dx(), ScreenHeight: front.On.Dy()}
	}
	w := part(*front, front.Content)
	var list []Window
	for _, v := range above {
		list = append(list, part(v, v.Whole))
	}
	return &w, list
}

// alone is for a compositor that reports no places. A window that fills a screen has the screen's
// place, if no other windows but minimised ones are on it. A bar may be shown beside it and name
// any window, so all other windows are taken to cover it. Any other window in front has no place.
func alone(is wayland.State, front wayland.Window) (*Window, []Window) {
	w := &Window{App: front.App, Title: front.Title}
	if front.Minimized || !front.Fullscreen && !front.Maximized || len(front.Outputs) != 1 {
		return w, nil
	}
	i := slices.IndexFunc(is.Outputs, func(o wayland.Output) bool { return o.ID == front.Outputs[0] })
	if i < 0 {
		return w, nil
	}
	var others []Window
	for _, v := range is.Windows {
		if v.Activated { // the window in front
			continue
		}
		if !v.Minimized && slices.Contains(v.Outputs, front.Outputs[0]) {
			return w, nil
		}
		others = append(others, Window{App: v.App, Title: v.Title})
	}
	// Without an order they would seem to change.
	slices.SortFunc(others, func(a, b Window) int { return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Title, b.Title)) })
	out := is.Outputs[i]
	w.Screen, w.Width, w.Height = screenName(out), out.Width, out.Height
	if out.Turned&1 != 0 {
		w.Width, w.Height = out.Height, out.Width
	}
	w.ScreenWidth, w.ScreenHeight = w.Width, w.Height
	return w, others
}
