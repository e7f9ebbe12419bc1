package intake

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

const (
	maxGuests      = 8   // connections at once
	guestKeepalive = 240 // s, for a device that asks for none, so that a dead connection ends
)

// GuestConfig is the configuration of a [GuestBroker]. All of it is needed.
type GuestConfig struct {
	Addr    string                                          // host:port
	Allow   func(client, user string, password []byte) bool // reports whether a client may connect
	OnGuest func(*Guest)                                    // is called for each client that may connect; it must return soon
}

// GuestBroker is an MQTT broker for devices that speak MQTT but are not wearables of a node: for
// them this machine is their server. What a device publishes goes to [Guest.Messages], whatever the
// topic, and to nobody else. Nobody can subscribe to anything.
type GuestBroker struct {
	server *mqtt.Server
	hook   *guestHook
	addr   net.Addr
	once   sync.Once
	err    error
}

// Guest is one connection to a [GuestBroker]. Its methods are safe for concurrent use.
type Guest struct {
	Client string   // id
	Local  net.Addr // address of this machine, as the device reached it
	Remote net.Addr // address of the device

	cl   *mqtt.Client
	in   chan []byte
	once sync.Once
	stop chan struct{} // closed when nobody takes messages any more
	gone chan struct{}
}

// ListenGuests begins to listen.
func ListenGuests(cfg GuestConfig) (*GuestBroker, error) {
	raw, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("broker for guests: %w", err)
	}
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClients = maxGuests
	caps.MaximumPacketSize = maxConnect
	caps.MaximumQos = 0
	g := &GuestBroker{addr: raw.Addr(), hook: &guestHook{GuestConfig: cfg, guests: map[*mqtt.Client]*Guest{}}}
	g.server = mqtt.New(&mqtt.Options{Capabilities: caps, SysTopicResendInterval: 24 * 60 * 60, ClientNetWriteBufferSize: 1, Logger: slog.New(slog.DiscardHandler)})
	l := newListener(raw, nil, maxGuests)
	l.dismiss = func() {} // the device notices the end
	if err := errors.Join(g.server.AddHook(g.hook, nil), g.server.AddListener(l), g.server.Serve()); err != nil {
		raw.Close()
		return nil, fmt.Errorf("broker for guests: %w", err)
	}
	return g, nil
}

// Addr returns the address at which it listens.
func (g *GuestBroker) Addr() net.Addr { return g.addr }

// Close ends all connections. It is safe to call twice.
func (g *GuestBroker) Close() error {
	g.once.Do(func() {
		g.hook.mu.Lock()
		g.hook.closed = true
		for _, guest := range g.hook.guests {
			guest.End()
		}
		g.hook.mu.Unlock()
		g.err = g.server.Close()
	})
	return g.err
}

// Messages returns the channel of what the device publishes, in order. It is never closed; see
// Done.
func (g *Guest) Messages() <-chan []byte { return g.in }

// Done is closed when the connection is over.
func (g *Guest) Done() <-chan struct{} { return g.gone }

// Send sends the device a message with QoS 0, although it has not subscribed to the topic.
func (g *Guest) Send(topic string, payload []byte) error {
	return g.cl.WritePacket(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: topic, Payload: payload})
}

// Close ends the connection, and waits for its end.
func (g *Guest) Close() {
	g.End()
	<-g.gone
}

// End ends the connection without waiting.
func (g *Guest) End() {
	g.once.Do(func() { close(g.stop) })
	g.cl.Stop(errors.New("the device is sent away"))
}

// guestHook is an mqtt.Hook: the callbacks of mochi.
type guestHook struct {
	mqtt.HookBase
	GuestConfig

	mu     sync.Mutex
	closed bool
	guests map[*mqtt.Client]*Guest
}

func (h *guestHook) ID() string { return "guests" }

func (h *guestHook) Provides(b byte) bool {
	return slices.Contains([]byte{mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnPublish, mqtt.OnWill, mqtt.OnDisconnect, mqtt.OnSessionEstablished}, b)
}

func (h *guestHook) OnConnect(cl *mqtt.Client, _ packets.Packet) error {
	if cl.State.Keepalive = min(cl.State.Keepalive, maxKeepalive); cl.State.Keepalive == 0 {
		cl.State.Keepalive = guestKeepalive
	}
	return nil
}

func (h *guestHook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	if !h.Allow(cl.ID, string(cl.Properties.Username), pk.Connect.Password) {
		return false
	}
	l, ok := cl.Net.Conn.(*limitConn)
	if ok {
		l.onIdentified()
	}
	return ok
}

func (h *guestHook) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	g := &Guest{Client: cl.ID, Local: cl.Net.Conn.LocalAddr(), Remote: cl.Net.Conn.RemoteAddr(), cl: cl, in: make(chan []byte), stop: make(chan struct{}), gone: make(chan struct{})}
	h.mu.Lock()
	closed := h.closed
	h.guests[cl] = g
	h.mu.Unlock()
	if closed {
		g.End()
		return
	}
	h.OnGuest(g)
}

// OnACLCheck implements mqtt.Hook. What is published stays here, so any topic is allowed.
func (h *guestHook) OnACLCheck(_ *mqtt.Client, _ string, write bool) bool { return write }

// OnPublish hands a message over. The device waits until it is read.
func (h *guestHook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	g := h.guest(cl)
	if g == nil {
		return pk, packets.ErrRejectPacket
	}
	select {
	case g.in <- slices.Clone(pk.Payload):
	case <-g.stop:
	}
	return pk, packets.ErrRejectPacket // it is for nobody else
}

// OnWill implements mqtt.Hook: nobody reads wills.
func (h *guestHook) OnWill(_ *mqtt.Client, w mqtt.Will) (mqtt.Will, error) {
	w.Retain = false
	return w, nil
}

func (h *guestHook) OnDisconnect(cl *mqtt.Client, _ error, _ bool) {
	h.mu.Lock()
	g := h.guests[cl]
	delete(h.guests, cl)
	h.mu.Unlock()
	if g != nil {
		close(g.gone)
	}
}

func (h *guestHook) guest(cl *mqtt.Client) *Guest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guests[cl]
}
