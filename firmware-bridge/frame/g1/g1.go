// Package g1 reads and writes the messages of Even Realities' G1 glasses over Bluetooth Low Energy:
// bytes in, values out. It does no input or output.
//
// The words:
//
//   - An arm is a separate peripheral, left or right. The microphone is in the right one.
//   - A packet is ten frames of LC3, 100 ms of sound.
//   - A page is what the display shows at one time, sent in one or more parts.
//
// The tables are taken from even-realities/EvenDemoApp (BSD-2-Clause), by the files named below.
package g1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Service is an arm's service: Nordic's UART.
const Service = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"

// Characteristics, as BlueZ writes UUIDs.
const (
	WriteChar  = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
	NotifyChar = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
)

// The sound: LC3 at 16 kHz.
const (
	FrameSize = 20 // bytes, 10 ms
	Frames    = 10 // of a packet
	Lasts     = 100 * time.Millisecond
)

var (
	// ErrFormat: the bytes are not what the glasses send. The errors below wrap it.
	ErrFormat = errors.New("g1")
	// ErrLength: a notification is not as long as its command says.
	ErrLength = fmt.Errorf("%w: a notification of another length than its command has", ErrFormat)
	// ErrText: a text has more parts than can be numbered.
	ErrText = fmt.Errorf("%w: the text is too long for the display", ErrFormat)
)

// Item is one of Sound, Touch, Answer and Other.
type Item interface{ item() }

type (
	// Sound is a packet of sound.
	Sound struct {
		Seq  byte
		Data []byte // Frames of FrameSize bytes each
	}
	// Touch is what the wearer did at an arm.
	Touch byte
	// Answer is the answer to a command.
	Answer struct {
		Command byte
		OK      bool
		Arg     byte // microphone: 1 on, 0 off
	}
	// Other is a message that is not used here.
	Other byte
)

func (Sound) item()  {}
func (Touch) item()  {}
func (Answer) item() {}
func (Other) item()  {}

// Known touches; others are ignored.
const (
	DoubleTap Touch = 0x00 // the wearer leaves what is shown
	SingleTap Touch = 0x01 // a page back (left) or forward (right)
	Triple    Touch = 0x04
	TripleOff Touch = 0x05
	Ask       Touch = 0x17 // a long press on the left arm
	Asked     Touch = 0x18 // it ended
)

// Commands that are answered.
const (
	Microphone byte = 0x0e
	Heart      byte = 0x25
	Text       byte = 0x4e
)

const good = 0xc9 // success in an answer; ca is failure

// Parse reads a notification:
//
//	f1 seq, 200 bytes       sound; exactly 202 bytes, as in BleManager.kt
//	f5 what                 touch
//	0e c9 on | 0e ca on     answer to the microphone's command
//	4e c9                   answer to a text
//	25 … 04 …               answer to a heartbeat, of six bytes or more, byte 4 is 04
func Parse(b []byte) (Item, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: an empty one", ErrLength)
	}
	short := fmt.Errorf("%w: %d bytes of %02x", ErrLength, len(b), b[0])
	switch b[0] {
	case 0xf1:
		if len(b) != 2+Frames*FrameSize {
			return nil, short
		}
		return Sound{b[1], b[2:]}, nil
	case 0xf5:
		if len(b) < 2 {
			return nil, short
		}
		return Touch(b[1]), nil
	case Microphone:
		if len(b) < 3 {
			return nil, short
		}
		return Answer{b[0], b[1] == good, b[2]}, nil
	case Text:
		if len(b) < 2 {
			return nil, short
		}
		return Answer{b[0], b[1] == good, 0}, nil
	case Heart:
		if len(b) < 6 {
			return nil, short
		}
		return Answer{b[0], b[4] == 4, b[3]}, nil
	}
	return Other(b[0]), nil
}

// Hello is the first write to each arm (BleManager.kt).
func Hello() []byte { return []byte{0xf4, 0x01} }

// Heartbeat is the n-th heartbeat.
func Heartbeat(n byte) []byte { return []byte{Heart, 6, 0, n, 4, n} }

// Mic turns the microphone on or off; it is only written to the right arm.
func Mic(on bool) []byte {
	b := []byte{Microphone, 0}
	if on {
		b[1] = 1
	}
	return b
}

// partSize is how many bytes of a text a write holds (lib/services/proto.dart).
const partSize = 191

// newText says that the display's content is new, and a text (README.md of EvenDemoApp).
const newText = 0x71

// Page encodes the text of one page for writing; page counts from 0 and is below pages, and seq is
// the number of the first write. It is written to the left arm, and to the right one once the left
// one has answered.
//
//	0  4e, seq, parts, part from 0, 71, u16 BE position, page from 0, pages
//	9  up to 191 bytes of UTF-8
func Page(seq byte, text string, page, pages int) (out [][]byte, err error) {
	parts := (len(text) + partSize - 1) / partSize
	if parts > 255 || pages > 255 || page >= pages {
		return nil, ErrText
	}
	for i := range parts {
		head := []byte{Text, seq + byte(i), byte(parts), byte(i), newText}
		head = binary.BigEndian.AppendUint16(head, 0)
		head = append(head, byte(page), byte(pages))
		out = append(out, append(head, text[i*partSize:min((i+1)*partSize, len(text))]...))
	}
	return out, nil
}

// Seqs finds missing packets. The zero value is ready, for one recording.
type Seqs struct {
	seen bool
	last byte
}

// Next takes a packet's number, and returns how many are missing before it, modulo 256. old reports
// that the packet came twice or late, and is to be left out.
func (s *Seqs) Next(seq byte) (missing int, old bool) {
	step := seq - s.last
	if s.seen && (step == 0 || step >= 128) {
		return 0, true
	}
	if s.seen {
		missing = int(step) - 1
	}
	s.seen, s.last = true, seq
	return missing, false
}
