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

// FeedConfig says which topics of an external broker to subscribe to. All of URL, ClientID and
// Topics are needed.
type FeedConfig struct {
	URL      string // as in [ClientConfig]
	ClientID string // the same at every start: the broker keeps what arrives meanwhile for it
	Username string
	Password string
	TLS      *tls.Config
	Topics   []string // topic filters, subscribed to with QoS 1
}

// FeedMessage is one message of a feed.
type FeedMessage struct {
	Topic    string
	Payload  []byte // empty if it was larger than the node accepts
	Retained bool   // the broker had kept it, so it may be of any age
	// Ack says that the message need not be delivered again. It must be called in the order in
	// which messages came.
	Ack func()
}

// Feed is one connection to a broker, with messages that are not from wearables, such as those of a
// house. Its methods are safe for concurrent use.
type Feed struct {
	mqtt       mqtt.Client
	in         chan FeedMessage // from the client's goroutine
	out        chan FeedMessage
	subscribed chan struct{} // closed once it is subscribed
	stop       chan struct{} // closed by Close, and when the connection is lost
	forwarded  chan struct{} // closed when nothing more is sent to out
	once       sync.Once

	mu  sync.Mutex
	err error
}

// OpenFeed connects and subscribes. Messages that the broker sends before it answers wait in
// memory, up to 64 MiB; if there are more, it fails.
func OpenFeed(ctx context.Context, cfg FeedConfig) (*Feed, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return nil, errors.New("broker url: want tcp://, ssl://, ws:// or wss:// with a host")
	}
	if cfg.ClientID == "" {
		return nil, errors.New("broker: a client id is needed")
	}
	f := &Feed{in: make(chan FeedMessage), out: make(chan FeedMessage), subscribed: make(chan struct{}), stop: make(chan struct{}), forwarded: make(chan struct{})}
	go f.forward()
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
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { f.finish(err) })
	if cfg.TLS != nil {
		o.SetTLSConfig(cfg.TLS)
	}
	f.mqtt = mqtt.NewClient(o)
	filters := map[string]byte{}
	for _, t := range cfg.Topics {
		filters[t] = 1
	}
	if err := f.waitFor(ctx, f.mqtt.Connect()); err != nil {
		f.Close()
		return nil, fmt.Errorf("broker: %w", err)
	}
	t := f.mqtt.SubscribeMultiple(filters, f.handle)
	if err := f.waitFor(ctx, t); err != nil {
		f.Close()
		return nil, fmt.Errorf("broker: subscribe: %w", err)
	}
	for filter, qos := range t.(*mqtt.SubscribeToken).Result() {
		if qos > 2 { // MQTT 3.1.1, 3.9.3: 0x80 is a refusal
			f.Close()
			return nil, fmt.Errorf("broker: it does not let this user read %s", filter)
		}
	}
	close(f.subscribed)
	return f, nil
}

// maxBuffered is how many bytes of messages may wait while a connection is made. A broker may send
// messages that it kept before it answers the subscription, and nobody reads them yet. Mosquitto
// sends 20 messages unless it is told otherwise.
const (
	maxBuffered     = 64 << 20
	messageOverhead = 256 // of a message, in addition to topic and payload
)

var errBuffered = fmt.Errorf("messages of over %d MiB came before the answer", maxBuffered>>20)

// forward hands messages to the reader. Until the subscription is answered it buffers them, because
// the client reads nothing more, and so no answer either, before it has handed over a message. If
// there is no room left, it ends.
func (f *Feed) forward() {
	defer close(f.forwarded)
	var queue []FeedMessage
	early := 0 // bytes that arrived before the answer
	for open := f.subscribed; ; {
		var in, out chan FeedMessage
		var first FeedMessage
		if len(queue) == 0 || open != nil {
			in = f.in
		}
		if len(queue) > 0 {
			out, first = f.out, queue[0]
		}
		select {
		case m := <-in:
			queue = append(queue, m)
			if early += len(m.Topic) + len(m.Payload) + messageOverhead; open != nil && early > maxBuffered {
				f.finish(errBuffered)
				return
			}
		case out <- first:
			queue = queue[1:]
		case <-open:
			open = nil
		case <-f.stop:
			return
		}
	}
}

// waitFor waits for an answer from the broker.
func (f *Feed) waitFor(ctx context.Context, t mqtt.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-f.stop:
		return f.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *Feed) handle(_ mqtt.Client, m mqtt.Message) {
	select {
	case f.in <- FeedMessage{Topic: m.Topic(), Payload: m.Payload(), Retained: m.Retained(), Ack: m.Ack}:
	case <-f.stop:
	}
}

// Messages returns the channel of messages, in order. It is never closed; see Done.
func (f *Feed) Messages() <-chan FeedMessage { return f.out }

// Done is closed when the connection is over.
func (f *Feed) Done() <-chan struct{} { return f.stop }

// Err returns why the connection was lost. It is nil while there is one, and after Close.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *Feed) finish(err error) {
	f.once.Do(func() {
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
		close(f.stop)
	})
}

// Close disconnects; the broker keeps the session. It is safe to call twice.
func (f *Feed) Close() {
	f.finish(nil)
	f.mqtt.Disconnect(100)
	<-f.forwarded
}
