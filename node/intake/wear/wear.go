// Package wear is a wearable's side of docs/mqtt.md: it connects with a
// device's credentials, says hello, publishes, and keeps each message until the
// node acknowledges it. Replays, bridges and tests use it as a device would.
package wear

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

var (
	// ErrClosed: the client was closed before the message was acknowledged.
	ErrClosed = errors.New("wear: closed")
	// ErrRefused: the node refused the message for good.
	ErrRefused = errors.New("wear: refused")
	// ErrPaused: the wearer has paused, and the message was dropped.
	ErrPaused = errors.New("wear: paused")
	// ErrThen is the [ErrPaused] of a message that happened during a pause or in a private
	// zone. It is dropped whenever it arrives.
	ErrThen = fmt.Errorf("%w when it happened, or in a private zone", ErrPaused)
)

// Config is a device's configuration. URL and Device are needed.
type Config struct {
	URL      string // tcp://host:port or ssl://host:port
	Device   string // also user name and client id
	Password string
	TLS      *tls.Config
	Boot     uint64             // 0: at random
	Format   wire.Format        // of what is published
	Hello    wire.Hello         // what the device says about itself; its header is filled in
	Window   int                // messages that wait for an acknowledgement; 0: 64
	Timeout  time.Duration      // without any acknowledgement before a new connection is tried; 0: 20 s
	MaxWait  time.Duration      // longest wait between attempts to connect; 0: 15 s
	Stamp    func(*wire.Header) // sets the time of hello and status; nil: the wall clock
	OnCmd    func(*wire.Cmd)    // is given each command; must not block
	OnWait   func(why string)   // called when the node begins to refuse messages for now, with its reason; must not block
}

// Client is a connected device, or one that tries to be. It is safe for
// concurrent use.
type Client struct {
	cfg  Config
	stop chan struct{}
	gone chan struct{} // closed when run has ended
	wake chan struct{} // something is to be sent; holds one
	slot chan struct{} // one for each message of the window

	mu      sync.Mutex
	seq     uint64
	pending []*Receipt // in order of publication
	paused  bool
	turned  time.Time // since when there is a pause, or there is none; zero: the node has not said yet
	private bool      // paused because of a private zone: locations are still sent
	hold    time.Time // nothing is sent before
	waits   string    // the node's reason for refusing messages for now; empty: it takes them
	heard   time.Time // when the node last answered
	silent  int       // connections in a row that ended without an answer
	up      chan struct{}
	err     error
	closed  bool
}

// Receipt stands for one message on its way.
type Receipt struct {
	ID      memory.EventID
	kind    memory.Kind
	payload []byte
	retain  bool
	own     bool // hello or status of the client itself, which does not count in the window
	sent    bool // on the current connection
	done    chan struct{}
	err     error
}

// Done is closed when the node has answered.
func (r *Receipt) Done() <-chan struct{} { return r.done }

// Wait waits for the answer: nil once the event is on the node's disk, [ErrPaused],
// [ErrThen], [ErrRefused] with the node's reason, [ErrClosed], or the cause of ctx's end.
func (r *Receipt) Wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Dial starts to connect, and returns at once.
func Dial(cfg Config) (*Client, error) {
	if err := wire.CheckDevice(cfg.Device); err != nil {
		return nil, fmt.Errorf("wear: %w", err)
	}
	if cfg.URL == "" {
		return nil, errors.New("wear: the broker's url is needed")
	}
	if cfg.Boot == 0 {
		var b [8]byte
		rand.Read(b[:])
		cfg.Boot = binary.BigEndian.Uint64(b[:])>>11 | 1 // 53 bits, which JSON readers can represent
	}
	if cfg.Window <= 0 {
		cfg.Window = 64
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 20 * time.Second
	}
	if cfg.MaxWait <= 0 {
		cfg.MaxWait = 15 * time.Second
	}
	if cfg.Stamp == nil {
		cfg.Stamp = func(h *wire.Header) { h.At = time.Now() }
	}
	if cfg.Hello.Model == "" {
		cfg.Hello.Model, cfg.Hello.Firmware = "locket-wear", "1"
	}
	c := &Client{
		cfg: cfg, stop: make(chan struct{}), gone: make(chan struct{}),
		wake: make(chan struct{}, 1), slot: make(chan struct{}, cfg.Window), up: make(chan struct{}),
		err: errors.New("wear: not connected yet"),
	}
	go c.run()
	return c, nil
}

// Publish queues a message. It blocks while the window is full. A header with Boot 0 gets
// the client's boot and its next sequence number. Any other header stays as it is, for
// devices that count by themselves.
func (c *Client) Publish(ctx context.Context, m wire.Message) (*Receipt, error) {
	select {
	case c.slot <- struct{}{}:
	case <-c.stop:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.receipt(m, false)
	switch {
	case err != nil:
		<-c.slot
		return nil, err
	case c.closed:
		<-c.slot
		return nil, ErrClosed
	case c.paused && m.Kind() != memory.KindGap && m.Kind() != memory.KindStatus && m.Kind() != memory.KindHello &&
		m.Kind() != memory.KindButton && !(c.private && m.Kind() == memory.KindLocation):
		r.err = ErrPaused
		close(r.done)
		<-c.slot
		return r, nil
	}
	c.pending = append(c.pending, r)
	c.poke()
	return r, nil
}

// receipt gives a message its number and encodes it.
func (c *Client) receipt(m wire.Message, own bool) (*Receipt, error) {
	h := m.Head()
	if h.Boot == 0 {
		c.seq++
		h.Boot, h.Seq = c.cfg.Boot, c.seq
	}
	b, err := wire.Encode(m, c.cfg.Format)
	if err != nil {
		return nil, err
	}
	return &Receipt{
		ID:   memory.EventID{Device: c.cfg.Device, Boot: h.Boot, Seq: h.Seq},
		kind: m.Kind(), payload: b, own: own,
		retain: m.Kind() == memory.KindHello || m.Kind() == memory.KindStatus,
		done:   make(chan struct{}),
	}, nil
}

func (c *Client) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Reserve reserves the next n sequence numbers and returns the first. It is for the parts of
// a photo, which are consecutive.
func (c *Client) Reserve(n int) (boot, first uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = c.seq + 1
	c.seq += uint64(n)
	return c.cfg.Boot, first
}

// Flush waits until every message published so far is answered.
func (c *Client) Flush(ctx context.Context) error {
	c.mu.Lock()
	all := append([]*Receipt(nil), c.pending...)
	c.mu.Unlock()
	for _, r := range all {
		if r.own {
			continue // a new connection may send another one in its place
		}
		if err := r.Wait(ctx); err != nil && ctx.Err() != nil {
			return errors.Join(err, c.Err())
		}
	}
	return nil
}

// Ready waits until the client is connected and subscribed. If ctx ends first, it returns
// the reason why it is not.
func (c *Client) Ready(ctx context.Context) error {
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-c.gone:
		return ErrClosed
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Err())
	}
}

// Err returns why there is no connection; nil if there is one.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Paused reports whether the node asked for a pause.
func (c *Client) Paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// PauseChangedAt returns when the node last began or ended a pause. It is zero until the node has
// said whether there is one, which it does on each connection. If the node does not say
// since when, it is the time when this client was told.
func (c *Client) PauseChangedAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turned
}

// Pending returns how many messages wait for an answer.
func (c *Client) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// Close tells the node that the device goes offline, if it can, and disconnects.
// Messages that are not acknowledged end with [ErrClosed]. It is safe to call
// twice.
func (c *Client) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
	}
	c.mu.Unlock()
	<-c.gone
	return nil
}

// answered handles an acknowledgement.
func (c *Client) answered(payload []byte) {
	a, err := wire.DecodeAck(payload)
	if err != nil {
		return // not from a node that we understand
	}
	if begun := c.settle(a); begun && c.cfg.OnWait != nil {
		c.cfg.OnWait(a.Error)
	}
}

// settle settles the messages that an acknowledgement answers. begun reports that the node has
// begun to refuse messages for now, or for a new reason.
func (c *Client) settle(a *wire.Ack) (begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard, c.silent = time.Now(), 0
	meant := map[uint64]bool{}
	for _, s := range a.Seqs {
		meant[s] = true
	}
	keep := c.pending[:0]
	for _, r := range c.pending {
		hit := r.ID.Boot == a.Boot && meant[r.ID.Seq]
		if len(a.Seqs) == 0 {
			hit = string(r.kind) == a.Kind && len(r.payload) == a.Size && crc32.ChecksumIEEE(r.payload) == a.CRC
		}
		switch {
		case !hit:
			keep = append(keep, r)
		case a.Error != "" && a.Retry:
			r.sent = false
			c.hold = c.heard.Add(a.After)
			keep = append(keep, r)
		case a.Error != "":
			c.finish(r, fmt.Errorf("%w: %s", ErrRefused, a.Error))
		case a.Dropped == wire.DroppedThen || a.Dropped == wire.DroppedPrivate:
			c.finish(r, ErrThen)
		case a.Dropped != "":
			c.finish(r, ErrPaused)
		default:
			c.finish(r, nil)
		}
	}
	clear(c.pending[len(keep):])
	c.pending = keep
	c.poke()
	was := c.waits
	if c.waits = ""; a.Retry {
		c.waits = a.Error
	}
	return c.waits != "" && c.waits != was
}

func (c *Client) finish(r *Receipt, err error) {
	r.err = err
	r.payload = nil
	close(r.done)
	if !r.own {
		<-c.slot
	}
}

func (c *Client) commanded(payload []byte) {
	cmd, err := wire.DecodeCmd(payload)
	if err != nil {
		return
	}
	c.mu.Lock()
	before := c.paused
	switch cmd.Cmd {
	case wire.CmdPause:
		c.paused, c.private = true, cmd.Why == wire.WhyPrivate
	case wire.CmdResume:
		c.paused, c.private = false, false
	}
	if about := cmd.Cmd == wire.CmdPause || cmd.Cmd == wire.CmdResume; about && (c.paused != before || c.turned.IsZero() || !cmd.At.IsZero()) {
		if c.turned = cmd.At; cmd.At.IsZero() {
			c.turned = time.Now()
		}
	}
	c.mu.Unlock()
	if c.cfg.OnCmd != nil {
		c.cfg.OnCmd(cmd)
	}
}
