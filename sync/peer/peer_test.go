package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// A member can read and bring everything that the relay's protocol has for it.
func TestMember(t *testing.T) {
	h := serve(t)
	at := h.as(t, phone)
	if log, err := at.Log(t.Context(), 0); err != nil || len(log) != 2 {
		t.Fatalf("%d entries, %v", len(log), err)
	}
	if _, err := at.Log(t.Context(), 3); !errors.Is(err, replica.ErrAhead) {
		t.Error(err)
	}
	d := h.delta(t, phone, "hello")
	for range 2 { // a repetition changes nothing
		if err := at.Append(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	page, err := at.Deltas(t.Context(), 0)
	if err != nil || len(page) != 1 || !bytes.Equal(page[0].Delta, d.Bytes()) {
		t.Fatalf("%+v, %v", page, err)
	}
	if err := at.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
	other := h.delta(t, phone, "another")
	if err := at.Append(t.Context(), other); !errors.Is(err, replica.ErrFork) {
		t.Error(err)
	}
	id, err := h.Upload(t.Context(), bytes.NewReader([]byte("a photo, sealed")))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "blob"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := at.Download(t.Context(), id, f, 100); err != nil {
		t.Error(err)
	}
	if err := at.Download(t.Context(), envelope.Hash{1}, f, 100); !errors.Is(err, replica.ErrNotFound) {
		t.Error(err)
	}
	if err := at.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: d.Header.Position()}}); err != nil {
		t.Fatal(err)
	}
	if page, err = at.Deltas(t.Context(), 0); err != nil || bytes.Contains(page[0].Delta, []byte("hello")) {
		t.Errorf("%v, %v", page, err)
	}
}

// A stranger gets nothing, a reader can bring nothing, and nobody can forget for another; there is
// no route for things that a peer doesn't do.
func TestRefused(t *testing.T) {
	h := serve(t)
	for name, at := range map[string]replica.Remote{"a stranger": h.as(t, stranger), "a stranger under a member's name": h.as(t, actor{phone.id, stranger.key})} {
		if log, err := at.Log(t.Context(), 0); err == nil {
			t.Errorf("%s reads %d entries", name, len(log))
		}
		if err := at.Append(t.Context(), h.delta(t, phone, "hello")); err == nil {
			t.Errorf("%s sends", name)
		}
	}
	at := h.as(t, reader)
	if err := at.Append(t.Context(), h.delta(t, phone, "hello")); !errors.Is(err, replica.ErrForbidden) {
		t.Error(err)
	}
	if err := at.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: envelope.Position{Incarnation: 1, Seq: 1}}}); !errors.Is(err, replica.ErrForbidden) {
		t.Error(err)
	}
	if _, err := h.as(t, phone).Upload(t.Context(), bytes.NewReader([]byte("x"))); err == nil {
		t.Error("a peer takes blobs")
	}
	for _, path := range []string{"/", "/v1/account", "/v1/spaces/" + spaceID.String() + "/log", "/v1/peer/0011"} {
		res, err := http.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode < 400 || strings.Contains(string(b), phone.id.String()) {
			t.Errorf("%s: %d %s", path, res.StatusCode, b)
		}
	}
}

// behindTLS serves the store as devices see it, and returns the address.
func (h *served) behindTLS(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: h.server.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan error, 1)
	go func() { done <- web.Serve(tls.NewListener(ln, h.server.TLS())) }()
	t.Cleanup(func() {
		web.Close()
		<-done
	})
	return ln.Addr().String()
}

// between forwards bytes from one address to another.
func between(t *testing.T, to string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				in.Close()
				continue
			}
			for _, c := range [][2]net.Conn{{in, out}, {out, in}} {
				passing.Go(func() {
					_, _ = io.Copy(c[0], c[1])
					c[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		ln.Close()
		passing.Wait()
	})
	return ln.Addr().String()
}

// Somebody who has the key learns which member is at an address; others learn nothing, and a member
// is not mistaken for one at another address.
func TestAskForMember(t *testing.T) {
	h := serve(t)
	address := h.behindTLS(t)
	if id, err := Ask(t.Context(), address, []byte("an older key"), ours); err != nil || id != phone.id {
		t.Errorf("%s, %v", id, err)
	}
	if id, err := Ask(t.Context(), address, []byte("another wearer's key")); !errors.Is(err, ErrStranger) {
		t.Errorf("%s, %v", id, err)
	}
	if id, err := Ask(t.Context(), address); !errors.Is(err, ErrStranger) {
		t.Errorf("by who has no key: %s, %v", id, err)
	}
	if id, err := Ask(t.Context(), between(t, address), ours); !errors.Is(err, ErrStranger) {
		t.Errorf("by somebody between: %s, %v", id, err)
	}
	if _, err := Ask(t.Context(), strings.TrimPrefix(h.url, "http://"), ours); !errors.Is(err, ErrOlder) {
		t.Errorf("of an older version: %v", err)
	}
	h.server.Key = func() []byte { return nil }
	if id, err := Ask(t.Context(), address, ours); err == nil {
		t.Errorf("without a key: %s", id)
	}
}

// Nothing in the certificates of two connections shows that it is one device, or whose.
func TestCertificatesAreUnlinkable(t *testing.T) {
	h := serve(t)
	address := h.behindTLS(t)
	var shown [2]*x509.Certificate
	for i := range shown {
		conn, _, err := dial(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		shown[i] = conn.ConnectionState().PeerCertificates[0]
		conn.Close()
	}
	a, b := shown[0], shown[1]
	if bytes.Equal(a.RawSubjectPublicKeyInfo, b.RawSubjectPublicKeyInfo) || bytes.Equal(a.SubjectKeyId[:maskSize], b.SubjectKeyId[:maskSize]) ||
		bytes.Equal(a.SubjectKeyId[maskSize:], b.SubjectKeyId[maskSize:]) || bytes.Equal(a.Signature, b.Signature) {
		t.Errorf("two connections:\n%x\n%x", a.Raw, b.Raw)
	}
	other, err := certificate([]byte("another wearer's key"), address, reader.id)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := x509.ParseCertificate(other.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*x509.Certificate{a, theirs} { // the rest says nothing about anybody
		if c.Subject.String()+c.Issuer.String() != "" || c.SerialNumber.Int64() != 1 || c.NotBefore.Unix() != 0 || c.NotAfter.Year() != 9999 || len(c.Extensions) != 1 {
			t.Errorf("%+v", c)
		}
	}
}

// Devices speak only with members.
func TestClientAcceptsOnlyMembers(t *testing.T) {
	h := serve(t)
	address := h.behindTLS(t)
	log := func(url string, keys ...[]byte) (int, error) {
		c := Client(func() [][]byte { return keys })
		defer c.CloseIdleConnections()
		r, err := remote.New(url, remote.Option{HTTP: c})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		entries, err := upstream.New(r.Space(spaceID, phone.id, httpsig.KeySigner(phone.key)), "").Log(t.Context(), 0)
		return len(entries), err
	}
	if n, err := log("https://"+address, ours); err != nil || n != 2 {
		t.Errorf("%d entries, %v", n, err)
	}
	for what, keys := range map[string][][]byte{"another wearer's key": {[]byte("another wearer's key")}, "no key": nil} {
		if _, err := log("https://"+address, keys...); !errors.Is(err, ErrStranger) {
			t.Errorf("with %s: %v", what, err)
		}
	}
	if _, err := log("https://"+between(t, address), ours); !errors.Is(err, ErrStranger) {
		t.Errorf("by somebody between: %v", err)
	}
}

// A mailbox returns each message, once it is there, to either side, for a limited time.
func TestMailboxes(t *testing.T) {
	h := serve(t)
	r, err := remote.New(h.url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	boxes, id := h.server.Boxes(), [16]byte{7}
	got := make(chan []byte, 1)
	go func() {
		m, err := r.Message(t.Context(), id, 0, 30*time.Second)
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	if err := boxes.Post(t.Context(), id, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; string(m) != "hello" {
		t.Errorf("%q", m)
	}
	if n, err := r.Post(t.Context(), id, []byte("hello to you")); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if m, err := boxes.Message(t.Context(), id, 1); err != nil || string(m) != "hello to you" {
		t.Errorf("%q, %v", m, err)
	}
	for range maxMessages - 2 {
		if _, err := r.Post(t.Context(), id, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	var refused *remote.Error
	if _, err := r.Post(t.Context(), id, []byte("x")); !errors.As(err, &refused) || refused.Kind != page.TooLarge {
		t.Errorf("a full mailbox: %v", err)
	}
	if _, err := r.Message(t.Context(), id, maxMessages, 0); !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("after the last message that may be: %v", err)
	}
	for n := range maxBoxes + 1 { // besides the mailbox of its own side
		_, err = r.Post(t.Context(), [16]byte{8, byte(n)}, []byte("x"))
	}
	if !errors.As(err, &refused) || refused.Kind != page.Busy || refused.RetryAfter <= 0 {
		t.Errorf("one mailbox too many: %v", err)
	}
	for path, want := range map[string]string{
		"AB000000000000000000000000000000": "malformed", "00": "malformed", "ab000000000000000000000000000000?wait=56": "malformed",
		"ab000000000000000000000000000000?after=x": "malformed",
	} {
		res, err := http.Get(h.url + "/v1/mailboxes/" + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get(page.FieldProblem); got != want || res.StatusCode != 400 {
			t.Errorf("%s: %s %q", path, res.Status, got)
		}
	}
	boxes.now = func() time.Time { return time.Now().Add(boxLife + time.Minute) }
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if m, err := boxes.Message(ctx, id, 0); err == nil {
		t.Errorf("after its time: %q", m)
	}
}

// A new device may read the log before the device that let it in begins to wait for that.
func TestReadBeforeAnybodyWaits(t *testing.T) {
	for _, waits := range []bool{false, true} {
		h := serve(t)
		at := h.as(t, phone)
		if _, err := at.Log(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if waits {
			select {
			case <-h.server.Read(phone.id):
				t.Error("read before its end")
			default:
			}
		}
		if log, err := at.Log(t.Context(), 2); err != nil || len(log) != 0 {
			t.Fatalf("%d entries, %v", len(log), err)
		}
		select {
		case <-h.server.Read(phone.id):
		case <-time.After(10 * time.Second):
			t.Errorf("waits %v: not known to have read the log", waits)
		}
	}
}
