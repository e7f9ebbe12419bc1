package intake_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

// Which connections are accepted.
func TestConnections(t *testing.T) {
	n := embedded(t, intake.Config{})
	n.reg.mu.Lock()
	n.reg.disabled["glasses"] = true
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/ann/#"}}}
	n.reg.mu.Unlock()
	for _, c := range []struct {
		name string
		set  func(*mqtt.ClientOptions)
		ok   bool
	}{
		{"as it should be", func(o *mqtt.ClientOptions) {}, true},
		{"own will", func(o *mqtt.ClientOptions) { o.SetWill("locket/v1/pin/status", "{}", 1, true) }, true},
		{"wrong password", func(o *mqtt.ClientOptions) { o.SetPassword("x") }, false},
		{"no password", func(o *mqtt.ClientOptions) { o.SetPassword("") }, false},
		{"password too long", func(o *mqtt.ClientOptions) { o.SetPassword(strings.Repeat("x", 1000)) }, false},
		{"unknown device", func(o *mqtt.ClientOptions) { o.SetUsername("nobody").SetClientID("nobody") }, false},
		{"no user", func(o *mqtt.ClientOptions) { o.SetUsername("") }, false},
		{"disabled device", func(o *mqtt.ClientOptions) {
			o.SetUsername("glasses").SetClientID("glasses").SetPassword(n.reg.password["glasses"])
		}, false},
		{"another's client id", func(o *mqtt.ClientOptions) { o.SetClientID("glasses") }, false},
		{"another's will", func(o *mqtt.ClientOptions) { o.SetWill("locket/v1/glasses/status", "{}", 1, true) }, false},
		{"will on a filter that was given", func(o *mqtt.ClientOptions) { o.SetWill("owntracks/ann/#", "{}", 1, true) }, false},
		{"will that is an event", func(o *mqtt.ClientOptions) { o.SetWill("locket/v1/pin/text", "{}", 1, true) }, false},
	} {
		o := n.options("pin").SetCleanSession(true)
		c.set(o)
		client := mqtt.NewClient(o)
		err := await(t, client.Connect())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		client.Disconnect(0)
	}
	if s := n.in.Stats(); s.Denied != 10 {
		t.Errorf("denied %d times", s.Denied)
	}
	// A device whose credentials are removed is disconnected.
	lost := make(chan struct{})
	client := mqtt.NewClient(n.options("pin").SetConnectionLostHandler(func(mqtt.Client, error) { close(lost) }))
	if err := await(t, client.Connect()); err != nil {
		t.Fatal(err)
	}
	n.broker.Drop("pin")
	select {
	case <-lost:
	case <-deadline(t).Done():
		t.Error("still connected")
	}
}

// A device that connects while its earlier connection exists, or is about to end, is
// heard and answered.
func TestConnectionTakeover(t *testing.T) {
	n := embedded(t, intake.Config{})
	for i := range 100 {
		r := n.raw(t, "pin", i%4 != 0)
		r.publish(t, memory.KindText, fmt.Sprintf(`{"seq":%d,"boot":1,"text":"x"}`, i))
		for seq := uint64(0); seq != uint64(i); {
			seq = r.ack(t).Seqs[0] // before it there may be answers that an earlier connection missed
		}
		if i%2 == 0 {
			r.Publish("locket/v1/glasses/text", 0, false, "{}") // for which the broker ends the connection
		}
	}
}

// If there are more connections than allowed, those end that have said nothing for
// the longest time.
func TestMaxConns(t *testing.T) {
	n := newIntake(t, intake.Config{})
	b, err := intake.Listen(n.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: n.reg, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	n.url = "tcp://" + b.Addr().String()
	var first net.Conn
	for range 3 {
		c, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if first == nil {
			first = c
		}
	}
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("three connections are kept")
	}
}

// Strangers hold as many connections as they can, and a device can still connect.
func TestThreatBrokerHeldByStrangers(t *testing.T) {
	n := embedded(t, intake.Config{})
	for i := range 200 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%20))}}
		c, err := d.Dial("tcp", strings.TrimPrefix(n.url, "tcp://"))
		if err != nil {
			t.Fatal("the test needs several addresses of 127.0.0.0/8, as Linux has them: ", err)
		}
		t.Cleanup(func() { c.Close() })
	}
	r := n.raw(t, "pin", true)
	r.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"x"}`)
	if a := r.ack(t); a.Error != "" {
		t.Errorf("%+v", a)
	}
}

// Strangers at the device's own address hold as many connections as they can, and the
// device can still connect. On one machine, and behind one router, all have the same
// address.
func TestThreatBrokerHeldFromTheSameAddress(t *testing.T) {
	n := embedded(t, intake.Config{})
	for range 70 {
		c, err := net.Dial("tcp", strings.TrimPrefix(n.url, "tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	r := n.raw(t, "pin", true)
	r.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"x"}`)
	if a := r.ack(t); a.Error != "" {
		t.Errorf("%+v", a)
	}
}

// An acknowledgement waits for a device that disconnected meanwhile.
func TestAckOutlivesConnection(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		gate := make(chan struct{})
		r := n.raw(t, "pin", false)
		n.disk.mu.Lock()
		n.disk.gate = gate
		n.disk.mu.Unlock()
		r.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"x"}`)
		n.disk.until(t, "the journal is asked", func() bool { return n.disk.waiting == 1 })
		r.Disconnect(250)
		close(gate)
		n.disk.until(t, "journalled", func() bool { return len(n.disk.events) == 1 })
		again := n.raw(t, "pin", false)
		if a := again.ack(t); a.Seqs[0] != 1 || a.Error != "" {
			t.Errorf("%+v", a)
		}
	})
}
