package screen_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// desk is a Sway without a screen or a keyboard, in which programs run.
type desk struct {
	t       *testing.T
	dir     string // XDG_RUNTIME_DIR
	wayland string // its display, the path of a socket
	ipc     string // $SWAYSOCK
	x       string // $DISPLAY
	events  net.Conn
	user    uint32 // the user who runs it, since Sway does not run for root; 0: the user who runs the test
}

const swayConfig = `
output HEADLESS-1 resolution 800x600 position 0 0
font monospace 10
default_border normal 5
focus_follows_mouse no
xwayland force
exec echo "$WAYLAND_DISPLAY $SWAYSOCK $DISPLAY" >&3
`

// sway starts Sway, which runs until the test ends.
func sway(t *testing.T) *desk {
	t.Helper()
	dir, err := os.MkdirTemp("", "way") // a socket's path has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte(swayConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := &desk{t: t, dir: dir}
	if os.Geteuid() == 0 {
		d.user = 65534 // the user nobody
	}
	d.own(dir)
	d.own(config)
	cmd := d.command("sway", "-c", config)
	cmd.Env = append(cmd.Env, "WLR_BACKENDS=headless", "WLR_RENDERER=pixman", "WLR_LIBINPUT_NO_DEVICES=1")
	cmd.ExtraFiles = []*os.File{w}
	d.start(cmd)
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &d.wayland, &d.ipc, &d.x); err != nil {
		t.Fatalf("%q: %v: install xwayland", line, err)
	}
	d.wayland = filepath.Join(dir, d.wayland)
	if d.events, err = net.Dial("unix", d.ipc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.events.Close() })
	if err := d.events.SetDeadline(time.Now().Add(carrytest.Limit)); err != nil {
		t.Fatal(err)
	}
	const subscribe, events = 2, `["window"]`
	b := binary.NativeEndian.AppendUint32([]byte("i3-ipc"), uint32(len(events)))
	if _, err := d.events.Write(append(binary.NativeEndian.AppendUint32(b, subscribe), events...)); err != nil {
		t.Fatal(err)
	}
	d.event(&struct{}{}) // from here on it sends events
	return d
}

// event reads Sway's next event.
func (d *desk) event(to any) {
	d.t.Helper()
	head := make([]byte, 14)
	_, err := io.ReadFull(d.events, head)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(d.events, int64(binary.NativeEndian.Uint32(head[6:])))).Decode(to)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// command makes a command in the desk's session.
func (d *desk) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SWAYSOCK=") }) // variables of the user who tests
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+d.dir, "WAYLAND_DISPLAY="+d.wayland, "DISPLAY="+d.x, "HOME="+d.dir)
	cmd.Dir = d.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if d.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: d.user, Gid: d.user}
	}
	return cmd
}

// own gives a file to the desk's user.
func (d *desk) own(file string) {
	d.t.Helper()
	if d.user == 0 {
		return
	}
	if err := os.Chown(file, int(d.user), int(d.user)); err != nil {
		d.t.Fatal(err)
	}
}

// start runs a command until stop is called, or the test ends.
func (d *desk) start(cmd *exec.Cmd) (stop func()) {
	d.t.Helper()
	if err := cmd.Start(); err != nil {
		d.t.Fatalf("%v: install sway, foot, swaylock, xwayland and x11-utils", err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended; Sway removes its displays' files
		late := time.AfterFunc(carrytest.Limit, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was ended
		late.Stop()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // kills its child processes, if there are any
	})
	d.t.Cleanup(stop)
	return stop
}

// do makes Sway do what a person would.
func (d *desk) do(command string) {
	d.t.Helper()
	if out, err := d.command("swaymsg", "-s", d.ipc, "-r", command).Output(); err != nil {
		d.t.Fatalf("%s: %v, %s", command, err, out)
	}
}

// until waits for something to happen to a window.
func (d *desk) until(change, app string) {
	d.t.Helper()
	for {
		var e struct {
			Change    string
			Container struct {
				AppID      string                 `json:"app_id"`
				Properties struct{ Class string } `json:"window_properties"`
			}
		}
		d.event(&e)
		if e.Change == change && (e.Container.AppID == app || e.Container.Properties.Class == app) {
			return
		}
	}
}

// open starts a terminal; show writes to it.
func (d *desk) open(app, title string, colour uint32) (show func(string)) {
	d.t.Helper()
	fifo := filepath.Join(d.dir, app)
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.own(fifo)
	w, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { w.Close() })
	show = func(s string) {
		if _, err := w.WriteString(s); err != nil {
			d.t.Error(err)
		}
	}
	show("\x1b[?25l") // no cursor
	d.start(d.command("foot", "--config=/dev/null", "-o", fmt.Sprintf("colors.background=%06x", colour), "--app-id="+app, "--title="+title, "cat", fifo))
	d.until("new", app)
	return show
}

// watched is what the node has got from a bridge.
type watched struct {
	*carrytest.Node
	t *testing.T
}

// until waits for a state, with its reason.
func (w watched) until(want string) {
	w.t.Helper()
	w.Disk.Until(w.t, want, func() bool {
		list := carrytest.OfKind(w.Disk.Events, memory.KindStatus)
		if len(list) == 0 {
			return false
		}
		last := list[len(list)-1]
		return strings.TrimSpace(last.Metadata[wire.MetaState]+" "+last.Reason) == want
	})
}

// pictures returns the photos, in order. The caller holds the disk's lock.
func (w watched) pictures() (list []image.Image) {
	for _, e := range carrytest.OfKind(w.Disk.Events, memory.KindPhoto) {
		m, err := jpeg.Decode(bytes.NewReader(e.Data))
		if err != nil {
			w.t.Error(err)
			continue
		}
		list = append(list, m)
	}
	return list
}

// shows waits for a photo for which ok returns true.
func (w watched) shows(what string, ok func(image.Image) bool) {
	w.t.Helper()
	w.Disk.Until(w.t, what, func() bool {
		list := w.pictures()
		return len(list) > 0 && ok(list[len(list)-1])
	})
}

// none fails if any photo has a pixel of a colour.
func (w watched) none(colour uint32, what string) {
	w.t.Helper()
	w.Disk.Until(w.t, what, func() bool {
		for i, m := range w.pictures() {
			for y := range m.Bounds().Dy() {
				for x := range m.Bounds().Dx() {
					if of(m, x, y, colour) {
						w.t.Errorf("photo %d %s, at %d, %d", i+1, what, x, y)
						return true
					}
				}
			}
		}
		return true
	})
}

// only reports whether a picture has one colour.
func only(m image.Image, colour uint32) bool {
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			if !of(m, x, y, colour) {
				return false
			}
		}
	}
	return true
}

// of reports whether a pixel has a colour.
func of(m image.Image, x, y int, colour uint32) bool {
	r, g, b, _ := m.At(x, y).RGBA()
	return !far(r>>8, colour>>16) && !far(g>>8, colour>>8&255) && !far(b>>8, colour&255)
}

// far reports whether a channel differs by more than JPEG's error.
func far(a, b uint32) bool { return a > b+12 || b > a+12 }

// meanwhile is the Dialer of a desktop on which something happens while a shot is taken.
type meanwhile struct {
	link.Dialer
	do atomic.Pointer[func()]
}

type meanwhileDevice struct {
	link.Device
	*meanwhile
}

func (m *meanwhile) Connect(ctx context.Context) (link.Device, error) {
	d, err := m.Dialer.Connect(ctx)
	return meanwhileDevice{d, m}, err
}

func (d meanwhileDevice) Read(ctx context.Context, char string) ([]byte, error) {
	if do := d.do.Load(); do != nil && strings.HasPrefix(char, "shot/") {
		(*do)()
	}
	return d.Device.Read(ctx, char)
}
