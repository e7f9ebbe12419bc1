// Package console serves the web page with which the wearer looks at their memory.
//
//   - The page is built from web/ (TypeScript, Preact) with esbuild; dist/ is the
//     result, which is committed, and embedded as page.zip, so that building Locket needs
//     no Node. .ci/console checks that dist/ is what web/ makes.
//   - It uses only the public API of the node. A [Console] lets
//     requests of its own sessions through to the handler of that API.
//   - If there is no home yet, the page makes one ([Console.SetUp]), before there is
//     an API.
//   - Nothing listens until the wearer asks for a link (locket open). A link
//     has a code that is valid once, and for two minutes, in its fragment, which
//     no browser sends anywhere. The page exchanges it for a session.
//
// A session has two halves. The browser sends a cookie that no script can read; the page
// keeps a key, which it sends in a header. Cookies ignore ports: anything else that listens
// on this machine's loopback may receive the cookie. The key belongs to the page's origin,
// which includes the port. The cookie has the port in its name, so that the consoles of two
// homes don't replace each other's cookie in one browser.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// Console serves the page. Its methods are safe for concurrent use.
type Console struct {
	listen string
	log    *slog.Logger
	now    func() time.Time
	asked  chan struct{} // of capacity one: a link was made
	again  string        // the command that opens the console again

	mu       sync.Mutex
	api      http.Handler // nil: unknown yet
	origin   string       // http://HOST:PORT; empty: it does not listen
	host     string
	cookie   string // name of the sessions' cookie
	end      context.CancelFunc
	done     chan error
	closed   bool
	why      error      // why it was ended; nil: it was not
	setup    *settingUp // nil: the home existed before the console
	sessions sessions
}

// Options are the options of a Console.
type Options struct {
	Listen        string           // host:port on loopback; port 0: any
	Log           *slog.Logger     // nil: nothing is logged
	Now           func() time.Time // nil: time.Now
	ReopenCommand string           // the command that opens it again; empty: locket open
}

// New makes a Console that does not listen yet.
func New(o Options) *Console {
	c := &Console{listen: o.Listen, log: o.Log, now: o.Now, asked: make(chan struct{}, 1), again: cmp.Or(o.ReopenCommand, "locket open")}
	c.log = cmp.Or(c.log, slog.New(slog.DiscardHandler))
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Serve connects the console to the handler of the node's API, which must require no token.
// It is called once, before the first link or after SetUp.
func (c *Console) Serve(api http.Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.api = api
}

var errClosed = errors.New("the console is closed")

// OpenConsole implements serve.Consoler. The first call begins to listen.
func (c *Console) OpenConsole(ctx context.Context) (serve.ConsoleLink, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return serve.ConsoleLink{}, errClosed
	case c.api == nil:
		return serve.ConsoleLink{}, serve.ErrUnsupported
	case c.origin == "":
		l, err := serve.Listen(ctx, "tcp", c.listen)
		if err != nil {
			return serve.ConsoleLink{}, fmt.Errorf("%w: the console can't listen on %s: %v", serve.ErrConflict, c.listen, err)
		}
		c.begin(l)
	}
	select {
	case c.asked <- struct{}{}:
	default: // warm is about to ask already
	}
	code, until := c.sessions.code(c.now())
	return serve.ConsoleLink{URL: c.origin + "/#open=" + code, Expires: until}, nil
}

// handlerOfAPI returns nil while a home is being set up.
func (c *Console) handlerOfAPI() http.Handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.api
}

// begin serves on a listener until Close.
func (c *Console) begin(l net.Listener) {
	c.host = l.Addr().String()
	c.origin = "http://" + c.host
	_, port, _ := net.SplitHostPort(c.host) // the address of a listener has a port
	c.cookie = cookiePrefix + port
	inner, end := context.WithCancel(context.Background())
	c.end, c.done = end, make(chan error, 1)
	h := c.handler()
	warmed := make(chan struct{})
	go func() { defer close(warmed); c.warm(inner) }()
	go func() {
		err := serve.Serve(inner, l, h, c.log)
		<-warmed
		c.done <- err
	}()
}

// warm asks the node for its status after each link, until ctx ends. While the browser
// starts, the node then reads all memories, if it has not done so since it was unlocked.
func (c *Console) warm(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.asked:
		}
		if api := c.handlerOfAPI(); api != nil {
			client := serve.InProcess(api)
			_, _ = client.Status(ctx) // the page asks again, and shows an error
			client.Close()
		}
	}
}

// Close ends all sessions and closes the listener. It is safe to call twice.
func (c *Console) Close() error {
	c.mu.Lock()
	end, done := c.end, c.done
	c.end, c.closed = nil, true
	c.sessions.clear()
	c.mu.Unlock()
	if end == nil {
		return nil
	}
	end()
	return <-done
}
