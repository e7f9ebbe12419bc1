package intake_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/locket-dev/locket/node/intake"
)

// keeping returns the URL of a broker that sends retained messages of 1 MiB, and answers a
// subscription after them (MQTT 3.1.1, 3.8.4: it may send before the SUBACK).
func keeping(t *testing.T, messages int) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- keep(l, messages) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Log("the client hung up: ", err)
		}
	})
	return "tcp://" + l.Addr().String()
}

func keep(l net.Listener, messages int) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		p, err := packets.ReadPacket(c)
		if err != nil {
			return err
		}
		switch p := p.(type) {
		case *packets.ConnectPacket:
			a := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
			a.SessionPresent = true
			if err := a.Write(c); err != nil {
				return err
			}
		case *packets.SubscribePacket:
			for i := range messages {
				m := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
				m.Qos, m.MessageID, m.TopicName, m.Payload = 1, uint16(i+1), "house/door", make([]byte, 1<<20)
				if err := m.Write(c); err != nil {
					return err
				}
			}
			a := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			a.MessageID, a.ReturnCodes = p.MessageID, []byte{1}
			if err := a.Write(c); err != nil {
				return err
			}
		case *packets.DisconnectPacket:
			return nil
		}
	}
}

// Retained messages wait until the broker has answered, however many there are. If they are too
// large for that, the feed ends with an error, and does not wait for an answer that it can't read.
func TestRetainedMessagesBeforeTheAnswer(t *testing.T) {
	open := func(messages int) (*intake.Feed, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return intake.OpenFeed(ctx, intake.FeedConfig{URL: keeping(t, messages), ClientID: "bridge", Topics: []string{"house/#"}})
	}
	f, err := open(30)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if m := <-f.Messages(); len(m.Payload) != 1<<20 {
			t.Errorf("%d bytes", len(m.Payload))
		}
	}
	f.Close()
	if f, err := open(80); err == nil || !strings.Contains(err.Error(), "messages of over 64 MiB came before the answer") {
		t.Errorf("too much: %v", err)
		if f != nil {
			f.Close()
		}
	}
}
