package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

func TestClientRoundTrip(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("there")
	ctx := t.Context()
	s.ok(s.as(h, h.Owner).AppendLog(ctx, h.Entries[0], "")) // repeating it is no error
	s.ok(s.as(h, h.Owner).AppendLog(ctx, h.Entries[2], ""))

	sent := s.send(h, h.Owner, "one", "two")
	sent = append(sent, s.send(h, h.Writer, "three")...)
	if again, err := s.as(h, h.Writer).Append(ctx, sent[2:]); err != nil || again[0] != 3 {
		t.Fatal("sent again: ", again, err)
	}
	for _, who := range []*storetest.Person{h.Owner, h.Writer, h.Reader, h.Root} {
		var got []*envelope.Delta
		for cursor := uint64(0); ; {
			ds, next, err := s.as(h, who).Pull(ctx, cursor, 2, 0)
			s.ok(err)
			if len(ds) == 0 {
				break
			}
			got, cursor = append(got, ds...), next
		}
		if len(got) != len(sent) {
			t.Fatalf("%d deltas of %d", len(got), len(sent))
		}
		for i := range got {
			if !bytes.Equal(got[i].Bytes(), sent[i].Bytes()) {
				t.Fatalf("delta %d differs", i)
			}
		}
		entries, err := s.as(h, who).Log(ctx, 0)
		s.ok(err)
		state, err := envelope.VerifyLog(entries)
		s.ok(err)
		if state.Head() != h.State.Head() {
			t.Fatal("another log")
		}
	}
	a, err := s.root(h).Account(ctx)
	s.ok(err)
	if len(a.Spaces) != 1 || a.Spaces[0] != h.Space || a.Deltas != 3 || a.Bytes == 0 {
		t.Fatalf("%+v", a)
	}
	n, err := s.as(h, h.Writer).Forget(ctx, []remote.Ref{{Member: h.Writer.ID, Position: sent[2].Header.Position()}})
	s.ok(err)
	ds, _, err := s.as(h, h.Reader).Pull(ctx, 2, 1, 0)
	s.ok(err)
	if n != 1 || ds[0].Body != nil || ds[0].Header != sent[2].Header {
		t.Fatal("not forgotten")
	}
	_, _, err = s.as(h, h.Reader).Pull(ctx, 4, 1, 0)
	s.is(err, remote.ErrAhead)

	s.is(s.as(h, h.Owner).Delete(ctx), remote.ErrForbidden)
	s.ok(s.root(h).Space(h.Space).Delete(ctx))
	_, _, err = s.as(h, h.Owner).Pull(ctx, 0, 1, 0)
	s.is(err, remote.ErrForbidden)
	s.ok(s.root(h).Delete(ctx))
	_, err = s.root(h).Account(ctx)
	s.is(err, remote.ErrForbidden)
}

func TestAppendMoreThanOneCallHolds(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("many")
	var ds []*envelope.Delta
	for range page.MaxDeltas + 10 {
		ds = append(ds, h.Delta(h.Owner, strings.Repeat("x", 200)))
	}
	for range 9 { // more than one request could carry
		ds = append(ds, h.Delta(h.Owner, strings.Repeat("y", envelope.MaxBody)))
	}
	cursors, err := s.as(h, h.Owner).Append(t.Context(), ds)
	s.ok(err)
	if len(cursors) != len(ds) || cursors[len(ds)-1] != uint64(len(ds)) {
		t.Fatal(len(cursors), cursors[len(cursors)-1])
	}
	count, cursor := 0, uint64(0)
	for {
		got, next, err := s.as(h, h.Reader).Pull(t.Context(), cursor, 1000, 0)
		s.ok(err)
		if len(got) == 0 {
			break
		}
		for _, d := range got {
			if !bytes.Equal(d.Bytes(), ds[count].Bytes()) {
				t.Fatalf("delta %d differs", count)
			}
			count++
		}
		cursor = next
	}
	if count != len(ds) {
		t.Fatal(count)
	}
}

func TestQuota(t *testing.T) {
	s := serve(t, relay.Config{Quota: relay.Quota{DeltasPerDay: 2, Bytes: 1 << 20, PerMinute: 100}}, nil)
	h := s.settle("quota")
	ctx := t.Context()
	s.send(h, h.Owner, "one", "two")
	_, err := s.as(h, h.Owner).Append(ctx, []*envelope.Delta{h.Delta(h.Owner, "three")})
	s.is(err, remote.ErrQuota)
	var e *remote.Error
	if !errors.As(err, &e) || e.What != "deltas a day" || e.Limit != 2 || e.RetryAfter <= 0 || e.RetryAfter > 24*time.Hour {
		t.Fatalf("%+v", e)
	}
	_, err = s.as(h, h.Owner).PutBlob(ctx, bytes.NewReader(make([]byte, 2<<20)))
	s.is(err, remote.ErrQuota)
	if !errors.As(err, &e) || e.What != "bytes" {
		t.Fatalf("%+v", e)
	}
	for range 100 {
		if _, _, err = s.as(h, h.Owner).Pull(ctx, 0, 1, 0); err != nil {
			break
		}
	}
	s.is(err, remote.ErrQuota)
	if !errors.As(err, &e) || e.What != "requests a minute" || e.Status != 429 || e.RetryAfter <= 0 {
		t.Fatalf("%+v", e)
	}
}

func TestInvitation(t *testing.T) {
	s := serve(t, relay.Config{Invite: true}, nil)
	h := storetest.NewHousehold(t, "invited")
	ctx := t.Context()
	s.is(s.as(h, h.Owner).AppendLog(ctx, h.Entries[0], ""), remote.ErrInvite)
	s.is(s.as(h, h.Owner).AppendLog(ctx, h.Entries[0], "guess"), remote.ErrInvite)
	s.ok(s.store.AddInvite(ctx, relay.InviteHash("code")))
	s.ok(s.as(h, h.Root).AppendLog(ctx, h.Entries[0], "code"))
	other := storetest.NewHousehold(t, "uninvited")
	s.is(s.as(other, other.Owner).AppendLog(ctx, other.Entries[0], "code"), remote.ErrInvite)
}

func TestWake(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Heartbeat = 10 * time.Millisecond })
	h := s.settle("wake")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	heads := make(chan page.Head, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- s.as(h, h.Writer).Wake(ctx, func(p page.Head) error { heads <- p; return nil })
	}()
	if got := <-heads; got != (page.Head{Cursor: 0, Log: 3}) {
		t.Fatalf("%+v", got)
	}
	s.send(h, h.Owner, "something")
	if got := <-heads; got != (page.Head{Cursor: 1, Log: 3}) {
		t.Fatalf("%+v", got)
	}
	// A removed member is told, and gets nothing more.
	s.ok(s.as(h, h.Owner).AppendLog(ctx, h.Remove(h.Owner, h.Writer), ""))
	s.is(<-ended, remote.ErrForbidden)

	// A waiting poll returns on an append, and not when its time is over.
	type pulled struct {
		ds  []*envelope.Delta
		err error
	}
	got := make(chan pulled, 1)
	go func() {
		ds, _, err := s.as(h, h.Reader).Pull(ctx, 1, 10, 55*time.Second)
		got <- pulled{ds, err}
	}()
	for s.relay.Hub().Listening() == 0 {
		if runtime.Gosched(); ctx.Err() != nil {
			t.Fatal("nobody waits")
		}
	}
	sent := s.send(h, h.Owner, "awaited")
	if p := <-got; p.err != nil || len(p.ds) != 1 || p.ds[0].Header != sent[0].Header {
		t.Fatalf("%+v", p)
	}
	if ds, next, err := s.as(h, h.Reader).Pull(ctx, 2, 10, time.Second); err != nil || len(ds) != 0 || next != 2 {
		t.Fatal(ds, next, err)
	}
}

// When the relay stops, waiting requests end, and running ones complete.
func TestDrain(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("drain")
	ctx := t.Context()
	polled, woken := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := s.as(h, h.Reader).Pull(ctx, 0, 1, 55*time.Second)
		polled <- err
	}()
	heads := make(chan page.Head, 1)
	reader := s.as(h, h.Reader)
	go func() { woken <- reader.Wake(ctx, func(p page.Head) error { heads <- p; return nil }) }()
	<-heads
	for s.relay.Hub().Listening() < 2 && ctx.Err() == nil {
		runtime.Gosched()
	}
	s.ok(s.stop())
	s.ok(<-polled)
	s.is(<-woken, remote.ErrFailed)
	if _, _, err := s.as(h, h.Reader).Pull(ctx, 0, 1, 0); err == nil {
		t.Fatal("the relay still serves after it was drained")
	}
}

// A device whose clock is a day off signs with the relay's time.
func TestDeviceClockADayOff(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("clock")
	r, err := remote.New("http://"+s.addr, remote.Option{Now: func() time.Time { return time.Now().Add(-24 * time.Hour) }})
	s.ok(err)
	defer r.Close()
	as := r.Space(h.Space, h.Owner.ID, httpsig.KeySigner(h.Owner.Key))
	_, _, err = as.HasBlob(t.Context(), remote.BlobID{}) // a HEAD request, whose answer has no body for an explanation
	s.is(err, remote.ErrNotFound)
	for range 2 {
		_, _, err = as.Pull(t.Context(), 0, 1, 0)
		s.ok(err)
	}
	if n := strings.Count(s.logs.String(), `"status":401`); n != 1 {
		t.Fatalf("refused %d times", n)
	}
}

// Over TLS everything works the same.
func TestTLS(t *testing.T) {
	lent := httptest.NewTLSServer(nil) // it provides a certificate, and a client that trusts it
	defer lent.Close()
	s := serve(t, relay.Config{}, func(c *api.Config) { c.TLS = &tls.Config{Certificates: lent.TLS.Certificates} })
	h := storetest.NewHousehold(t, "tls")
	r, err := remote.New("https://"+s.addr, remote.Option{HTTP: lent.Client()})
	s.ok(err)
	as := r.Space(h.Space, h.Owner.ID, httpsig.KeySigner(h.Owner.Key))
	s.ok(as.AppendLog(t.Context(), h.Entries[0], ""))
	_, err = as.PutBlob(t.Context(), bytes.NewReader(make([]byte, 3<<20)))
	s.ok(err)
	heads, ended := make(chan page.Head, 1), make(chan error, 1)
	go func() { ended <- as.Wake(t.Context(), func(p page.Head) error { heads <- p; return nil }) }()
	<-heads
	s.ok(s.stop())
	if err := <-ended; err == nil {
		t.Fatal("the stream goes on")
	}
}

// metrics returns the server's metrics, as Prometheus reads them.
func (s *service) metrics() string {
	told := httptest.NewRecorder()
	promhttp.HandlerFor(s.api.Metrics(), promhttp.HandlerOpts{}).ServeHTTP(told, httptest.NewRequest("GET", "/metrics", nil))
	return told.Body.String()
}

// The log and the counters contain routes and sizes, and nothing about anybody.
func TestLogsAndMetricsHaveNoContent(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("quiet")
	s.send(h, h.Owner, "something private")
	_, err := s.client().Post(t.Context(), remote.MailboxID{0xab, 0xcd}, []byte("private"))
	s.ok(err)
	metrics := s.metrics()
	if !strings.Contains(metrics, `locket_relay_requests_total{method="POST",route="/v1/spaces/:space/deltas",status="200"} 1`) {
		t.Fatal(metrics)
	}
	for _, text := range []string{s.logs.String(), metrics} {
		for _, private := range []string{h.Space.String(), h.Owner.ID.String(), "private", "abcd", "127.0.0.1", "keyid"} {
			if strings.Contains(text, private) {
				t.Errorf("%q is in %s", private, text)
			}
		}
	}
	if !strings.Contains(s.logs.String(), `"route":"/v1/spaces/:space/deltas","status":200`) {
		t.Error(s.logs.String())
	}
}
