// Package remote is a replica's side of the wire to a relay, over HTTP.
//
// A relay is believed nothing: every answer is bounded before it is read, and
// has the form that package page says, or the call fails with [ErrAnswer].
// Whether a delta or a log entry is what it claims is the replica's to check.
//
// A request may be repeated: an append that came through, whose answer was
// lost, gives the same cursors again. The package itself repeats a request in
// one case: where the relay says that this device's clock is off, it signs
// again by the relay's clock, and goes on so.
package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// answerTime is how long nothing may come or go while an answer is waited for,
// beyond the time that was asked for: on a bad line, a whole answer takes as
// long as it takes.
const answerTime = 60 * time.Second

// watched is a body whose bytes put a deadline off.
type watched struct {
	io.Reader
	moved func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p[:min(len(p), 4<<10)]) // a chunked body fills all of p before it returns
	if n > 0 {
		w.moved()
	}
	return n, err
}

// Relay is one relay. Safe for concurrent use.
type Relay struct {
	base   url.URL
	http   *http.Client
	now    func() time.Time
	offset atomic.Int64 // ns that the relay's clock is ahead of ours

	mu      sync.Mutex
	streams map[*stream]struct{} // that are open
}

// stream is what ends an event stream.
type stream struct{ end context.CancelFunc }

// Option is what may differ from the usual.
type Option struct {
	HTTP *http.Client     // with its own transport; its redirects are not followed
	Now  func() time.Time // time.Now where nil
}

// New names a relay by its URL: scheme and host, and no path.
func New(address string, o Option) (*Relay, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("relay address: %w", err)
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("relay address %q: want http(s)://HOST[:PORT]", u.Redacted())
	}
	r := &Relay{base: url.URL{Scheme: u.Scheme, Host: u.Host}, now: o.Now}
	if r.now == nil {
		r.now = time.Now
	}
	client := http.Client{Transport: transport()}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r.http = &client
	return r, nil
}

func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        60 * time.Second, // below the relay's 75
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 16 << 10,
		DisableCompression:     true, // what comes is sealed, and a bomb can't
	}
}

// Close ends event streams, and lets idle connections go.
func (r *Relay) Close() {
	r.mu.Lock()
	for s := range r.streams {
		s.end()
	}
	r.mu.Unlock()
	r.http.CloseIdleConnections()
}

// streaming has Close end a context, until done is called.
func (r *Relay) streaming(ctx context.Context) (_ context.Context, done func()) {
	ctx, end := context.WithCancel(ctx)
	s := &stream{end}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.streams == nil {
		r.streams = map[*stream]struct{}{}
	}
	r.streams[s] = struct{}{}
	return ctx, func() {
		end()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.streams, s)
	}
}

// caller is who signs: a key, and what the relay knows it by.
type caller struct {
	relay *Relay
	keyID string
	sign  httpsig.Signer
}

// Space gives a space as one of its members sees it.
func (r *Relay) Space(space memory.SpaceID, member memory.MemberID, sign httpsig.Signer) *Space {
	return &Space{id: space, caller: caller{relay: r, keyID: space.String() + "/" + member.String(), sign: sign}}
}

// Root gives an account as the holder of its key sees it.
func (r *Relay) Root(key ed25519.PublicKey, sign httpsig.Signer) *Root {
	return &Root{caller{relay: r, keyID: "root/" + hex.EncodeToString(key), sign: sign}}
}

// call is one request.
type call struct {
	method string
	path   string
	query  url.Values
	body   []byte
	field  map[string]string // besides; names as page and HTTP spell them
	limit  int64             // bytes of the answer
	wait   time.Duration     // that the relay may take on purpose
	moved  func()            // told of each piece of the body that goes; may be nil
}

// answer is what came: a status below 300, and a body within its limit.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (c caller) do(ctx context.Context, q call) (answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(answerTime+q.wait, func() { cancel(context.DeadlineExceeded) })
	defer silence.Stop()
	moved := func() { silence.Reset(answerTime + q.wait) }
	for again := false; ; again = true {
		q.moved = moved
		res, err := c.send(ctx, q)
		if err != nil {
			return answer{}, fmt.Errorf("%s %s: %w", q.method, q.path, errors.Join(err, late(ctx)))
		}
		res.Body = struct {
			io.Reader
			io.Closer
		}{watched{res.Body, moved}, res.Body}
		a, err := read(res, q.limit)
		if err == nil {
			return a, nil
		}
		if again || !errors.Is(err, errStale) || !c.relay.adjust(res.Header.Get("Date")) {
			return a, fmt.Errorf("%s %s: %w", q.method, q.path, err)
		}
	}
}

// late is that nothing moved for too long, where that ended a call.
func late(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nothing came for %s: %w", answerTime, err)
	}
	return nil
}

// adjust takes over the relay's clock for signing. A lie makes a signature
// that is fresh at another time, for this relay alone.
func (r *Relay) adjust(date string) bool {
	at, err := http.ParseTime(date)
	if err != nil {
		return false
	}
	r.offset.Store(int64(at.Sub(r.now())))
	return true
}

func (c caller) send(ctx context.Context, q call) (*http.Response, error) {
	u := c.relay.base
	u.Path, u.RawQuery = q.path, q.query.Encode()
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	for k, v := range q.field {
		req.Header.Set(k, v)
	}
	if q.body != nil && q.moved != nil {
		whole := req.GetBody
		watch := func(b io.Reader) io.ReadCloser { return io.NopCloser(watched{b, q.moved}) }
		req.Body, req.GetBody = watch(bytes.NewReader(q.body)), func() (io.ReadCloser, error) {
			b, err := whole()
			if err != nil {
				return nil, err
			}
			return watch(b), nil
		}
	}
	if q.body != nil {
		req.Header.Set("Content-Digest", httpsig.Digest(q.body))
		req.Header.Set("Content-Type", page.CBOR)
	}
	if c.sign != nil {
		if err := c.signRequest(req); err != nil {
			return nil, err
		}
	}
	resp, err := c.relay.http.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the method and the path are said already
	}
	return resp, err
}

// signRequest signs what the relay asks for: docs/protocol.md, section HTTP.
func (c caller) signRequest(req *http.Request) error {
	m := httpsig.Message{Method: req.Method, Authority: httpsig.Host(req.URL.Host), Path: req.URL.EscapedPath(), Query: req.URL.RawQuery,
		Field: func(name string) []string { return req.Header.Values(name) }}
	covers := []string{"@method", "@authority", "@path", "@query"}
	for _, f := range []string{"content-digest", "content-range", "range", "locket-invite"} {
		if req.Header.Get(f) != "" {
			covers = append(covers, f)
		}
	}
	input, signature, err := httpsig.Sign(m, c.sign, httpsig.Params{Components: covers, KeyID: c.keyID, Alg: httpsig.Algorithm,
		Created: c.relay.now().Add(time.Duration(c.relay.offset.Load())), Nonce: httpsig.NewNonce()})
	if err != nil {
		return err
	}
	req.Header.Set("Signature-Input", input)
	req.Header.Set("Signature", signature)
	return nil
}

// read takes an answer in, whole or not at all.
func read(res *http.Response, limit int64) (answer, error) {
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	if res.StatusCode < 300 && isPage(res) {
		return a, ErrPortal
	}
	if res.StatusCode >= 300 {
		limit = page.MaxProblem
	}
	var err error
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, limit+1)); err != nil {
		return a, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(a.body)) > limit {
		return a, fmt.Errorf("%w: over %d bytes", ErrAnswer, limit)
	}
	if res.StatusCode >= 300 {
		return a, problem(res, a.body)
	}
	if m := res.Request.Method; limit == 0 && m != "GET" && m != "HEAD" && res.StatusCode != http.StatusNoContent && res.StatusCode != http.StatusCreated {
		return a, fmt.Errorf("%w: %d with nothing to say", ErrPortal, res.StatusCode)
	}
	return a, nil
}

// number reads a field that must be one.
func (a answer) number(field string) (int64, error) {
	n, err := strconv.ParseInt(a.header.Get(field), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s is %q", ErrAnswer, field, a.header.Get(field))
	}
	return n, nil
}
