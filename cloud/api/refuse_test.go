package api_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// raw is a correctly signed request, unless a test spoils it.
type raw struct {
	method, path, query string
	host                string
	body                []byte
	field               map[string]string
	key                 ed25519.PrivateKey
	p                   httpsig.Params
	spoil               func(http.Header) // called after signing
	unsigned            bool
	chunked             bool
	exact               bool // sign exactly the components that are listed
}

// owner makes a request of the household's owner.
func (s *service) owner(h *storetest.Household, method, path string) *raw {
	return &raw{method: method, path: "/v1/spaces/" + h.Space.String() + path, host: s.addr, key: h.Owner.Key, field: map[string]string{},
		p: httpsig.Params{KeyID: h.Space.String() + "/" + h.Owner.ID.String(), Created: time.Now(), Nonce: httpsig.NewNonce(), Alg: httpsig.Algorithm,
			Components: []string{"@method", "@authority", "@path", "@query"}}}
}

func (r *raw) request(t *testing.T, addr string) *http.Request {
	t.Helper()
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
		if r.chunked {
			body = io.MultiReader(body)
		}
	}
	req, err := http.NewRequest(r.method, "http://"+addr, body)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque, req.URL.RawQuery, req.Host = r.path, r.query, r.host
	for k, v := range r.field {
		req.Header.Set(k, v)
	}
	if r.body != nil && req.Header.Get("Content-Digest") == "" {
		req.Header.Set("Content-Digest", httpsig.Digest(r.body))
	}
	p := r.p
	for _, f := range []string{"content-digest", "content-range", "range"} {
		if req.Header.Get(f) != "" && !r.exact {
			p.Components = append(p.Components[:len(p.Components):len(p.Components)], f)
		}
	}
	if !r.unsigned {
		m := httpsig.Message{Method: r.method, Authority: r.host, Path: r.path, Query: r.query, Field: req.Header.Values}
		input, sig, err := httpsig.Sign(m, httpsig.KeySigner(r.key), p)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Signature-Input", input)
		req.Header.Set("Signature", sig)
	}
	if r.spoil != nil {
		r.spoil(req.Header)
	}
	return req
}

func (r *raw) do(t *testing.T, addr string) (*http.Response, page.Problem, page.Kind) {
	t.Helper()
	return answer(t, r.request(t, addr))
}

func answer(t *testing.T, req *http.Request) (*http.Response, page.Problem, page.Kind) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	p, kind := page.ParseProblem(b)
	if res.StatusCode >= 400 && req.Method != "HEAD" && (res.Header.Get("Content-Type") != page.Trouble || p.Status != res.StatusCode) {
		t.Errorf("%d without a problem: %s %q", res.StatusCode, res.Header.Get("Content-Type"), b)
	}
	return res, p, kind
}

func TestSignatureIsNeeded(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h, other := s.settle("signed"), s.settle("other")
	delta := page.EncodeItems([][]byte{h.Delta(h.Owner, "text").Bytes()})
	for name, c := range map[string]struct {
		change func(*raw)
		kind   page.Kind
		status int
	}{
		"none":            {func(r *raw) { r.unsigned = true }, page.Unsigned, 401},
		"old":             {func(r *raw) { r.p.Created = time.Now().Add(-6 * time.Minute) }, page.Stale, 401},
		"ahead":           {func(r *raw) { r.p.Created = time.Now().Add(6 * time.Minute) }, page.Stale, 401},
		"no time":         {func(r *raw) { r.p.Created = time.Time{} }, page.Malformed, 400},
		"no nonce":        {func(r *raw) { r.p.Nonce = "" }, page.Malformed, 400},
		"no key id":       {func(r *raw) { r.p.KeyID = "" }, page.Malformed, 400},
		"odd key id":      {func(r *raw) { r.p.KeyID = "../../etc" }, page.Malformed, 400},
		"odd root":        {func(r *raw) { r.p.KeyID = "root/zz" }, page.Malformed, 400},
		"long root":       {func(r *raw) { r.p.KeyID = "root/" + strings.Repeat("00", 33) }, page.Malformed, 400},
		"other algorithm": {func(r *raw) { r.p.Alg = "hmac-sha256" }, page.Malformed, 400},
		"another's key":   {func(r *raw) { r.key = other.Owner.Key }, page.Forged, 401},
		"unknown member":  {func(r *raw) { r.p.KeyID = h.Space.String() + "/" + other.Owner.ID.String() }, page.Forbidden, 403},
		"another space": {func(r *raw) {
			r.p.KeyID = other.Space.String() + "/" + other.Owner.ID.String()
			r.key = other.Owner.Key
		}, page.Forbidden, 403},
		"unknown root":     {func(r *raw) { r.p.KeyID = "root/" + hex.EncodeToString(h.Owner.Public()) }, page.Forbidden, 403},
		"for another host": {func(r *raw) { r.host = "elsewhere.example" }, page.Forged, 401},
		"query not signed": {func(r *raw) {
			r.exact, r.p.Components = true, []string{"@method", "@authority", "@path", "content-digest"}
		}, page.Malformed, 400},
		"body not signed": {func(r *raw) { r.exact = true }, page.Malformed, 400},
		"other digest":    {func(r *raw) { r.field["Content-Digest"] = httpsig.Digest([]byte("else")) }, page.BadBody, 400},
		"digest changed": {func(r *raw) {
			r.spoil = func(h http.Header) { h.Set("Content-Digest", httpsig.Digest([]byte("else"))) }
		}, page.Forged, 401},
		"signature zeros": {func(r *raw) {
			r.spoil = func(h http.Header) { h.Set("Signature", "locket=:"+strings.Repeat("A", 86)+"==:") }
		}, page.Forged, 401},
		"signature garbage": {func(r *raw) { r.spoil = func(h http.Header) { h.Set("Signature", "a=;;") } }, page.Malformed, 400},
		"two signatures":    {func(r *raw) { r.spoil = func(h http.Header) { h.Add("Signature-Input", `b=("@path")`) } }, page.Malformed, 400},
		"no length":         {func(r *raw) { r.chunked = true }, page.NoLength, 411},
		"range unsigned":    {func(r *raw) { r.spoil = func(h http.Header) { h.Set("Content-Range", "bytes 0-0/1") } }, page.Malformed, 400},
		"invite unsigned":   {func(r *raw) { r.spoil = func(h http.Header) { h.Set(page.FieldInvite, "code") } }, page.Malformed, 400},
		"root, capitals": {func(r *raw) {
			r.p.KeyID, r.key = "root/"+strings.ToUpper(hex.EncodeToString(h.Root.Public())), h.Root.Key
		}, page.Malformed, 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.owner(h, "POST", "/deltas")
			r.body = delta
			c.change(r)
			if name == "for another host" { // signed for the other host, and sent here under its name
				s := serve(t, relay.Config{}, func(a *api.Config) { a.Authorities = []string{"relay.example"} })
				if res, _, kind := r.do(t, s.addr); kind != c.kind || res.StatusCode != c.status {
					t.Fatal(res.Status, kind)
				}
				return
			}
			if res, p, kind := r.do(t, s.addr); kind != c.kind || res.StatusCode != c.status {
				t.Fatal(res.Status, kind, p.Detail)
			}
		})
	}
	if ds, _, err := s.as(h, h.Reader).Pull(t.Context(), 0, 1, 0); err != nil || len(ds) != 0 {
		t.Fatal("one of them was taken: ", len(ds), err)
	}
	r := s.owner(h, "POST", "/deltas")
	r.body = delta
	if res, _, kind := r.do(t, s.addr); res.StatusCode != 200 {
		t.Fatal("and well signed it is not: ", kind)
	}
	if res, _, kind := r.do(t, s.addr); kind != page.Replayed || res.StatusCode != 401 {
		t.Fatal("replayed: ", res.Status, kind)
	}
}

// After a restart, no deletion can be repeated.
func TestReplayAfterRestart(t *testing.T) {
	now := time.Now()
	s := serve(t, relay.Config{}, nil)
	h := s.settle("replay")
	blob := []byte("deleted once, put again")
	id := relay.BlobID(sha256.Sum256(blob))
	put := func(s *service) {
		if _, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(blob)); err != nil {
			t.Fatal(err)
		}
	}
	put(s)
	r := s.owner(h, "DELETE", "/blobs/"+id.String())
	r.host, r.p.Created = "localhost", now // any port
	if res, _, kind := r.do(t, s.addr); res.StatusCode != 204 {
		t.Fatal(res.Status, kind)
	}
	put(s)
	s.ok(s.stop())
	store, err := embedded.Open(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	s.ok(err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- api.New(api.Config{Relay: relay.New(store, relay.Config{})}).Serve(ctx, ln) }()
	if res, _, kind := r.do(t, ln.Addr().String()); res.StatusCode != 401 || kind != page.Replayed {
		t.Fatal(res.Status, kind)
	}
	cancel()
	s.ok(errors.Join(<-ended, store.Close()))
}

func TestBadRequests(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h, other := s.settle("bad"), s.settle("other")
	secret := filepath.Join(s.dir, "secret")
	if err := os.WriteFile(secret, []byte("not for anyone"), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := []byte("twelve bytes")
	id := relay.BlobID(sha256.Sum256(blob)).String()
	good := h.Delta(h.Owner, "text")
	theirs := other.Delta(other.Owner, "theirs")
	padded := append(good.Bytes(), 0)
	for _, c := range []struct {
		name         string
		method, path string
		change       func(*raw)
		kind         page.Kind
		status       int
	}{
		{"no body", "POST", "/deltas", nil, page.Malformed, 400},
		{"not CBOR", "POST", "/deltas", body([]byte("{}")), page.Malformed, 400},
		{"broken CBOR", "POST", "/deltas", body(page.EncodeItems([][]byte{good.Bytes()})[:50]), page.Malformed, 400},
		{"deep CBOR", "POST", "/deltas", body(bytes.Repeat([]byte{0x81}, 10000)), page.Malformed, 400},
		{"long CBOR", "POST", "/deltas", body([]byte{0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), page.Malformed, 400},
		{"no deltas", "POST", "/deltas", body(page.EncodeItems(nil)), page.Malformed, 400},
		{"many deltas", "POST", "/deltas", body(page.EncodeItems(make([][]byte, page.MaxDeltas+1))), page.Malformed, 400},
		{"not a delta", "POST", "/deltas", body(page.EncodeItems([][]byte{{1, 2, 3}})), page.Malformed, 400},
		{"delta and more", "POST", "/deltas", body(page.EncodeItems([][]byte{padded})), page.Malformed, 400},
		{"of another space", "POST", "/deltas", body(page.EncodeItems([][]byte{theirs.Bytes()})), page.Rule, 403},
		{"oversize", "POST", "/deltas", body(make([]byte, page.MaxRequest+1)), page.TooLarge, 413},
		{"not an entry", "POST", "/log", body([]byte{1}), page.Malformed, 400},
		{"their entry", "POST", "/log", body(other.Entries[1].Bytes()), page.Forbidden, 403},
		{"large entry", "POST", "/log", body(make([]byte, envelope.MaxEntry+1)), page.TooLarge, 413},
		{"odd cursor", "GET", "/deltas", func(r *raw) { r.query = "after=-1" }, page.Malformed, 400},
		{"huge cursor", "GET", "/deltas", func(r *raw) { r.query = "after=18446744073709551615" }, page.Malformed, 400},
		{"cursor to come", "GET", "/deltas", func(r *raw) { r.query = "after=9223372036854775807" }, page.Ahead, 409},
		{"log to come", "GET", "/log", func(r *raw) { r.query = "after=4" }, page.Ahead, 409},
		{"long wait", "GET", "/deltas", func(r *raw) { r.query = "wait=56" }, page.Malformed, 400},
		{"odd limit", "GET", "/deltas", func(r *raw) { r.query = "limit=x" }, page.Malformed, 400},
		{"refs", "POST", "/forget", body([]byte{0xa0}), page.Malformed, 400},
		{"blob, no range", "PUT", "/blobs/" + id, body(blob), page.Malformed, 400},
		{"blob, other unit", "PUT", "/blobs/" + id, chunk(blob, "lines 0-11/12"), page.Malformed, 400},
		{"blob, shorter", "PUT", "/blobs/" + id, chunk(blob, "bytes 0-10/12"), page.Malformed, 400},
		{"blob, backwards", "PUT", "/blobs/" + id, chunk(blob, "bytes 11-0/12"), page.Malformed, 400},
		{"blob, beyond", "PUT", "/blobs/" + id, chunk(blob, "bytes 1-12/12"), page.Malformed, 400},
		{"blob, signs", "PUT", "/blobs/" + id, chunk(blob, "bytes +0-11/12"), page.Malformed, 400},
		{"blob, overflow", "PUT", "/blobs/" + id, chunk(blob, "bytes 9223372036854775807-9223372036854775818/9223372036854775819"), page.Malformed, 400},
		{"blob, no size", "PUT", "/blobs/" + id, chunk(blob, "bytes 0-11/*"), page.Malformed, 400},
		{"blob, huge", "PUT", "/blobs/" + id, chunk(blob, fmt.Sprintf("bytes 0-11/%d", page.MaxBlob+1)), page.TooLarge, 413},
		{"blob, in the middle", "PUT", "/blobs/" + id, chunk(blob, "bytes 5-16/17"), page.Offset, 409},
		{"blob, large chunk", "PUT", "/blobs/" + id, chunk(make([]byte, page.MaxChunk+1), "bytes 0-1048576/1048577"), page.TooLarge, 413},
		{"blob, other bytes", "PUT", "/blobs/" + strings.Repeat("ab", 32), chunk(blob, "bytes 0-11/12"), page.BlobHash, 409},
		{"blob, short id", "GET", "/blobs/abcd", nil, page.Malformed, 400},
		{"blob, capitals", "GET", "/blobs/" + strings.ToUpper(id), nil, page.Malformed, 400},
		{"blob, not there", "GET", "/blobs/" + strings.Repeat("00", 32), nil, page.NotFound, 404},
		{"escaped", "GET", "/delt%61s", nil, page.Malformed, 400},
		{"up", "GET", "/blobs/../../secret", nil, page.Malformed, 400},
		{"up, escaped", "GET", "/blobs/..%2f..%2fsecret", nil, page.Malformed, 400},
		{"up, twice escaped", "GET", "/blobs/%252e%252e%252fsecret", nil, page.Malformed, 400},
		{"up, backslash", "GET", "/blobs/..%5c..%5csecret", nil, page.Malformed, 400},
		{"zero byte", "GET", "/blobs/%00" + id[3:], nil, page.Malformed, 400},
		{"checkpoint, capitals", "DELETE", "/checkpoints/" + strings.ToUpper(id), nil, page.Malformed, 400},
		{"key id, capitals", "GET", "/log", func(r *raw) { r.p.KeyID = strings.ToUpper(r.p.KeyID) }, page.Malformed, 400},
		{"no route", "GET", "/nonsense", nil, page.NotFound, 404},
		{"no method", "PATCH", "/deltas", nil, page.NotAllowed, 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.owner(h, c.method, c.path)
			if c.change != nil {
				c.change(r)
			}
			res, p, kind := r.do(t, s.addr)
			if up := strings.HasPrefix(c.name, "up"); (kind != c.kind || res.StatusCode != c.status) && (!up || kind != page.NotFound && kind != page.NotAllowed) {
				t.Fatal(res.Status, kind, p.Detail)
			}
		})
	}
	for _, name := range []string{"zzz", "../../etc", strings.Repeat("0", 26), other.Space.String()} {
		r := s.owner(h, "GET", "")
		r.path = "/v1/spaces/" + name + "/deltas"
		if res, _, kind := r.do(t, s.addr); res.StatusCode != 403 && res.StatusCode != 404 && res.StatusCode != 400 {
			t.Error(name, res.Status, kind)
		}
	}
	if ds, _, err := s.as(h, h.Reader).Pull(t.Context(), 0, 1, 0); err != nil || len(ds) != 0 {
		t.Fatal("one of them was taken: ", len(ds), err)
	}
}

func body(b []byte) func(*raw) { return func(r *raw) { r.body = b } }

func chunk(b []byte, span string) func(*raw) {
	return func(r *raw) { r.body, r.field["Content-Range"] = b, span }
}

func TestRanges(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("ranges")
	whole := []byte("0123456789")
	id, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(whole))
	s.ok(err)
	for _, c := range []struct {
		span, want string
		status     int
	}{
		{"", "0123456789", 200}, {"bytes=0-", "0123456789", 206}, {"bytes=3-5", "345", 206}, {"bytes=9-100", "9", 206},
		{"bytes=10-", "", 416}, {"bytes=5-4", "", 416}, {"bytes=-3", "", 416}, {"bytes=0-1,3-4", "", 416}, {"lines=1-2", "", 416}, {"bytes=+1-2", "", 416},
	} {
		r := s.owner(h, "GET", "/blobs/"+id.String())
		if c.span != "" {
			r.field["Range"] = c.span
		}
		res, err := http.DefaultClient.Do(r.request(t, s.addr))
		s.ok(err)
		b, err := io.ReadAll(res.Body)
		s.ok(errors.Join(err, res.Body.Close()))
		if res.StatusCode != c.status || c.want != "" && string(b) != c.want {
			t.Errorf("%q: %s %q", c.span, res.Status, b)
		}
	}
}

// A founding must be signed correctly, or it is refused.
func TestForgedFoundingIsRefused(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h, other := storetest.NewHousehold(t, "new"), storetest.NewHousehold(t, "else")
	changed := *h.Entries[0]
	changed.Recovery = "age1attacker"
	for name, change := range map[string]func(*raw){
		"changed":        body(changed.Bytes()),
		"second":         body(h.Entries[1].Bytes()),
		"another space":  body(other.Entries[0].Bytes()),
		"garbage":        body([]byte("garbage")),
		"not its owner":  func(r *raw) { r.body, r.key = h.Entries[0].Bytes(), other.Owner.Key },
		"another member": func(r *raw) { r.body, r.p.KeyID = h.Entries[0].Bytes(), h.Space.String()+"/"+other.Owner.ID.String() },
		"another root": func(r *raw) {
			r.body, r.p.KeyID = h.Entries[0].Bytes(), "root/"+hex.EncodeToString(other.Root.Public())
		},
	} {
		r := s.owner(h, "POST", "/log")
		change(r)
		if res, _, kind := r.do(t, s.addr); kind != page.Forbidden && kind != page.Forged {
			t.Errorf("%s: %s %s", name, res.Status, kind)
		}
	}
	if _, err := s.store.Space(t.Context(), h.Space); !errors.Is(err, relay.ErrNotFound) {
		t.Fatal("it is founded: ", err)
	}
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), h.Entries[0], ""))
	// Another root can't take over an existing space.
	squat := storetest.NewHousehold(t, "squat")
	squat.Space, squat.State = h.Space, new(envelope.State)
	e := *squat.Entries[0]
	squat.Entries = nil
	squat.Append(squat.Root, &e)
	r := s.owner(squat, "POST", "/log")
	r.body = e.Bytes()
	if res, _, kind := r.do(t, s.addr); kind != page.Conflict {
		t.Fatal(res.Status, kind)
	}
}
