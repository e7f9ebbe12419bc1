package api_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// service is a running relay.
type service struct {
	t     testing.TB
	addr  string
	dir   string
	store *embedded.Store
	relay *relay.Relay
	api   *api.Server
	logs  *logbook.Book

	tables   *tables.DB // tables of its market, if it has one
	translog *translog.Log

	stop func() error
}

// serve starts a relay on its own port; change may be nil.
func serve(t testing.TB, rc relay.Config, change func(*api.Config)) *service {
	t.Helper()
	s := &service{t: t, dir: t.TempDir(), logs: new(logbook.Book)}
	var err error
	if s.store, err = embedded.Open(t.Context(), s.dir); err != nil {
		t.Fatal(err)
	}
	return s.start(s.store, rc, change)
}

// serveOn starts a relay on an existing store, which the caller closes.
func serveOn(t testing.TB, store relay.Store, change func(*api.Config)) *service {
	t.Helper()
	s := &service{t: t, logs: new(logbook.Book)}
	return s.start(store, relay.Config{}, change)
}

func (s *service) start(store relay.Store, rc relay.Config, change func(*api.Config)) *service {
	t := s.t
	t.Helper()
	s.relay = relay.New(store, rc)
	ac := api.Config{Relay: s.relay, Log: slog.New(slog.NewJSONHandler(s.logs, nil)), Now: rc.Now, StrangersPerMinute: 1000, Drain: 5 * time.Second}
	if change != nil {
		change(&ac)
	}
	s.api = api.New(ac)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.api.Serve(ctx, small{ln}) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		if s.store != nil {
			err = errors.Join(err, s.store.Close())
		}
		return err
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// small limits the system's buffer for an unread answer, as over a slow line.
type small struct{ net.Listener }

func (s small) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(32 << 10)
	}
	return c, err
}

// client returns a new client, with its own connections.
func (s *service) client() *remote.Relay {
	s.t.Helper()
	r, err := remote.New("http://"+s.addr, remote.Option{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.Close)
	return r
}

func (s *service) as(h *storetest.Household, p *storetest.Person) *remote.Space {
	s.t.Helper()
	if p == h.Root {
		return s.root(h).Space(h.Space)
	}
	return s.client().Space(h.Space, p.ID, httpsig.KeySigner(p.Key))
}

func (s *service) root(h *storetest.Household) *remote.Root {
	s.t.Helper()
	return s.client().Root(h.Root.Key.Public().(ed25519.PublicKey), httpsig.KeySigner(h.Root.Key))
}

// settle makes a household whose log is at the relay.
func (s *service) settle(name string) *storetest.Household {
	s.t.Helper()
	h := storetest.NewHousehold(s.t, name)
	for _, e := range h.Entries {
		s.ok(s.as(h, h.Owner).AppendLog(s.t.Context(), e, ""))
	}
	return h
}

func (s *service) send(h *storetest.Household, p *storetest.Person, texts ...string) []*envelope.Delta {
	s.t.Helper()
	var ds []*envelope.Delta
	for _, text := range texts {
		ds = append(ds, h.Delta(p, text))
	}
	_, err := s.as(h, p).Append(s.t.Context(), ds)
	s.ok(err)
	return ds
}

func (s *service) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) is(err, want error) {
	s.t.Helper()
	if !errors.Is(err, want) {
		s.t.Fatalf("%v, want %v", err, want)
	}
}
