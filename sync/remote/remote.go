// Package remote is a replica's connection to a relay, over HTTP.
//
// The relay is not trusted. Every answer is bounded before it is read, and
// must have the form that package page defines; otherwise the call fails with
// [ErrAnswer]. The package does not check whether a delta or a log entry is
// genuine; the replica does.
//
// A request may be repeated: if an append succeeded and its answer was lost,
// the second request returns the same cursors. The package itself repeats a
// request in only one case. If the relay says that this device's clock is
// wrong, the package signs again by the relay's clock, and uses that clock
// from then on.
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

// answerTime is how long a connection may be silent while an answer is
// expected, beyond the time for which the relay was asked to wait. There is no
// limit for a whole answer, because on a slow line it may take long.
const answerTime = 60 * time.Second

// watched is a body that extends a deadline whenever bytes come.
type watched struct {
	io.Reader
	moved func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p[:min(len(p), 4<<10)]) // a chunked body would fill all of p before it returns
	if n > 0 {
		w.moved()
	}
	return n, err
}

// Relay is a connection to one relay. It is safe for concurrent use.
type Relay struct {
	base   url.URL
	http   *http.Client
	now    func() time.Time
	offset atomic.Int64 // nanoseconds by which the relay's clock is ahead of ours

	mu      sync.Mutex
	streams map[*stream]struct{} // the open streams
}

// stream has the function that ends an event stream.
type stream struct{ end context.CancelFunc }

// Option has settings that may differ from their defaults.
type Option struct {
	HTTP *http.Client     // with its own transport; it must not follow redirects
	Now  func() time.Time // nil: time.Now
}

// New returns the relay at a URL, which consists of scheme and host without a
// path.
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
		IdleConnTimeout:        60 * time.Second, // less than the relay's 75
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 16 << 10,
		DisableCompression:     true, // sealed bytes can't be compressed, and a decompression bomb is impossible
	}
}

// Close ends all event streams and closes idle connections.
func (r *Relay) Close() {
	r.mu.Lock()
	for s := range r.streams {
		s.end()
	}
	r.mu.Unlock()
	r.http.CloseIdleConnections()
}

// streaming returns a context that Close ends, until done is called.
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

// caller signs requests: a key, and the name by which the relay knows it.
type caller struct {
	relay *Relay
	keyID string
	sign  httpsig.Signer
}

// Space returns a space for one of its members.
func (r *Relay) Space(space memory.SpaceID, member memory.MemberID, sign httpsig.Signer) *Space {
	return &Space{id: space, caller: caller{relay: r, keyID: space.String() + "/" + member.String(), sign: sign}}
}

// Root returns an account for the holder of its root key.
func (r *Relay) Root(key ed25519.PublicKey, sign httpsig.Signer) *Root {
	return &Root{caller{relay: r, keyID: "root/" + hex.EncodeToString(key), sign: sign}}
}

// call describes one request.
type call struct {
	method string
	path   string
	query  url.Values
	body   []byte
	field  map[string]string // further header fields, by their names in page and HTTP
	limit  int64             // greatest number of bytes of the answer
	wait   time.Duration     // time that the relay may wait on purpose
	moved  func()            // called for each piece of the body that is sent; may be nil
}

// answer is a successful answer: a status below 300, and a body within its
// limit.
type answer struct {
	header http.Header
	body   []byte
}

// do returns the answer to a request. Its errors are for a person, who knows neither methods nor
// paths.
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
			return answer{}, errors.Join(err, late(ctx))
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
			return a, err
		}
	}
}

// late returns an error if ctx was ended because nothing came or went for too
// long.
func late(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nothing came for %s: %w", answerTime, err)
	}
	return nil
}

// adjust takes over the relay's clock for signing. If the relay lies, our
// signatures are fresh at another time, but they are valid for this relay
// only.
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
		err = &NetworkError{u.Err}
	}
	return resp, err
}

// signRequest signs a request as docs/protocol.md, section HTTP, requires.
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

// read reads an answer completely, or returns an error.
func read(res *http.Response, limit int64) (answer, error) {
	defer res.Body.Close()
	a := answer{header: res.Header}
	if res.StatusCode < 300 && isPage(res) {
		return a, ErrPortal
	}
	if res.StatusCode >= 300 {
		limit = page.MaxProblem
	}
	var err error
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, limit+1)); err != nil {
		return a, fmt.Errorf("read answer: %w", &NetworkError{err})
	}
	if int64(len(a.body)) > limit {
		return a, fmt.Errorf("%w: over %d bytes", ErrAnswer, limit)
	}
	if res.StatusCode >= 300 {
		return a, problem(res, a.body)
	}
	if m := res.Request.Method; limit == 0 && m != "GET" && m != "HEAD" && res.StatusCode != http.StatusNoContent && res.StatusCode != http.StatusCreated {
		return a, fmt.Errorf("%w: it answers %d with an empty body", ErrPortal, res.StatusCode)
	}
	return a, nil
}

// decoded reads an answer's body.
func decoded[T any](a answer, what string, decode func([]byte) (T, error)) (T, error) {
	v, err := decode(a.body)
	if err != nil {
		err = fmt.Errorf("%s: %w: %v", what, ErrAnswer, err)
	}
	return v, err
}

// number parses a header field as a number. It fails if the field is missing.
func (a answer) number(field string) (int64, error) {
	n, err := strconv.ParseInt(a.header.Get(field), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s is %q", ErrAnswer, field, a.header.Get(field))
	}
	return n, nil
}
