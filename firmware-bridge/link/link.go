// Package link carries bytes between this machine and a device. It knows characteristics, topics
// and notifications, but not their content.
//
// The words:
//
//   - A characteristic is a value of the device, identified by its UUID in lower case. It can be
//     read, written, or subscribed to.
//   - A [Notification] is a value that the device sent of one that was
//     subscribed to.
//   - A [Device] is one connection, from Connect to its end. A [Dialer] makes
//     the next one.
//   - A capture is a file with the traffic of connections: [Recorder] writes it, [Capture] is a
//     Dialer that plays it.
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

// Notification is one value of a subscribed characteristic.
type Notification struct {
	At   time.Time // when it came
	Char string    // UUID, or topic
	Data []byte
	// Retained: a broker retained it, so it may be of any age.
	Retained bool
	// Ack tells the carrier to forget it, so that it does not come again after a restart. The calls
	// are made in order. Nil: the carrier keeps nothing.
	Ack func()
	// Resend makes a folder send its file again, in its current state, if it is still there. It may
	// be called at any time, by any goroutine. Nil if this is not a folder's file.
	Resend func()
}

// Device is one connection. Its methods are safe for concurrent use.
type Device interface {
	// MTU is the connection's ATT MTU in bytes; 0 if it is not known.
	MTU() int
	// Read, Write and Subscribe return ErrAbsent if there is no such characteristic.
	Read(ctx context.Context, char string) ([]byte, error)
	Write(ctx context.Context, char string, value []byte) error
	Subscribe(ctx context.Context, char string) error
	// Notifications returns the channel of what comes, in order. It is closed when the connection
	// has ended; Err then says why, and is nil after Close.
	Notifications() <-chan Notification
	Err() error
	// Close ends the connection. It is safe to call twice.
	Close() error
}

// Dialer makes connections to one device, one after the other.
type Dialer interface {
	// Connect tries once. It returns io.EOF if there will be no more connections.
	Connect(ctx context.Context) (Device, error)
}

func absent(char string) error { return fmt.Errorf("%w: %s", ErrAbsent, char) }
