package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// Right is what a route needs. Each route names one; see [Endpoints].
type Right string

// The rights that an app can be given.
const (
	RightRead   Right = "read"   // memories, as far as the app may see them
	RightAdd    Right = "add"    // memories, in the app's name
	RightUpdate Right = "update" // what the app itself has said
	RightForget Right = "forget" // erase what it may see, for good
	RightChat   Right = "chat"   // have the model answer that memory is put in front of, at the owner's cost
)

// The rights that nobody is given: they follow from who asks.
const (
	RightOwner   Right = "owner"   // with the owner's token, or on the Unix socket without one
	RightCommand Right = "command" // the owner, and not by a page in a browser: it lets somebody in for longer than the page is open
	RightApp     Right = "app"     // any app, of itself
	RightWrite   Right = "write"   // add, update or forget: each operation asks for its own
	RightMetrics Right = "metrics" // the owner, or the token of the metrics
	RightAnyone  Right = "anyone"  // who is let in at all
)

// Rights are those that an app can be given.
var Rights = [...]Right{RightRead, RightAdd, RightUpdate, RightForget, RightChat}

// KeyPrefix begins the key of an app.
const KeyPrefix = "lka_"

// Caller is an app that asks.
type Caller interface {
	// Name is the app's.
	Name() string
	// May counts a request of an operation, and tells whether the app may make it:
	// ErrForbidden with the reason, ErrLimit. A refusal is noted for the owner.
	May(ctx context.Context, right Right, operation string) error
}

type callerKey struct{}

// CallerOf returns the app that a request is of; nil: it is the owner's.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithCaller returns a context in which an app asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// metricsAlone marks a request that brought the token of the metrics.
type metricsAlone struct{}

// fromPage marks a request of a page in a browser.
type fromPage struct{}

// FromPage returns a context in which a page in the owner's browser asks: what
// needs [RightCommand] is refused there.
func FromPage(ctx context.Context) context.Context {
	return context.WithValue(ctx, fromPage{}, true)
}

// letIn says who asks, slows who tries keys, and bounds the connections of each.
func (h *handler) letIn(r *http.Request, owner [sha256.Size]byte) (ctx context.Context, leave func(), err error) {
	given := r.Header.Get("Authorization")
	if key, ok := KeyOf(r); ok {
		given = string(key)
	}
	done, err := h.try.try(r.RemoteAddr, given)
	if err != nil {
		return nil, nil, err
	}
	ctx, leave, err = h.admit(r, owner)
	done(err == nil)
	if err != nil {
		return nil, nil, err
	}
	g, app := guestOf(r.Context()), ""
	if c := CallerOf(ctx); c != nil {
		app = c.Name()
	} else if r.URL.Path == "/healthz" || ctx.Value(metricsAlone{}) != nil {
		g = nil // as good as a stranger
	}
	if g != nil && !g.admitted(app) {
		leave()
		return nil, nil, fmt.Errorf("%w: %d connections are open", ErrLimit, maxAppConns)
	}
	return ctx, leave, nil
}

// admit says who asks: the owner, an app or a reader of metrics. The context ends
// when an app's key does.
func (h *handler) admit(r *http.Request, owner [sha256.Size]byte) (ctx context.Context, leave func(), err error) {
	ctx, leave = r.Context(), func() {}
	given := r.Header.Get("Authorization")
	if key, ok := KeyOf(r); ok {
		if h.Services.Apps == nil {
			return nil, nil, kindKey.problem("authorization", "this node takes no keys of apps")
		}
		c, ctx, leave, err := h.Services.Apps.Admit(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		return WithCaller(ctx, c), leave, nil
	}
	// Digests have one length, so the comparison tells nothing.
	got := sha256.Sum256([]byte(given))
	switch {
	case r.URL.Path == "/healthz":
		return ctx, leave, nil
	case h.AppsAlone: // whatever the owner's token is
	case h.Token == "", subtle.ConstantTimeCompare(got[:], owner[:]) == 1:
		return ctx, leave, nil
	}
	if h.MetricsToken != "" {
		metrics := sha256.Sum256([]byte("Bearer " + string(h.MetricsToken)))
		if subtle.ConstantTimeCompare(got[:], metrics[:]) == 1 {
			return context.WithValue(ctx, metricsAlone{}, true), leave, nil
		}
	}
	if h.AppsAlone {
		return nil, nil, kindToken.problem("authorization", "send the key of an app as a bearer token; locket app add makes one")
	}
	return nil, nil, kindToken.problem("authorization", "send the token of api.token_file, or the key of an app, as a bearer token")
}

// KeyOf finds an app's key in a request: as a bearer token, or as clients of Mem0's
// hosted and self-hosted servers send it.
func KeyOf(r *http.Request) (Secret, bool) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	if !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Token") || !strings.HasPrefix(key, KeyPrefix) {
		key = r.Header.Get("X-API-Key")
	}
	return Secret(key), strings.HasPrefix(key, KeyPrefix)
}

// PathPrefix begins a path that has an app's key as its next part, for programs that
// can be given an address and nothing else: /k/lka_…/api/chat.
const PathPrefix = "/k/"

// keyInPath moves a key from the path to where it belongs. A request that has both
// keeps neither path nor key: whose it is would be open.
func keyInPath(r *http.Request) *http.Request {
	rest, ok := strings.CutPrefix(r.URL.Path, PathPrefix)
	if !ok {
		return r
	}
	key, rest, _ := strings.Cut(rest, "/")
	if !strings.HasPrefix(key, KeyPrefix) || r.Header.Get("X-API-Key") != "" {
		return r
	}
	// Some clients send a key that they make up where they were given none.
	if given, has := KeyOf(r); has && string(given) != key {
		return r
	}
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+key)
	out.URL.Path, out.URL.RawPath = "/"+rest, ""
	return out
}

// AsApp returns a client of an API that asks with the app's key of a request.
// The first call of the API is what the request has paid for at the door; each
// other counts as a request of its own.
func AsApp(api http.Handler, r *http.Request) *Client {
	key, _ := KeyOf(r)
	paid, _ := r.Context().Value(paidKey{}).(*atomic.Bool)
	return &Client{http: &http.Client{Transport: forwarded{direct{api}, paid}, CheckRedirect: noRedirect}, token: key}
}

// forwarded calls a handler in this process for a request that has paid.
type forwarded struct {
	direct
	paid *atomic.Bool
}

func (f forwarded) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.direct.RoundTrip(r.WithContext(context.WithValue(r.Context(), paidKey{}, f.paid)))
}

// paidKey marks a request that was counted where it came in: *atomic.Bool, true
// until a call of the API has taken it.
type paidKey struct{}

// Paid takes what a request has paid at another door, and reports whether it had.
func Paid(ctx context.Context) bool {
	paid, _ := ctx.Value(paidKey{}).(*atomic.Bool)
	return paid != nil && paid.CompareAndSwap(true, false)
}

// may holds who asks to the right that a route needs.
func (h *handler) may(ctx context.Context, rt *core) error {
	if ctx.Value(fromPage{}) != nil && rt.needs == RightCommand {
		return kindForbidden.problem("", "a page of the console lets nobody in: use the command")
	}
	if ctx.Value(metricsAlone{}) != nil && rt.needs != RightMetrics && rt.needs != RightAnyone {
		return kindForbidden.problem("", "this token reads /metrics and nothing else")
	}
	c := CallerOf(ctx)
	if c == nil || rt.needs == RightAnyone {
		return nil
	}
	return c.May(ctx, rt.needs, rt.id)
}

// forApps lets apps alone into another handler: an assistant that brings no key
// would otherwise act as the owner on the Unix socket.
// A request there counts as one of the app's, also where it asks the API nothing.
func (h *handler) forApps(name string, door Door) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := CallerOf(r.Context())
		if c == nil {
			writeProblem(w, kindKey.problem("authorization", "send the key of an app as a bearer token; locket app add makes one"))
			return
		}
		if err := c.May(r.Context(), cmp.Or(door.Needs, RightApp), name); err != nil {
			writeProblem(w, h.problemOf(r.Context(), r.URL.Path, err))
			return
		}
		paid := new(atomic.Bool)
		paid.Store(true)
		r = r.WithContext(context.WithValue(r.Context(), paidKey{}, paid))
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(door.Body, MaxBody))
		door.ServeHTTP(w, r)
	})
}
