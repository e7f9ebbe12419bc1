package link

import (
	"context"
	"sync"
	"time"

	"github.com/locket-dev/locket/node/intake"
)

// MQTT is a Dialer for an existing broker's messages. Its devices deliver each message of the
// wanted topics as a notification whose Char is the topic; there is nothing to read, to write or to
// subscribe to.
type MQTT struct {
	Feed intake.FeedConfig
}

// Connect connects to the broker and subscribes.
func (m *MQTT) Connect(ctx context.Context) (Device, error) {
	f, err := intake.OpenFeed(ctx, m.Feed)
	if err != nil {
		return nil, err
	}
	d := &subscribed{feed: f, out: make(chan Notification), gone: make(chan struct{})}
	go d.pass()
	return d, nil
}

type subscribed struct {
	feed *intake.Feed
	out  chan Notification
	gone chan struct{}
	once sync.Once
}

func (d *subscribed) pass() {
	defer close(d.gone)
	defer close(d.out)
	for {
		select {
		case m := <-d.feed.Messages():
			select {
			case d.out <- Notification{At: time.Now(), Char: m.Topic, Data: m.Payload, Retained: m.Retained, Ack: m.Ack}:
			case <-d.feed.Done():
				return
			}
		case <-d.feed.Done():
			return
		}
	}
}

func (d *subscribed) MTU() int                           { return 0 }
func (d *subscribed) Notifications() <-chan Notification { return d.out }
func (d *subscribed) Err() error                         { return d.feed.Err() }

func (d *subscribed) Read(_ context.Context, topic string) ([]byte, error)  { return nil, absent(topic) }
func (d *subscribed) Write(_ context.Context, topic string, _ []byte) error { return absent(topic) }
func (d *subscribed) Subscribe(_ context.Context, topic string) error       { return absent(topic) }

func (d *subscribed) Close() error {
	d.once.Do(d.feed.Close)
	<-d.gone
	return nil
}
