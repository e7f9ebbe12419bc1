package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// Limits of connections. The owner's connections are not limited.
const (
	maxStrangers     = 64 // connections that have shown no valid key
	maxStrangersFrom = 16 // such connections of one address, or of one user of this machine other than the node's own
	maxAppConns      = 64 // connections of one app
)

// conns limits the connections of a server by their users. If there is one stranger too
// many, it takes the place of another: among the sources with the most connections, of
// the one that came first. A source is an address or, on this machine, a user, if the
// system says whose a connection is. Programs of one user share their places, because
// they could end each other anyway.
type conns struct {
	mu        sync.Mutex
	all       map[net.Conn]*guest
	strangers []*guest // the oldest first
	apps      map[string]int
}

// guest is one connection.
type guest struct {
	of    *conns
	conn  net.Conn
	from  source
	known bool   // a valid key was shown
	app   string // the app that uses it, if known; empty: the owner
}

// source is what has a share of the places for strangers: an address, or a user of this
// machine.
type source struct {
	addr netip.Addr // invalid: this machine
	user int64      // a user of this machine; -1: the system doesn't say; otherwise 0
}

// most returns how many places a source may have.
func (s source) most() int {
	if !s.addr.IsValid() && (s.user < 0 || s.user == int64(os.Getuid())) {
		return maxStrangers
	}
	return maxStrangersFrom
}

func sourceOfConn(conn net.Conn) source {
	s := source{addr: sourceOf(conn.RemoteAddr().String())}
	if !s.addr.IsValid() {
		s.user = -1
		if uid, ok := userOf(conn); ok {
			s.user = int64(uid)
		}
	}
	return s
}

// Source names the source of a request: an address or, on this machine, a user. Requests
// of the same source share what strangers may take.
func Source(r *http.Request) string {
	s := source{addr: sourceOf(r.RemoteAddr)}
	if g := guestOf(r.Context()); g != nil && !s.addr.IsValid() {
		s = g.from
	}
	return fmt.Sprint(s.addr, s.user)
}

// Forwarded gives each request that came through one of these proxies the address of
// the proxy's client. Limits of wrong keys and of strangers' requests then count for
// that client. Connections still count for the proxy, which has to bound its own
// clients' connections.
func Forwarded(proxies clientaddr.Proxies, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := clientaddr.Parse(r.RemoteAddr)
		if from := proxies.From(a, r.Header.Values("X-Forwarded-For")); from != a {
			forwarded := *r
			forwarded.RemoteAddr = netip.AddrPortFrom(from, 0).String()
			r = &forwarded
		}
		next.ServeHTTP(w, r)
	})
}

func newConns() *conns { return &conns{all: map[net.Conn]*guest{}, apps: map[string]int{}} }

type guestKey struct{}

// guestOf returns the connection of a request; nil: it came over a connection that is not
// counted.
func guestOf(ctx context.Context) *guest {
	g, _ := ctx.Value(guestKey{}).(*guest)
	return g
}

// begin is http.Server's ConnContext. A caller through a Unix socket is not a stranger,
// because only the node's user can open the socket's folder.
func (c *conns) begin(ctx context.Context, conn net.Conn) context.Context {
	if _, ok := conn.RemoteAddr().(*net.TCPAddr); !ok {
		return ctx
	}
	return context.WithValue(ctx, guestKey{}, c.add(conn, sourceOfConn(conn)))
}

// add adds a stranger's connection.
func (c *conns) add(conn net.Conn, from source) *guest {
	g := &guest{of: c, conn: conn, from: from}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[conn] = g
	c.strangers = append(c.strangers, g)
	c.evict()
	return g
}

// evict must be called with mu held.
func (c *conns) evict() {
	count, most := map[source]int{}, c.strangers[0].from
	for _, s := range c.strangers {
		count[s.from]++
	}
	for _, s := range c.strangers { // of two with the same number, the one that came first
		if count[s.from] > count[most] {
			most = s.from
		}
	}
	if last := c.strangers[len(c.strangers)-1].from; count[last] > last.most() {
		most = last
	} else if len(c.strangers) <= maxStrangers {
		return
	}
	c.hangUp(c.strangers[slices.IndexFunc(c.strangers, func(s *guest) bool { return s.from == most })])
}

// hangUp must be called with mu held.
func (c *conns) hangUp(g *guest) {
	c.noStranger(g)
	// This closes the connection below TLS, because a TLS close waits for a
	// reader.
	if t, ok := g.conn.(interface{ NetConn() net.Conn }); ok {
		_ = t.NetConn().Close() // the server closes it again, and reports that
	} else {
		_ = g.conn.Close()
	}
}

// noStranger must be called with mu held.
func (c *conns) noStranger(g *guest) {
	c.strangers = slices.DeleteFunc(c.strangers, func(s *guest) bool { return s == g })
}

// changed is http.Server's ConnState.
func (c *conns) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.all[conn]; g != nil {
		delete(c.all, conn)
		c.noStranger(g)
		g.leave()
	}
}

// leave must be called with mu held.
func (g *guest) leave() {
	if g.known && g.app != "" {
		if g.of.apps[g.app]--; g.of.apps[g.app] == 0 {
			delete(g.of.apps, g.app)
		}
	}
	g.known, g.app = false, ""
}

// admitted records who uses a connection; app is empty for the owner. It reports whether
// that user may have another connection.
func (g *guest) admitted(app string) bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if g.known && g.app == app {
		return true
	}
	if app != "" && g.of.apps[app] >= maxAppConns {
		return false
	}
	g.leave()
	g.of.noStranger(g)
	if g.known, g.app = true, app; app != "" {
		g.of.apps[app]++
	}
	return true
}

// Known tells the limits of connections who makes a request, after another handler than
// the API's has found that out. It returns false if that user has too many connections.
func Known(ctx context.Context, who string) bool {
	g := guestOf(ctx)
	return g == nil || g.admitted(who)
}

// Limits for a body. Each read may wait ioTime for its next piece. All waits together may
// take a minute, plus a second for each 4 KiB that came.
const (
	bodyWait = time.Minute
	bodyRate = 4 << 10
)

// bounded sets the deadlines of each request's body, whoever reads it. They apply even if
// nobody reads the body, because the server looks for its end before it takes the next
// request.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			p := &patient{ReadCloser: r.Body, rc: http.NewResponseController(w)}
			p.next()
			r.Body = p
		}
		next.ServeHTTP(w, r)
	})
}
