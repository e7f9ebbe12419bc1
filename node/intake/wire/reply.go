package wire

import (
	"math"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Ack is the node's answer to messages of one boot of a device. If Error is empty,
// the messages are on disk, or were dropped as the wearer wished (Dropped), and
// the device can delete them. Otherwise they are refused: with Retry the device
// sends them again later, without it the device deletes them.
type Ack struct {
	Boot    uint64
	Seqs    []uint64 // at most MaxSeqs; none if the refused message could not be read
	Dropped string   // acknowledged but dropped: DroppedPaused, DroppedThen, DroppedPrivate
	Error   string   // reason for the refusal, in words
	Retry   bool
	After   time.Duration // with Retry: the minimum delay, to the ms

	// For a message that was too damaged to be identified:
	Kind string // the last part of its topic
	Size int    // bytes of its payload
	CRC  uint32 // CRC-32 (IEEE) of its payload
}

// EncodeAck writes an acknowledgement or refusal.
func EncodeAck(a *Ack, f Format) ([]byte, error) {
	m := map[string]any{}
	switch len(a.Seqs) {
	case 0:
		m["kind"], m["size"], m["crc"] = a.Kind, a.Size, a.CRC
	case 1:
		m["boot"], m["seq"] = a.Boot, a.Seqs[0]
	default:
		m["boot"], m["seqs"] = a.Boot, a.Seqs
	}
	put(m, "dropped", a.Dropped)
	if a.Error != "" {
		m["error"], m["retry"] = a.Error, a.Retry
		put(m, "after", a.After.Milliseconds())
	}
	return encodeReply("ack", m, f, func(b []byte) error { _, err := DecodeAck(b); return err })
}

// DecodeAck reads an acknowledgement or refusal.
func DecodeAck(payload []byte) (*Ack, error) {
	a := &Ack{}
	err := decodeReply("ack", payload, func(r *fields) {
		_, one := r.m["seq"]
		_, many := r.m["seqs"]
		switch {
		case one && many:
			r.fail("seqs", Limits, "beside seq")
		case one:
			a.Boot = r.uint("boot", need, 0, math.MaxUint64)
			a.Seqs = []uint64{r.uint("seq", need, 0, math.MaxUint64)}
		case many:
			a.Boot = r.uint("boot", need, 0, math.MaxUint64)
			a.Seqs = r.seqs()
		default:
			a.Kind = r.text("kind", need, MaxReason)
			a.Size = int(r.uint("size", need, 0, math.MaxInt32))
			a.CRC = uint32(r.uint("crc", need, 0, math.MaxUint32))
		}
		a.Dropped = r.text("dropped", optional, MaxReason)
		a.Error = r.text("error", !one && !many, MaxReason)
		a.Retry, _ = r.bool("retry")
		a.After = time.Duration(r.uint("after", optional, 0, 24*3600*1000)) * time.Millisecond
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (r *fields) seqs() []uint64 {
	v, _ := r.get("seqs", need)
	a, ok := v.([]any)
	if !ok || len(a) == 0 {
		r.fail("seqs", Wrong, "want an array of at least one whole number")
		return nil
	}
	if len(a) > MaxSeqs {
		r.fail("seqs", TooLarge, "%d numbers, at most %d", len(a), MaxSeqs)
		return nil
	}
	out := make([]uint64, len(a))
	for i, e := range a {
		if out[i], ok = r.wholeNumber(e); !ok {
			r.fail("seqs", Wrong, "want whole numbers")
		}
	}
	return out
}

// Why a message was dropped.
const (
	DroppedPaused  = "paused"  // the wearer has paused
	DroppedThen    = "then"    // it is from a pause that the device did not know of
	DroppedPrivate = "private" // it is from one of the wearer's private zones
)

// WhyPrivate is the reason for a pause after the wearer entered a private zone.
// The device still sends locations, so that the node knows when the wearer leaves.
const WhyPrivate = "private"

// Commands.
const (
	CmdPause   = "pause"   // record nothing until resume; published retained
	CmdResume  = "resume"  // published retained
	CmdTime    = "time"    // the time, and how large a payload may be
	CmdCapture = "capture" // take a photo, or record, now
	CmdKey     = "key"     // the key to seal to, for a device that stores messages
	CmdSay     = "say"     // a text to show or speak: the answer to a question; for a device that can
)

// Cmd is a command of the node to a device.
type Cmd struct {
	Cmd  string
	Why  string        // pause: empty, or WhyPrivate
	At   time.Time     // time: the node's clock; pause, resume: since when, zero if unknown; to the ms
	Zone string        // time: IANA name
	Max  int           // time: maximum payload in bytes that the node accepts
	What string        // capture: photo, audio
	For  time.Duration // capture audio: how long, to the ms
	To   string        // key: the recipient, age1pq1…
	Text string        // say: at most MaxSay bytes
}

// EncodeCmd writes a command.
func EncodeCmd(c *Cmd, f Format) ([]byte, error) {
	m := map[string]any{"cmd": c.Cmd}
	if !c.At.IsZero() {
		m["at"] = c.At.UnixMilli()
	}
	put(m, "why", c.Why)
	put(m, "zone", c.Zone)
	put(m, "max", c.Max)
	put(m, "what", c.What)
	put(m, "for", c.For.Milliseconds())
	put(m, "to", c.To)
	put(m, "text", c.Text)
	return encodeReply("cmd", m, f, func(b []byte) error { _, err := DecodeCmd(b); return err })
}

// DecodeCmd reads a command.
func DecodeCmd(payload []byte) (*Cmd, error) {
	c := &Cmd{}
	err := decodeReply("cmd", payload, func(r *fields) {
		c.Cmd = r.word("cmd", CmdPause, CmdResume, CmdTime, CmdCapture, CmdKey, CmdSay)
		c.Why = r.text("why", optional, MaxReason)
		c.At = r.wall("at")
		c.Zone = r.zone()
		c.Max = int(r.uint("max", optional, 0, math.MaxInt32))
		if c.Cmd == CmdCapture {
			c.What = r.word("what", "photo", "audio")
		}
		c.For = time.Duration(r.uint("for", optional, 0, 24*3600*1000)) * time.Millisecond
		c.To = r.text("to", c.Cmd == CmdKey, maxRecipient)
		c.Text = r.text("text", c.Cmd == CmdSay, MaxSay)
		if c.Cmd == CmdTime && c.At.IsZero() {
			r.fail("at", Missing, "")
		}
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// MaxSay is the maximum length of an answer, in bytes: two minutes of speech.
const MaxSay = 2 << 10

// maxRecipient is the maximum length of a recipient, in bytes; today's have 1,959.
const maxRecipient = 4 << 10

func encodeReply(kind string, m map[string]any, f Format, check func([]byte) error) ([]byte, error) {
	b, err := emit(m, f)
	if err != nil {
		return nil, errorf(kind, Encoding, "not a value of %s", f)
	}
	return b, check(b)
}

func decodeReply(kind string, payload []byte, read func(*fields)) error {
	m, format, err := parse(payload)
	if err == nil {
		r := &fields{m: m, json: format == JSON}
		read(r)
		err = r.err
	}
	if e, ok := err.(*Error); ok {
		e.Kind = memory.Kind(kind)
	}
	return err
}
