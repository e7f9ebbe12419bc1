package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Right is what a route needs. Each route names one; see [Endpoints].
type Right string

// The rights that an app can be given.
const (
	RightRead   Right = "read"   // memories, as far as the app may see them
	RightAdd    Right = "add"    // memories, in the app's name
	RightUpdate Right = "update" // what the app itself has said
	RightForget Right = "forget" // erase what it may see, for good
)

// The rights that nobody is given: they follow from who asks.
const (
	RightOwner   Right = "owner"   // with the owner's token, or on the Unix socket without one
	RightApp     Right = "app"     // any app, of itself
	RightWrite   Right = "write"   // add, update or forget: each operation asks for its own
	RightMetrics Right = "metrics" // the owner, or the token of the metrics
	RightAnyone  Right = "anyone"  // who is let in at all
)

// Rights are those that an app can be given.
var Rights = [...]Right{RightRead, RightAdd, RightUpdate, RightForget}

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

// CallerOf gives the app that a request is of; nil: it is the owner's.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithCaller gives a context in which an app asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// metricsAlone marks a request that brought the token of the metrics.
type metricsAlone struct{}

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
	case h.Token == "", r.URL.Path == "/healthz", subtle.ConstantTimeCompare(got[:], owner[:]) == 1:
		return ctx, leave, nil
	case h.MetricsToken != "":
		metrics := sha256.Sum256([]byte("Bearer " + string(h.MetricsToken)))
		if subtle.ConstantTimeCompare(got[:], metrics[:]) == 1 {
			return context.WithValue(ctx, metricsAlone{}, true), leave, nil
		}
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

// AsApp gives a client of an API that asks with the app's key of a request.
func AsApp(api http.Handler, r *http.Request) *Client {
	key, _ := KeyOf(r)
	return InProcess(api).WithKey(key)
}

// may holds who asks to the right that a route needs.
func (h *handler) may(ctx context.Context, rt *core) error {
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
func (h *handler) forApps(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if CallerOf(r.Context()) == nil {
			writeProblem(w, kindKey.problem("authorization", "send the key of an app as a bearer token; locket app add makes one"))
			return
		}
		r.Body = &patient{http.MaxBytesReader(w, r.Body, MaxBody), http.NewResponseController(w)}
		next.ServeHTTP(w, r)
	})
}
