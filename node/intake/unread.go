package intake

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"
)

const (
	maxUnread    = 4 << 20     // bytes that wait for a client that does not read them
	maxAllUnread = 32 << 20    // bytes that wait for all of them
	drainTime    = time.Second // how long waiting bytes are still sent after Close
)

var errUnread = errors.New("mqtt: too much waits for a client that does not read")

// unread is a client's connection whose Write never waits for the client. While mochi writes,
// it holds a lock that anybody who publishes to this client needs, so a client that does not
// read would hold up a pause. If a packet does not fit, a message with QoS 0 is skipped, and
// anything else ends the connection. Each Write has to be one packet.
type unread struct {
	net.Conn
	group   *unreads
	writers sync.WaitGroup // the goroutine that writes

	// Guarded by group.mu.
	waiting []byte
	writing int   // bytes, taken from waiting, that are being written
	err     error // why no more packets are accepted
}

// unreads limits what waits for all clients of a listener together. If one more packet does
// not fit, the client with the most waiting bytes loses it. So a client loses nothing because
// of others as long as less waits for it than its share of maxAllUnread.
type unreads struct {
	mu    sync.Mutex // not held while a connection is written or closed
	bytes map[*unread]int
	sum   int // of all values in of
}

// set records how much waits for a client.
func (a *unreads) set(u *unread, n int) {
	a.sum += n - a.bytes[u]
	if a.bytes[u] = n; n == 0 {
		delete(a.bytes, u)
	}
}

// victim returns the client that has to lose a packet if u gets more bytes; nil: none has to.
func (a *unreads) victim(u *unread, more int) *unread {
	most := a.bytes[u] + more
	if most > maxUnread {
		return u
	}
	if a.sum+more <= maxAllUnread {
		return nil
	}
	who := u
	for o, n := range a.bytes {
		if n > most {
			who, most = o, n
		}
	}
	return who
}

// Write accepts a packet.
func (u *unread) Write(p []byte) (int, error) {
	ended, err := u.enqueue(p)
	if ended != nil {
		ended.Conn.Close()
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// enqueue queues a packet. If that ended a client, the caller has to close it.
func (u *unread) enqueue(p []byte) (ended *unread, err error) {
	u.group.mu.Lock()
	defer u.group.mu.Unlock()
	if u.err != nil {
		return nil, u.err
	}
	if ended = u.group.victim(u, len(p)); ended == u && p[0]>>4 == packets.Publish && p[0]&6 == 0 {
		return nil, nil
	}
	if ended != nil {
		ended.err, ended.waiting, ended.writing = errUnread, nil, 0
		u.group.set(ended, 0)
	}
	if u.err != nil {
		return ended, u.err
	}
	u.group.set(u, u.group.bytes[u]+len(p))
	if u.waiting = append(u.waiting, p...); u.writing == 0 {
		u.writing = len(u.waiting)
		b := u.waiting
		u.waiting = nil
		u.writers.Go(func() { u.write(b) })
	}
	return ended, nil
}

// write writes b, and what is queued meanwhile.
func (u *unread) write(b []byte) {
	for len(b) > 0 {
		_, err := u.Conn.Write(b)
		u.group.mu.Lock()
		if err != nil {
			u.err, u.waiting = err, nil
		}
		b, u.waiting = u.waiting, nil
		u.writing = len(b)
		u.group.set(u, len(b))
		end := len(b) == 0 && u.err != nil
		u.group.mu.Unlock()
		if end {
			u.Conn.Close()
		}
	}
}

// Read reads what the client sends until Close.
func (u *unread) Read(p []byte) (int, error) {
	n, err := u.Conn.Read(p)
	u.group.mu.Lock()
	defer u.group.mu.Unlock()
	if u.err != nil {
		return 0, u.err
	}
	return n, err
}

// Close ends the connection once the waiting bytes are written. It does not wait for that.
func (u *unread) Close() error {
	u.group.mu.Lock()
	if u.err == nil {
		u.err = net.ErrClosed
	}
	writing := u.writing > 0
	u.group.mu.Unlock()
	if !writing {
		return u.Conn.Close()
	}
	time.AfterFunc(drainTime, func() { u.Conn.Close() })
	return nil
}
