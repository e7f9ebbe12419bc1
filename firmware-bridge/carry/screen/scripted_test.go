package screen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
)

// scripted is a desktop whose looks a test determines.
type scripted struct {
	looks func(n int) link.Desktop // counted from 1
	shot  func() ([]byte, error)   // called with mu held

	mu           sync.Mutex
	n            int
	latest, last link.Desktop // the latest look and the one before
	out          chan link.Notification
	once         sync.Once
}

func (d *scripted) Connect(context.Context) (link.Device, error) {
	d.out = make(chan link.Notification)
	return d, nil
}

func (d *scripted) Read(_ context.Context, char string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.HasPrefix(char, "shot/") {
		return d.shot()
	}
	if char != link.ScreenState {
		return nil, link.ErrAbsent
	}
	d.n++
	d.last, d.latest = d.latest, d.looks(d.n)
	return json.Marshal(d.latest)
}

func (d *scripted) MTU() int                                    { return 0 }
func (d *scripted) Write(context.Context, string, []byte) error { return link.ErrAbsent }
func (d *scripted) Subscribe(context.Context, string) error     { return link.ErrAbsent }
func (d *scripted) Notifications() <-chan link.Notification     { return d.out }
func (d *scripted) Err() error                                  { return nil }
func (d *scripted) Close() error                                { d.once.Do(func() { close(d.out) }); return nil }

// A window that came and went between two looks may still be in the pixels.
func TestWindowBetweenTwoLooks(t *testing.T) {
	shots := 0
	d := &scripted{looks: func(n int) link.Desktop {
		return link.Desktop{Front: &link.Window{App: "editor", Title: "Letter", Width: 2, Height: 2}, Turn: []uint64{1, 3, 5, 5, 5, 7, 7}[min(n, 7)-1]}
	}}
	d.shot = func() ([]byte, error) {
		if d.latest.Turn != d.last.Turn {
			t.Errorf("a picture at look %d, in turn %d after %d", d.n, d.latest.Turn, d.last.Turn)
		}
		shots++
		return append([]byte{2, 0, 0, 0, 2, 0, 0, 0}, bytes.Repeat([]byte{byte(100 * shots)}, 16)...), nil
	}
	n := carrytest.NewNode(t)
	stop := n.Bridge(t, carrytest.StatePath(t), screen.Family, d).Start(t)
	n.Disk.Until(t, "two photos", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindPhoto)) == 2 })
	stop()
}

// Titles are published even if no pixels can be read, and what is not known is reported once.
func TestUnreadablePixels(t *testing.T) {
	d := &scripted{looks: func(n int) link.Desktop {
		return link.Desktop{Front: &link.Window{App: "editor", Title: fmt.Sprint("Letter ", min((n+1)/2, 3)), Width: 2, Height: 2}, Unseen: true}
	}}
	d.shot = func() ([]byte, error) { return nil, fmt.Errorf("%w: pixels of format 0x1", link.ErrUnread) }
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), screen.Family, d)
	stop := b.Start(t)
	n.Disk.Until(t, "three titles", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindText)) == 3 })
	if rep := stop(); rep.Connections != 1 || rep.Photos != 0 {
		t.Errorf("%+v", rep)
	}
	told := b.Notes("warning")
	if len(told) != 2 || !strings.Contains(told[0], "does not tell of notifications") || !strings.Contains(told[1], "only window titles are taken from this screen: wayland: its pictures can't be read: pixels of format 0x1") {
		t.Errorf("%q", told)
	}
}

// The class of a window can be longer than the node takes as a speaker, as an address that a browser
// shows as an application.
func TestLongClass(t *testing.T) {
	d := &scripted{looks: func(int) link.Desktop {
		return link.Desktop{Front: &link.Window{App: "chrome-" + strings.Repeat("example.org__", 20), Title: "Letter", Width: 2, Height: 2}}
	}}
	d.shot = func() ([]byte, error) {
		return append([]byte{2, 0, 0, 0, 2, 0, 0, 0}, bytes.Repeat([]byte{100}, 16)...), nil
	}
	n := carrytest.NewNode(t)
	stop := n.Bridge(t, carrytest.StatePath(t), screen.Family, d).Start(t)
	n.Disk.Until(t, "a photo", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindPhoto)) == 1 })
	if rep := stop(); rep.Connections != 1 {
		t.Errorf("%+v", rep)
	}
}
