package wayland

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// Requests as libwayland writes them on a little-endian machine.
func TestAppendMessage(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the bytes are those of a machine whose lowest byte comes first")
	}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"get_registry", appendMessage(nil, 1, 1, uint32(2)), "\x01\x00\x00\x00\x01\x00\x0c\x00\x02\x00\x00\x00"},
		{"destroy", appendMessage(nil, 0xff000001, 7), "\x01\x00\x00\xff\x07\x00\x08\x00"},
		{"bind", appendMessage(nil, 2, 0, uint32(1), "wl_shm", uint32(1), uint32(3)), "\x02\x00\x00\x00\x00\x00\x20\x00\x01\x00\x00\x00\x07\x00\x00\x00wl_shm\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00"},
		{"four letters", appendMessage(nil, 2, 0, "four"), "\x02\x00\x00\x00\x00\x00\x14\x00\x05\x00\x00\x00four\x00\x00\x00\x00"},
		{"below 0", appendMessage(nil, 5, 1, int32(-1)), "\x05\x00\x00\x00\x01\x00\x0c\x00\xff\xff\xff\xff"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// A stream makes the same messages wherever it is cut.
func TestDecoder(t *testing.T) {
	var b []byte
	want := []Message{{1, 0, []byte{}}, {2, 3, []byte{1, 2, 3, 4}}, {0xff000000, 6, bytes.Repeat([]byte{7}, 65520)}}
	for _, m := range want {
		b = append(appendMessage(b, m.Object, m.Op), m.Args...)
		order.PutUint32(b[len(b)-len(m.Args)-4:], uint32(len(m.Args)+headLen)<<16|uint32(m.Op))
	}
	for _, step := range []int{1, 7, 4096, len(b)} {
		var d Decoder
		var got []Message
		for at := 0; at < len(b); at += step {
			list, err := d.Push(b[at:min(at+step, len(b))])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, list...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in steps of %d: %d messages", step, len(got))
		}
	}
	for _, size := range []uint32{0, 4, 7, 9, 65535} {
		head := order.AppendUint32(order.AppendUint32(nil, 1), size<<16)
		if _, err := new(Decoder).Push(head); !errors.Is(err, ErrProtocol) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// events are valid and invalid events of a compositor. The objects are those of [listening].
var events = []struct {
	name string
	b    []byte
	want string // part of the error; empty: none
}{
	{"a global that is not known", appendMessage(nil, registry, 0, uint32(9), "wl_seat", uint32(7)), ""},
	{"a global", appendMessage(nil, registry, 0, uint32(9), outputName, uint32(4)), ""},
	{"the same one twice", appendMessage(nil, registry, 0, uint32(9), shmName, uint32(1)), ""},
	{"an output goes", appendMessage(nil, registry, 1, uint32(1)), ""},
	{"an output that was not there goes", appendMessage(nil, registry, 1, uint32(77)), ""},
	{"a mode", appendMessage(nil, 4, 1, uint32(1), int32(1<<31-1), int32(-5), int32(60000)), ""},
	{"a title", appendMessage(nil, serverFirst, 0, "Letter"), ""},
	{"no title", appendMessage(nil, serverFirst, 0, uint32(0)), ""},
	{"a parent", appendMessage(nil, serverFirst, 7, uint32(0)), ""},
	{"a window goes", appendMessage(nil, serverFirst, 6), ""},
	{"what is said of one that went", appendMessage(nil, serverFirst+9, 0, "late"), ""},
	{"a new window", appendMessage(nil, 5, 0, uint32(serverFirst+1)), ""},
	{"formats", appendMessage(nil, 3, 0, uint32(1)), ""},

	{"an error", appendMessage(nil, display, 0, uint32(3), uint32(2), "no"), "refuses: error 2 of wl_shm: no"},
	{"an error of nothing", appendMessage(nil, display, 0, uint32(0), uint32(2), "no"), "error 2 of an object"},
	{"an object that lives is deleted", appendMessage(nil, display, 1, uint32(3)), "object 3 is not to be deleted"},
	{"one that is not there is deleted", appendMessage(nil, display, 1, uint32(33)), "object 33 is not to be deleted"},
	{"the display is deleted", appendMessage(nil, display, 1, uint32(display)), "is not to be deleted"},
	{"an object that is not there", appendMessage(nil, 40, 0), "object 40, which is not there"},
	{"no object", appendMessage(nil, 0, 0), "object 0, which is not there"},
	{"an event that is not known", appendMessage(nil, serverFirst, 8), "event 8 of zwlr_foreign_toplevel_handle_v1: is not known"},
	{"one of the display", appendMessage(nil, display, 2), "is not known"},
	{"one of the registry", appendMessage(nil, registry, 2, uint32(1)), "is not known"},
	{"a number is missing", appendMessage(nil, display, 1), "the number at byte 0 is longer"},
	{"a number too many", appendMessage(nil, serverFirst, 5, uint32(0)), "4 bytes are left"},
	{"a string that is longer than the message", appendMessage(nil, serverFirst, 0, uint32(5)), "the array at byte 4 is longer"},
	{"a string of 4 GiB", appendMessage(nil, serverFirst, 0, ^uint32(0)), "is longer than the message"},
	{"a string without an end", appendMessage(nil, serverFirst, 0, uint32(4), uint32(0x61616161)), "has no end"},
	{"half a state", appendMessage(nil, serverFirst, 4, uint32(2), uint32(2)), "2 bytes are not a whole number of states"},
	{"a window with a number of ours", appendMessage(nil, 5, 0, uint32(99)), "object 99 can't be a new one"},
	{"a window that is there", appendMessage(nil, 5, 0, uint32(serverFirst)), "can't be a new one"},
	{"no windows any more", appendMessage(nil, 5, 1), "stopped reporting its windows"},
}

// listening is a client of a compositor that has all interfaces, an output, and a window. Its
// requests go nowhere.
func listening(t testing.TB) *Client {
	c := newClient()
	c.send, c.hangUp = func([]byte, *os.File) error { return nil }, func() {}
	for i, g := range []string{shmName, outputName, toplevelName, copyName} {
		c.push(t, appendMessage(nil, registry, 0, uint32(i), g, uint32(4)))
	}
	c.push(t, appendMessage(nil, 5, 0, uint32(serverFirst)))
	if c.err != nil || len(c.Missing()) > 0 {
		t.Fatal(c.err, c.Missing())
	}
	return c
}

func (c *Client) push(t testing.TB, b []byte) {
	var d Decoder
	list, err := d.Push(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range list {
		if c.err == nil {
			c.handleEvent(m)
		}
	}
	if err != nil {
		c.fail(err)
	}
}

func TestEvents(t *testing.T) {
	for _, e := range events {
		c := listening(t)
		c.push(t, e.b)
		if e.want == "" && c.err != nil || e.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), e.want)) {
			t.Errorf("%s: %v, want %q", e.name, c.err, e.want)
		}
	}
}

// A window whose output has gone is on no output, and a later event about that output changes
// nothing.
func TestOutputIsRemoved(t *testing.T) {
	c := listening(t)
	c.push(t, appendMessage(nil, serverFirst, 2, c.names[1]))
	c.push(t, appendMessage(nil, serverFirst, 5))
	if w := c.windows[serverFirst]; !w.known || len(w.now.Outputs) != 1 {
		t.Fatalf("%+v", w)
	}
	c.push(t, appendMessage(nil, registry, 1, uint32(1)))
	turn := c.turn
	c.push(t, appendMessage(nil, serverFirst, 5))
	if w := c.windows[serverFirst]; len(w.now.Outputs) != 0 || c.turn != turn {
		t.Errorf("%+v, turn %d, then %d", w, turn, c.turn)
	}
	c.push(t, appendMessage(nil, serverFirst, 2, uint32(77)))
	c.push(t, appendMessage(nil, serverFirst, 3, uint32(77)))
	c.push(t, appendMessage(nil, serverFirst, 5))
	if c.turn != turn {
		t.Errorf("a window that opened and closed before it was announced changed the count from %d to %d", turn, c.turn)
	}
	if c.err != nil {
		t.Error(c.err)
	}
}

// A title change counts for the window with the focus, and not for others.
func TestTitleOfTheFocusedWindow(t *testing.T) {
	c := listening(t)
	say := func(op uint16, args ...any) {
		c.push(t, appendMessage(nil, serverFirst, op, args...))
		c.push(t, appendMessage(nil, serverFirst, 5))
	}
	say(0, "Letter")
	if c.titled != 0 {
		t.Error("a change of title was counted for a window without the focus")
	}
	say(4, uint32(4), uint32(stateActivated))
	turn := c.turn
	say(0, "Bank")
	say(0, "Letter")
	say(0, "Letter")
	if c.titled != 2 || c.turn != turn || c.err != nil {
		t.Errorf("%d titles, turn %d, then %d, %v", c.titled, turn, c.turn, c.err)
	}
}

// Whatever comes, the result is an error, or a client within its limits.
func FuzzEvents(f *testing.F) {
	for _, e := range events {
		f.Add(e.b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := listening(t)
		c.push(t, b)
		if c.err == nil && (len(c.objects) > maxObjects || len(c.outputs) > maxOutputs || len(c.windows) > len(c.objects)) {
			t.Errorf("%d objects, %d outputs, %d windows", len(c.objects), len(c.outputs), len(c.windows))
		}
	})
}
