package intake_test

import (
	"errors"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// raw is a device that sends whatever the test wants.
type raw struct {
	mqtt.Client
	device string
	acks   chan *wire.Ack
}

func (n *node) options(device string) *mqtt.ClientOptions {
	o := mqtt.NewClientOptions().AddBroker(n.url).SetClientID(device).SetUsername(device).
		SetPassword(n.reg.password[device]).SetProtocolVersion(4).SetAutoReconnect(false).SetConnectTimeout(limit).
		SetWriteTimeout(limit).SetPingTimeout(limit)
	if n.mosquitto != nil && n.mosquitto.deviceTLS != nil {
		o.SetTLSConfig(n.mosquitto.deviceTLS)
	}
	return o
}

func (n *node) raw(t testing.TB, device string, clean bool) *raw {
	t.Helper()
	r := &raw{device: device, acks: make(chan *wire.Ack, 1024)}
	o := n.options(device).SetCleanSession(clean).SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) {
		if m.Topic() != wire.AckTopic(device) {
			return
		}
		a, err := wire.DecodeAck(m.Payload())
		if err != nil {
			t.Errorf("ack %q: %v", m.Payload(), err)
			return
		}
		r.acks <- a
	})
	r.Client = mqtt.NewClient(o)
	if err := await(t, r.Connect()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Disconnect(0) })
	if err := await(t, r.Subscribe(wire.AckTopic(device), 1, nil)); err != nil {
		t.Fatal(err)
	}
	return r
}

func await(t testing.TB, tok mqtt.Token) error {
	t.Helper()
	if !tok.WaitTimeout(limit) {
		return errors.New("no answer from the broker")
	}
	return tok.Error()
}

func (r *raw) publish(t testing.TB, kind memory.Kind, payload string) mqtt.Token {
	return r.Publish(wire.TopicOf(r.device, kind), 1, false, payload)
}

func (r *raw) ack(t testing.TB) *wire.Ack {
	t.Helper()
	select {
	case a := <-r.acks:
		return a
	case <-time.After(limit):
		t.Fatal("no acknowledgement came")
		return nil
	}
}
