// Package limitless reads and writes the messages of the Limitless pendant over Bluetooth Low
// Energy: bytes in, values out. It does no input or output.
//
// The words:
//
//   - A packet is one notification or one write: a piece of a message.
//   - A message is protobuf. A pendant's message travels in one or more fragments.
//   - A page is a unit of the pendant's flash, about a second of sound. Pages are numbered;
//     acknowledging one deletes it and all pages before it.
//   - A diagnostic page has no sound.
//
// Limitless published nothing. All this is taken from BasedHardware/omi (MIT),
// app/lib/services/devices/connectors/limitless_connection.dart.
package limitless

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The service that a pendant advertises, and its characteristics, in lower case.
const (
	Service     = "632de001-604c-446b-a80f-7963e950f3fb"
	WriteChar   = "632de002-604c-446b-a80f-7963e950f3fb" // write
	NotifyChar  = "632de003-604c-446b-a80f-7963e950f3fb" // notify
	BatteryChar = "00002a19-0000-1000-8000-00805f9b34fb" // read, notify
)

var (
	// ErrFormat: the bytes are not what the pendant sends.
	ErrFormat = errors.New("limitless")
	// ErrNoSound: a page has sound, but no frame could be read. It must not be acknowledged.
	ErrNoSound = fmt.Errorf("%w: a page with sound has no frame that can be read", ErrFormat)
)

const (
	maxFragments = 256       // fragments of one message
	maxPending   = 8         // incomplete messages
	maxMessage   = 256 << 10 // bytes
	minFrame     = 10        // bytes of an Opus frame
	maxFrame     = 200
	maxDepth     = 8 // nesting of containers in a page
)

// epoch is the earliest time of a page that is believed: 2020-01-01.
const epoch = 1577836800000

// Page is a page of the flash, or a piece of live sound, which has no Index.
type Page struct {
	Index   uint64
	Session uint64
	At      time.Time // when it began; zero: the clock is not set
	Frames  [][]byte  // Opus, mono; none: a diagnostic page
	Ends    bool      // a recording or the session ended in it
}

// Status describes the pendant's storage.
type Status struct {
	Oldest, Newest uint64 // pages; Newest < Oldest: none
	Session        uint64
	Free, All      uint64 // pages
}

// Button is a press: 1 short, 2 long, 3 double.
type Button uint8

// Message is what a pendant sent. Storage, Live, Status or Press is nil if the message has none.
type Message struct {
	Storage *Page
	Live    [][]byte // Opus frames
	Status  *Status
	Press   *Button
	Err     error // ErrNoSound, about Storage
}

// field is a field of a protobuf message.
type field struct {
	number uint64
	wire   byte
	value  uint64 // value of a varint
	data   []byte // content of a field with a length
}

// errWire: a wire type that is not read here. The fields after it can't be found.
var errWire = errors.New("unknown wire type")

// next reads a field off b. It returns errWire for types other than varint, fixed and with a
// length.
func next(b []byte) (f field, rest []byte, err error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return f, nil, errors.New("a tag is cut off")
	}
	b = b[n:]
	f.number, f.wire = tag>>3, byte(tag&7)
	switch f.wire {
	case 0:
		if f.value, n = binary.Uvarint(b); n <= 0 {
			return f, nil, errors.New("a number is cut off")
		}
		return f, b[n:], nil
	case 1, 5:
		size := 8
		if f.wire == 5 {
			size = 4
		}
		if len(b) < size {
			return f, nil, errors.New("a number is cut off")
		}
		return f, b[size:], nil
	case 2:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return f, nil, errors.New("a length goes beyond what holds it")
		}
		f.data = b[n : n+int(size)]
		return f, b[n+int(size):], nil
	}
	return f, nil, errWire
}

// Assembler joins fragments, in whatever order they come, to messages. The zero value is ready to
// use.
type Assembler struct {
	pending map[uint64]*partial
	order   []uint64
	// Lost is how many messages were given up because a fragment is missing.
	Lost int
}

type partial struct {
	parts map[uint64][]byte
	of    uint64
	size  int
}

// Reset drops incomplete messages; it has to be called when the mode changes.
func (a *Assembler) Reset() { a.pending, a.order = nil, nil }

// Push takes a packet, and returns a message's bytes if the packet completes one; otherwise nil.
func (a *Assembler) Push(packet []byte) ([]byte, error) {
	var index, number, of uint64
	var payload []byte
	has := map[uint64]bool{}
	for b := packet; len(b) > 0; {
		f, rest, err := next(b)
		if err != nil && has[1] && has[3] && has[4] {
			break // the rest, which is cut off, comes after the packet's fields
		}
		if err != nil {
			return nil, fmt.Errorf("%w: packet: %v", ErrFormat, err)
		}
		switch b = rest; {
		case f.wire == 0 && f.number == 1:
			index = f.value
		case f.wire == 0 && f.number == 2:
			number = f.value
		case f.wire == 0 && f.number == 3:
			of = f.value
		case f.wire == 2 && f.number == 4:
			payload = f.data
		default:
			continue
		}
		has[f.number] = true
	}
	switch {
	case !has[1] || !has[3] || !has[4]:
		return nil, fmt.Errorf("%w: packet: malformed", ErrFormat)
	case of == 0 || of > maxFragments || number >= of:
		return nil, fmt.Errorf("%w: packet: fragment %d of %d", ErrFormat, number, of)
	case of == 1:
		return payload, nil
	}
	p := a.pending[index]
	if p == nil || p.of != of {
		if p != nil {
			a.drop(index)
		}
		if len(a.order) >= maxPending {
			a.drop(a.order[0])
		}
		if a.pending == nil {
			a.pending = map[uint64]*partial{}
		}
		p = &partial{parts: map[uint64][]byte{}, of: of}
		a.pending[index], a.order = p, append(a.order, index)
	}
	if _, twice := p.parts[number]; twice {
		return nil, nil
	}
	if p.size += len(payload); p.size > maxMessage {
		a.drop(index)
		return nil, fmt.Errorf("%w: message %d: more than %d bytes", ErrFormat, index, maxMessage)
	}
	p.parts[number] = append([]byte(nil), payload...)
	if uint64(len(p.parts)) < of {
		return nil, nil
	}
	var out []byte
	for i := range of {
		out = append(out, p.parts[i]...)
	}
	a.drop(index)
	a.Lost--
	return out, nil
}

func (a *Assembler) drop(index uint64) {
	a.Lost++
	delete(a.pending, index)
	keep := a.order[:0]
	for _, i := range a.order {
		if i != index {
			keep = append(keep, i)
		}
	}
	a.order = keep
}
