package intake

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/locket-dev/locket/memory"
)

// feed is a connection from which a prepared stream is read.
type feed struct {
	net.Conn
	r io.Reader
}

func (s *feed) Read(p []byte) (int, error)      { return s.r.Read(p) }
func (s *feed) SetReadDeadline(time.Time) error { return nil }
func (s *feed) Close() error                    { return nil }

func connectPacket() []byte {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.ClientIdentifier = "MQTT", 4, "pin"
	return packet(p)
}

func packet(p packets.ControlPacket) []byte {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func publishPacket(id uint16, qos byte, payload []byte) []byte {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.MessageID, p.Qos, p.Payload = "locket/v1/pin/text", id, qos, payload
	return packet(p)
}

// Packets within the limits pass unchanged, whatever the size of the reads.
func TestLimitPassesValidPackets(t *testing.T) {
	var in []byte
	in = append(in, connectPacket()...)
	for i, n := range []int{0, 1, 127, 128, 16383, 16384, maxPacket - 22} {
		in = append(in, publishPacket(uint16(i+1), 1, bytes.Repeat([]byte{byte(i)}, n))...)
	}
	in = append(in, packet(packets.NewControlPacket(packets.Pingreq))...)
	for _, size := range []int{1, 7, 4096, len(in)} {
		l := newLimitConn(&feed{r: bytes.NewReader(in)}, true)
		var out []byte
		buf := make([]byte, size)
		for {
			n, err := l.Read(buf)
			out = append(out, buf[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(in, out) {
			t.Errorf("reads of %d: the stream is changed", size)
		}
	}
}

// For a message that is too large, the topic and id pass, and nothing is allocated for the
// rest.
func TestLimitSkipsLargePayloads(t *testing.T) {
	big := bytes.Repeat([]byte("big"), maxPacket)
	for _, qos := range []byte{0, 1, 2} {
		in := append(connectPacket(), publishPacket(9, qos, big)...)
		in = append(in, publishPacket(10, qos, []byte("small"))...)
		l := newLimitConn(&feed{r: bytes.NewReader(in)}, true)
		if _, err := packets.ReadPacket(l); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"", "small"} {
			got, err := packets.ReadPacket(l)
			if err != nil {
				t.Fatal(err)
			}
			p := got.(*packets.PublishPacket)
			if string(p.Payload) != want || p.TopicName != "locket/v1/pin/text" || qos > 0 && p.MessageID != uint16(9+i) || p.Qos != qos {
				t.Errorf("qos %d: %v", qos, p)
			}
			cut := l.takeSkipped(p.MessageID)
			if want := (skippedPayload{int64(len(big)), crc32.ChecksumIEEE(big)}); i == 0 && cut != want || i == 1 && cut != (skippedPayload{}) {
				t.Errorf("qos %d: %d was cut away: %+v", qos, i, cut)
			}
		}
	}
}

// Anything else that is too large, or broken, ends the connection.
func TestLimitCutsOff(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0x7f} // 256 MB
	for name, in := range map[string][]byte{
		"connect":         append([]byte{0x10}, huge...),
		"publish first":   append([]byte{0x30}, huge...),
		"subscribe":       append(append(connectPacket(), 0x82), huge...),
		"length":          append(connectPacket(), 0x30, 0xff, 0xff, 0xff, 0xff, 0x01),
		"topic too long":  append(append(append(connectPacket(), 0x32), huge...), 0xff, 0xff),
		"cut in a header": append(connectPacket(), 0x30, 0x80),
		"cut in a topic":  append(append(append(connectPacket(), 0x32), huge...), 0, 9, 'x'),
		"cut in skipping": append(append(append(connectPacket(), 0x30), huge...), 0, 1, 'x', 'y'),
	} {
		l := newLimitConn(&feed{r: bytes.NewReader(in)}, true)
		n, err := io.Copy(io.Discard, l)
		if err == nil && name[:3] != "cut" || n > int64(len(in)) {
			t.Errorf("%s: %d bytes passed, %v", name, n, err)
		}
	}
}

func FuzzLimit(f *testing.F) {
	f.Add(append(connectPacket(), publishPacket(1, 1, []byte("x"))...))
	f.Add([]byte{0x10, 2, 0, 9, 0x30, 0xff, 0xff, 0x7f, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, server := range []bool{true, false} {
			l := newLimitConn(&feed{r: bytes.NewReader(in)}, server)
			if n, _ := io.Copy(io.Discard, l); n > int64(len(in)) {
				t.Fatalf("%d bytes became %d", len(in), n)
			}
		}
	})
}

func TestSeenIsBounded(t *testing.T) {
	s := newSeen()
	id := func(device, seq int) memory.EventID {
		return memory.EventID{Device: fmt.Sprint("d", device), Boot: 1, Seq: uint64(seq)}
	}
	for i := range maxSeqs + 10 {
		s.add(id(0, i))
		s.add(id(0, i))
	}
	if s.has(id(0, 9)) || !s.has(id(0, 10)) || !s.has(id(0, maxSeqs+9)) {
		t.Error("not the latest are kept")
	}
	for d := range maxStreams + 5 {
		s.add(id(d+1, 1))
	}
	if len(s.streams) > maxStreams || s.has(id(0, maxSeqs+9)) || !s.has(id(maxStreams+5, 1)) {
		t.Errorf("%d streams", len(s.streams))
	}
}

func TestVerifier(t *testing.T) {
	c, hash, err := NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier()
	for range 2 { // the second time from memory
		if !v.check("pin", hash, []byte(c.Password), "x") {
			t.Error("the right password is refused")
		}
		if v.check("pin", hash, []byte(c.Password+"x"), "x") || v.check("pin", hash, nil, "x") {
			t.Error("a wrong password is taken")
		}
	}
	_, other, err := NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	if v.check("pin", other, []byte(c.Password), "x") {
		t.Error("a password outlives its hash")
	}
	for _, bad := range []string{"", "x", "$argon2id$v=19$m=9999999,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=0,p=0$AAAA$AAAA", "$2b$10$x"} {
		if matches(bad, []byte("x")) {
			t.Errorf("hash %q matches", bad)
		}
	}
	// Hashes of older versions are accepted: this one was made by encodeHash when it was
	// written.
	old := encodeHash("secret", []byte("0123456789abcdef"))
	if old != goldenHash || !matches(goldenHash, []byte("secret")) {
		t.Errorf("hash is %s", old)
	}
}

// All addresses of an IPv6 /64 count as one host, and so do the two forms of an IPv4
// address.
func TestHostPrefix(t *testing.T) {
	for at, want := range map[string]string{
		"192.0.2.1:5": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1", "[::1]:5": "::1", "pipe": "pipe", "": "",
		"[2001:db8:1:2:3::4]:5": "2001:db8:1:2::", "[2001:db8:1:2:ffff::]:6": "2001:db8:1:2::", "[2001:db8:1:3::4]:5": "2001:db8:1:3::", "[fe80::1%eth0]:5": "fe80::",
	} {
		if got := hostOf(at); got != want {
			t.Errorf("%q: %q, want %q", at, got, want)
		}
	}
}

const goldenHash = "$argon2id$v=19$m=7168,t=5,p=1$MDEyMzQ1Njc4OWFiY2RlZg$1WrOeYOHOe+p4HO2pwf896hJ4M2x+Vo6V/mXQ4Ud59U"

// After Close nothing is taken, and nobody waits.
func TestTakeAfterClose(t *testing.T) {
	in := New(Config{Journal: nil})
	c := in.connect(nil, func() {})
	if err := errors.Join(in.Close(), in.Close()); err != nil {
		t.Fatal(err)
	}
	if _, ok := in.accept(c, arrival{topic: "locket/v1/pin/text", payload: []byte(`{"seq":1,"boot":1,"text":"x"}`)}); ok {
		t.Error("taken by a closed intake")
	}
	c.close()
	c.close()
	if _, ok := in.accept(c, arrival{}); ok {
		t.Error("taken by a connection that has ended")
	}
}
