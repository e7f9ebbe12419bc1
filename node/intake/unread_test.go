package intake_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// subscribes makes a login connect, subscribe, and read nothing after the answer. Its keepalive is
// 0.
func (n *node) subscribes(t *testing.T, login, topic string) net.Conn {
	t.Helper()
	c := n.connects(t, login)
	b := binary.BigEndian.AppendUint16([]byte{0, 1, 0}, uint16(len(topic)))
	b = append(append(b, topic...), 1)
	if _, err := c.Write(append([]byte{0x82, byte(len(b))}, b...)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 6)); err != nil { // SUBACK
		t.Fatal(err)
	}
	return c
}

// A login that reads nothing takes a few MiB of the node's memory, whatever others send it, and
// they miss nothing.
func TestThreatReaderThatReadsNothing(t *testing.T) {
	n := embedded(t, intake.Config{})
	other := newRegistry(t, "home", "desk")
	n.reg.mu.Lock()
	for _, login := range []string{"home", "desk"} {
		n.reg.hash[login], n.reg.password[login] = other.hash[login], other.password[login]
	}
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/#"}}, "home": {Read: []string{"owntracks/#"}}, "desk": {Read: []string{"owntracks/#"}}}
	n.reg.mu.Unlock()
	slow := n.subscribes(t, "home", "owntracks/#")
	got := n.listens(t, "desk", "owntracks/#")
	pin := n.raw(t, "pin", true)
	const sent = 800
	large := strings.Repeat("x", 60<<10)
	for range sent {
		if err := await(t, pin.Publish("owntracks/large", 1, false, large)); err != nil {
			t.Fatal(err)
		}
		if line := <-got; line != "owntracks/large "+large {
			t.Fatalf("the other reader got %.40q", line)
		}
	}
	seen := make(chan struct{})
	defer close(seen)
	go func() { // what arrives while there is no room is skipped, so it is sent again
		for {
			select {
			case <-seen:
				return
			case <-got:
			}
			pin.Publish("owntracks/end", 0, false, "end")
		}
	}()
	pin.Publish("owntracks/end", 0, false, "end")
	held, r := 0, bufio.NewReader(slow)
	for {
		p, err := packets.ReadPacket(r)
		if err != nil {
			t.Fatalf("after %d bytes: %v", held, err)
		}
		m, ok := p.(*packets.PublishPacket)
		if ok && m.TopicName == "owntracks/end" {
			break
		}
		if ok {
			held += len(m.Payload)
		}
	}
	if held > sent*len(large)/2 { // the system's buffers hold some MiB, too
		t.Errorf("%d MiB waited for a login that read nothing", held>>20)
	}
}

// A wearable that reads nothing delays neither the wearer's pause nor the other wearables.
func TestThreatWearableThatReadsNothing(t *testing.T) {
	n := embedded(t, intake.Config{})
	slow := n.subscribes(t, "pin", wire.CmdTopic("pin"))
	hello := []byte(`{"seq":1,"boot":1,"model":"p","firmware":"1","codecs":["opus"]}`)
	topic := wire.TopicOf("pin", memory.KindHello)
	b := append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...)
	b = append(append(b, 0), hello...) // QoS 0, no properties
	if _, err := slow.Write(append([]byte{0x30, byte(len(b))}, b...)); err != nil {
		t.Fatal(err)
	}
	n.disk.until(t, "hello", func() bool { return len(n.disk.events) == 1 })
	flooded := make(chan error, 1)
	go func() { // asks for answers until the node accepts no more questions
		// PUBREL of a packet that does not exist, with a property that is returned in PUBCOMP
		long := strings.Repeat("x", 60<<10)
		props := append(binary.BigEndian.AppendUint16([]byte{0x26, 0, 1, 'a'}, uint16(len(long))), long...)
		b := append(binary.AppendUvarint([]byte{0, 1, 0}, uint64(len(props))), props...)
		b = append(binary.AppendUvarint([]byte{0x62}, uint64(len(b))), b...)
		for {
			if _, err := slow.Write(b); err != nil {
				flooded <- err
				return
			}
		}
	}()
	cmds := make(chan string, 10)
	glasses := n.raw(t, "glasses", true)
	if err := await(t, glasses.Subscribe(wire.CmdTopic("glasses"), 1, func(_ mqtt.Client, m mqtt.Message) { cmds <- string(m.Payload()) })); err != nil {
		t.Fatal(err)
	}
	glasses.publish(t, memory.KindHello, `{"seq":1,"boot":1,"model":"p","firmware":"1","codecs":["opus"]}`)
	glasses.ack(t)
	<-flooded // with 4 MiB and full system buffers its connection has ended
	n.in.SetPaused(true)
	for c := range cmds {
		if strings.Contains(c, `"pause"`) {
			break
		}
	}
	glasses.publish(t, memory.KindText, `{"seq":2,"boot":1,"text":"x"}`)
	if a := glasses.ack(t); a.Dropped == "" {
		t.Errorf("%+v", a)
	}
}

// However many logins read nothing, the node's memory that they take together is limited.
func TestThreatManyThatReadNothing(t *testing.T) {
	const many = 16 // 64 MiB, if each took what one may take
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("reader%d", i)
	}
	n := embedded(t, intake.Config{})
	other := newRegistry(t, names...)
	n.reg.mu.Lock()
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/#"}}}
	for _, name := range names {
		n.reg.hash[name], n.reg.password[name] = other.hash[name], other.password[name]
		n.reg.topics[name] = intake.Topics{Read: []string{"owntracks/#"}}
	}
	n.reg.mu.Unlock()
	for _, name := range names {
		n.subscribes(t, name, "owntracks/#")
	}
	pin := n.raw(t, "pin", true)
	before := heap()
	large := strings.Repeat("x", 60<<10)
	for range 200 {
		if err := await(t, pin.Publish("owntracks/large", 1, false, large)); err != nil {
			t.Fatal(err)
		}
	}
	if grown := (heap() - before) >> 20; grown > 50 { // 32, and what slices need to grow
		t.Errorf("%d logins that read nothing hold %d MiB", many, grown)
	}
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
