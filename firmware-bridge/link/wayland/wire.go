// Package wayland is a small client for Wayland compositors that report their windows. It asks for
// three things: the windows, the one with the focus, and the content of a part of a screen.
//
// The words:
//
//   - An object exists at both ends of a connection, under a number. The client numbers its own
//     from 1, the compositor from 0xff000000.
//   - A request goes from the client to an object of the compositor, an event the other way. Both
//     are a [Message], whose op is its index among the requests or events of the object's
//     interface.
//   - A toplevel is a window of a program. An output is a screen.
//
// It speaks wl_output, wl_shm, wlr-screencopy-unstable-v1 and
// wlr-foreign-toplevel-management-unstable-v1. The last two belong to the wlroots family: Sway,
// labwc, Wayfire, river, Hyprland and others have them.
package wayland

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrProtocol: the compositor sent something that violates the protocol.
var ErrProtocol = errors.New("wayland: not the protocol")

// A message, in the machine's byte order (wayland.freedesktop.org/docs/html/ch04.html):
//
//	0  4  the object's number
//	4  4  size of the whole, a multiple of 4, in the upper 16 bits, and op in the lower
//	8     arguments: a number has 4 bytes; a string and an array have their length in 4 bytes, and are
//	      padded with up to 3 bytes; a string ends with a 0, which is counted; length 0 is no string
const headLen = 8

var order = binary.NativeEndian

// Message is a request or an event.
type Message struct {
	Object uint32
	Op     uint16
	Args   []byte
}

// Decoder splits a stream into messages. The zero value is ready.
type Decoder struct{ rest []byte }

// Push takes the next bytes, and returns the complete messages. Their arguments are copies. After
// an error nothing more can be read.
func (d *Decoder) Push(b []byte) (list []Message, err error) {
	all := slices.Concat(d.rest, b)
	for len(all) >= headLen {
		v := order.Uint32(all[4:])
		size := int(v >> 16)
		if size < headLen || size%4 != 0 {
			return list, fmt.Errorf("%w: a message of %d bytes", ErrProtocol, size)
		}
		if len(all) < size {
			break
		}
		list = append(list, Message{Object: order.Uint32(all), Op: uint16(v), Args: all[headLen:size:size]})
		all = all[size:]
	}
	d.rest = all
	return list, nil
}

// appendMessage appends a request. Its arguments are uint32, int32 or string.
func appendMessage(b []byte, object uint32, op uint16, args ...any) []byte {
	from := len(b)
	b = order.AppendUint32(order.AppendUint32(b, object), 0)
	for _, a := range args {
		switch a := a.(type) {
		case uint32:
			b = order.AppendUint32(b, a)
		case int32:
			b = order.AppendUint32(b, uint32(a))
		case string:
			b = order.AppendUint32(b, uint32(len(a)+1))
			b = append(b, a...)
			b = append(b, make([]byte, 4-len(a)%4)...)
		}
	}
	order.PutUint32(b[from+4:], uint32(len(b)-from)<<16|uint32(op))
	return b
}

// arguments reads the arguments of an event. After the first error it returns zeros.
type arguments struct {
	b   []byte
	at  int // bytes that were read
	err error
}

func (a *arguments) next(n int, what string) []byte {
	if a.err == nil && (n < 0 || n > len(a.b)-a.at) {
		a.err = fmt.Errorf("%s at byte %d is longer than the message", what, a.at)
	}
	if a.err != nil {
		return nil
	}
	a.at += n
	return a.b[a.at-n : a.at]
}

func (a *arguments) uint() uint32 {
	b := a.next(4, "the number")
	if b == nil {
		return 0
	}
	return order.Uint32(b)
}

func (a *arguments) int() int32 { return int32(a.uint()) }

func (a *arguments) array() []byte {
	n := a.uint()
	if n > 1<<16 {
		n = 1 << 16 // longer than any message
	}
	b := a.next(int(n), "the array")
	a.next(-int(n)&3, "the padding")
	return b
}

// string reads a string, and returns at most maxString bytes of it, without invalid UTF-8. A null
// string is empty.
func (a *arguments) string() string {
	at := a.at
	b := a.array()
	if len(b) > 0 && b[len(b)-1] != 0 {
		a.err = fmt.Errorf("the string at byte %d has no end", at)
		return ""
	}
	if len(b) == 0 {
		return ""
	}
	return strings.ToValidUTF8(string(b[:min(len(b)-1, maxString)]), "�")
}

// maxString is how many bytes of a title are kept, as for X11.
const maxString = 4096

// end returns the error of the reading. Left-over bytes are an error, too.
func (a *arguments) end() error {
	if a.err == nil && a.at != len(a.b) {
		return fmt.Errorf("%d bytes are left", len(a.b)-a.at)
	}
	return a.err
}
