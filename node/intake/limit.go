package intake

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/node/intake/wire"
)

// Limits for an MQTT packet, in bytes after its fixed header.
const (
	maxPacket  = wire.MaxPayload + 1024 // a topic of ours has at most 51 bytes
	maxConnect = 64 << 10               // the first packet of a client, before any password is checked
)

// skipPatience is how long each piece of a skipped payload may take.
const skipPatience = 30 * time.Second

var (
	errPacket = errors.New("mqtt: packet is too large or broken")
	errReset  = errors.New("mqtt: ended so that messages come again")
)

// limitConn reads MQTT packets (3.1.1 section 2.2: type and flags, then the length
// in up to 4 bytes of 7 bits) and passes them on, unless they are too large. If a
// PUBLISH is too large, it passes on the topic and packet id with an empty payload,
// so that the message can be acknowledged and never comes again, and records how
// much it cut away. Any other packet that is too large ends the connection. This is
// needed because the MQTT libraries either allocate any length that a packet
// declares, or can only drop the connection, after which the message would come
// again.
type limitConn struct {
	net.Conn
	server       bool // the peer is a client: the first packet is CONNECT
	r            *bufio.Reader
	header       []byte // passed on first
	remaining    int    // how many bytes are then passed on as they come
	first        bool
	v5           bool
	err          error
	lost         atomic.Bool
	ended        chan struct{} // for a server: closed when the broker has finished with it
	onIdentified func()        // for a server: called when the peer has identified itself

	mu      sync.Mutex
	skipped map[uint16]skippedPayload // by packet id
}

type skippedPayload struct {
	size int64
	crc  uint32
}

func newLimitConn(c net.Conn, server bool) *limitConn {
	return &limitConn{Conn: c, server: server, r: bufio.NewReaderSize(c, 8<<10), first: true, skipped: map[uint16]skippedPayload{}, ended: make(chan struct{})}
}

// takeSkipped returns, once, what was cut away from the message with this packet id.
func (l *limitConn) takeSkipped(id uint16) skippedPayload {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.skipped[id]
	delete(l.skipped, id)
	return c
}

// reset ends the connection in such a way that its reader sees it as lost. If a
// connection is closed on this side, paho reports nothing and keeps waiting.
func (l *limitConn) reset() {
	l.lost.Store(true)
	l.Close()
}

// Read passes on packets.
func (l *limitConn) Read(p []byte) (int, error) {
	n, err := l.read(p)
	if err != nil && l.lost.Load() {
		err = errReset
	}
	return n, err
}

func (l *limitConn) read(p []byte) (int, error) {
	if len(l.header) == 0 && l.remaining == 0 && l.err == nil {
		l.err = l.next()
	}
	switch {
	case len(l.header) > 0:
		n := copy(p, l.header)
		l.header = l.header[n:]
		return n, nil
	case l.err != nil:
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(len(p), l.remaining)])
	l.remaining -= n
	return n, err
}

// next reads the beginning of a packet.
func (l *limitConn) next() error {
	head, err := l.r.ReadByte()
	if err != nil {
		return err
	}
	length, raw, err := l.length()
	if err != nil {
		return err
	}
	first := l.first
	l.first = false
	limit := maxPacket
	if first {
		limit = maxConnect
	}
	switch {
	case length <= limit && first && l.server:
		return l.connect(head, raw, length)
	case length <= limit:
		l.header, l.remaining = append([]byte{head}, raw...), length
		return nil
	case head>>4 != 3 || first:
		return errPacket
	}
	return l.skip(head, length)
}

func (l *limitConn) length() (n int, raw []byte, err error) {
	for shift := 0; shift <= 21; shift += 7 {
		b, err := l.r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		raw = append(raw, b)
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n, raw, nil
		}
	}
	return 0, nil, errPacket
}

// connect reads the whole first packet, to learn the protocol's version: the byte
// after its name.
func (l *limitConn) connect(head byte, raw []byte, length int) error {
	body := make([]byte, length)
	if _, err := io.ReadFull(l.r, body); err != nil {
		return err
	}
	if len(body) >= 2 {
		if at := 2 + int(binary.BigEndian.Uint16(body)); at < len(body) {
			l.v5 = body[at] == 5
		}
	}
	l.header = append(append([]byte{head}, raw...), body...)
	return nil
}

// skip reads past the payload of a PUBLISH and passes on the rest.
func (l *limitConn) skip(head byte, length int) error {
	var n [2]byte
	if _, err := io.ReadFull(l.r, n[:]); err != nil {
		return err
	}
	keep := int(binary.BigEndian.Uint16(n[:]))
	qos := head >> 1 & 3
	if qos > 0 {
		keep += 2
	}
	if 2+keep > length || keep > maxConnect {
		return errPacket
	}
	rest := make([]byte, keep)
	if _, err := io.ReadFull(l.r, rest); err != nil {
		return err
	}
	c := skippedPayload{size: int64(length - 2 - keep)}
	if err := l.discard(&c); err != nil {
		return err
	}
	var id uint16
	if qos > 0 {
		id = binary.BigEndian.Uint16(rest[keep-2:])
	}
	l.mu.Lock()
	l.skipped[id] = c
	l.mu.Unlock()
	if l.v5 {
		rest = append(rest, 0) // no properties
	}
	l.header = append([]byte{head}, binary.AppendUvarint(nil, uint64(2+len(rest)))...)
	l.header = append(append(l.header, n[:]...), rest...)
	return nil
}

func (l *limitConn) discard(c *skippedPayload) error {
	buf := make([]byte, 32<<10)
	for left := c.size; left > 0; {
		if l.server {
			if err := l.SetReadDeadline(time.Now().Add(skipPatience)); err != nil {
				return err
			}
		}
		n, err := l.r.Read(buf[:min(int64(len(buf)), left)])
		c.crc = crc32.Update(c.crc, crc32.IEEETable, buf[:n])
		left -= int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
