// Package sway asks the compositor Sway for its windows' places, through its IPC (sway-ipc(7)),
// since no Wayland protocol has them.
package sway

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net"

	"github.com/locket-dev/locket/firmware-bridge/link/wayland"
)

// ErrProtocol: the answer is not Sway's.
var ErrProtocol = errors.New("sway: not the protocol")

// A message, in the machine's byte order (sway-ipc(7)):
//
//	0  6  "i3-ipc"
//	6  4  length of the payload
//	10 4 type, the same in request and answer: 4 is get_tree
//	14    the payload, JSON
const (
	magic   = "i3-ipc"
	headLen = len(magic) + 8
	getTree = 4
	maxTree = 16 << 20 // bytes; a window has some 2000
)

// Tree asks the Sway that listens at a socket for its windows. It fails if another process than pid
// listens there, because its windows would not be those that the compositor shows.
func Tree(ctx context.Context, path string, pid int) (*Layout, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // this ends pending reads and writes
	if peer := wayland.Peer(conn.(*net.UnixConn)); peer == 0 || peer != pid {
		return nil, fmt.Errorf("sway: %s is of process %d, and the compositor is process %d", path, peer, pid)
	}
	if _, err := conn.Write(appendHead(nil, 0, getTree)); err != nil {
		return nil, fmt.Errorf("sway: ask for the windows: %w", err)
	}
	b, err := readAnswer(conn, getTree)
	if err != nil {
		return nil, fmt.Errorf("sway: the windows: %w", errors.Join(err, ctx.Err()))
	}
	return parse(b)
}

func appendHead(b []byte, length, kind uint32) []byte {
	b = append(b, magic...)
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, length), kind)
}

func readAnswer(r io.Reader, kind uint32) ([]byte, error) {
	head := make([]byte, headLen)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n, is := binary.NativeEndian.Uint32(head[len(magic):]), binary.NativeEndian.Uint32(head[len(magic)+4:])
	if string(head[:len(magic)]) != magic || is != kind || n > maxTree {
		return nil, fmt.Errorf("%w: an answer of type %d and %d bytes that begins with %q", ErrProtocol, is, n, head[:len(magic)])
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// Layout lists windows with their places, in logical pixels of all outputs together.
type Layout struct {
	Views []View // that may be seen
}

// View is a window.
type View struct {
	App, Title string // App is the class of an X11 window; empty: it has none
	Focused    bool
	Output     string          // its name
	On         image.Rectangle // place of the output
	Content    image.Rectangle // place of the program's pixels, cut at the output's edge
	Whole      image.Rectangle // with Sway's borders and the title bar
}

// node is a node of the tree. Pointers are nil if a field is missing.
type node struct {
	Name       *string `json:"name"`
	Type       string  `json:"type"`
	Focused    bool    `json:"focused"`
	Visible    bool    `json:"visible"`
	AppID      *string `json:"app_id"`
	Properties *struct {
		Class string `json:"class"`
	} `json:"window_properties"`
	PID      *int64 `json:"pid"` // only windows have one
	Rect     rect   `json:"rect"`
	Window   rect   `json:"window_rect"` // relative to the corner of Rect
	Deco     rect   `json:"deco_rect"`
	Nodes    []node `json:"nodes"`
	Floating []node `json:"floating_nodes"`
}

type rect struct{ X, Y, Width, Height int32 }

func (r rect) at(x, y int) image.Rectangle {
	x, y = x+int(r.X), y+int(r.Y)
	return image.Rect(x, y, x+int(max(r.Width, 0)), y+int(max(r.Height, 0)))
}

// parse reads the answer to get_tree.
func parse(tree []byte) (*Layout, error) {
	var root node
	if err := json.Unmarshal(tree, &root); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	if root.Type != "root" {
		return nil, fmt.Errorf("%w: the tree begins with a node of type %q", ErrProtocol, root.Type)
	}
	l := &Layout{}
	for _, out := range root.Nodes {
		for _, w := range out.Nodes {
			v := View{On: out.Rect.at(0, 0)}
			if out.Name != nil {
				v.Output = *out.Name
			}
			l.walk(w, v)
		}
	}
	return l, nil
}

// walk adds the windows below n; of holds their output and workspace.
func (l *Layout) walk(n node, of View) {
	if n.PID != nil && n.Visible {
		of.Focused = n.Focused
		if n.Name != nil {
			of.Title = *n.Name
		}
		switch {
		case n.AppID != nil && *n.AppID != "":
			of.App = *n.AppID
		case n.Properties != nil:
			of.App = n.Properties.Class
		}
		of.Whole = n.Rect.at(0, 0)
		of.Content = n.Window.at(int(n.Rect.X), int(n.Rect.Y)).Intersect(of.Whole).Intersect(of.On)
		of.Whole.Min.Y -= int(max(n.Deco.Height, 0))
		l.Views = append(l.Views, of)
	}
	for _, child := range n.Nodes {
		l.walk(child, of)
	}
	for _, child := range n.Floating {
		l.walk(child, of)
	}
}

// Front returns the window with the focus, and those that overlap it. Windows below it count, too:
// its program or Sway's opacity may let them shine through, and the tree does not say so. Nil: no
// window has the focus.
func (l *Layout) Front() (front *View, others []View) {
	at := -1
	for i, v := range l.Views {
		if v.Focused && at >= 0 {
			return nil, nil // if there are several, it is unknown which one a person looks at
		}
		if v.Focused {
			at = i
		}
	}
	if at < 0 {
		return nil, nil
	}
	front = &l.Views[at]
	for i, v := range l.Views {
		if i != at && v.Whole.Overlaps(front.Content) {
			others = append(others, v)
		}
	}
	return front, others
}
