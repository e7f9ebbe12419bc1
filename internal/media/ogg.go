package media

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pion/opus/pkg/oggreader"
)

// Packet is one Opus packet with its duration.
type Packet struct {
	Data     []byte
	Duration time.Duration
}

// MaxPacket is the longest Opus packet, in bytes: 1,275 for a frame, of which
// RFC 6716 section 3.4 allows a packet 48.
const MaxPacket = 48 * 1275

// maxPackets limits the packets of a file: 23 hours at the usual 20 ms. A packet of one byte takes
// twenty times as much memory as it takes of the file.
const maxPackets = 1 << 22

// ReadOpus returns the packets of an Ogg Opus file (RFC 7845), without header and comment packets.
// Channels is 1 or 2.
func ReadOpus(b []byte) (packets []Packet, channels int, err error) {
	return readOpus(b, maxPackets)
}

func readOpus(b []byte, most int) (packets []Packet, channels int, err error) {
	r := &counter{r: bytes.NewReader(b)}
	ogg, head, err := oggreader.NewWith(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: ogg: offset %d: %v", ErrFormat, r.n, err)
	}
	if head.Channels < 1 || head.Channels > 2 {
		return nil, 0, fmt.Errorf("%w: ogg: offset 0: %d channels: want 1 or 2", ErrFormat, head.Channels)
	}
	for {
		at := r.n
		p, _, err := ogg.ParseNextPacket()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: ogg: offset %d: %v", ErrFormat, at, err)
		}
		if bytes.HasPrefix(p, []byte("OpusTags")) && len(packets) == 0 {
			continue
		}
		d, err := duration(p)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: ogg: offset %d: %v", ErrFormat, at, err)
		}
		if len(packets) == most {
			return nil, 0, fmt.Errorf("%w: ogg: offset %d: more than %d packets", ErrFormat, at, most)
		}
		packets = append(packets, Packet{Data: bytes.Clone(p), Duration: d})
	}
	if len(packets) == 0 {
		return nil, 0, fmt.Errorf("%w: ogg: offset %d: no packets", ErrFormat, len(b))
	}
	return packets, int(head.Channels), nil
}

// Frame lengths by the configuration number of a packet's first byte, in
// microseconds (RFC 6716, table 2): SILK, hybrid and CELT modes.
var (
	silkFrames   = [...]int{10000, 20000, 40000, 60000}
	hybridFrames = [...]int{10000, 20000}
	celtFrames   = [...]int{2500, 5000, 10000, 20000}
)

// duration returns the duration of a packet from its table of contents (RFC 6716 section 3.1); at
// most 120 ms.
func duration(p []byte) (time.Duration, error) {
	if len(p) == 0 || len(p) > MaxPacket {
		return 0, fmt.Errorf("opus packet of %d bytes", len(p))
	}
	config, us := int(p[0]>>3), 0
	switch {
	case config < 12:
		us = silkFrames[config%4]
	case config < 16:
		us = hybridFrames[config%2]
	default:
		us = celtFrames[config%4]
	}
	frames := 1
	switch p[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(p) < 2 || p[1]&0x3f == 0 {
			return 0, errors.New("opus packet without a frame count")
		}
		frames = int(p[1] & 0x3f)
	}
	d := time.Duration(us*frames) * time.Microsecond
	if d > 120*time.Millisecond {
		return 0, fmt.Errorf("opus packet of %v, at most 120ms", d)
	}
	return d, nil
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}
