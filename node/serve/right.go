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

	"github.com/locket-dev/locket/internal/applink"
)

// Right is a right that a route requires. Each route names one; see [Endpoints].
type Right string

// The rights that an app can be given.
const (
	RightRead   Right = "read"   // read memories, as far as the app may see them
	RightAdd    Right = "add"    // add memories, in the app's name
	RightUpdate Right = "update" // change what the app itself has written
	RightForget Right = "forget" // erase what it may see, for good
	RightChat   Right = "chat"   // let the model answer with memories in its input, at the owner's cost
	RightBuy    Right = "buy"    // buy at a market, within a budget set by the owner
	RightShare  Right = "share"  // share what the app may see itself, with readers that the app chooses
	RightVault  Right = "vault"  // ask for entries of the vault; the owner decides about each reading
)

// RightConsole opens the console on another machine: it allows a part of what the page may
// do on the node's own machine. It is only given alone, so it is not one of [Rights].
const RightConsole Right = "console"

// Rights that can't be given. They follow from who makes the request.
const (
	RightOwner   Right = "owner"   // the owner: with the token, or on the Unix socket without one
	RightCommand Right = "command" // the owner, but not from a page in a browser: with such a request a stolen session could outlast itself
	RightApp     Right = "app"     // any app, about itself
	RightWrite   Right = "write"   // add, update or forget: each operation needs its own right
	RightMetrics Right = "metrics" // the owner, or the metrics token
	RightAnyone  Right = "anyone"  // anyone who may connect
)

// Rights are those that an app can be given.
var Rights = [...]Right{RightRead, RightAdd, RightUpdate, RightForget, RightChat, RightBuy, RightShare, RightVault}

// KeyPrefix is the beginning of every app's key.
const KeyPrefix = applink.KeyPrefix

// Caller is an app that makes a request.
type Caller interface {
	// Name returns the app's name.
	Name() string
	// May counts a request for an operation and returns nil if the app may make it,
	// ErrForbidden with the reason, or ErrLimit. A refusal is recorded for the owner.
	May(ctx context.Context, right Right, operation string) error
}

// PassedOn is a Caller whose key may be one that an app passed on. Its method returns the
// app as that key narrows it, without the apps between it and the owner.
type PassedOn interface {
	Caller
	PassedOn() (app App, ok bool)
}

type callerKey struct{}

// CallerOf returns the app that makes a request, or nil if the owner does.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithCaller returns a context in which an app makes requests.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// HasRight reports whether the app that makes a request has a right. The request is not
// counted.
func HasRight(ctx context.Context, right Right) bool {
	c, _ := ctx.Value(callerKey{}).(interface{ HasRight(Right) bool })
	return c != nil && c.HasRight(right)
}

// metricsAlone marks a request with the metrics token.
type metricsAlone struct{}

// fromPage marks a request of a page in a browser.
type fromPage struct{}

// FromPage returns a context for requests of a page in the owner's browser. It refuses
// routes that need [RightCommand] and, for a page on another machine, all routes that are
// not in afar.
func FromPage(ctx context.Context) context.Context {
	return context.WithValue(ctx, fromPage{}, true)
}

// RunHeader is the header with the number of the daemon's run, for each request with a key
// that has [RightConsole]. GET /v1/self, which does not need it, returns the number. A
// lock begins another run.
const RunHeader = "Locket-Run"

// consoleKey is a caller that may have [RightConsole].
type consoleKey interface {
	Caller
	// OpensConsole reports whether the caller has that right, and records its use.
	OpensConsole(ctx context.Context) (bool, error)
	// BeginConsole begins a request that changes something. A revocation waits until it is
	// finished. It returns ErrKey if the key was revoked already.
	BeginConsole() error
	// NoteConsole notes an operation for the owner, and why it was refused, if it was.
	NoteConsole(ctx context.Context, operation string, refused error) error
}

// elsewhere marks a request of the owner's console on another machine.
type elsewhere struct {
	key consoleKey
	run string
}

type elsewhereKey struct{}

func elsewhereOf(ctx context.Context) (e elsewhere, ok bool) {
	e, ok = ctx.Value(elsewhereKey{}).(elsewhere)
	return e, ok
}

// asConsole returns the context of a request with a key. If the key opens the console, it
// is the owner's context, marked as from a page.
func (h *handler) asConsole(ctx context.Context, c Caller, r *http.Request) (context.Context, error) {
	o, is := c.(consoleKey)
	if !is {
		return WithCaller(ctx, c), nil
	}
	if is, err := o.OpensConsole(ctx); err != nil || !is {
		return WithCaller(ctx, c), err
	}
	if r.URL.Path != "/v1/self" && subtle.ConstantTimeCompare([]byte(r.Header.Get(RunHeader)), []byte(h.run)) != 1 {
		return nil, fmt.Errorf("%w: the node was locked or started anew since the console was opened", ErrKey)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := o.BeginConsole(); err != nil {
			return nil, err
		}
	}
	return FromPage(context.WithValue(ctx, elsewhereKey{}, elsewhere{o, h.run})), nil
}

// identify finds out who makes a request, slows down guessing of keys, and limits the
// connections of each caller.
func (h *handler) identify(r *http.Request, owner [sha256.Size]byte) (ctx context.Context, leave func(), err error) {
	given := r.Header.Get("Authorization")
	if key, ok := keyOf(r); ok {
		given = string(key)
	}
	done, err := h.try.try(r.RemoteAddr, given)
	if err != nil {
		return nil, nil, err
	}
	ctx, leave, err = h.admit(r, owner)
	done(err)
	if err != nil {
		return nil, nil, err
	}
	g, app := guestOf(r.Context()), ""
	if e, ok := elsewhereOf(ctx); ok {
		app = e.key.Name()
	} else if c := CallerOf(ctx); c != nil {
		app = c.Name()
	} else if r.URL.Path == "/healthz" || ctx.Value(metricsAlone{}) != nil {
		g = nil // it counts as a stranger
	}
	if g != nil && !g.admitted(app) {
		leave()
		return nil, nil, fmt.Errorf("%w: %d connections are open", ErrLimit, maxAppConns)
	}
	return ctx, leave, nil
}

// admit finds out who makes a request: the owner, an app or a reader of metrics. The
// context ends when the app's key does.
func (h *handler) admit(r *http.Request, owner [sha256.Size]byte) (ctx context.Context, leave func(), err error) {
	ctx, leave = r.Context(), func() {}
	given := r.Header.Get("Authorization")
	if key, ok := keyOf(r); ok {
		if h.Services.Apps == nil {
			return nil, nil, kindKey.problem("authorization", "this node accepts no keys of apps")
		}
		c, ctx, leave, err := h.Services.Apps.Admit(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		if ctx, err = h.asConsole(ctx, c, r); err != nil {
			leave()
			return nil, nil, err
		}
		return ctx, leave, nil
	}
	// Digests have the same length, so the comparison reveals nothing.
	got := sha256.Sum256([]byte(given))
	switch {
	case r.URL.Path == "/healthz":
		return ctx, leave, nil
	case h.AppsAlone: // even with the owner's token
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

// keyOf finds an app's key in a request: as a bearer token, or in the form that clients of
// Mem0's hosted and self-hosted servers use.
func keyOf(r *http.Request) (Secret, bool) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	if !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Token") || !strings.HasPrefix(key, KeyPrefix) {
		key = r.Header.Get("X-API-Key")
	}
	return Secret(key), strings.HasPrefix(key, KeyPrefix)
}

// PathPrefix is the beginning of a path whose next part is an app's key, for
// programs that accept only an address: /k/lka_…/api/chat.
const PathPrefix = "/k/"

// keyInPath moves a key from the path to the header. If the header has another key, it is
// not clear who makes the request: the path stays as it is, and matches no route.
func keyInPath(r *http.Request) *http.Request {
	rest, ok := strings.CutPrefix(r.URL.Path, PathPrefix)
	if !ok {
		return r
	}
	key, rest, _ := strings.Cut(rest, "/")
	if !strings.HasPrefix(key, KeyPrefix) || r.Header.Get("X-API-Key") != "" {
		return r
	}
	// Some clients send an invented key if they have none.
	if given, has := keyOf(r); has && string(given) != key {
		return r
	}
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+key)
	out.URL.Path, out.URL.RawPath = "/"+rest, ""
	return out
}

// AsApp returns a client of the API that uses the app's key of a request. The request was
// counted when it arrived, so the first call of the API is not counted again. Each further
// call is.
func AsApp(api http.Handler, r *http.Request) *Client {
	key, _ := keyOf(r)
	paid, _ := r.Context().Value(paidKey{}).(*atomic.Bool)
	return &Client{http: &http.Client{Transport: forwarded{direct{api}, paid}, CheckRedirect: noRedirect}, token: key}
}

// Uncounted returns a client whose first call is not counted either, for a question that a handler
// has on its own account. Any client but one of [AsApp] is returned as it is.
func (c *Client) Uncounted() *Client {
	f, ok := c.http.Transport.(forwarded)
	if !ok {
		return c
	}
	f.paid = new(atomic.Bool)
	f.paid.Store(true)
	return &Client{http: &http.Client{Transport: f, CheckRedirect: noRedirect}, token: c.token}
}

// forwarded calls a handler in this process for a request that was counted already.
type forwarded struct {
	direct
	paid *atomic.Bool
}

func (f forwarded) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.direct.RoundTrip(r.WithContext(context.WithValue(r.Context(), paidKey{}, f.paid)))
}

// paidKey marks a request that was counted when it arrived. The value is an *atomic.Bool
// that is true until a call of the API uses it.
type paidKey struct{}

// SpendForwarded uses up the count of a request that arrived at another handler, and reports whether
// there was one.
func SpendForwarded(ctx context.Context) bool {
	paid, _ := ctx.Value(paidKey{}).(*atomic.Bool)
	return paid != nil && paid.CompareAndSwap(true, false)
}

// may checks whether the caller has the right that a route needs.
func (h *handler) may(ctx context.Context, rt *routeCore) error {
	if err := mayFromPage(ctx, rt); err != nil {
		return err
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

// forApps restricts another handler to apps. Otherwise an assistant without a key would
// act as the owner on the Unix socket. Each request there counts as one of the app's, even
// if it does not call the API.
func (h *handler) forApps(name string, door Door) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := CallerOf(r.Context())
		if c == nil {
			writeEarlyProblem(w, kindKey.problem("authorization", "send the key of an app as a bearer token; locket app add makes one"))
			return
		}
		if err := c.May(r.Context(), cmp.Or(door.Needs, RightApp), name); err != nil {
			writeEarlyProblem(w, h.problemOf(r.Context(), r.URL.Path, err))
			return
		}
		paid := new(atomic.Bool)
		paid.Store(true)
		r = r.WithContext(context.WithValue(r.Context(), paidKey{}, paid))
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(door.Body, MaxBody))
		door.ServeHTTP(w, r)
	})
}
