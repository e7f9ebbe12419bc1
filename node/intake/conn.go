package intake

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

var errBlocked = errors.New("an earlier message of this connection was not accepted")

// outlet is how a transport publishes.
type outlet interface {
	publish(topic string, payload []byte, qos byte, retain bool) error
}

// conn is one MQTT connection that brings messages. A goroutine of its own answers
// them, so that a peer that does not read delays nobody else.
type conn struct {
	intake  *Intake
	out     outlet
	reset   func()          // ends the connection, so that MQTT resends what has no PUBACK
	stopped chan struct{}   // closed when the connection takes nothing more
	window  chan struct{}   // one item for each message between enter and leave; full: the sender waits
	done    chan completion // has room for a whole window, so the appender never waits
	ended   chan struct{}   // closed when the goroutine that answers has ended
	open    sync.WaitGroup  // messages between enter and leave

	mu      sync.Mutex // guards what follows
	closing bool
	blocked bool // a message was deferred: no later one gets a PUBACK
	timer   *time.Timer
}

type completion struct {
	*delivery
	wait   time.Duration // before a deferred message may come again
	silent bool          // no PUBACK
}

// connect begins a connection. The caller must call end.
func (in *Intake) connect(out outlet, reset func()) *conn {
	c := &conn{
		intake: in, out: out, reset: reset, stopped: make(chan struct{}),
		window: make(chan struct{}, in.cfg.Window),
		done:   make(chan completion, in.cfg.Window),
		ended:  make(chan struct{}),
	}
	go c.sendAnswers()
	return c
}

// close stops taking messages, and waits until everything that was taken is answered.
// It is safe to call twice.
func (c *conn) close() {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	if first {
		close(c.stopped)
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
	case <-c.stopped:
		c.open.Done()
		return false
	}
}

func (c *conn) leave() {
	<-c.window
	c.open.Done()
}

func (c *conn) isBlocked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocked
}

// complete hands over a delivery whose outcome is known. Only the appender calls it,
// in the order of the queue.
func (c *conn) complete(d *delivery, wait time.Duration) {
	c.mu.Lock()
	if d.outcome == deferred && !c.blocked {
		c.blocked = true
		c.timer = time.AfterFunc(wait, c.resetIfOpen)
	}
	a := completion{d, wait, c.blocked}
	c.mu.Unlock()
	c.done <- a
}

func (c *conn) resetIfOpen() {
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	if !closing {
		c.intake.stats.count(func(s *Stats) { s.Reconnects++ })
		c.reset()
	}
}

func (c *conn) sendAnswers() {
	defer close(c.ended)
	for a := range c.done {
		batch := c.collect(a)
		for _, a := range batch {
			if a.puback != nil && !a.silent {
				a.puback()
			}
		}
		c.sendAcks(batch)
		for _, a := range batch {
			if a.greet && a.outcome == journaled {
				c.intake.answerHello(c.out, a.device)
			}
			if a.moved && c.intake.cfg.OnMoved != nil {
				c.intake.cfg.OnMoved()
			}
			c.leave()
		}
	}
}

// collect adds deliveries that are already done, so that their acks are sent
// together.
func (c *conn) collect(a completion) []completion {
	batch := []completion{a}
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

func (c *conn) sendAcks(batch []completion) {
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
		c.intake.stats.count(func(s *Stats) { s.AcksFailed++ })
		c.intake.log.Debug("intake: an acknowledgement could not be sent", "device", r.device, "error", err)
	}
}

func shorten(s string) string { return strings.ToValidUTF8(s[:min(len(s), wire.MaxReason)], "") }
