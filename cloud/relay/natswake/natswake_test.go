package natswake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/freeport"
)

// patience is a timeout for a busy machine; normally nothing takes so long.
const patience = 10 * time.Minute

// serveNATS runs a real server in this process; port 0 takes any port.
func serveNATS(t *testing.T, port int) *server.Server {
	t.Helper()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, Username: "relay", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s
}

func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// one is one relay's side.
type one struct {
	*Wakes
	heard  chan relay.Wake
	missed chan struct{}
	log    *logbook.Book
}

func start(t *testing.T, port int) *one {
	t.Helper()
	o := &one{heard: make(chan relay.Wake, 1000), missed: make(chan struct{}, 1000), log: new(logbook.Book)}
	var err error
	if o.Wakes, err = New(fmt.Sprintf("nats://relay:secret@127.0.0.1:%d", port), slog.New(slog.NewTextHandler(o.log, nil))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- o.Run(ctx, func(w relay.Wake) { o.heard <- w }, func() { o.missed <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if strings.Contains(o.log.String(), "secret") {
			t.Error("the password is logged")
		}
	})
	return o
}

func next[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("there is no ", what)
	}
	return v
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	late := time.After(patience)
	for !ok() {
		select {
		case <-again.C:
		case <-late:
			t.Fatal("there is no ", what)
		}
	}
}

func TestWakes(t *testing.T) {
	s := serveNATS(t, 0)
	defer stop(s)
	port := s.Addr().(*net.TCPAddr).Port
	a, b := start(t, port), start(t, port)
	next(t, a.missed, "first connection")
	next(t, b.missed, "first connection")
	want := map[relay.Wake]bool{}
	for i := range 500 { // several messages
		w := relay.Wake{Mailbox: i%2 == 0, ID: [16]byte{byte(i), byte(i >> 8)}}
		want[w] = true
		a.Send(w)
	}
	for len(want) > 0 {
		w := next(t, b.heard, "wake-up")
		if !want[w] {
			t.Fatalf("%+v was not sent, or comes twice", w)
		}
		delete(want, w)
	}
	b.Send(relay.Wake{ID: [16]byte{9, 9, 9}})
	if w := next(t, a.heard, "wake-up the other way"); w.ID != [16]byte{9, 9, 9} { // and none of its own before
		t.Fatalf("%+v", w)
	}
	// An invalid wake-up is logged, and wakes nobody.
	stranger, err := nats.Connect(fmt.Sprintf("nats://relay:secret@127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	for _, text := range []string{"x,s00", "x,z00000000000000000000000000000000", strings.Repeat(",", 9000)} {
		if err := stranger.Publish(Subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	a.Send(relay.Wake{ID: [16]byte{1}})
	if w := next(t, b.heard, "wake-up after nonsense"); w.ID != [16]byte{1} {
		t.Fatalf("%+v", w)
	}
}

// A server that is not there yet, and one that goes away: both relays log it, are told that they
// may have missed something, and continue.
func TestServerGoesAway(t *testing.T) {
	port, err := strconv.Atoi(freeport.Port(t))
	if err != nil {
		t.Fatal(err)
	}
	a, b := start(t, port), start(t, port)
	a.Send(relay.Wake{ID: [16]byte{1}})
	until(t, "word of it", func() bool { return strings.Contains(a.log.String(), "can't be reached") })
	for round := range 2 {
		s := serveNATS(t, port)
		next(t, a.missed, "connection")
		next(t, b.missed, "connection")
		w := relay.Wake{ID: [16]byte{2, byte(round)}}
		a.Send(w)
		for next(t, b.heard, "wake-up") != w { // pending ones may come first
		}
		stop(s)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, bad := range []string{"", "localhost:4222", "http://host", "nats://", "nats://h?x=1", "nats://h/a b", "nats://h/*", "nats://h/a>", "nats://u:secret@h:bad port"} {
		_, err := New(bad, slog.New(slog.DiscardHandler))
		if !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	w, err := New("tls://u:secret@h:1/house.two", slog.New(slog.DiscardHandler))
	if err != nil || w.subject != "house.two" || w.server != "tls://u:secret@h:1" || strings.Contains(w.shown, "secret") {
		t.Errorf("%+v, %v", w, err)
	}
}
