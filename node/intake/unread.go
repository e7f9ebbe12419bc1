package intake

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"
)

const (
	maxUnread = 4 << 20     // bytes that wait for a client that does not read them
	lastWords = time.Second // how long what waits is still sent after Close
)

var errUnread = errors.New("mqtt: too much waits for a client that does not read")

// unread is a client's connection whose Write never waits for the client: mochi holds a lock
// meanwhile that whoever publishes to this client needs, so a client that does not read would
// hold up a pause. Of what does not fit, messages with QoS 0 are passed over, and anything
// else ends the connection. Each Write has to be one packet.
type unread struct {
	net.Conn
	all sync.WaitGroup // the goroutine that writes

	mu      sync.Mutex // guards what follows
	waiting []byte
	writing int   // bytes, taken from waiting, that are being written
	err     error // why nothing more is taken
}

// Write takes a packet.
func (u *unread) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.err != nil:
		return 0, u.err
	case len(u.waiting)+u.writing+len(p) <= maxUnread:
		if u.waiting = append(u.waiting, p...); u.writing == 0 {
			u.writing = len(u.waiting)
			b := u.waiting
			u.waiting = nil
			u.all.Go(func() { u.write(b) })
		}
	case p[0]>>4 != packets.Publish || p[0]&6 != 0:
		u.err = errUnread
		u.Conn.Close()
		return 0, u.err
	}
	return len(p), nil
}

// write writes b, and what comes meanwhile.
func (u *unread) write(b []byte) {
	for len(b) > 0 {
		_, err := u.Conn.Write(b)
		u.mu.Lock()
		if err != nil {
			u.err, u.waiting = err, nil
			u.Conn.Close()
		}
		b, u.waiting = u.waiting, nil
		if u.writing = len(b); len(b) == 0 && u.err != nil {
			u.Conn.Close()
		}
		u.mu.Unlock()
	}
}

// Read reads what the client sends until Close.
func (u *unread) Read(p []byte) (int, error) {
	n, err := u.Conn.Read(p)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return 0, u.err
	}
	return n, err
}

// Close ends the connection, once what waits is written. It does not wait for that.
func (u *unread) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = net.ErrClosed
	}
	if u.writing == 0 {
		return u.Conn.Close()
	}
	time.AfterFunc(lastWords, func() { u.Conn.Close() })
	return nil
}
