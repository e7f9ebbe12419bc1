package xiaozhi

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"
)

var (
	// ErrOther: a datagram belongs to another session.
	ErrOther = fmt.Errorf("%w: a datagram is of another session", ErrFormat)
	// ErrSequence: a datagram came before, is too late, or is too far ahead.
	ErrSequence = fmt.Errorf("%w: a datagram is a duplicate, too late or too far ahead", ErrFormat)
	// ErrSound: a datagram does not decrypt to the device's sound.
	ErrSound = fmt.Errorf("%w: a datagram does not decrypt to the device's sound", ErrFormat)
)

const (
	datagramHeader = 16
	// held is how many packets may wait for a late one.
	held = 4
	// far is how many sequence numbers a datagram may skip, in addition to those that fit into the
	// time since the latest one: 7 s of packets of 60 ms. A datagram further ahead is not believed;
	// otherwise it would make all that follow too late.
	far = 128
	// farthest is how many it may skip after any length of time: over an hour of sound.
	farthest = 1 << 16
	// shortest is the assumed duration of a packet before the first one has come.
	shortest = 20 * time.Millisecond
)

// UDP is the sound of one session that began over MQTT (main/protocols/mqtt_protocol.cc). It
// decrypts the device's datagrams, and encrypts those for the device. A datagram, big-endian:
//
//	 0  u8   type 1
//	 1  u8   flags, as in the nonce
//	 2  u16  bytes after the header
//	 4  u32  session, as in the nonce
//	 8  u32  timestamp, ms
//	12  u32  sequence, from 1, in each direction
//	16       the packet, by AES-128-CTR; the first 16 bytes are the initial counter
//
// Nothing in a datagram proves who sent it: whoever knows the nonce can forge noise. It is not safe
// for concurrent use.
type UDP struct {
	block   cipher.Block
	nonce   [datagramHeader]byte
	next    uint32            // the next sequence number
	waiting map[uint32][]byte // packets after next, by sequence number; at most held
	lasts   time.Duration     // duration of the first packet, and so of all; 0: none came
	sent    uint32            // sequence number of the last one that was sealed
	now     func() time.Time
	heard   time.Time // when the latest datagram was accepted, or the session began
}

// Arrival is a packet that came, or a range of lost ones before it.
type Arrival struct {
	Packet   []byte // nil: From to To are lost
	From, To uint32 // sequence numbers
}

// NewUDP begins a session.
func NewUDP(key, nonce [16]byte) *UDP {
	b, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has 16 bytes
	}
	return &UDP{block: b, nonce: nonce, next: 1, waiting: map[uint32][]byte{}, now: time.Now, heard: time.Now()}
}

// ahead returns how many sequence numbers may be skipped now.
func (u *UDP) ahead() uint32 {
	since := max(u.now().Sub(u.heard), 0) / cmp.Or(u.lasts, shortest)
	return uint32(min(far+since, farthest))
}

// Push takes a datagram and returns the packets that are next in order. A late packet is waited for
// until four after it have come.
func (u *UDP) Push(b []byte) ([]Arrival, error) {
	be := binary.BigEndian
	switch {
	case len(b) <= datagramHeader:
		return nil, ErrShort
	case be.Uint32(b[4:]) != be.Uint32(u.nonce[4:]):
		return nil, ErrOther
	case b[0] != u.nonce[0] || b[1] != u.nonce[1]:
		return nil, fmt.Errorf("%w: %d, flags %d", ErrType, b[0], b[1])
	case int(be.Uint16(b[2:])) != len(b)-datagramHeader || len(b)-datagramHeader > MaxPacket:
		return nil, fmt.Errorf("%w: %d bytes, it says %d", ErrSize, len(b)-datagramHeader, be.Uint16(b[2:]))
	}
	seq := be.Uint32(b[12:])
	if seq < u.next || seq-u.next >= u.ahead() || u.waiting[seq] != nil {
		return nil, fmt.Errorf("%w: %d; the next is %d", ErrSequence, seq, u.next)
	}
	packet := u.crypt(b[:datagramHeader], b[datagramHeader:])
	d := Duration(packet)
	if d <= 0 || d > 120*time.Millisecond || u.lasts > 0 && d != u.lasts {
		return nil, fmt.Errorf("%w: %d bytes", ErrSound, len(packet))
	}
	u.lasts, u.heard = d, u.now()
	u.waiting[seq] = packet
	out := u.ready(nil)
	if len(u.waiting) > held {
		out = u.skip(out)
	}
	return out, nil
}

// Flush returns the packets that wait for a late one, which is given up.
func (u *UDP) Flush() (out []Arrival) {
	for len(u.waiting) > 0 {
		out = u.skip(out)
	}
	return out
}

func (u *UDP) ready(out []Arrival) []Arrival {
	for u.waiting[u.next] != nil {
		out = append(out, Arrival{u.waiting[u.next], u.next, u.next})
		delete(u.waiting, u.next)
		u.next++
	}
	return out
}

// skip gives up the packets missing before the first that waits.
func (u *UDP) skip(out []Arrival) []Arrival {
	first := uint32(math.MaxUint32)
	for seq := range u.waiting {
		first = min(first, seq)
	}
	out = append(out, Arrival{From: u.next, To: first - 1})
	u.next = first
	return u.ready(out)
}

// Seal encrypts a packet into the next datagram for the other side; ms is its timestamp.
func (u *UDP) Seal(ms uint32, packet []byte) []byte {
	be := binary.BigEndian
	u.sent++
	head := u.nonce
	be.PutUint16(head[2:], uint16(len(packet)))
	be.PutUint32(head[8:], ms)
	be.PutUint32(head[12:], u.sent)
	return append(head[:], u.crypt(head[:], packet)...)
}

func (u *UDP) crypt(iv, b []byte) []byte {
	out := make([]byte, len(b))
	cipher.NewCTR(u.block, iv).XORKeyStream(out, b)
	return out
}

// HelloUDP answers a device's hello over MQTT, with the address for its sound, and the key.
func HelloUDP(session, host string, port int, key, nonce [16]byte) []byte {
	return marshal(map[string]any{"type": "hello", "version": 3, "transport": "udp", "session_id": session,
		"udp": map[string]any{"server": host, "port": port, "encryption": "aes-128-ctr",
			"key": hex.EncodeToString(key[:]), "nonce": hex.EncodeToString(nonce[:])},
		"audio_params": map[string]any{"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60}})
}

// Goodbye tells the device to become idle.
func Goodbye(session string) []byte {
	return marshal(map[string]any{"type": "goodbye", "session_id": session})
}

// MQTT is the MQTT server of a device, with its login.
type MQTT struct {
	Endpoint  string `json:"endpoint"` // host:port
	Client    string `json:"client_id"`
	User      string `json:"username"`
	Password  string `json:"password"`
	Publish   string `json:"publish_topic"`
	Subscribe string `json:"subscribe_topic"`
}
