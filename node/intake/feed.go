package intake

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// FeedConfig says which topics of somebody's broker are wanted. All of URL,
// ClientID and Topics are needed.
type FeedConfig struct {
	URL      string // as in [ClientConfig]
	ClientID string // the same at every start: the broker keeps what comes meanwhile under it
	Username string
	Password string
	TLS      *tls.Config
	Topics   []string // topic filters, subscribed to with QoS 1
}

// FeedMessage is one message of a feed.
type FeedMessage struct {
	Topic    string
	Payload  []byte // also empty if it was larger than the node accepts
	Retained bool   // the broker had kept it, so it may be of any age
	// Ack says that the message need not come again. It is called in the order in
	// which messages came.
	Ack func()
}

// Feed is one connection to a broker with messages of other things than wearables,
// such as a house. Its methods are safe for concurrent use.
type Feed struct {
	mqtt mqtt.Client
	out  chan FeedMessage
	stop chan struct{} // closed by Close, and when the connection is lost
	once sync.Once

	mu  sync.Mutex
	err error
}

// OpenFeed connects and subscribes.
func OpenFeed(ctx context.Context, cfg FeedConfig) (*Feed, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return nil, errors.New("broker url: want tcp://, ssl://, ws:// or wss:// with a host")
	}
	if cfg.ClientID == "" {
		return nil, errors.New("broker: a client id is needed")
	}
	f := &Feed{out: make(chan FeedMessage), stop: make(chan struct{})}
	o := mqtt.NewClientOptions().AddBroker(cfg.URL).SetClientID(cfg.ClientID).
		SetUsername(cfg.Username).SetPassword(cfg.Password).
		SetProtocolVersion(4).SetCleanSession(false).
		SetOrderMatters(true).SetAutoAckDisabled(true).
		SetAutoReconnect(false).SetConnectRetry(false).
		SetKeepAlive(30 * time.Second).SetConnectTimeout(10 * time.Second).SetWriteTimeout(10 * time.Second).
		SetCustomOpenConnectionFn(func(u *url.URL, o mqtt.ClientOptions) (net.Conn, error) {
			raw, err := dial(u, o)
			if err != nil {
				return nil, err
			}
			return newLimitConn(raw, false), nil
		}).
		SetDefaultPublishHandler(f.handle).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { f.end(err) })
	if cfg.TLS != nil {
		o.SetTLSConfig(cfg.TLS)
	}
	f.mqtt = mqtt.NewClient(o)
	filters := map[string]byte{}
	for _, t := range cfg.Topics {
		filters[t] = 1
	}
	if err := done(ctx, f.mqtt.Connect()); err != nil {
		f.Close()
		return nil, fmt.Errorf("broker: %w", err)
	}
	t := f.mqtt.SubscribeMultiple(filters, f.handle)
	if err := done(ctx, t); err != nil {
		f.Close()
		return nil, fmt.Errorf("broker: subscribe: %w", err)
	}
	for filter, qos := range t.(*mqtt.SubscribeToken).Result() {
		if qos > 2 { // MQTT 3.1.1, 3.9.3: 0x80 is a refusal
			f.Close()
			return nil, fmt.Errorf("broker: it does not let this user read %s", filter)
		}
	}
	return f, nil
}

func done(ctx context.Context, t mqtt.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *Feed) handle(_ mqtt.Client, m mqtt.Message) {
	select {
	case f.out <- FeedMessage{Topic: m.Topic(), Payload: m.Payload(), Retained: m.Retained(), Ack: m.Ack}:
	case <-f.stop:
	}
}

// Messages gives what comes, in order. It is never closed; see Done.
func (f *Feed) Messages() <-chan FeedMessage { return f.out }

// Done is closed when the connection is over.
func (f *Feed) Done() <-chan struct{} { return f.stop }

// Err says why the connection was lost. It is nil while there is one, and after
// Close.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *Feed) end(err error) {
	f.once.Do(func() {
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
		close(f.stop)
	})
}

// Close disconnects; the broker keeps the session. It is safe to call twice.
func (f *Feed) Close() {
	f.end(nil)
	f.mqtt.Disconnect(100)
}
