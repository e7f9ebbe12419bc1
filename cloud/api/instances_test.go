package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/natswake"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

var cluster pgtest.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// database creates a database with the tables.
func database(t *testing.T, c *pgtest.Cluster) string {
	t.Helper()
	url := c.Database(t)
	m, err := postgres.Migrate(url)
	if err == nil {
		_, err = m.Up(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return url
}

// instance is one of several relays on a database. Its streams do not poll.
func instance(t *testing.T, url, dir string, change func(*api.Config)) *service {
	t.Helper()
	return woken(t, url, dir, nil, change)
}

// woken is an instance with its own wake-ups; nil: those of the database.
func woken(t *testing.T, url, dir string, wakes func(*slog.Logger) relay.Wakes, change func(*api.Config)) *service {
	t.Helper()
	blobs, err := objects.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, url, blobs, wakes, change)
}

// over is like woken, with blobs in the given object store instead of a folder.
func over(t *testing.T, url string, blobs objects.Objects, wakes func(*slog.Logger) relay.Wakes, change func(*api.Config)) *service {
	t.Helper()
	s := &service{t: t, logs: new(logbook.Book)}
	store, err := postgres.Open(t.Context(), url, blobs)
	s.ok(err)
	log := slog.New(slog.NewJSONHandler(s.logs, nil))
	if wakes == nil {
		wakes = func(log *slog.Logger) relay.Wakes { return store.Wakes(log) }
	}
	s.relay = relay.New(store, relay.Config{Wakes: wakes(log)})
	config := api.Config{Relay: s.relay, Log: log, StrangersPerMinute: 1000, Drain: 5 * time.Second, Heartbeat: time.Hour}
	if change != nil {
		change(&config)
	}
	s.api = api.New(config)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	s.ok(err)
	s.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended, ran := make(chan error, 1), make(chan error, 1)
	go func() { ended <- s.api.Serve(ctx, ln) }()
	go func() { ran <- s.relay.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for _, err := range []error{<-ended, <-ran, store.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// Two relays on one database act as one: what comes to one wakes listeners at the other, and blobs,
// logs, mailboxes and deletions are the same at both.
func TestTwoInstances(t *testing.T) {
	url, dir := database(t, &cluster), t.TempDir()
	areOne(t, instance(t, url, dir, nil), instance(t, url, dir, nil))
}

// The same with wake-ups through a NATS server.
func TestTwoInstancesByNATS(t *testing.T) {
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	url, dir := database(t, &cluster), t.TempDir()
	wakes := func(log *slog.Logger) relay.Wakes {
		w, err := natswake.New(s.ClientURL(), log)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Run("one", func(t *testing.T) { // so that both relays end before the NATS server does
		a, b := woken(t, url, dir, wakes, nil), woken(t, url, dir, wakes, nil)
		areOne(t, a, b)
		if v, err := s.Varz(nil); err != nil || v.InMsgs == 0 || v.OutMsgs == 0 {
			t.Errorf("no wake-up went by the server: %+v, %v", v, err)
		}
	})
}

func areOne(t *testing.T, a, b *service) {
	h := a.settle("two")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	heads, ended := make(chan page.Head, 10), make(chan error, 1)
	reader := b.as(h, h.Reader)
	go func() { ended <- reader.Wake(ctx, func(p page.Head) error { heads <- p; return nil }) }()
	if got := <-heads; got != (page.Head{Log: 3}) {
		t.Fatalf("%+v", got)
	}
	sent := a.send(h, h.Owner, "from one to the other")
	select {
	case got := <-heads:
		if got != (page.Head{Cursor: 1, Log: 3}) {
			t.Fatalf("%+v", got)
		}
	case <-ctx.Done():
		t.Fatal("not woken: ", a.logs.String(), b.logs.String())
	}
	ds, _, err := b.as(h, h.Reader).Pull(ctx, 0, 9, 0)
	b.ok(err)
	if len(ds) != 1 || !bytes.Equal(ds[0].Bytes(), sent[0].Bytes()) {
		t.Fatal("another delta")
	}
	id, err := a.as(h, h.Owner).PutBlob(ctx, bytes.NewReader(make([]byte, 3<<20)))
	a.ok(err)
	if n, err := b.as(h, h.Reader).GetBlob(ctx, id, file(t), 4<<20); err != nil || n != 3<<20 {
		t.Fatal(n, err)
	}
	// A mailbox is polled at one relay and filled at the other.
	box := remote.MailboxID{7}
	got := make(chan []byte, 1)
	go func() {
		m, err := b.client().Message(ctx, box, 0, 50*time.Second)
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	for b.relay.Mail().Listening() == 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	_, err = a.client().Post(ctx, box, []byte("hello"))
	a.ok(err)
	if m := <-got; string(m) != "hello" {
		t.Fatalf("%q", m)
	}
	// A member who is removed at one relay is gone at the other, and so is what is deleted.
	a.ok(a.as(h, h.Owner).AppendLog(ctx, h.Remove(h.Owner, h.Reader), ""))
	b.is(<-ended, remote.ErrForbidden)
	_, _, err = b.as(h, h.Reader).Pull(ctx, 0, 1, 0)
	b.is(err, remote.ErrForbidden)
	a.ok(a.root(h).Delete(ctx))
	_, _, err = b.as(h, h.Owner).Pull(ctx, 0, 1, 0)
	b.is(err, remote.ErrForbidden)
}

// A request that one relay has taken is refused by another on the same database if repeating it
// could bring back what has been deleted since. A request without effect the second time is
// answered as before.
func TestReplayAtAnotherInstance(t *testing.T) {
	url, dir := database(t, &cluster), t.TempDir()
	a, b := instance(t, url, dir, nil), instance(t, url, dir, nil)
	h := a.settle("replayed")
	blob := []byte("deleted since")
	id := relay.BlobID(sha256.Sum256(blob))
	request := func(h *storetest.Household, method, path string, change func(*raw)) *raw {
		r := a.owner(h, method, path)
		r.host = "localhost" // valid for both
		if change != nil {
			change(r)
		}
		return r
	}
	taken := func(r *raw, status int) {
		t.Helper()
		if res, _, kind := r.do(t, a.addr); res.StatusCode != status {
			t.Fatal(res.Status, kind)
		}
	}
	replayed := func(r *raw) {
		t.Helper()
		for _, s := range []*service{b, a} {
			if res, _, kind := r.do(t, s.addr); res.StatusCode != 401 || kind != page.Replayed {
				t.Fatal(res.Status, kind)
			}
		}
	}
	put := request(h, "PUT", "/blobs/"+id.String(), chunk(blob, fmt.Sprintf("bytes 0-%d/%d", len(blob)-1, len(blob))))
	taken(put, 201)
	removal := request(h, "DELETE", "/blobs/"+id.String(), nil)
	taken(removal, 204)
	replayed(put)
	if res, _, _ := request(h, "HEAD", "/blobs/"+id.String(), nil).do(t, b.addr); res.StatusCode != 404 {
		t.Fatal("the blob is back: ", res.Status)
	}
	_, err := a.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(blob)) // with a new request it may come
	a.ok(err)
	replayed(removal)
	if res, _, _ := request(h, "HEAD", "/blobs/"+id.String(), nil).do(t, b.addr); res.StatusCode != 200 {
		t.Fatal("the blob is gone again: ", res.Status)
	}
	// Sending an append twice appends once.
	d := request(h, "POST", "/deltas", body(page.EncodeItems([][]byte{h.Delta(h.Owner, "once").Bytes()})))
	taken(d, 200)
	if res, _, kind := d.do(t, b.addr); res.StatusCode != 200 {
		t.Fatal(res.Status, kind)
	}
	if ds, _, err := b.as(h, h.Reader).Pull(t.Context(), 0, 9, 0); err != nil || len(ds) != 1 {
		t.Fatal(len(ds), err)
	}
	// Somebody who has recorded the founding of a deleted space can't found it again.
	n := storetest.NewHousehold(t, "founded once")
	founding := request(n, "POST", "/log", body(n.Entries[0].Bytes()))
	taken(founding, 204)
	a.ok(a.root(n).Delete(t.Context()))
	replayed(founding)
}
