package peer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/replica"
)

// signed is a request with a signature, which is sent unchanged.
type signed struct {
	method, url string
	header      http.Header
}

// sign signs a request whose body has a digest.
func (h *served) sign(t *testing.T, by actor, method, path string, body []byte) signed {
	t.Helper()
	s := signed{method, h.url + "/v1/spaces/" + spaceID.String() + path, http.Header{}}
	req, err := http.NewRequest(method, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	covers := []string{"@method", "@authority", "@path", "@query"}
	if body != nil {
		s.header.Set("Content-Digest", httpsig.Digest(body))
		covers = append(covers, "content-digest")
	}
	m := httpsig.Message{Method: method, Authority: req.URL.Host, Path: req.URL.EscapedPath(), Query: req.URL.RawQuery, Field: func(name string) []string { return s.header.Values(name) }}
	input, signature, err := httpsig.Sign(m, httpsig.KeySigner(by.key), httpsig.Params{Components: covers, KeyID: spaceID.String() + "/" + by.id.String(),
		Alg: httpsig.Algorithm, Created: time.Now(), Nonce: httpsig.NewNonce()})
	if err != nil {
		t.Fatal(err)
	}
	s.header.Set("Signature-Input", input)
	s.header.Set("Signature", signature)
	return s
}

// send returns the kind of problem in the answer, or "" if there is none.
func (s signed) send(t *testing.T, body []byte) string {
	t.Helper()
	req, err := http.NewRequest(s.method, s.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = s.header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode < 300 {
		return ""
	}
	return res.Header.Get(page.FieldProblem)
}

// Somebody who overhears a request can't send it a second time.
func TestReplayedRequestIsRefused(t *testing.T) {
	h := serve(t)
	s := h.sign(t, phone, "GET", "/log", nil)
	if first, again := s.send(t, nil), s.send(t, nil); first != "" || again != string(page.Replayed) {
		t.Errorf("first %q, then %q", first, again)
	}
}

// Nor can a man in the middle send another body in a member's name.
func TestChangedBodyIsRefused(t *testing.T) {
	h := serve(t)
	meant, other := page.EncodeItems([][]byte{h.delta(t, phone, "hello").Bytes()}), page.EncodeItems([][]byte{h.delta(t, phone, "HELLO").Bytes()})
	if kind := h.sign(t, phone, "POST", "/deltas", meant).send(t, other); kind != string(page.BadBody) {
		t.Errorf("another body: %q", kind)
	}
	if ds, err := h.Deltas(t.Context(), 0); err != nil || len(ds) != 0 {
		t.Errorf("%d deltas were taken, %v", len(ds), err)
	}
	if kind := h.sign(t, phone, "POST", "/deltas", meant).send(t, meant); kind != "" {
		t.Errorf("its own body: %q", kind)
	}
}

// Only an owner may bring an entry of the log, whoever signed it.
func TestOnlyOwnersBringLogEntries(t *testing.T) {
	h := serve(t)
	e := &envelope.Entry{Version: envelope.Version, Space: spaceID, N: h.state.N() + 1, Prev: h.state.Head(), Author: phone.id, At: 1_790_000_001, Epoch: 1,
		Action: envelope.Add, Member: stranger.member(envelope.Reader), Wraps: []envelope.Wrap{{To: stranger.id, Keys: []byte("keys")}}}
	if err := e.Sign(envelope.KeySigner(phone.key)); err != nil {
		t.Fatal(err)
	}
	if err := h.as(t, reader).AppendLog(t.Context(), e); !errors.Is(err, replica.ErrForbidden) {
		t.Errorf("a reader brings an entry: %v", err)
	}
	if n, _ := h.Position(); n != 2 {
		t.Errorf("the log has %d entries", n)
	}
	if err := h.as(t, phone).AppendLog(t.Context(), e); err != nil {
		t.Errorf("an owner brings it: %v", err)
	}
}

// A request that a member made for another device, or for a relay, is refused from somebody who
// forwards it.
func TestThreatRequestPassedOnInTheNetwork(t *testing.T) {
	h := serve(t)
	here := h.url
	h.url = "http://127.0.0.1:9"
	s := h.sign(t, phone, "GET", "/log", nil)
	req, err := http.NewRequest(s.method, strings.Replace(s.url, h.url, here, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Header = "127.0.0.1:9", s.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if kind := res.Header.Get(page.FieldProblem); kind != string(page.Forged) {
		t.Errorf("%s %q", res.Status, kind)
	}
}

// If a member's bodies stall, or it does not read, only a limited number of its requests are
// answered at a time, and other members are served.
func TestThreatMemberHoldsThePeer(t *testing.T) {
	h := serve(t)
	var held []net.Conn
	for range mostBusy {
		body := []byte("which never comes")
		s := h.sign(t, phone, "POST", "/deltas", body)
		c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		req, err := http.NewRequest(s.method, s.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := "POST " + req.URL.Path + " HTTP/1.1\r\nHost: " + req.URL.Host + "\r\nExpect: 100-continue\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
		for k, v := range s.header {
			text += k + ": " + v[0] + "\r\n"
		}
		if _, err := io.WriteString(c, text+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, " 100 ") { // the server waits for the body
			t.Fatalf("%q, %v", line, err)
		}
		held = append(held, c)
	}
	if got := h.sign(t, phone, "GET", "/log", nil).send(t, nil); got != string(page.Busy) {
		t.Errorf("one more: %q", got)
	}
	if got := h.sign(t, reader, "GET", "/log", nil).send(t, nil); got != "" {
		t.Errorf("another member: %q", got)
	}
	held[0].Close()
	for h.sign(t, phone, "GET", "/log", nil).send(t, nil) == string(page.Busy) {
		if t.Context().Err() != nil {
			t.Fatal("the peer is still busy after a connection was closed")
		}
	}
}
