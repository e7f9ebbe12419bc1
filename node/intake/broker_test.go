package intake_test

import (
	"fmt"
	"hash/crc32"
	"net"
	"net/url"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Payloads of 0 bytes and of 64 MB, wrong topics and wrong types are refused and
// quarantined, and the same connection continues.
func TestBadPayloads(t *testing.T) {
	huge := make([]byte, 64<<20)
	for i := range huge {
		huge[i] = byte(i >> 10)
	}
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		r := n.raw(t, "pin", true)
		for i, c := range []struct {
			kind    memory.Kind
			payload []byte
			problem wire.Problem
		}{
			{memory.KindAudio, nil, wire.Empty},
			{memory.KindPhoto, huge, wire.TooLarge},
			{memory.KindText, make([]byte, wire.MaxPayload+1), wire.TooLarge},
			{memory.KindText, []byte("\x00"), wire.Encoding},
			{memory.KindSensor, []byte(`{"seq":5,"boot":1,"name":"n","values":"no"}`), wire.Wrong},
		} {
			tok := r.Publish(wire.TopicOf("pin", c.kind), 1, false, c.payload)
			if err := await(t, tok); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			a := r.ack(t)
			if a.Error == "" || a.Retry {
				t.Errorf("%d: %+v", i, a)
			}
			if len(a.Seqs) == 0 && (a.Kind != string(c.kind) || a.Size != len(c.payload) || a.CRC != crc32.ChecksumIEEE(c.payload)) {
				t.Errorf("%d: not to be recognised: %+v", i, a)
			}
			if c.problem == wire.Wrong && (a.Boot != 1 || a.Seqs[0] != 5) {
				t.Errorf("%d: %+v", i, a)
			}
			kept := n.shelf.all()
			if len(kept) != i+1 {
				t.Fatalf("%d: %d kept", i, len(kept))
			}
			k := kept[i]
			if k.Problem != string(c.problem) || k.Device != "pin" || k.Kind != c.kind || k.Size != int64(len(c.payload)) || len(k.Payload) > intake.MaxKept {
				t.Errorf("%d: kept as %+v", i, k)
			}
		}
		r.publish(t, memory.KindText, `{"seq":6,"boot":1,"text":"and on"}`)
		if a := r.ack(t); a.Error != "" || a.Seqs[0] != 6 {
			t.Errorf("after all that: %+v", a)
		}
		if s := n.in.Stats(); s.Rejected["size"] != 2 || s.Rejected["empty"] != 1 || s.Rejected["type"] != 1 || s.Reconnects != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// A topic of the device itself that is of no kind is refused, and that is visible.
func TestUnknownTopic(t *testing.T) {
	n := embedded(t, intake.Config{})
	r := n.raw(t, "pin", true)
	if err := await(t, r.Publish("locket/v1/pin/smell", 1, false, `{"seq":1,"boot":1}`)); err != nil {
		t.Fatal(err)
	}
	if a := r.ack(t); a.Error == "" || a.Kind != "smell" || a.Retry {
		t.Errorf("%+v", a)
	}
	if s := n.in.Stats(); s.Rejected["topic"] != 1 || s.Received["other"] != 1 {
		t.Errorf("stats: %+v", s)
	}
}

// MQTT 3.1.1 has no way to tell a device for which topic it was disconnected, but the
// log has it.
func TestForeignTopicIsLogged(t *testing.T) {
	n := embedded(t, intake.Config{})
	n.raw(t, "pin", true).Publish("locket/v2/pin/text", 1, false, `{"seq":1,"boot":1}`).WaitTimeout(limit)
	if logs := n.logs.String(); !strings.Contains(logs, "not its own") || !strings.Contains(logs, "device=pin topic=locket/v2/pin/text") {
		t.Error(logs)
	}
}

// A device can neither publish as another one nor read what is said to it.
func TestImpersonation(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		thief := n.raw(t, "glasses", true)
		// Mosquitto acknowledges and drops; mochi ends the connection.
		thief.Publish(wire.TopicOf("pin", memory.KindText), 1, false, `{"seq":1,"boot":1,"text":"forged"}`).WaitTimeout(limit)
		thief = n.raw(t, "glasses", true)
		for _, filter := range []string{wire.AckTopic("pin"), wire.CmdTopic("pin"), "locket/v1/+/ack", "#", "locket/v1/pin/text", "locket/v1/glasses/text", "$SYS/#"} {
			tok := thief.Subscribe(filter, 1, nil).(*mqtt.SubscribeToken)
			tok.WaitTimeout(limit)
			if n.mosquitto == nil && tok.Result()[filter] != 0x80 {
				t.Errorf("subscribed to %s: %v", filter, tok.Result())
			}
		}
		pin := n.raw(t, "pin", true)
		pin.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"real"}`)
		pin.ack(t)
		thief.publish(t, memory.KindText, `{"seq":2,"boot":1,"text":"own"}`)
		if a := thief.ack(t); a.Seqs[0] != 2 {
			t.Errorf("the thief reads %+v", a)
		}
		for _, e := range n.disk.of(memory.KindText) {
			if e.Text == "forged" {
				t.Error("one device published as another")
			}
		}
		if s := n.in.Stats(); n.mosquitto == nil && s.Denied < 7 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// Once a message is deferred, no later one of its connection gets a PUBACK; the
// connection ends, and MQTT delivers them again.
func TestWithheldPubacks(t *testing.T) {
	n := embedded(t, intake.Config{})
	gate := make(chan struct{})
	n.disk.mu.Lock()
	n.disk.gate = gate
	n.disk.mu.Unlock()
	lost := make(chan struct{})
	o := n.options("pin").SetCleanSession(false).SetStore(mqtt.NewOrderedMemoryStore()).SetConnectionLostHandler(func(mqtt.Client, error) { close(lost) })
	client := mqtt.NewClient(o)
	if err := await(t, client.Connect()); err != nil {
		t.Fatal(err)
	}
	var toks []mqtt.Token
	for i := range 6 {
		toks = append(toks, client.Publish("locket/v1/pin/text", 1, false, fmt.Sprintf(`{"seq":%d,"boot":1,"text":"x"}`, i)))
		n.disk.until(t, "the journal is asked", func() bool { return n.disk.waiting == 1 })
	}
	n.disk.full(true)
	close(gate)
	select {
	case <-lost:
	case <-deadline(t).Done():
		t.Fatal("the connection is still there")
	}
	for i, tok := range toks {
		select {
		case <-tok.Done():
			if tok.Error() == nil {
				t.Errorf("%d was acknowledged", i)
			}
		default:
		}
	}
	n.disk.full(false)
	// The same client, which resends by itself.
	if err := await(t, client.Connect()); err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(0)
	n.disk.until(t, "all of them", func() bool { return len(n.disk.events) == 6 })
	for i, e := range n.disk.of(memory.KindText) {
		if e.ID.Seq != uint64(i) {
			t.Errorf("%s came as number %d", e.ID, i)
		}
	}
}

// Somebody who guesses a device's password has ten attempts a minute, and does not
// lock out anybody at another address.
func TestThreatPasswordGuessed(t *testing.T) {
	n := embedded(t, intake.Config{})
	try := func(from, password string) error {
		o := n.options("pin").SetPassword(password).SetDialer(&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}})
		c := mqtt.NewClient(o)
		defer c.Disconnect(0)
		return await(t, c.Connect())
	}
	for range 10 {
		if err := try("127.0.0.2", "guessed"); err == nil {
			t.Fatal("a wrong password is taken")
		}
	}
	right := n.reg.password["pin"]
	if err := try("127.0.0.2", right); err == nil {
		t.Error("the eleventh guess is looked at")
	}
	if err := try("127.0.0.3", right); err != nil {
		t.Error("the device is shut out: ", err)
	}
	if err := try("127.0.0.2", right); err != nil {
		t.Error("the device is shut out once its password is known: ", err)
	}
}

// PUBACK is sent after the event is journalled, and in the order of arrival.
func TestAcknowledgedAfterJournal(t *testing.T) {
	n := embedded(t, intake.Config{})
	gate := make(chan struct{})
	n.disk.mu.Lock()
	n.disk.gate = gate
	n.disk.mu.Unlock()
	r := n.raw(t, "pin", true)
	var toks []mqtt.Token
	for i := range 10 {
		toks = append(toks, r.publish(t, memory.KindText, fmt.Sprintf(`{"seq":%d,"boot":1,"text":"x"}`, i)))
	}
	n.disk.until(t, "the journal is asked", func() bool { return n.disk.waiting == 1 })
	// A question that is answered after everything that came before it.
	if err := await(t, r.Subscribe(wire.CmdTopic("pin"), 1, nil)); err != nil {
		t.Fatal(err)
	}
	for _, tok := range toks {
		select {
		case <-tok.Done():
			t.Fatal("acknowledged before the journal had it")
		default:
		}
	}
	if len(r.acks) != 0 {
		t.Fatal("acknowledged on the topic before the journal had it")
	}
	close(gate)
	for _, tok := range toks {
		if err := await(t, tok); err != nil {
			t.Fatal(err)
		}
	}
	for seen := 0; seen < 10; {
		for _, s := range r.ack(t).Seqs {
			if s != uint64(seen) {
				t.Errorf("%d acknowledged as number %d", s, seen)
			}
			seen++
		}
	}
}

// QoS 0 and 2 are journalled and acknowledged on the topic as well.
func TestQoS0And2(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		r := n.raw(t, "pin", true)
		for qos := range byte(3) {
			tok := r.Publish(wire.TopicOf("pin", memory.KindText), qos, false, fmt.Sprintf(`{"seq":%d,"boot":1,"text":"x"}`, qos))
			if err := await(t, tok); err != nil {
				t.Fatal(err)
			}
			if a := r.ack(t); a.Seqs[0] != uint64(qos) || a.Error != "" {
				t.Errorf("%+v", a)
			}
		}
	})
}

// vanishes connects with options, and disappears without saying so.
func (n *node) vanishes(t *testing.T, o *mqtt.ClientOptions) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(n.url, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	o.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) { return c, nil })
	if err := await(t, mqtt.NewClient(o).Connect()); err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// The last will of a device that vanishes is an event.
func TestLastWill(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		n.vanishes(t, n.options("pin").SetBinaryWill(wire.TopicOf("pin", memory.KindStatus), []byte(`{"seq":77,"boot":1,"state":"offline"}`), 1, true))
		n.disk.until(t, "the will", func() bool { return len(n.disk.events) == 1 })
		if e := n.disk.of(memory.KindStatus); len(e) != 1 || e[0].ID.Seq != 77 || e[0].Metadata[wire.MetaState] != "offline" {
			t.Errorf("%v", e)
		}
	})
}
