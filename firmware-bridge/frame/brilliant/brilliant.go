// Package brilliant reads and writes the messages of Brilliant Labs' glasses, Frame and Halo, over
// Bluetooth Low Energy: bytes in, values out. It does no input or output.
//
// The words:
//
//   - The app is a Lua program that the host puts on the glasses and starts. The messages between
//     it and the host are data; the first byte of data is its code.
//   - A line is Lua source that the glasses run at once while no app runs. What they print comes
//     back as text.
//   - A control byte stops or starts things. Those that erase or reboot are never written.
//
// The bytes are taken from brilliantlabsAR/frame-codebase (ISC), CitizenOneX/frame_msg
// (BSD-3-Clause) and brilliantlabsAR/brilliant_sdk, by the files named below. The codes of data are
// the app's choice; these are those of frame_msg.
package brilliant

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Service is the UUID that a device advertises.
const Service = "7a230001-5475-a6a4-654c-8431f6ad49c4"

// Characteristics, as BlueZ writes UUIDs. Only Halo has AudioChar.
const (
	WriteChar    = "7a230002-5475-a6a4-654c-8431f6ad49c4" // write without response
	NotifyChar   = "7a230003-5475-a6a4-654c-8431f6ad49c4" // notify
	AudioChar    = "7a230005-5475-a6a4-654c-8431f6ad49c4" // write
	BatteryChar  = "00002a19-0000-1000-8000-00805f9b34fb" // read; Halo alone
	FirmwareChar = "00002a26-0000-1000-8000-00805f9b34fb" // read
)

var (
	// ErrFormat: the bytes are not what the app sends. The errors below wrap it.
	ErrFormat = errors.New("brilliant")
	// ErrCode: data has an unknown code.
	ErrCode = fmt.Errorf("%w: data of a code that is not known", ErrFormat)
	// ErrLength: data is shorter or longer than its code allows.
	ErrLength = fmt.Errorf("%w: data is not as long as its code says", ErrFormat)
	// ErrHalf: sound of 16 bits has an odd number of bytes.
	ErrHalf = fmt.Errorf("%w: sound has half a sample", ErrFormat)
	// ErrLine: it is not a line of Lua that may be written.
	ErrLine = fmt.Errorf("%w: not a line of Lua", ErrFormat)
	// ErrControl: the bytes would reboot the glasses, or erase what is on them.
	ErrControl = fmt.Errorf("%w: a control byte that is never written", ErrFormat)
)

const data = 0x01 // the first byte of data, in both directions

// Break stops the app; Restart restarts the Lua machine. Halo has more of them (halo-firmware,
// BLE_SERVICES.md): 02 reboots, 05 removes main.lua, 06 leaves Lua, 07 removes all files.
var (
	Break   = []byte{0x03}
	Restart = []byte{0x04}
)

// Check returns ErrControl unless b may be written: it has to be data, Break, Restart, or printable
// text.
func Check(b []byte) error {
	switch {
	case len(b) == 0:
		return fmt.Errorf("%w: nothing", ErrControl)
	case b[0] == data || b[0] >= ' ':
		return nil
	case len(b) == 1 && (b[0] == Break[0] || b[0] == Restart[0]):
		return nil
	}
	return fmt.Errorf("%w: %02x", ErrControl, b[0])
}

// Write encodes a line of Lua for writing, in at most most bytes.
func Write(source string, most int) ([]byte, error) {
	if source == "" || len(source) > most || source[0] < ' ' || strings.ContainsAny(source, "\r\n") {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", ErrLine, len(source), most)
	}
	return []byte(source), nil
}

// Codes of data for the app.
const (
	Listen byte = 0x10 // 1 turns the microphone on, 2 on with LC3 of 32,000 bit/s at 16 kHz (Halo only), 0 off
	Photo  byte = 0x11 // takes a photo, whatever the payload, which must not be empty
	Show   byte = 0x12 // text for the display, UTF-8
)

// Message splits data for the app into writes of at most most bytes each. The first is data, code,
// u16 BE length of the whole payload, bytes; the others are data, code, bytes. An empty payload
// makes no write.
func Message(code byte, payload []byte, most int) (out [][]byte) {
	head := binary.BigEndian.AppendUint16([]byte{data, code}, uint16(len(payload)))
	for len(payload) > 0 {
		n := min(most-len(head), len(payload))
		out = append(out, append(head, payload[:n]...))
		head, payload = []byte{data, code}, payload[n:]
	}
	return out
}

// Item is one of Text, Sound, SoundEnd, Chunk, Size, PhotoEnd, Tap, Motion and Battery.
type Item interface{ item() }

type (
	// Text is printed text, or a Lua error.
	Text string
	// Sound is samples, in the format that the app was told to use.
	Sound []byte
	// SoundEnd is the last samples; often empty.
	SoundEnd []byte
	// Chunk is a piece of a photo.
	Chunk []byte
	// Size is the size of a photo in bytes. Only Locket's app sends it, before the end.
	Size uint32
	// PhotoEnd is the last piece; mostly empty.
	PhotoEnd []byte
	// Tap is a touch: the number of taps, or 0 if the glasses do not count.
	Tap int
	// Motion is the compass and the accelerometer, x, y and z.
	Motion struct {
		Compass, Accel [3]float64
		Float          bool // the values are not the sensor's whole numbers
	}
	// Battery is the level in %.
	Battery int
)

func (Text) item()     {}
func (Sound) item()    {}
func (SoundEnd) item() {}
func (Chunk) item()    {}
func (Size) item()     {}
func (PhotoEnd) item() {}
func (Tap) item()      {}
func (Motion) item()   {}
func (Battery) item()  {}

// Parse reads a notification:
//
//	01 05 …  sound          01 08 …  end of a photo
//	01 06 …  end of sound   01 09    tap of Frame; 01 09 n of Halo, n 1 to 3
//	01 07 …  photo          01 0c n  battery in %
//	01 0d u32 BE    bytes of a photo
//	01 0a 00 6×i16 LE       motion; or 6×f32 LE of a newer SDK
//	…        text
//
// There are neither numbers nor lengths, so losses can't be detected.
func Parse(b []byte) (Item, error) {
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("%w: an empty notification", ErrLength)
	case b[0] != data:
		return Text(strings.ToValidUTF8(string(b), "�")), nil
	case len(b) == 1:
		return nil, fmt.Errorf("%w: nothing behind the first byte", ErrLength)
	}
	code, rest := b[1], b[2:]
	short := fmt.Errorf("%w: %d bytes of code %02x", ErrLength, len(rest), code)
	switch code {
	case 0x05:
		if len(rest) == 0 {
			return nil, short
		}
		return Sound(rest), nil
	case 0x06:
		return SoundEnd(rest), nil
	case 0x07:
		if len(rest) == 0 {
			return nil, short
		}
		return Chunk(rest), nil
	case 0x08:
		return PhotoEnd(rest), nil
	case 0x09:
		switch {
		case len(rest) == 0:
			return Tap(0), nil
		case len(rest) == 1 && rest[0] >= 1 && rest[0] <= 3:
			return Tap(rest[0]), nil
		}
		return nil, short
	case 0x0a:
		return motion(rest, short)
	case 0x0c:
		if len(rest) != 1 || rest[0] > 100 {
			return nil, short
		}
		return Battery(rest[0]), nil
	case 0x0d:
		if len(rest) != 4 {
			return nil, short
		}
		return Size(binary.BigEndian.Uint32(rest)), nil
	}
	return nil, fmt.Errorf("%w: %02x", ErrCode, code)
}

// motion tells the two layouts apart by their length.
func motion(b []byte, short error) (Item, error) {
	le := binary.LittleEndian
	var v [6]float64
	switch len(b) {
	case 1 + 6*2:
		for i := range v {
			v[i] = float64(int16(le.Uint16(b[1+2*i:])))
		}
	case 1 + 6*4, 6 * 4:
		b = b[len(b)-24:]
		for i := range v {
			v[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
			if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
				return nil, fmt.Errorf("%w: a motion value that is not a number", ErrFormat)
			}
		}
	default:
		return nil, short
	}
	return Motion{[3]float64(v[:3]), [3]float64(v[3:]), len(b) > 13}, nil
}
