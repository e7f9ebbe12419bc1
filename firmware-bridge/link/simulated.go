package link

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// Simulator is a Dialer for a simulated device.
type Simulator struct {
	open  func(n int) Device // makes connection n, from 0
	times int

	mu sync.Mutex
	n  int // connections so far; guarded by mu
}

// NewSimulator allows the given number of connections, one after the other.
func NewSimulator(times int, open func(n int) Device) *Simulator {
	return &Simulator{open: open, times: times}
}

func (s *Simulator) Connect(ctx context.Context) (Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.n == s.times {
		return nil, io.EOF
	}
	s.n++
	return s.open(s.n - 1), nil
}

// Simulated is one connection to a simulated device, with what all such devices share. A device
// embeds it, and runs in its own goroutine, which reads In, writes Out until Stop is closed, and
// calls End when it returns.
type Simulated struct {
	In   chan []byte       // what was written to the device
	Out  chan Notification // what the device sends
	Stop chan struct{}     // closed when the connection is to end

	notify []string
	gone   chan struct{}
	once   sync.Once
}

// NewSimulated makes a connection that buffers the given number of unread writes, and has the
// characteristics that notify.
func NewSimulated(writes int, notify ...string) *Simulated {
	return &Simulated{In: make(chan []byte, writes), Out: make(chan Notification), Stop: make(chan struct{}), notify: notify, gone: make(chan struct{})}
}

func (s *Simulated) Subscribe(_ context.Context, char string) error {
	if !slices.Contains(s.notify, char) {
		return absent(char)
	}
	return nil
}

// MTU implements Device: it is not known.
func (s *Simulated) MTU() int { return 0 }

// Read implements Device: there is nothing to read.
func (s *Simulated) Read(_ context.Context, char string) ([]byte, error) { return nil, absent(char) }

// Say sends a notification. It returns false if the connection is to end.
func (s *Simulated) Say(char string, b []byte) bool {
	select {
	case s.Out <- Notification{At: time.Now(), Char: char, Data: b}:
		return true
	case <-s.Stop:
		return false
	}
}

// End says that the device no longer reads or writes.
func (s *Simulated) End() {
	close(s.Out)
	close(s.gone)
}

// Put passes a copy of a write to the device. It returns ErrLost after End.
func (s *Simulated) Put(ctx context.Context, b []byte) error {
	select {
	case s.In <- append([]byte(nil), b...):
		return nil
	case <-s.gone:
		return ErrLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Simulated) Notifications() <-chan Notification { return s.Out }

func (s *Simulated) Err() error { return ErrLost }

// Close implements Device. It waits until the device has ended.
func (s *Simulated) Close() error {
	s.once.Do(func() { close(s.Stop) })
	<-s.gone
	return nil
}
