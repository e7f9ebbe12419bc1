package console

import (
	"context"
	"errors"
	"net"
	"time"

	cloud "github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
)

// serveRelay runs the relay of the shared home, and returns its address.
func serveRelay(dir string) (url string, stop func() error, err error) {
	store, err := embedded.Open(context.Background(), dir)
	if err != nil {
		return "", nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, store.Close())
	}
	s := cloud.New(cloud.Config{Relay: relay.New(store, relay.Config{}), StrangersPerMinute: 10000, Drain: time.Second})
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	return "http://" + ln.Addr().String(), func() error {
		end()
		return errors.Join(<-ended, store.Close())
	}, nil
}
