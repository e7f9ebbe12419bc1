package wear

import (
	"errors"
	"slices"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	keepAlive = 30 * time.Second
	patience  = 10 * time.Second // for each step of connecting
	farewell  = time.Second      // for the last status
	firstWait = 200 * time.Millisecond

	connectionLost = "connection lost" // why a device went offline that did not say why
)

// run keeps a connection. Each connection has its own paho client with a clean
// session, because only run knows what has to be sent again.
func (c *Client) run() {
	defer close(c.gone)
	pace := retry.Backoff{First: firstWait, Most: c.cfg.MaxWait}
	for {
		began := time.Now()
		err := c.session()
		c.mu.Lock()
		c.down(err)
		closed := c.closed
		c.mu.Unlock()
		if closed {
			break
		}
		if time.Since(began) > c.cfg.MaxWait {
			pace.Reset()
		}
		select {
		case <-time.After(pace.Next()):
		case <-c.stop:
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.pending {
		c.finish(r, ErrClosed)
	}
	c.pending = nil
}

func (c *Client) down(err error) {
	select {
	case <-c.up:
		c.up = make(chan struct{})
	default:
	}
	if errors.Is(err, errSilent) {
		c.silent++
	}
	c.err = err
}

// session connects, and sends until the connection ends.
func (c *Client) session() error {
	lost := make(chan error, 1)
	o := mqtt.NewClientOptions().AddBroker(c.cfg.URL).SetClientID(c.cfg.Device).
		SetUsername(c.cfg.Device).SetPassword(c.cfg.Password).
		SetProtocolVersion(4).SetCleanSession(true).SetOrderMatters(true).
		SetAutoReconnect(false).SetConnectRetry(false).
		SetKeepAlive(keepAlive).SetConnectTimeout(patience).SetWriteTimeout(patience).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err })
	if c.cfg.TLS != nil {
		o.SetTLSConfig(c.cfg.TLS)
	}
	will, err := c.own(&wire.Status{State: "offline", Reason: connectionLost})
	if err != nil {
		return err
	}
	o.SetBinaryWill(wire.TopicOf(c.cfg.Device, memory.KindStatus), will.payload, 1, true)
	client := mqtt.NewClient(o)
	if err := c.done(client.Connect()); err != nil {
		return err
	}
	defer client.Disconnect(100)
	err = c.done(client.SubscribeMultiple(map[string]byte{
		wire.AckTopic(c.cfg.Device): 1, wire.CmdTopic(c.cfg.Device): 1,
	}, func(_ mqtt.Client, m mqtt.Message) {
		if m.Topic() == wire.AckTopic(c.cfg.Device) {
			c.answered(m.Payload())
		} else {
			c.commanded(m.Payload())
		}
	}))
	if err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	return c.talk(client, lost)
}

// talk sends until the connection ends. If this side ends it, it says so, because the
// broker publishes the will only for a lost connection.
func (c *Client) talk(client mqtt.Client, lost <-chan error) (err error) {
	for err == nil {
		var wait time.Duration
		if wait, err = c.send(client); err != nil {
			break
		}
		select {
		case <-c.wake:
		case <-time.After(wait):
		case err = <-lost:
		case <-c.stop:
			err = ErrClosed
		}
	}
	select {
	case <-c.stop: // something else may have happened first
		c.leave(client, "closed")
		return ErrClosed
	default:
	}
	if errors.Is(err, errSilent) {
		c.leave(client, connectionLost)
	}
	return err
}

// done waits for paho.
func (c *Client) done(t mqtt.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-c.stop:
		return ErrClosed
	}
}

// own makes a message that the client itself sends.
func (c *Client) own(m wire.Message) (*Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg.Stamp(m.Head())
	return c.receipt(m, true)
}

// begin puts a new hello and status before everything that waits, replacing those of
// earlier connections, and marks all of it to be sent again.
func (c *Client) begin() error {
	hello := c.cfg.Hello
	hello.Header = wire.Header{Zone: hello.Zone}
	h, err := c.own(&hello)
	if err != nil {
		return err
	}
	s, err := c.own(&wire.Status{State: "online"})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.DeleteFunc(c.pending, func(r *Receipt) bool {
		if r.own {
			c.finish(r, ErrClosed)
		}
		return r.own
	})
	for _, r := range rest {
		r.sent = false
	}
	c.pending = append([]*Receipt{h, s}, rest...)
	c.hold, c.heard, c.err = time.Time{}, time.Now(), nil
	close(c.up)
	return nil
}

// errSilent: the node, or something in between, no longer answers.
var errSilent = errors.New("wear: no acknowledgement in time")

type outgoing struct {
	topic   string
	payload []byte
	retain  bool
}

// send publishes, in order, what was not sent yet on this connection. It returns when to
// look again.
func (c *Client) send(client mqtt.Client) (time.Duration, error) {
	c.mu.Lock()
	now := time.Now()
	if wait := c.hold.Sub(now); wait > 0 {
		c.mu.Unlock()
		return wait, nil
	}
	if len(c.pending) == 0 {
		c.heard = now
	}
	// If a node is away for long, it should not receive everything many times.
	timeout := c.cfg.Timeout << min(c.silent, 5)
	if now.Sub(c.heard) > timeout {
		c.mu.Unlock()
		return 0, errSilent
	}
	var out []outgoing
	for _, r := range c.pending {
		if !r.sent {
			r.sent = true
			out = append(out, outgoing{wire.TopicOf(c.cfg.Device, r.kind), r.payload, r.retain})
		}
	}
	c.mu.Unlock()
	for _, r := range out {
		t := client.Publish(r.topic, 1, r.retain, r.payload)
		select {
		case <-t.Done():
			if t.Error() != nil {
				return 0, t.Error()
			}
		default: // PUBACK comes from the broker; only the node's answer counts
		}
	}
	return timeout / 2, nil
}

// leave tells the node that the device disconnects, if the connection still works.
func (c *Client) leave(client mqtt.Client, reason string) {
	s, err := c.own(&wire.Status{State: "offline", Reason: reason})
	if err == nil {
		client.Publish(wire.TopicOf(c.cfg.Device, memory.KindStatus), 1, true, s.payload).WaitTimeout(farewell)
	}
}
