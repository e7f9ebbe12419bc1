package relayfault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Relay is a real relay behind a middle that lies. It handles one request at a time.
type Relay struct {
	URL string

	dir  string
	tell func(string, ...any)

	mu       sync.Mutex
	rng      *rand.Rand
	lies     []Lie
	rate     float64 // share of requests that are answered with lies
	lying    bool
	told     map[Lie]int
	requests int
	received bytes.Buffer       // every received byte
	memory   map[string]*record // by space
	held     []*request         // requests to be passed on late
	old      []*request         // requests that were passed on once

	later  atomic.Int64 // how far the relay's clock is ahead, in ns
	store  *embedded.Store
	front  *http.Server
	client *http.Client
	behind string
	stop   context.CancelFunc
	served chan error // results of both servers
}

// record is what the middle has seen of a space.
type record struct {
	log    [][]byte
	deltas [][]byte          // with their original bodies
	views  map[string]*view  // what each member is shown, until the relay is honest
	blobs  map[string][]byte // by path
}

// request is a received request with its body.
type request struct {
	method, uri, path, host string
	header                  http.Header
	body                    []byte
	space, member           string // its signer, according to itself
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    bool // the connection breaks, after half of the body
	none   bool // … before anything
}

func openRelay(ctx context.Context, dir string, rng *rand.Rand, lies []Lie, tell func(string, ...any)) (r *Relay, err error) {
	r = &Relay{dir: filepath.Join(dir, "relay"), rng: rng, lies: lies, tell: tell, told: map[Lie]int{}, memory: map[string]*record{}, served: make(chan error, 2)}
	if r.store, err = embedded.Open(ctx, r.dir); err != nil {
		return nil, err
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, r.store.Close())
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, back.Close(), r.store.Close())
	}
	r.behind, r.URL = "http://"+back.Addr().String(), "http://"+front.Addr().String()
	s := api.New(api.Config{Relay: relay.New(r.store, relay.Config{Now: r.now}), StrangersPerMinute: 1 << 30, Drain: 100 * time.Millisecond})
	serving, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.served <- s.Serve(serving, back) }()
	r.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2, DisableCompression: true}}
	r.front = &http.Server{Handler: r}
	go func() {
		err := r.front.Serve(front)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		r.served <- err
	}()
	return r, nil
}

// Close ends both servers.
func (r *Relay) Close() error {
	err := r.front.Close()
	r.client.CloseIdleConnections()
	r.stop()
	return errors.Join(err, <-r.served, <-r.served, r.store.Close())
}

func (r *Relay) now() time.Time { return time.Now().Add(time.Duration(r.later.Load())) }

func (r *Relay) begin() { r.lying = true }

// honest makes the relay tell the truth from now on.
func (r *Relay) honest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lying, r.held = false, nil
	r.later.Store(int64(time.Hour)) // so that nobody has to wait any more
	for _, m := range r.memory {
		m.views = map[string]*view{}
	}
}

// maxBody is larger than any request that a relay accepts.
const maxBody = 8 << 20

// ServeHTTP implements http.Handler.
func (r *Relay) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(io.LimitReader(in.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	q := &request{method: in.Method, uri: in.RequestURI, path: in.URL.Path, host: in.Host, header: in.Header, body: body}
	q.space, q.member = caller(in.Header.Get("Signature-Input"))
	r.mu.Lock()
	r.requests++
	r.received.WriteString(in.Method + " " + in.RequestURI + "\n")
	_ = in.Header.Write(&r.received) // to a buffer
	r.received.Write(body)
	a := r.deal(in.Context(), q)
	r.mu.Unlock()
	write(w, a)
}

func write(w http.ResponseWriter, a answer) {
	if a.none {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	if a.cut {
		_, _ = w.Write(a.body[:len(a.body)/2]) // half of the promised length
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.body) // the client may have gone
}

// caller returns space and member of keyid="SPACE/MEMBER".
func caller(input string) (space, member string) {
	_, rest, _ := strings.Cut(input, `keyid="`)
	id, _, _ := strings.Cut(rest, `"`)
	space, member, _ = strings.Cut(id, "/")
	return space, member
}

// pass passes a request to the relay, and records what was accepted.
func (r *Relay) pass(ctx context.Context, q *request) answer {
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), q.method, r.behind+q.uri, bytes.NewReader(q.body))
	if err != nil {
		return answer{none: true}
	}
	req.Header, req.Host = q.header.Clone(), q.host
	if q.body == nil || q.method == "GET" || q.method == "HEAD" {
		req.Body, req.ContentLength = nil, 0
	}
	res, err := r.client.Do(req)
	if err != nil {
		return answer{none: true}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return answer{none: true}
	}
	a := answer{status: res.StatusCode, header: res.Header, body: body}
	r.note(q, a)
	return a
}

func (r *Relay) of(space string) *record {
	m := r.memory[space]
	if m == nil {
		m = &record{views: map[string]*view{}, blobs: map[string][]byte{}}
		r.memory[space] = m
	}
	return m
}

// note records what the relay accepted.
func (r *Relay) note(q *request, a answer) {
	if a.status >= 300 {
		return
	}
	m := r.of(q.space)
	switch {
	case q.method == "POST" && strings.HasSuffix(q.path, "/deltas"):
		items, err := page.DecodeItems(q.body, page.MaxDeltas)
		if err != nil {
			return
		}
		cursors, err := page.DecodeCursors(a.body, len(items))
		if err != nil {
			return
		}
		for i, c := range cursors {
			if c == uint64(len(m.deltas))+1 {
				m.deltas = append(m.deltas, items[i])
			}
		}
	case q.method == "POST" && strings.HasSuffix(q.path, "/log"):
		for _, have := range m.log {
			if bytes.Equal(have, q.body) {
				return
			}
		}
		m.log = append(m.log, q.body)
	case q.method == "GET" && strings.Contains(q.path, "/blobs/"):
		m.blobs[q.path] = a.body
	}
}
