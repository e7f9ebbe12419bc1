package intake

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

var errSpoiled = errors.New("an earlier message of this connection was not accepted")

// outlet is how a transport publishes.
type outlet interface {
	publish(topic string, payload []byte, qos byte, retain bool) error
}

// conn is one MQTT connection that brings messages. A goroutine of its own answers
// them, so that a peer that does not read delays nobody else.
type conn struct {
	in     *Intake
	out    outlet
	reset  func()         // ends the connection, so that MQTT resends what has no PUBACK
	gone   chan struct{}  // closed when the connection takes nothing more
	window chan struct{}  // one item for each message between enter and leave; full: the sender waits
	done   chan answered  // has room for a whole window, so the appender never waits
	ended  chan struct{}  // closed when the goroutine that answers has ended
	open   sync.WaitGroup // messages between enter and leave

	mu      sync.Mutex // guards what follows
	closing bool
	spoiled bool // a message was deferred: no later one gets a PUBACK
	timer   *time.Timer
}

type answered struct {
	*delivery
	wait   time.Duration // before a deferred message may come again
	silent bool          // no PUBACK
}

// connect begins a connection. The caller must call end.
func (in *Intake) connect(out outlet, reset func()) *conn {
	c := &conn{
		in: in, out: out, reset: reset, gone: make(chan struct{}),
		window: make(chan struct{}, in.cfg.Window),
		done:   make(chan answered, in.cfg.Window),
		ended:  make(chan struct{}),
	}
	go c.run()
	return c
}

// end stops taking messages, and waits until everything that was taken is answered.
// It is safe to call twice.
func (c *conn) end() {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	if first {
		close(c.gone)
		c.open.Wait()
		close(c.done)
	}
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *conn) enter() bool {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return false
	}
	c.open.Add(1)
	c.mu.Unlock()
	select {
	case c.window <- struct{}{}:
		return true
	case <-c.gone:
		c.open.Done()
		return false
	}
}

func (c *conn) leave() {
	<-c.window
	c.open.Done()
}

func (c *conn) isSpoiled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spoiled
}

// answer hands over a delivery whose outcome is known. Only the appender calls it,
// in the order of the queue.
func (c *conn) answer(d *delivery, wait time.Duration) {
	c.mu.Lock()
	if d.outcome == deferred && !c.spoiled {
		c.spoiled = true
		c.timer = time.AfterFunc(wait, c.resetIfOpen)
	}
	a := answered{d, wait, c.spoiled}
	c.mu.Unlock()
	c.done <- a
}

func (c *conn) resetIfOpen() {
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	if !closing {
		c.in.stats.count(func(s *Stats) { s.Reconnects++ })
		c.reset()
	}
}

func (c *conn) run() {
	defer close(c.ended)
	for a := range c.done {
		batch := c.gather(a)
		for _, a := range batch {
			if a.puback != nil && !a.silent {
				a.puback()
			}
		}
		c.sendAcks(batch)
		for _, a := range batch {
			if a.greet && a.outcome == journaled {
				c.in.greet(c.out, a.device)
			}
			if a.moved && c.in.cfg.OnMoved != nil {
				c.in.cfg.OnMoved()
			}
			c.leave()
		}
	}
}

// gather adds deliveries that are already done, so that their acks are sent
// together.
func (c *conn) gather(a answered) []answered {
	batch := []answered{a}
	for {
		select {
		case more, ok := <-c.done:
			if !ok {
				return batch
			}
			batch = append(batch, more)
		default:
			return batch
		}
	}
}

// reply has what the acks of one payload have in common.
type reply struct {
	device string
	boot   uint64
	format wire.Format
	err    string
	retry  bool
	after  time.Duration
	drop   string
}

func (c *conn) sendAcks(batch []answered) {
	var order []reply
	seqs := map[reply][]uint64{}
	for _, a := range batch {
		if a.device == "" || a.outcome == stale {
			continue // there is no topic to answer on, or no device that asked
		}
		r := reply{device: a.device, boot: a.event.ID.Boot, format: a.format}
		switch a.outcome {
		case dropped:
			r.drop = wire.DroppedPaused
			switch {
			case a.private != "":
				r.drop = wire.DroppedPrivate
			case a.inPastPause:
				r.drop = wire.DroppedThen
			}
		case refused:
			r.err = shorten(a.err.Error())
		case deferred:
			r.err, r.retry, r.after = "not now", true, a.wait.Round(time.Millisecond)
			if errors.Is(a.err, memory.ErrNoSpace) {
				r.err = "no space"
			}
		}
		if !a.hasID {
			c.send(r, &wire.Ack{Error: r.err, Kind: string(a.kind), Size: int(a.size), CRC: a.crc})
			continue
		}
		if seqs[r] == nil {
			order = append(order, r)
		}
		seqs[r] = append(seqs[r], a.event.ID.Seq)
	}
	for _, r := range order {
		ack := &wire.Ack{Boot: r.boot, Seqs: seqs[r], Error: r.err, Dropped: r.drop, Retry: r.retry, After: r.after}
		c.send(r, ack)
	}
}

func (c *conn) send(r reply, ack *wire.Ack) {
	b, err := wire.EncodeAck(ack, r.format)
	if err == nil {
		err = c.out.publish(wire.AckTopic(r.device), b, 1, false)
	}
	if err != nil {
		c.in.stats.count(func(s *Stats) { s.AcksFailed++ })
		c.in.log.Debug("intake: an acknowledgement could not be sent", "device", r.device, "error", err)
	}
}

func shorten(s string) string { return strings.ToValidUTF8(s[:min(len(s), wire.MaxReason)], "") }
