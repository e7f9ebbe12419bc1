package intake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/node/intake/wire"
)

// ClientConfig says how to connect to an external broker.
type ClientConfig struct {
	URL       string // tcp://host:1883, ssl://host:8883, ws://host/path, wss://host/path
	ClientID  string // the same at every start, because the broker keeps messages for it
	Username  string
	Password  string
	TLS       *tls.Config   // nil: the system's authorities
	KeepAlive time.Duration // 0: 30 s
	MaxWait   time.Duration // longest wait between attempts to connect; 0: 30 s
}

// TLSConfig reads a TLS configuration from PEM files; an empty name means the
// system's authorities, or no client certificate.
func TLSConfig(caFile, certFile, keyFile string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("broker's authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("broker's authorities: %s: no certificate in it", caFile)
		}
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Client receives messages from any MQTT 3.1.1 broker, through a session that
// outlives the connection. It reconnects as long as it is open.
type Client struct {
	intake *Intake
	mqtt   mqtt.Client

	mu     sync.Mutex
	conn   *conn
	limit  *limitConn
	err    error         // why there is no connection or subscription
	ready  chan struct{} // closed while subscribed
	isUp   bool
	closed bool
	ending sync.WaitGroup // connections that are being ended
}

// schemes are the URL schemes of a broker, as paho has them.
var schemes = []string{"tcp", "mqtt", "ssl", "tls", "mqtts", "ws", "wss"}

// Dial starts to connect to a broker and returns at once. If the broker is not
// reachable, the client waits for it. Only a configuration that can't work is an
// error.
func Dial(in *Intake, cfg ClientConfig) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("broker url: want tcp://, ssl://, ws:// or wss:// with a host")
	}
	if !slices.Contains(schemes, u.Scheme) {
		return nil, fmt.Errorf("broker url: scheme %q: want tcp, ssl, ws or wss", u.Scheme)
	}
	if cfg.ClientID == "" {
		return nil, errors.New("broker: a client id is needed")
	}
	cfg.KeepAlive = orDefault(cfg.KeepAlive, 30*time.Second)
	cfg.MaxWait = orDefault(cfg.MaxWait, 30*time.Second)
	c := &Client{intake: in, ready: make(chan struct{})}
	o := mqtt.NewClientOptions().AddBroker(cfg.URL).SetClientID(cfg.ClientID).
		SetUsername(cfg.Username).SetPassword(cfg.Password).
		SetProtocolVersion(4).SetCleanSession(false).
		SetOrderMatters(true).SetAutoAckDisabled(true).
		SetKeepAlive(cfg.KeepAlive).SetConnectTimeout(10 * time.Second).SetWriteTimeout(10 * time.Second).
		SetAutoReconnect(true).SetMaxReconnectInterval(cfg.MaxWait).
		SetConnectRetry(true).SetConnectRetryInterval(min(time.Second, cfg.MaxWait)).
		SetCustomOpenConnectionFn(c.open).SetDefaultPublishHandler(c.handle).
		SetOnConnectHandler(func(mqtt.Client) { c.subscribe() }).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { c.connectionLost(err) }).
		SetConnectionNotificationHandler(c.onNotification)
	if cfg.TLS != nil {
		o.SetTLSConfig(cfg.TLS)
	}
	c.mqtt = mqtt.NewClient(o)
	c.mqtt.Connect()
	return c, nil
}

func orDefault(d, def time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return def
}

// Ready waits until the client is connected and subscribed. If ctx ends first, it
// returns the reason why it is not.
func (c *Client) Ready(ctx context.Context) error {
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Err())
	}
}

// Err returns why there is no connection at the moment. nil: there is one.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isUp {
		return nil
	}
	if c.err == nil {
		return errors.New("broker: not connected yet")
	}
	return c.err
}

// Close disconnects, and waits until everything that was taken is answered. The
// broker keeps the session. It is safe to call twice.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	last := c.conn
	c.mu.Unlock()
	if last != nil {
		last.close() // while there is a connection to answer on
	}
	c.mqtt.Disconnect(250)
	c.ending.Wait()
	c.connectionLost(ErrClosed)
	return nil
}

// open dials the broker. Each connection has a conn of its own: what an earlier one
// left unacknowledged comes again on the new one.
func (c *Client) open(u *url.URL, o mqtt.ClientOptions) (net.Conn, error) {
	raw, err := dial(u, o)
	if err != nil {
		return nil, err
	}
	l := newLimitConn(raw, false)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		raw.Close()
		return nil, ErrClosed
	}
	if last := c.conn; last != nil {
		c.ending.Go(last.close)
	}
	c.limit = l
	c.conn = c.intake.connect(c, l.reset)
	return l, nil
}

func dial(u *url.URL, o mqtt.ClientOptions) (net.Conn, error) {
	d := &net.Dialer{Timeout: o.ConnectTimeout}
	switch u.Scheme {
	case "tcp", "mqtt":
		return d.Dial("tcp", u.Host)
	case "ssl", "tls", "mqtts":
		return tls.DialWithDialer(d, "tcp", u.Host, o.TLSConfig)
	case "ws", "wss":
		at := *u
		at.User = nil
		var t *tls.Config
		if u.Scheme == "wss" {
			t = o.TLSConfig
		}
		return mqtt.NewWebsocket(at.String(), t, o.ConnectTimeout, http.Header{}, o.WebsocketOptions)
	}
	return nil, fmt.Errorf("broker url: scheme %q: want tcp, ssl, ws or wss", u.Scheme)
}

func (c *Client) handle(_ mqtt.Client, m mqtt.Message) {
	c.mu.Lock()
	conn, limit := c.conn, c.limit
	c.mu.Unlock()
	a := arrival{topic: m.Topic(), payload: m.Payload(), retained: m.Retained()}
	if m.Qos() > 0 {
		a.puback = m.Ack
	}
	if len(a.payload) == 0 {
		cut := limit.takeSkipped(m.MessageID())
		a.oversize, a.crc = cut.size, cut.crc
	}
	c.intake.accept(conn, a)
}

// subscribe subscribes to each kind for every device. With one filter for all
// topics, the broker would send back our own acknowledgements.
func (c *Client) subscribe() {
	filters := map[string]byte{}
	for _, k := range wire.Kinds {
		filters[wire.TopicOf("+", k)] = 1
	}
	t := c.mqtt.SubscribeMultiple(filters, nil).(*mqtt.SubscribeToken)
	if !t.WaitTimeout(30 * time.Second) {
		c.connectFailed(errors.New("broker: no answer to the subscription"))
		return
	}
	if t.Error() != nil {
		return // the connection is gone: the next one subscribes
	}
	for filter, code := range t.Result() {
		if code == 0x80 {
			c.connectFailed(fmt.Errorf("broker: refuses the subscription to %s", filter))
			return
		}
	}
	c.mu.Lock()
	if c.isUp || c.closed || !c.mqtt.IsConnectionOpen() {
		c.mu.Unlock()
		return
	}
	c.isUp, c.err = true, nil
	close(c.ready)
	c.mu.Unlock()
	c.intake.stats.count(func(s *Stats) { s.Connected = 1 })
	c.intake.log.Info("intake: connected to the broker")
	c.intake.sendPauseState(c)
}

func (c *Client) connectionLost(err error) {
	c.mu.Lock()
	if c.isUp {
		c.isUp, c.ready = false, make(chan struct{})
	}
	c.err = err
	c.mu.Unlock()
	c.intake.stats.count(func(s *Stats) { s.Connected = 0 })
}

func (c *Client) connectFailed(err error) {
	c.mu.Lock()
	said := c.err != nil && c.err.Error() == err.Error()
	c.err = err
	c.mu.Unlock()
	if !said {
		c.intake.log.Warn("intake: no connection to the broker; trying again", "error", err)
	}
}

func (c *Client) onNotification(_ mqtt.Client, n mqtt.ConnectionNotification) {
	if f, ok := n.(mqtt.ConnectionNotificationBrokerFailed); ok {
		c.connectFailed(fmt.Errorf("broker: %w", f.Reason))
	}
}

func (c *Client) publish(topic string, payload []byte, qos byte, retain bool) error {
	if !c.mqtt.IsConnectionOpen() {
		return errors.New("broker: not connected")
	}
	t := c.mqtt.Publish(topic, qos, retain, payload)
	select {
	case <-t.Done():
		return t.Error()
	default: // it is sent; the broker's answer does not matter
		return nil
	}
}
