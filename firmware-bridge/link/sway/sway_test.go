package sway

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is Sway 1.7's answer with two Wayland windows and an X11 window beside each other, and a
// floating one above.
func tree(t testing.TB) string {
	b, err := os.ReadFile("testdata/tree.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWindowInFront(t *testing.T) {
	change := func(from, to string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, from) {
				t.Fatalf("there is no %s", from)
			}
			return strings.ReplaceAll(s, from, to)
		}
	}
	focus := func(on string) func(string) string { // moves the focus to the window with a title
		return func(s string) string {
			s = strings.ReplaceAll(s, `"focused": true`, `"focused": false`)
			at := strings.Index(s, fmt.Sprintf(`"name": %q`, on))
			from := strings.LastIndex(s[:at], `"focused": false`)
			return s[:from] + `"focused": true` + s[from+len(`"focused": false`):]
		}
	}
	for _, c := range []struct {
		name    string
		change  func(string) string
		app     string // of the window in front; empty: none
		content image.Rectangle
		above   string
	}{
		{"of X11", func(s string) string { return s }, "Xmessage", image.Rect(539, 25, 795, 595), "notes"},
		{"of Wayland", focus("Letter"), "editor", image.Rect(5, 25, 262, 595), "notes"},
		{"the one above, which may let others shine through", focus("My diary"), "notes", image.Rect(25, 75, 725, 575), "editor text Xmessage"},
		{"without a class", change(`"Xmessage"`, `null`), "", image.Rect(539, 25, 795, 595), "notes"},
		{"with an empty app", func(s string) string { return change(`"editor"`, `""`)(focus("Letter")(s)) }, "", image.Rect(5, 25, 262, 595), "notes"},
		{"no focus", change(`"focused": true`, `"focused": false`), "nobody", image.Rectangle{}, ""},
		{"all have it", change(`"focused": false`, `"focused": true`), "nobody", image.Rectangle{}, ""},
		{"none is visible", change(`"visible": true`, `"visible": false`), "nobody", image.Rectangle{}, ""},
		{"content beyond its window", change(`"width": 256`, `"width": 25600`), "Xmessage", image.Rect(539, 25, 800, 595), "notes"},
		{"of a size below 0", change(`"width": 256`, `"width": -256`), "Xmessage", image.Rectangle{}, ""},
	} {
		l, err := parse([]byte(c.change(tree(t))))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		front, above := l.Front()
		if front == nil {
			if c.app != "nobody" {
				t.Errorf("%s: none is in front", c.name)
			}
			continue
		}
		var names []string
		for _, v := range above {
			names = append(names, v.App)
		}
		if front.App != c.app || front.Content != c.content && !c.content.Empty() || c.content.Empty() != front.Content.Empty() || strings.Join(names, " ") != c.above {
			t.Errorf("%s: %+v below %v", c.name, front, names)
		}
		if front.Output != "HEADLESS-1" || front.On != image.Rect(0, 0, 800, 600) {
			t.Errorf("%s: on %s, %v", c.name, front.Output, front.On)
		}
	}
}

func TestParseBad(t *testing.T) {
	for _, bad := range []string{"", "null", "[]", "{}", `{"type":"con"}`, `{"type":"root","nodes":7}`, `{"type":"root","nodes":[{"rect":{"x":1e99}}]}`, strings.Repeat(`{"nodes":[`, 20000)} {
		if _, err := parse([]byte(bad)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}

func TestReadAnswer(t *testing.T) {
	for _, c := range []struct {
		name, b string
		want    string // in the error; empty: none
	}{
		{"one", string(appendHead(nil, 2, getTree)) + "{}", ""},
		{"another type", string(appendHead(nil, 2, 3)) + "{}", "an answer of type 3"},
		{"an event", string(appendHead(nil, 2, 1<<31)) + "{}", "not the protocol"},
		{"too long", string(appendHead(nil, maxTree+1, getTree)), "and 16777217 bytes"},
		{"4 GiB", string(appendHead(nil, ^uint32(0), getTree)), "and 4294967295 bytes"},
		{"somebody else's", "HTTP/1.1 400 Bad Request\r\n\r\n", `begins with "HTTP/1"`},
		{"half a head", magic, io.ErrUnexpectedEOF.Error()},
		{"half an answer", string(appendHead(nil, 20, getTree)) + "{}", io.ErrUnexpectedEOF.Error()},
		{"nothing", "", "EOF"},
	} {
		_, err := readAnswer(strings.NewReader(c.b), getTree)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The listening process matters: another Sway has other windows.
func TestTree(t *testing.T) {
	dir, err := os.MkdirTemp("", "way") // a socket's path has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "ipc"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			head := make([]byte, headLen)
			if _, err := io.ReadFull(conn, head); err == nil && bytes.Equal(head, appendHead(nil, 0, getTree)) {
				_, _ = conn.Write(append(appendHead(nil, uint32(len(tree(t))), getTree), tree(t)...)) // or the client reads less
			}
			conn.Close()
		}
	}()
	defer func() { l.Close(); <-done }()
	got, err := Tree(t.Context(), l.Addr().String(), os.Getpid())
	if err != nil || len(got.Views) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, pid := range []int{0, os.Getpid() + 1} {
		if _, err := Tree(t.Context(), l.Addr().String(), pid); err == nil || !strings.Contains(err.Error(), "the compositor is process") {
			t.Errorf("process %d: %v", pid, err)
		}
	}
	if _, err := Tree(t.Context(), filepath.Join(dir, "none"), os.Getpid()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The window in front lies on its output, and the windows above overlap it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(tree(f)))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parse(b)
		if err != nil {
			return
		}
		front, above := l.Front()
		if front == nil {
			return
		}
		if !front.Content.In(front.On) || !front.Focused {
			t.Errorf("%+v", front)
		}
		for _, v := range above {
			if !v.Whole.Overlaps(front.Content) {
				t.Errorf("%+v lies above %+v", v, front)
			}
		}
	})
}
