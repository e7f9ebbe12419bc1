// Package link carries bytes between this machine and a device. It knows
// characteristics, topics and notifications, and nothing of what stands in them.
//
// The words:
//
//   - A characteristic is a value of the device, by its UUID in lower case. It
//     can be read, written, or subscribed to.
//   - A [Notification] is a value that the device sent of one that was
//     subscribed to.
//   - A [Device] is one connection, from Connect to its end. A [Dialer] makes
//     the next one.
//   - A capture is a file of what went over connections: [Recorder] writes it,
//     [Capture] is a Dialer that plays it.
package link

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrAbsent: the device has no such characteristic.
	ErrAbsent = errors.New("link: no such characteristic")
	// ErrNotFound: the device is not in range, or not switched on.
	ErrNotFound = errors.New("link: device not found")
	// ErrNoBluetooth: this machine has no adapter that is on, or no bluetoothd.
	ErrNoBluetooth = errors.New("link: no bluetooth")
	// ErrLost: the connection ended by itself.
	ErrLost = errors.New("link: connection lost")
)

// Notification is one value of a characteristic that was subscribed to.
type Notification struct {
	At   time.Time // when it came
	Char string    // UUID, or the topic
	Data []byte
	// Retained: a broker kept it, so it may be of any age.
	Retained bool
	// Ack has the carrier forget it: it need not come again after a restart. It is
	// called in order. Nil: the carrier keeps nothing.
	Ack func()
	// Again has a folder bring its file once more, as it then is, if it is still there. It
	// may be called at any time, by any goroutine. Nil where this is no file of a folder's.
	Again func()
}

// Device is one connection. Its methods are safe for concurrent use.
type Device interface {
	// MTU is the connection's ATT MTU in bytes; 0 where it is not known.
	MTU() int
	// Read, Write and Subscribe are ErrAbsent where there is no such characteristic.
	Read(ctx context.Context, char string) ([]byte, error)
	Write(ctx context.Context, char string, value []byte) error
	Subscribe(ctx context.Context, char string) error
	// Notifications gives what comes, in order. It is closed when the
	// connection has ended; Err then says why, and is nil after Close.
	Notifications() <-chan Notification
	Err() error
	// Close ends the connection. It is safe to call twice.
	Close() error
}

// Dialer makes connections to one device, one after the other.
type Dialer interface {
	// Connect tries once. It is io.EOF where there will be no more connections.
	Connect(ctx context.Context) (Device, error)
}

func absent(char string) error { return fmt.Errorf("%w: %s", ErrAbsent, char) }
