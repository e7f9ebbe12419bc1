package link

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// TCP is a Dialer for a device that listens. Its notifications are the received bytes, cut
// anywhere, under the topic Stream, to which writes go as well. There is nothing to read or to
// subscribe to.
type TCP struct {
	Addr string                                    // host:port, or the name that Look looks up
	Look func(ctx context.Context) (string, error) // finds the current host:port; nil: it is Addr
}

// Stream is the topic of a TCP device.
const Stream = "stream"

const (
	dialTime  = 10 * time.Second
	writeTime = 10 * time.Second
	chunkSize = 32 << 10
)

// Connect connects.
func (t *TCP) Connect(ctx context.Context) (Device, error) {
	addr := t.Addr
	if t.Look != nil {
		var err error
		if addr, err = t.Look(ctx); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrNotFound, err)
		}
	}
	conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	d := &streamed{conn: conn, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{})}
	go d.pass()
	return d, nil
}

type streamed struct {
	conn net.Conn
	out  chan Notification
	stop chan struct{}
	gone chan struct{}
	once sync.Once
	err  error // set before gone is closed
}

func (d *streamed) pass() {
	defer close(d.gone)
	defer close(d.out)
	for {
		b := make([]byte, chunkSize)
		n, err := d.conn.Read(b)
		if n > 0 {
			select {
			case d.out <- Notification{At: time.Now(), Char: Stream, Data: b[:n:n]}:
			case <-d.stop:
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				err = fmt.Errorf("the device hung up")
			}
			d.err = fmt.Errorf("%w: %v", ErrLost, err)
			return
		}
	}
}

func (d *streamed) MTU() int                           { return 0 }
func (d *streamed) Notifications() <-chan Notification { return d.out }

func (d *streamed) Err() error {
	<-d.gone
	select {
	case <-d.stop:
		return nil
	default:
		return d.err
	}
}

func (d *streamed) Read(_ context.Context, topic string) ([]byte, error) { return nil, absent(topic) }
func (d *streamed) Subscribe(_ context.Context, topic string) error      { return absent(topic) }

func (d *streamed) Write(ctx context.Context, topic string, b []byte) error {
	if topic != Stream {
		return absent(topic)
	}
	late := time.Now().Add(writeTime)
	if t, ok := ctx.Deadline(); ok && t.Before(late) {
		late = t
	}
	if err := d.conn.SetWriteDeadline(late); err != nil {
		return err
	}
	_, err := d.conn.Write(b)
	return err
}

func (d *streamed) Close() error {
	d.once.Do(func() {
		close(d.stop)
		d.conn.Close() // nobody waits for what gets lost
	})
	<-d.gone
	return nil
}
