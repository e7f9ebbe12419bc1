package link

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A capture is JSON lines, one for each event (docs/devices.md):
//
//	{"t":1773489600250,"op":"connect","device":"D0:…","mtu":247}
//	{"t":1773489600300,"op":"read","char":"19b10002-…","hex":"15"}
//	{"t":1773489600900,"char":"19b10001-…","hex":"0000004b…"}
//	{"t":1773489600950,"op":"write","char":"19b10031-…","hex":"c0b52468"}
//	{"t":1773489700000,"op":"disconnect"}
//	{"t":1773489710000,"topic":"owntracks/jane/phone","text":"{…}","retain":true}
//
// t is ms since 1970; values before 2015 count from when the play begins. A line without op is a
// notification, the only kind that is required.
type line struct {
	T      int64  `json:"t"`
	Op     string `json:"op,omitempty"`
	Char   string `json:"char,omitempty"`
	Hex    string `json:"hex,omitempty"`
	Device string `json:"device,omitempty"`
	MTU    int    `json:"mtu,omitempty"`
	Topic  string `json:"topic,omitempty"`
	Text   string `json:"text,omitempty"` // in place of hex
	Retain bool   `json:"retain,omitempty"`

	data []byte
}

const (
	opConnect    = "connect"
	opRead       = "read"
	opWrite      = "write"
	opNotify     = "notify"
	opDisconnect = "disconnect"

	maxLine  = 1 << 20       // bytes: a broker's message may have 512 KiB, in hex
	realTime = 1420070400000 // ms of 2015-01-01; docs/mqtt.md believes no earlier time
)

// ErrCapture: a line of a capture is invalid.
var ErrCapture = errors.New("capture")

// Capture plays a capture, as fast as it is read. Writes to its devices are ignored. Each
// connection must be closed before the next.
type Capture struct {
	in    *bufio.Scanner
	start time.Time
	n     int   // number of the line
	held  *line // a line that was read and not used yet
}

// NewCapture plays the capture that r reads.
func NewCapture(r io.Reader) *Capture {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	return &Capture{in: in, start: time.Now()}
}

// next returns a line: io.EOF at the end, ErrCapture if it is invalid.
func (c *Capture) next() (*line, error) {
	if l := c.held; l != nil {
		c.held = nil
		return l, nil
	}
	for c.in.Scan() {
		c.n++
		text := strings.TrimSpace(c.in.Text())
		if text == "" {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %v", ErrCapture, c.n, err)
		}
		return l, nil
	}
	if err := c.in.Err(); err != nil {
		return nil, fmt.Errorf("%w: line %d: %v", ErrCapture, c.n+1, err)
	}
	return nil, io.EOF
}

func parseLine(text string) (*line, error) {
	var l line
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("more than one object")
	}
	l.Op = cmp.Or(l.Op, opNotify)
	if l.T < 0 {
		return nil, fmt.Errorf("t: %d is below 0", l.T)
	}
	switch l.Op {
	case opConnect, opDisconnect:
		if l.MTU < 0 || l.MTU > 517 { // Bluetooth Core 5.4, vol 3, part F, 3.2.9: values have up to 512 bytes
			return nil, fmt.Errorf("mtu: %d is not one", l.MTU)
		}
		return &l, nil
	case opRead, opWrite, opNotify:
	default:
		return nil, fmt.Errorf("op: %q is not known", l.Op)
	}
	if l.Topic != "" {
		return parseTopic(&l)
	}
	if l.Text != "" || l.Retain {
		return nil, errors.New("text and retain go with a topic")
	}
	l.Char = strings.ToLower(l.Char)
	if uuid := strings.TrimPrefix(strings.TrimPrefix(l.Char, Left), Right); len(uuid) != 36 {
		return nil, fmt.Errorf("char: %q is not a UUID of 36 characters", l.Char)
	}
	var err error
	if l.data, err = hex.DecodeString(l.Hex); err != nil {
		return nil, fmt.Errorf("hex: %v", err)
	}
	return &l, nil
}

// parseTopic reads a broker's message.
func parseTopic(l *line) (*line, error) {
	switch {
	case l.Op != opNotify || l.Char != "":
		return nil, errors.New("topic: goes only with a notification, without char")
	case len(l.Topic) > 1024:
		return nil, fmt.Errorf("topic: %d bytes, at most 1024", len(l.Topic))
	case l.Text != "" && l.Hex != "":
		return nil, errors.New("text and hex can't both be there")
	case l.Text != "":
		l.data = []byte(l.Text)
		return l, nil
	}
	var err error
	if l.data, err = hex.DecodeString(l.Hex); err != nil {
		return nil, fmt.Errorf("hex: %v", err)
	}
	return l, nil
}

// Connect begins the next connection of the capture.
func (c *Capture) Connect(ctx context.Context) (Device, error) {
	d := &captured{
		from: c, reads: map[string][]byte{}, out: make(chan Notification),
		stop: make(chan struct{}), gone: make(chan struct{}),
	}
	any := false
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := c.next()
		if err == io.EOF && any {
			break // a connection without any notification
		}
		if err != nil {
			return nil, err
		}
		if l.Op == opDisconnect && !any {
			continue // a line of a connection that was closed early
		}
		if l.Op == opNotify || l.Op == opDisconnect || l.Op == opConnect && any {
			c.held = l
			break
		}
		any = true
		switch l.Op {
		case opConnect:
			d.mtu = l.MTU
		case opRead:
			d.reads[l.Char] = l.data
		}
	}
	go d.play()
	return d, nil
}

// captured is one connection of a capture.
type captured struct {
	from *Capture
	mtu  int
	out  chan Notification
	stop chan struct{}
	gone chan struct{}
	once sync.Once

	mu    sync.Mutex
	reads map[string][]byte // the latest values, by UUID
	err   error
}

func (d *captured) play() {
	defer close(d.gone)
	defer close(d.out)
	stopped := false
	for {
		l, err := d.from.next()
		switch {
		case err == io.EOF:
			d.end(ErrLost)
			return
		case err != nil:
			d.end(err)
			return
		case l.Op == opDisconnect:
			d.end(ErrLost)
			return
		case l.Op == opConnect:
			d.from.held = l
			d.end(ErrLost)
			return
		case l.Op == opRead:
			d.mu.Lock()
			d.reads[l.Char] = l.data
			d.mu.Unlock()
		case l.Op == opNotify && !stopped:
			select {
			case d.out <- Notification{At: d.from.when(l.T), Char: l.Char + l.Topic, Data: l.data, Retained: l.Retain}:
			case <-d.stop:
				stopped = true // and skip to the connection's end
			}
		}
	}
}

func (c *Capture) when(t int64) time.Time {
	if t < realTime {
		return c.start.Add(time.Duration(t) * time.Millisecond)
	}
	return time.UnixMilli(t)
}

func (d *captured) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *captured) MTU() int                           { return d.mtu }
func (d *captured) Notifications() <-chan Notification { return d.out }

func (d *captured) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *captured) Read(_ context.Context, char string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, ok := d.reads[char]
	if !ok {
		return nil, absent(char)
	}
	return b, nil
}

func (d *captured) Write(context.Context, string, []byte) error { return nil }
func (d *captured) Subscribe(context.Context, string) error     { return nil }

func (d *captured) Close() error {
	d.once.Do(func() { close(d.stop) })
	<-d.gone
	return nil
}
