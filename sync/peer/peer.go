// Package peer serves a device's envelope store to the other members of its
// space, in the relay's protocol, so that two devices can exchange without a
// relay.
//
// A peer answers members only, and only requests that carry envelopes: it takes
// no blobs, deletes nothing, and founds no spaces. To every other request it
// answers that there is no such resource. It is reached over TLS, and its
// certificate says to members which of them it is. [Ask] finds that out without
// saying who asks.
package peer

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/replica"
)

// Server serves an envelope store. It is safe for concurrent use.
type Server struct {
	Envelopes *envstore.Store
	Self      memory.MemberID
	// Key returns a key that only the space's members know, or nil if there is
	// none now.
	Key func() []byte
	Now func() time.Time // nil: time.Now
	// Known is called for each request with a member's valid signature; it may be nil.
	Known func(r *http.Request, member memory.MemberID)

	window httpsig.Window
	boxes  Boxes

	mu   sync.Mutex
	read map[memory.MemberID]chan struct{} // closed after the member has read the log; guarded by mu
	busy map[memory.MemberID]int           // number of a member's requests that are being answered; guarded by mu
}

// mostBusy is how many requests of a member are answered at a time. Each may hold the 5 MiB of a
// body or an answer in memory, for as long as the member is slow. A device sends one request after
// another.
const mostBusy = 4

// enter begins to answer a member's request, unless too many are being answered already.
func (s *Server) enter(id memory.MemberID) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] >= mostBusy {
		return nil, errBusy
	}
	if s.busy == nil {
		s.busy = map[memory.MemberID]int{}
	}
	s.busy[id]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy[id]--; s.busy[id] == 0 {
			delete(s.busy, id)
		}
	}, nil
}

// Read returns a channel that is closed once a member has read the log here, even if it did so
// before this call. A new member then has what it needs.
func (s *Server) Read(id memory.MemberID) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readBy(id)
}

// noteRead records that a member has read the log to its end.
func (s *Server) noteRead(id memory.MemberID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.readBy(id)
	select {
	case <-c:
	default:
		close(c)
	}
}

// readBy returns the channel of a member. The caller holds mu.
func (s *Server) readBy(id memory.MemberID) chan struct{} {
	if s.read == nil {
		s.read = map[memory.MemberID]chan struct{}{}
	}
	if s.read[id] == nil {
		s.read[id] = make(chan struct{})
	}
	return s.read[id]
}

// Boxes returns the mailboxes for pairings.
func (s *Server) Boxes() *Boxes { return &s.boxes }

// beat is how often a stream sends a sign of life.
const beat = 20 * time.Second

// handler serves a member's request. The request's body was read and checked
// before.
type handler func(w http.ResponseWriter, r *http.Request, who envelope.Member, body []byte) error

// Handler returns the HTTP handler. It must be served over TLS with [Server.TLS].
func (s *Server) Handler() http.Handler {
	s.window.Now, s.boxes.now = s.Now, s.Now
	mux := http.NewServeMux()
	for pattern, h := range map[string]struct {
		limit int64
		do    handler
	}{
		"GET /v1/spaces/{space}/log":         {0, s.log},
		"POST /v1/spaces/{space}/log":        {envelope.MaxEntry, s.appendLog},
		"GET /v1/spaces/{space}/deltas":      {0, s.deltas},
		"POST /v1/spaces/{space}/deltas":     {page.MaxRequest, s.appendDeltas},
		"POST /v1/spaces/{space}/forget":     {1 << 16, s.forget},
		"GET /v1/spaces/{space}/events":      {0, s.events},
		"GET /v1/spaces/{space}/blobs/{id}":  {0, s.blob},
		"HEAD /v1/spaces/{space}/blobs/{id}": {0, s.blob},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := s.answer(w, r, h.limit, h.do); err != nil {
				fail(w, err)
			}
		})
	}
	mux.HandleFunc("POST /v1/mailboxes/{id}", s.boxes.post)
	mux.HandleFunc("GET /v1/mailboxes/{id}", s.boxes.get)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, errNothing) })
	return mux
}

var (
	errNothing   = errors.New("no such route")
	errForbidden = errors.New("not allowed to this caller")
	errTooLarge  = errors.New("larger than the relay accepts")
	errBusy      = fmt.Errorf("a member has %d requests at a time", mostBusy)
)

// answer answers a member's request. Streams and blobs need little memory, and are not counted.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, limit int64, do handler) error {
	who, err := s.check(r, limit)
	if err != nil {
		return err
	}
	if s.Known != nil {
		s.Known(r, who.ID)
	}
	if p := r.URL.Path; !strings.HasSuffix(p, "/events") && !strings.Contains(p, "/blobs/") {
		leave, err := s.enter(who.ID)
		if err != nil {
			return err
		}
		defer leave()
	}
	var body []byte
	if r.ContentLength > 0 {
		if body, err = io.ReadAll(io.LimitReader(r.Body, limit)); err != nil {
			return err
		}
		if err := httpsig.CheckDigest(r.Header.Values("content-digest"), sha256.Sum256(body)); err != nil {
			return err
		}
	}
	return do(w, r, who, body)
}

// check finds the member that signed a request.
func (s *Server) check(r *http.Request, limit int64) (who envelope.Member, err error) {
	if r.ContentLength < 0 || r.ContentLength > limit {
		return who, errTooLarge
	}
	if !hereAt(r) {
		return who, fmt.Errorf("%w: it is for another device", httpsig.ErrForged)
	}
	m := httpsig.Message{Method: r.Method, Authority: r.Host, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Field: func(name string) []string { return r.Header.Values(name) }}
	sig, err := httpsig.Parse(m.Field("signature-input"), m.Field("signature"))
	if err != nil {
		return who, err
	}
	if err := s.window.Fresh(sig.Params); err != nil {
		return who, err
	}
	need := []string{"@method", "@authority", "@path", "@query"}
	for _, f := range []string{"content-digest", "content-range", "range"} {
		if len(m.Field(f)) > 0 || f == "content-digest" && r.ContentLength > 0 {
			need = append(need, f)
		}
	}
	if err := sig.Covers(need...); err != nil {
		return who, err
	}
	space := r.PathValue("space")
	for _, m := range s.Envelopes.Members() {
		if space == s.Envelopes.Space().String() && sig.KeyID == space+"/"+m.ID.String() {
			who = m
		}
	}
	if who.Key == nil {
		return who, errForbidden
	}
	if err := sig.Verify(m, who.Key); err != nil {
		return who, err
	}
	return who, s.window.Take(sig.Params, who.ID.String())
}

// hereAt reports whether a request names the address at which it arrived. A
// request that was made for another device or for a relay, and was forwarded to
// this one, does not.
func hereAt(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return at != nil && r.Host == httpsig.Host(at.String())
}

func after(r *http.Request) (uint64, error) {
	text := r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("after: %w", page.ErrForm)
	}
	return n, nil
}

func write(w http.ResponseWriter, b []byte) error {
	w.Header().Set("Content-Type", page.CBOR)
	w.Write(b) // if it fails, the client left
	return nil
}

var kinds = []struct {
	err    error
	kind   page.Kind
	status int
}{
	{errNothing, page.NotFound, 404}, {errForbidden, page.Forbidden, 403}, {errTooLarge, page.TooLarge, 413},
	{httpsig.ErrMissing, page.Unsigned, 401}, {httpsig.ErrStale, page.Stale, 401}, {httpsig.ErrReplayed, page.Replayed, 401},
	{httpsig.ErrForged, page.Forged, 401}, {httpsig.ErrDigest, page.BadBody, 400}, {httpsig.ErrMalformed, page.Malformed, 400},
	{httpsig.ErrFull, page.Busy, 503}, {replica.ErrConflict, page.Conflict, 409}, {replica.ErrAhead, page.Ahead, 409},
	{replica.ErrNotFound, page.NotFound, 404}, {envelope.ErrSignature, page.Signature, 403}, {envelope.ErrRule, page.Rule, 403},
	{envelope.ErrGap, page.Gap, 409}, {envelope.ErrChains, page.Chains, 409}, {envelope.ErrUnknownHead, page.UnknownHead, 409}, {envelope.ErrBody, page.BadBody, 400},
	{envelope.ErrForm, page.Malformed, 400}, {page.ErrForm, page.Malformed, 400}, {errBoxes, page.Busy, 503}, {errBusy, page.Busy, 503},
}

// fail answers with a problem document.
func fail(w http.ResponseWriter, err error) {
	kind, status := page.Internal, 500
	var fork *envelope.ForkError
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			kind, status = k.kind, k.status
			break
		}
	}
	if errors.As(err, &fork) && kind == page.Internal {
		kind, status = page.Fork, 409
	}
	p := page.NewProblem(kind, status, string(kind))
	if kind != page.Internal {
		p.Detail = err.Error()
	}
	b, err := json.Marshal(p)
	if err != nil {
		b = nil
	}
	w.Header().Set("Content-Type", page.Trouble)
	w.Header().Set(page.FieldProblem, string(kind))
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	w.Write(b)
}
