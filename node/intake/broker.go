package intake

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// DefaultAddr is where the embedded broker listens: this machine only.
const DefaultAddr = "127.0.0.1:1883"

// BrokerConfig is the configuration of the embedded broker. Devices must be set.
type BrokerConfig struct {
	Addr     string // host:port; empty: DefaultAddr
	TLS      *tls.Config
	Devices  Devices
	MaxConns int // connections at once; 0: 64
}

// Broker is an MQTT broker for this node's devices. It journals a message before it
// sends PUBACK, and forwards nothing between devices except on topics that they were
// given, see [Topics]. Sessions are kept in memory: after a restart, a device sends
// unacknowledged messages again.
type Broker struct {
	server *mqtt.Server
	addr   net.Addr
	hook   *hook
	once   sync.Once
	err    error
}

// Listen starts a broker.
func Listen(in *Intake, cfg BrokerConfig) (*Broker, error) {
	cfg.Addr = cmp.Or(cfg.Addr, DefaultAddr)
	if cfg.MaxConns <= 0 {
		cfg.MaxConns = 64
	}
	raw, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClients = int64(cfg.MaxConns)
	caps.MaximumPacketSize = maxPacket + 64 // limitConn passes on only smaller packets
	caps.MaximumClientWritesPending = 1024
	caps.MaximumInflight = 1024
	caps.ReceiveMaximum = 1024
	caps.SharedSubAvailable = 0
	caps.TopicAliasMaximum = 0 // mochi would keep 65,535 names of 64 KiB for a client
	b := &Broker{addr: raw.Addr()}
	// Its logs would contain whole packets, and thus what the wearer said. Nobody may
	// read its statistics in $SYS, which it would publish every second.
	b.server = mqtt.New(&mqtt.Options{Capabilities: caps, InlineClient: true, SysTopicResendInterval: 24 * 60 * 60, ClientNetWriteBufferSize: 1, Logger: slog.New(slog.DiscardHandler)}) // 1: each write is one packet, see unread
	slowTickers(b.server)
	b.hook = &hook{broker: b, intake: in, devices: cfg.Devices, conns: map[*mqtt.Client]*conn{}, latest: map[string]*limitConn{}}
	l := newListener(raw, cfg.TLS, cfg.MaxConns)
	l.dismiss = b.dismiss
	if err := errors.Join(b.server.AddHook(b.hook, nil), b.server.AddListener(l), b.server.Serve()); err != nil {
		raw.Close()
		return nil, fmt.Errorf("broker: %w", err)
	}
	return b, nil
}

// expiryEvery is how often the broker looks for sessions and messages that have expired,
// and for wills that are due.
const expiryEvery = 10 * time.Second

// slowTickers makes a broker that was not started look for expired sessions and messages
// every expiryEvery. mochi has four private tickers of one second each, which woke an
// idle node more often than everything else. slowTickers returns how many tickers it found.
func slowTickers(server *mqtt.Server) (found int) {
	loop := reflect.ValueOf(server).Elem().FieldByName("loop")
	if loop.Kind() != reflect.Pointer || loop.IsNil() || loop.Elem().Kind() != reflect.Struct {
		return 0
	}
	for _, name := range []string{"clientExpiry", "inflightExpiry", "retainedExpiry", "willDelaySend"} {
		if t := loop.Elem().FieldByName(name); t.IsValid() && t.Type() == reflect.TypeFor[*time.Ticker]() && !t.IsNil() {
			(*time.Ticker)(t.UnsafePointer()).Reset(expiryEvery)
			found++
		}
	}
	return found
}

// Addr returns the address at which the broker listens.
func (b *Broker) Addr() net.Addr { return b.addr }

// Connected reports whether a device is connected now.
func (b *Broker) Connected(device string) bool {
	cl, ok := b.server.Clients.Get(device)
	return ok && !cl.Closed()
}

// Drop ends a device's connection, after its credentials were removed.
func (b *Broker) Drop(device string) {
	if cl, ok := b.server.Clients.Get(device); ok {
		cl.Stop(errors.New("credentials taken away"))
	}
}

// Close disconnects all devices and waits until everything that was taken is
// answered. It is safe to call twice.
func (b *Broker) Close() error {
	b.once.Do(func() {
		b.hook.close()
		b.err = b.server.Close()
	})
	return b.err
}

// dismiss tells every device that the broker is closing.
func (b *Broker) dismiss() {
	for _, cl := range b.server.Clients.GetAll() {
		if !cl.Net.Inline && !cl.Closed() {
			b.server.DisconnectClient(cl, packets.ErrServerShuttingDown) // an error means that the device has left
		}
	}
}

func (b *Broker) publish(topic string, payload []byte, qos byte, retain bool) error {
	return b.server.Publish(topic, payload, retain, qos)
}
