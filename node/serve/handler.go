package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/span"
)

// Options configures a handler. Services are required. The rest may be zero for
// a handler behind a Unix socket or in this process.
type Options struct {
	Services Services
	// Token is required as "Authorization: Bearer …" on every path except
	// /healthz. Empty: no token is required.
	Token Secret
	// AppsAlone refuses the owner, even with a token. It is for an address that
	// others can reach.
	AppsAlone bool
	// MetricsToken allows only /metrics. Empty: there is no such token.
	MetricsToken Secret
	// ForApps returns handlers for other patterns, such as "/mcp", that use
	// this API. nil: there are none. Only apps may use them, each request with
	// the app's key. What they may do is decided when the handlers call the API
	// with that key.
	ForApps func(api http.Handler) map[string]Door
	// OAuth lets an app without a key ask for one. nil: it can't.
	OAuth OAuth
	// Loopback refuses requests whose Host is not this machine's loopback. It
	// is needed on TCP, where a web page can make its own name resolve to
	// 127.0.0.1 (DNS rebinding).
	Loopback bool
	// Registry is served at /metrics and receives counts of requests. nil:
	// neither.
	Registry *prometheus.Registry
	Spans    span.Sink        // receives the spans of requests and of what they did; nil: there are none
	Log      *slog.Logger     // nil: nothing is logged
	Now      func() time.Time // nil: time.Now
}

// OAuth lets apps ask for access. Anyone who may connect may use its paths, and
// counts as a stranger there, whatever key a request has.
type OAuth interface {
	http.Handler
	// HandlesPath reports whether OAuth handles a path.
	HandlesPath(path string) bool
	// Challenge returns the WWW-Authenticate header for a request without a valid
	// key; empty: none.
	Challenge(r *http.Request) string
}

// Door is a handler for apps beside the API.
type Door struct {
	http.Handler
	Needs Right // right that each request needs; empty: RightApp
	Body  int64 // maximum number of bytes of a body; 0: MaxBody
}

type handler struct {
	Options
	log  *slog.Logger
	now  func() time.Time
	try  *attempts
	keys sync.Mutex // one passphrase is tried at a time, because scrypt takes much memory

	run string // the number of this handler's run, which is unique

	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// New returns the handler of the API. It is safe for concurrent use.
func New(o Options) http.Handler {
	h := &handler{Options: o, log: o.Log, now: o.Now, run: rand.Text()}
	h.log = cmp.Or(h.log, slog.New(slog.DiscardHandler))
	if h.now == nil {
		h.now = time.Now
	}
	h.try = newAttempts(h.now)
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		mux.Handle(r.method+" "+r.path, h.wrap(r))
	}
	if o.Registry != nil {
		h.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locket_api_requests_total", Help: "Requests to the local API.",
		}, []string{"method", "path", "status"})
		h.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "locket_api_request_seconds", Help: "Time until a request was answered.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"method", "path"})
		o.Registry.MustRegister(h.requests, h.seconds)
	}
	api := h.guard(withoutUnknownRoutes(mux))
	if o.ForApps != nil {
		for pattern, door := range o.ForApps(api) {
			name := pattern[strings.IndexByte(pattern, '/'):]
			mux.Handle(pattern, h.forApps(strings.Trim(name, "/"), door))
		}
	}
	return api
}

// withoutUnknownRoutes answers with a problem if the mux has no such path or method.
func withoutUnknownRoutes(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &discard{header: http.Header{}}
		plain.ServeHTTP(probe, r)
		if allow := probe.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			writeEarlyProblem(w, kindMethod.problem("", "the path takes "+allow))
			return
		}
		writeEarlyProblem(w, kindRoute.problem("", fmt.Sprintf("there is no %.60s: see /v1/openapi.yaml", r.URL.Path)))
	})
}

// discard keeps the header of an answer, and discards the rest.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header { return d.header }

func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

func (d *discard) WriteHeader(int) {}

// guard checks who makes a request.
func (h *handler) guard(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + string(h.Token)))
	return http.HandlerFunc(func(inner http.ResponseWriter, r *http.Request) {
		w := &recorder{ResponseWriter: inner}
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		if h.Loopback && !clientaddr.LoopbackHost(r.Host) {
			writeProblem(w, kindHost.problem("host", "use localhost or 127.0.0.1"))
			return
		}
		if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
			header.Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
			writeProblem(w, kindMedia.problem("content-encoding", fmt.Sprintf("content-encoding: %.40q: want a body as it is: nothing is decompressed here", e)))
			return
		}
		if h.OAuth != nil && h.OAuth.HandlesPath(r.URL.Path) {
			h.OAuth.ServeHTTP(w, r)
			return
		}
		r = keyInPath(r)
		ctx, leave, err := h.identify(r, want)
		if err != nil {
			header.Set("Connection", "close")
			p := h.problemOf(r.Context(), r.URL.Path, err)
			if h.OAuth != nil && p.Status == http.StatusUnauthorized {
				if c := h.OAuth.Challenge(r); c != "" {
					header.Set("WWW-Authenticate", c)
				}
			}
			writeEarlyProblem(w, p)
			return
		}
		defer leave()
		r = r.WithContext(ctx)
		next.ServeHTTP(w, r)
	})
}

// wrap limits the body, turns the error of a route into a problem, and counts
// requests.
func (h *handler) wrap(rt bound) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started, rec := h.now(), w.(*recorder) // guard made the recorder
		var work *span.Span
		if !rt.slow { // the duration of a stream means nothing
			ctx, begun := span.Serve(span.With(r.Context(), h.Spans), rt.method, rt.path)
			r, work = r.WithContext(ctx), begun
		}
		if rt.body >= 0 {
			r.Body = http.MaxBytesReader(rec, r.Body, cmp.Or(rt.body, MaxBody))
		}
		err := h.may(r.Context(), rt.routeCore)
		if err == nil {
			err = h.notStrange(r.Context(), rt.routeCore, r)
		}
		if err == nil {
			err = rt.serve(h, rec, r)
		}
		// An app that was revoked meanwhile gets that as the error, even at the
		// end of a stream.
		if cause := context.Cause(r.Context()); errors.Is(cause, ErrKey) && (err != nil || rt.slow) {
			err = cause
		}
		switch {
		case err != nil && rec.status == 0:
			writeProblem(rec, rt.in.place(err, h.problemOf(r.Context(), rt.path, err)))
		case err != nil: // the stream has begun, so the error is its last line
			writeLine(rec, streamError{h.problemOf(r.Context(), rt.path, err)})
		}
		took := h.now().Sub(started)
		h.log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("method", rt.method),
			slog.String("path", rt.path), slog.Int("status", rec.status), slog.Duration("took", took))
		work.Count("http.response.status_code", rec.status)
		if rec.status >= http.StatusInternalServerError {
			work.Fail()
		}
		work.End(nil)
		if h.requests != nil {
			h.requests.WithLabelValues(rt.method, rt.path, strconv.Itoa(rec.status)).Inc()
			if !rt.slow {
				h.seconds.WithLabelValues(rt.method, rt.path).Observe(took.Seconds())
			}
		}
	})
}

// recorder remembers the status and gives each write its own deadline. The whole
// answer has no deadline.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	// A writer without deadlines is one of this process.
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(ioTime))
	return r.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
