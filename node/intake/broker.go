package intake

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
)

// connectPatience is how long a connection may take to say who it is; from
// then on its keepalive counts.
const connectPatience = 10 * time.Second

// DefaultAddr is where the embedded broker listens: this machine only.
const DefaultAddr = "127.0.0.1:1883"

// BrokerConfig is the embedded broker's. Devices must be set.
type BrokerConfig struct {
	Addr     string // host:port; empty: DefaultAddr
	TLS      *tls.Config
	Devices  Devices
	MaxConns int // connections at once; 0: 64
}

// Broker is an MQTT broker for this node's devices. It journals before it
// sends PUBACK, and forwards nothing between devices. Sessions are kept in
// memory: what a restart forgets, a device sends again.
type Broker struct {
	in     *Intake
	server *mqtt.Server
	addr   net.Addr
	hook   *hook
	once   sync.Once
	err    error
}

// Listen starts a broker.
func Listen(in *Intake, cfg BrokerConfig) (*Broker, error) {
	if cfg.Addr == "" {
		cfg.Addr = DefaultAddr
	}
	if cfg.MaxConns <= 0 {
		cfg.MaxConns = 64
	}
	raw, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClients = int64(cfg.MaxConns)
	caps.MaximumPacketSize = maxPacket + 64 // what limitConn leaves is smaller
	caps.MaximumClientWritesPending = 1024
	caps.MaximumInflight = 1024
	caps.ReceiveMaximum = 1024
	caps.SharedSubAvailable = 0
	b := &Broker{in: in, addr: raw.Addr()}
	// Its logs hold whole packets, and with them what the wearer said.
	b.server = mqtt.New(&mqtt.Options{Capabilities: caps, InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	b.hook = &hook{broker: b, in: in, devices: cfg.Devices, verifier: newVerifier(), conns: map[*mqtt.Client]*conn{}}
	l := newLimitListener(raw, cfg.TLS, cfg.MaxConns)
	if err := errors.Join(b.server.AddHook(b.hook, nil), b.server.AddListener(listeners.NewNet("devices", l)), b.server.Serve()); err != nil {
		raw.Close()
		return nil, fmt.Errorf("broker: %w", err)
	}
	return b, nil
}

// Addr is where the broker listens.
func (b *Broker) Addr() net.Addr { return b.addr }

// Connected reports whether a device is connected now.
func (b *Broker) Connected(device string) bool {
	cl, ok := b.server.Clients.Get(device)
	return ok && !cl.Closed()
}

// Drop ends a device's connection, after its credentials were taken away.
func (b *Broker) Drop(device string) {
	if cl, ok := b.server.Clients.Get(device); ok {
		cl.Stop(errors.New("credentials taken away"))
	}
}

// Close disconnects all devices and waits until what was taken is answered.
// It is safe to call twice.
func (b *Broker) Close() error {
	b.once.Do(func() {
		b.hook.close()
		b.err = b.server.Close()
		b.server.Listeners.ClientsWg.Wait()
	})
	return b.err
}

func (b *Broker) publish(topic string, payload []byte, qos byte, retain bool) error {
	return b.server.Publish(topic, payload, retain, qos)
}

// limitListener bounds how many connections there are, before any password.
type limitListener struct {
	net.Listener
	tls   *tls.Config
	slots chan struct{}
}

func newLimitListener(l net.Listener, t *tls.Config, most int) *limitListener {
	return &limitListener{Listener: l, tls: t, slots: make(chan struct{}, most)}
}

// Accept closes at once what is too much.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		c = &slotConn{Conn: c, free: func() { <-l.slots }}
		if c.SetDeadline(time.Now().Add(connectPatience)) != nil {
			c.Close()
			continue
		}
		if l.tls != nil {
			c = tls.Server(c, l.tls)
		}
		return newLimitConn(c, true), nil
	}
}

type slotConn struct {
	net.Conn
	once sync.Once
	free func()
}

// Close gives the slot back.
func (c *slotConn) Close() error {
	c.once.Do(c.free)
	return c.Conn.Close()
}
