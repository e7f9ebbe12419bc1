package wayland

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

const (
	display     = 1          // the number of wl_display
	registry    = 2          // the number of wl_registry
	serverFirst = 0xff000000 // the compositor numbers its objects from here
	maxObjects  = 8192       // objects that a compositor may make this client keep; most of them are windows
	writeWait   = 5 * time.Second
)

// The supported interfaces, with the version of each.
const (
	shmName      = "wl_shm"
	outputName   = "wl_output"
	copyName     = "zwlr_screencopy_manager_v1"
	toplevelName = "zwlr_foreign_toplevel_manager_v1"
)

var spoken = map[string]uint32{shmName: 1, outputName: 4, copyName: 1, toplevelName: 2}

// Client is a connection to a compositor. Its methods are safe for concurrent use.
type Client struct {
	send   func(b []byte, file *os.File) error // file is nil except for a pool
	hangUp func()                              // ends the connection
	gone   chan struct{}                       // closed when the reading has ended
	pid    int                                 // the compositor's process; 0: it is not known

	mu      sync.Mutex
	objects map[uint32]*object
	next    uint32            // the first number that was never used
	free    []uint32          // numbers that may be used again
	bound   map[string]uint32 // the object of each interface that exists once
	names   map[uint32]uint32 // the object of an output, by its name in the registry
	outputs map[uint32]*Output
	windows map[uint32]*window
	turn    uint64 // these two as in [State]
	titled  uint64
	err     error // why the connection ended
}

// object is an object of the client or of the compositor.
type object struct {
	kind string                        // its interface
	on   func(op uint16, a *arguments) // reads an event; with mu held
	dead bool                          // it was destroyed: later events for it are ignored
}

// Dial connects to the compositor that listens at a socket, and asks which interfaces it has.
func Dial(ctx context.Context, path string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	unix := conn.(*net.UnixConn)
	c := newClient()
	c.pid = Peer(unix)
	c.hangUp = func() { _ = conn.Close() } // the cause is known already
	c.send = func(b []byte, file *os.File) error {
		if err := conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
			return err
		}
		return sendWith(unix, b, file)
	}
	go c.read(conn)
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newClient() *Client {
	c := &Client{
		gone: make(chan struct{}), objects: map[uint32]*object{}, next: registry + 1, bound: map[string]uint32{},
		names: map[uint32]uint32{}, outputs: map[uint32]*Output{}, windows: map[uint32]*window{},
	}
	c.objects[display] = &object{kind: "wl_display", on: c.onDisplay}
	c.objects[registry] = &object{kind: "wl_registry", on: c.onRegistry}
	return c
}

// begin asks for the interfaces, and then for what they report.
func (c *Client) begin(ctx context.Context) error {
	c.mu.Lock()
	c.request(display, 1, nil, uint32(registry))
	c.mu.Unlock()
	if err := c.roundtrip(ctx); err != nil {
		return err
	}
	return c.roundtrip(ctx)
}

// Missing returns the required interfaces that the compositor does not have.
func (c *Client) Missing() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{shmName, copyName, toplevelName} {
		if c.bound[name] == 0 {
			list = append(list, name)
		}
	}
	return list
}

// PID is the compositor's process; 0: it is not known.
func (c *Client) PID() int { return c.pid }

// Done is closed when the connection has ended; Err then says why.
func (c *Client) Done() <-chan struct{} { return c.gone }

// Err returns why the connection ended.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection. It is safe to call twice.
func (c *Client) Close() error {
	c.mu.Lock()
	c.fail(net.ErrClosed)
	c.mu.Unlock()
	<-c.gone
	return nil
}

// fail ends the connection; the first error is kept. The caller holds mu.
func (c *Client) fail(err error) {
	if c.err == nil {
		c.err = err
		c.hangUp()
	}
}

func (c *Client) read(conn net.Conn) {
	defer close(c.gone)
	var d Decoder
	b := make([]byte, 1<<16)
	for {
		n, err := conn.Read(b)
		list, bad := d.Push(b[:n])
		c.mu.Lock()
		for _, m := range list {
			if c.err == nil {
				c.handleEvent(m)
			}
		}
		if err = errors.Join(bad, err); err != nil {
			c.fail(err)
		}
		over := c.err != nil
		c.mu.Unlock()
		if over {
			return
		}
	}
}

// handleEvent handles an event. The caller holds mu.
func (c *Client) handleEvent(m Message) {
	o := c.objects[m.Object]
	if o == nil && m.Object < serverFirst {
		c.fail(fmt.Errorf("%w: an event for object %d, which is not there", ErrProtocol, m.Object))
	}
	if o == nil || o.dead {
		return // the compositor may not know yet that its object was given up
	}
	a := arguments{b: m.Args}
	o.on(m.Op, &a)
	if err := a.end(); err != nil {
		c.fail(fmt.Errorf("%w: event %d of %s: %v", ErrProtocol, m.Op, o.kind, err))
	}
}

// unknown sets the error for an event that the interface does not have.
func (a *arguments) unknown() { a.err = errors.New("is not known") }

// request sends a request. If that fails, the connection ends. The caller holds mu.
func (c *Client) request(to uint32, op uint16, file *os.File, args ...any) {
	if c.err != nil {
		return
	}
	if err := c.send(appendMessage(nil, to, op, args...), file); err != nil {
		c.fail(fmt.Errorf("tell the compositor: %w", err))
	}
}

// add numbers a new object of the client. The request that creates it must be the next. The caller
// holds mu.
func (c *Client) add(kind string, on func(uint16, *arguments)) uint32 {
	id := c.next
	if n := len(c.free); n > 0 {
		id, c.free = c.free[n-1], c.free[:n-1]
	} else {
		c.next++
	}
	if len(c.objects) >= maxObjects {
		c.fail(fmt.Errorf("%w: it never releases an object", ErrProtocol))
	}
	c.objects[id] = &object{kind: kind, on: on}
	return id
}

// destroy requests the destruction of an object, by the interface's op. Its number is used again
// once the compositor confirms it. The caller holds mu.
func (c *Client) destroy(id uint32, op uint16) {
	c.objects[id].dead = true
	c.request(id, op, nil)
}

func (c *Client) onDisplay(op uint16, a *arguments) {
	switch op {
	case 0: // error
		id, code, text := a.uint(), a.uint(), a.string()
		kind := "an object"
		if o := c.objects[id]; o != nil {
			kind = o.kind
		}
		c.fail(fmt.Errorf("the compositor refuses: error %d of %s: %s", code, kind, text))
	case 1: // delete_id
		id := a.uint()
		o := c.objects[id]
		if a.err != nil {
			return
		}
		if o == nil || !o.dead {
			a.err = fmt.Errorf("object %d is not to be deleted", id)
			return
		}
		delete(c.objects, id)
		c.free = append(c.free, id)
	default:
		a.unknown()
	}
}

func (c *Client) onRegistry(op uint16, a *arguments) {
	name := a.uint()
	switch op {
	case 0: // global
		kind, version := a.string(), a.uint()
		want := spoken[kind]
		if a.err != nil || want == 0 || version == 0 || kind != outputName && c.bound[kind] != 0 {
			return
		}
		if kind == outputName {
			c.addOutput(name, min(version, want))
			return
		}
		on := func(op uint16, a *arguments) { a.uint() } // wl_shm reports formats
		if kind == toplevelName {
			on = c.onToplevels
		}
		id := c.add(kind, on)
		c.bound[kind] = id
		c.request(registry, 0, nil, name, kind, min(version, want), id)
	case 1: // global_remove
		c.dropOutput(name)
	default:
		a.unknown()
	}
}

// roundtrip returns once the compositor has answered all earlier requests.
func (c *Client) roundtrip(ctx context.Context) error {
	done := make(chan struct{})
	c.mu.Lock()
	var id uint32
	id = c.add("wl_callback", func(_ uint16, a *arguments) {
		a.uint()
		c.objects[id].dead = true
		close(done)
	})
	c.request(display, 0, nil, id)
	c.mu.Unlock()
	return c.wait(ctx, done)
}

// wait waits until done is closed, the connection ends, or ctx does.
func (c *Client) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-c.gone:
		return c.Err()
	case <-ctx.Done():
		return fmt.Errorf("the compositor does not answer: %w", ctx.Err())
	}
}
