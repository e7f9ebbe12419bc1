package link

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/link/wayland"
)

// A compositor that does not report the window in front, like GNOME's, is never served.
func TestUnsupportedCompositor(t *testing.T) {
	dir, err := os.MkdirTemp("", "way") // a socket's path has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-0"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		order := binary.NativeEndian
		for b := make([]byte, 12); ; {
			if _, err := io.ReadFull(conn, b); err != nil {
				return
			}
			if order.Uint32(b) != 1 || order.Uint32(b[4:]) != 12<<16 {
				continue // get_registry, which has no answer
			}
			id := order.AppendUint32(nil, order.Uint32(b[8:])) // sync: its callback is done, and is deleted
			said := order.AppendUint32(id, 12<<16)
			said = append(order.AppendUint32(said, 0), 1, 0, 0, 0)
			order.PutUint32(said[len(said)-4:], 1)
			said = append(order.AppendUint32(said, 12<<16|1), id...)
			if _, err := conn.Write(said); err != nil {
				return
			}
		}
	}()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	_, err = (&Wayland{Display: "wayland-0"}).Connect(t.Context())
	if !errors.Is(err, ErrUnserved) || !strings.Contains(err.Error(), "wayland-0 has no wl_shm and no zwlr_screencopy_manager_v1 and no zwlr_foreign_toplevel_manager_v1") {
		t.Error(err)
	}
	l.Close()
	<-done
}

func TestWindowAloneOnAnOutput(t *testing.T) {
	outs := []wayland.Output{{ID: 7, Name: "A", Width: 800, Height: 600}, {ID: 8, Name: "B", Width: 600, Height: 400, Turned: 1}}
	on := func(app string, ids ...uint32) wayland.Window {
		return wayland.Window{App: app, Title: "t", Outputs: ids}
	}
	max := func(w wayland.Window) wayland.Window { w.Maximized, w.Activated = true, true; return w }
	min := func(w wayland.Window) wayland.Window { w.Minimized = true; return w }
	title := Window{App: "x", Title: "t"}
	a := Window{App: "x", Title: "t", Width: 800, Height: 600, Screen: "A", ScreenWidth: 800, ScreenHeight: 600}
	b := Window{App: "x", Title: "t", Width: 400, Height: 600, Screen: "B", ScreenWidth: 400, ScreenHeight: 600}
	for _, c := range []struct {
		name  string
		front wayland.Window
		other []wayland.Window
		want  Window
		above []Window
	}{
		{"alone", max(on("x", 7)), nil, a, nil},
		{"on a turned screen", max(on("x", 8)), nil, b, nil},
		{"not maximised", on("x", 7), nil, title, nil},
		{"full screen", wayland.Window{App: "x", Title: "t", Fullscreen: true, Activated: true, Outputs: []uint32{7}}, nil, a, nil},
		{"minimised", min(max(on("x", 7))), nil, title, nil},
		{"on two screens", max(on("x", 7, 8)), nil, title, nil},
		{"on none", max(on("x")), nil, title, nil},
		{"on one that is gone", max(on("x", 9)), nil, title, nil},
		{"beside another", max(on("x", 7)), []wayland.Window{on("y", 7)}, title, nil},
		{"one on the other screen", max(on("x", 7)), []wayland.Window{on("y", 8)}, a, []Window{{App: "y", Title: "t"}}},
		{"minimised ones", max(on("x", 7)), []wayland.Window{min(on("z", 7)), min(on("y", 7))}, a, []Window{{App: "y", Title: "t"}, {App: "z", Title: "t"}}},
	} {
		front, above := alone(wayland.State{Windows: append(c.other, c.front), Outputs: outs}, c.front)
		if *front != c.want || !reflect.DeepEqual(above, c.above) {
			t.Errorf("%s: %+v below %+v", c.name, front, above)
		}
	}
}

func TestParseShot(t *testing.T) {
	w := Window{X: 1, Y: -2, Width: 3, Height: 4, ScreenWidth: 5, ScreenHeight: 6, Screen: "A/B"}
	if got, ok := parseShot(w.Shot()); !ok || got != w {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, bad := range []string{"", "shot", "shot/1/2/3/4", "shot/1/2/3/4/5/x/A", "spot/1/2/3/4/5/6/A", "shot/1/2/3/99999999999999999999/5/6/A"} {
		if _, ok := parseShot(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}
