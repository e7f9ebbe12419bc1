// Package omi reads and writes the messages of the Omi pendant and OmiGlass over Bluetooth Low
// Energy: bytes in, values out. It does no input or output.
//
// The words:
//
//   - A notification is one value of a characteristic that the device sends, at most MTU-3 bytes
//     long.
//   - A frame is the encoded form of 10 or 20 ms of sound. It travels in one or more fragments,
//     each a notification.
//   - A record is 444 bytes of the device's storage: a time and some frames. The ring is all
//     records, numbered from 0 since the ring was created; the records between its read and its
//     write cursor are unread.
//   - Legacy is the storage of firmware before 3.0.20, a file with an offset.
//
// Numbers are little-endian unless a table says BE (big-endian). The tables are taken from
// BasedHardware/omi (MIT), by the files named below.
package omi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Service is the UUID that a device advertises.
const Service = "19b10000-e8f2-537e-4f6c-d104768a1214"

// Characteristics, as BlueZ writes UUIDs: in lower case.
const (
	AudioChar    = "19b10001-e8f2-537e-4f6c-d104768a1214" // notify
	CodecChar    = "19b10002-e8f2-537e-4f6c-d104768a1214" // read
	PhotoChar    = "19b10005-e8f2-537e-4f6c-d104768a1214" // notify
	PhotoControl = "19b10006-e8f2-537e-4f6c-d104768a1214" // write
	MicGainChar  = "19b10012-e8f2-537e-4f6c-d104768a1214" // read, write; on OmiGlass it belongs to firmware updates
	FeaturesChar = "19b10021-e8f2-537e-4f6c-d104768a1214" // read
	Diagnostics  = "19b10041-e8f2-537e-4f6c-d104768a1214" // read
	TimeChar     = "19b10031-e8f2-537e-4f6c-d104768a1214" // write
	ButtonChar   = "23ba7925-0000-1000-7450-346eac492e92" // notify
	HapticChar   = "cab1ab96-2ea5-4f4d-bb56-874b72cfc984" // write
	StorageChar  = "30295781-4301-eabd-2904-2849adfeae43" // write, notify
	StorageState = "30295782-4301-eabd-2904-2849adfeae43" // read
	BatteryChar  = "00002a19-0000-1000-8000-00805f9b34fb" // read, notify
	ModelChar    = "00002a24-0000-1000-8000-00805f9b34fb" // read
	FirmwareChar = "00002a26-0000-1000-8000-00805f9b34fb" // read
)

// MTUs, in bytes. Below MinMTU the firmware sends no live sound; from GoodMTU
// on a frame of the usual bit rate fits into one notification. Below InfoMTU
// firmware with the custody contract does not answer AskInfo.
const (
	InfoMTU = 44
	MinMTU  = 100
	GoodMTU = 166
)

// ErrFormat: the bytes don't match their characteristic.
var ErrFormat = errors.New("omi")

func malformed(what, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrFormat, what, fmt.Sprintf(format, args...))
}

// Codec is how frames are encoded.
type Codec struct {
	Name    string // as in docs/mqtt.md: pcm16, ulaw, opus
	Rate    int    // samples a second
	Samples int    // samples of one frame; 0: it depends on the frame's bytes
}

// ParseCodec reads the codec characteristic: one byte, the codec's number.
//
//	0   pcm16, 16 kHz          10  ulaw, 16 kHz    20  opus, 16 kHz, 160 samples
//	1   pcm16, 8 kHz           11  ulaw, 8 kHz     21  opus, 16 kHz, 320 samples
//
// Number 1 is called pcm8 in Omi's sources: 8 kHz, not 8 bit.
func ParseCodec(b []byte) (Codec, error) {
	if len(b) != 1 {
		return Codec{}, malformed("codec", "%d bytes, want 1", len(b))
	}
	switch b[0] {
	case 0:
		return Codec{"pcm16", 16000, 0}, nil
	case 1:
		return Codec{"pcm16", 8000, 0}, nil
	case 10:
		return Codec{"ulaw", 16000, 0}, nil
	case 11:
		return Codec{"ulaw", 8000, 0}, nil
	case 20:
		return Codec{"opus", 16000, 160}, nil
	case 21:
		return Codec{"opus", 16000, 320}, nil
	}
	return Codec{}, malformed("codec", "number %d is not known", b[0])
}

// Duration returns the duration of a frame.
func (c Codec) Duration(frame []byte) time.Duration {
	n := c.Samples
	switch {
	case n > 0:
	case c.Name == "pcm16":
		n = len(frame) / 2
	default:
		n = len(frame)
	}
	if c.Rate == 0 {
		return 0
	}
	return time.Duration(n) * time.Second / time.Duration(c.Rate)
}

// ParseBattery reads the battery level, one byte, in %.
func ParseBattery(b []byte) (int, error) {
	if len(b) != 1 || b[0] > 100 {
		return 0, malformed("battery", "% x, want one byte up to 100", clip(b))
	}
	return int(b[0]), nil
}

// ParseButton reads a press: 8 bytes, two int32, of which the first is 1 single, 2 double, 3 long,
// 4 press, 5 release, and 0 if nothing is pressed (omi/firmware/omi/src/lib/core/button.c). The
// gesture is empty for 0.
func ParseButton(b []byte) (gesture string, err error) {
	names := [...]string{"", "single", "double", "long", "press", "release"}
	if len(b) != 8 {
		return "", malformed("button", "%d bytes, want 8", len(b))
	}
	n := binary.LittleEndian.Uint32(b)
	if n >= uint32(len(names)) {
		return "", malformed("button", "number %d is not known", int32(n))
	}
	return names[n], nil
}

// Features is what a device has, one bit for each.
type Features uint32

// The bits.
const (
	Speaker Features = 1 << iota
	Accelerometer
	Button
	Battery
	USB
	Haptic
	OfflineStorage
	LED
	MicGain
)

// ParseFeatures reads the features, 4 bytes.
func ParseFeatures(b []byte) (Features, error) {
	if len(b) != 4 {
		return 0, malformed("features", "%d bytes, want 4", len(b))
	}
	return Features(binary.LittleEndian.Uint32(b)), nil
}

// Has reports whether all of want are set.
func (f Features) Has(want Features) bool { return f&want == want }

// TimeSync makes the value that sets the device's clock: exactly 4 bytes, seconds since 1970. It
// fails for times outside 1970 to 2106.
func TimeSync(t time.Time) ([]byte, error) {
	s := t.Unix()
	if s < 0 || s > math.MaxUint32 {
		return nil, malformed("time", "%s does not fit into 32 bits", t.UTC().Format(time.RFC3339))
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(s)), nil
}

// Values of HapticChar, one byte (omi/firmware/omi/src/lib/core/haptic.c): 1 is 100 ms, 2 is 300 ms,
// 3 is 500 ms; the firmware does nothing at another. A DevKit's are 20, 50 and 500 ms.
var (
	ShortBuzz = [1]byte{1}
	LongBuzz  = [1]byte{2}
)

// SinglePhoto and StopPhotos are values of PhotoControl, an int8.
var (
	SinglePhoto = [1]byte{0xff} // -1
	StopPhotos  = [1]byte{0}
)

// PhotoEvery asks for a photo every 5 to 127 seconds.
func PhotoEvery(seconds int) ([]byte, error) {
	if seconds < 5 || seconds > math.MaxInt8 {
		return nil, malformed("photo control", "every %d s, want 5 to 127", seconds)
	}
	return []byte{byte(seconds)}, nil
}

// clip shortens the bytes in an error.
func clip(b []byte) []byte { return b[:min(len(b), 8)] }
