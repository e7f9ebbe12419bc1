package link

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// Queue is a simulated broker, for simulated devices. It keeps each message until it is
// acknowledged, and sends unacknowledged ones again on the next connection. Retained messages come
// first on each connection. When everything is acknowledged, there are no more connections.
type Queue struct {
	Retained    []Notification
	Messages    []Notification
	HalfwayEnds int           // connections that end when half of the messages were sent
	AtMostOnce  bool          // QoS 0: what was sent does not come again
	Patience    time.Duration // how long a connection lasts once everything is sent and no more acknowledgements come; 0: 500 ms
	OnAcked     func(i int)   // gets the index in Messages of each message that is acknowledged; nil: nobody

	mu    sync.Mutex
	acked map[int]bool // by the index in Messages
	moved chan struct{}
}

// patience is the default Patience. What was lost comes again on the next connection.
const patience = 500 * time.Millisecond

// Connect begins the next connection.
func (q *Queue) Connect(ctx context.Context) (Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.acked == nil {
		q.acked, q.moved = map[int]bool{}, make(chan struct{}, 1)
	}
	if len(q.acked) == len(q.Messages) {
		return nil, io.EOF
	}
	var list []Notification
	var given []int // indexes in Messages
	for _, n := range q.Retained {
		n.Retained = true
		list = append(list, n)
	}
	left := len(q.Messages) - len(q.acked)
	if q.HalfwayEnds > 0 {
		q.HalfwayEnds--
		left = (left + 1) / 2
	}
	for i, n := range q.Messages {
		if q.acked[i] || left == 0 {
			continue
		}
		left--
		n.Ack = func() { q.ack(i) }
		if q.AtMostOnce {
			q.acked[i], n.Ack = true, nil
		}
		list = append(list, n)
		given = append(given, i)
	}
	d := &queued{of: q, given: given, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{})}
	go d.play(list)
	return d, nil
}

// Acked returns how many messages are acknowledged.
func (q *Queue) Acked() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.acked)
}

// over reports whether all given messages are acknowledged.
func (q *Queue) over(given []int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !slices.ContainsFunc(given, func(i int) bool { return !q.acked[i] })
}

func (q *Queue) ack(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.OnAcked != nil && !q.acked[i] {
		q.OnAcked(i)
	}
	q.acked[i] = true
	select {
	case q.moved <- struct{}{}:
	default:
	}
}

type queued struct {
	of    *Queue
	given []int
	out   chan Notification
	stop  chan struct{}
	gone  chan struct{}
	once  sync.Once
}

func (d *queued) play(list []Notification) {
	defer close(d.gone)
	defer close(d.out)
	for _, n := range list {
		n.At = time.Now()
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
	}
	for {
		if d.of.over(d.given) {
			return
		}
		select {
		case <-d.of.moved:
		case <-time.After(cmp.Or(d.of.Patience, patience)):
			return
		case <-d.stop:
			return
		}
	}
}

func (d *queued) MTU() int                           { return 0 }
func (d *queued) Notifications() <-chan Notification { return d.out }
func (d *queued) Err() error                         { return ErrLost }

func (d *queued) Read(_ context.Context, topic string) ([]byte, error)  { return nil, absent(topic) }
func (d *queued) Write(_ context.Context, topic string, _ []byte) error { return absent(topic) }
func (d *queued) Subscribe(_ context.Context, topic string) error       { return absent(topic) }

func (d *queued) Close() error {
	d.once.Do(func() { close(d.stop) })
	<-d.gone
	return nil
}
