package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// pipes is a listener of connections in memory, whose deadlines use the clock of a synctest
// bubble.
type pipes struct {
	next chan net.Conn
	done chan struct{}
	open []net.Conn
}

// addressed is a connection with the address it comes from.
type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial returns the other end of a connection from an address.
func (p *pipes) dial(from string) net.Conn {
	here, there := net.Pipe()
	p.open = append(p.open, here)
	p.next <- addressed{there, &net.TCPAddr{IP: net.ParseIP(from), Port: 1}}
	return here
}

// over serves h in a bubble while f runs.
func over(t *testing.T, h http.Handler, f func(t *testing.T, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{next: make(chan net.Conn), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, p, h, slog.New(slog.DiscardHandler)) }()
		defer func() {
			for _, c := range p.open {
				_ = c.Close()
			}
			cancel()
		}()
		f(t, p)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A body that arrives a byte at a time is waited for about as long as any other body, at
// every door, whether it is read or not.
func TestThreatBodiesThatStallAtTheDoor(t *testing.T) {
	for _, path := range []string{"/read", "/ignored"} {
		over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/read" {
				if _, err := io.ReadAll(r.Body); err == nil {
					t.Error("the body came to its end")
				}
			}
		}), func(t *testing.T, p *pipes) {
			c := p.dial("192.0.2.1")
			go func() { _, _ = io.Copy(io.Discard, c) }()
			begun := time.Now()
			if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", path); err != nil {
				t.Fatal(err)
			}
			for i := 0; ; i++ {
				if i > 1000 {
					t.Fatal("the connection does not end")
				}
				if _, err := c.Write([]byte("x")); err != nil {
					break
				}
				time.Sleep(20 * time.Second)
			}
			if took := time.Since(begun); took > 2*time.Minute {
				t.Errorf("%s: held for %s", path, took)
			}
		})
	}
}

// What arrives slowly but steadily is read, and so is what waits for the reader.
func TestSlowBodyIsRead(t *testing.T) {
	over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, b := 0, make([]byte, 64<<10)
		for {
			m, err := r.Body.Read(b)
			n += m
			time.Sleep(30 * time.Second) // as an import does with what it has read
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Errorf("after %d: %v", n, err)
				break
			}
		}
		fmt.Fprint(w, n)
	}), func(t *testing.T, p *pipes) {
		c := p.dial("192.0.2.1")
		defer c.Close()
		const size = 40 * (64 << 10)
		go func() {
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", size)
			for range 40 {
				time.Sleep(10 * time.Second)
				_, _ = c.Write(make([]byte, 64<<10))
			}
		}()
		b, err := io.ReadAll(c)
		if err != nil || !strings.HasSuffix(string(b), fmt.Sprint(size)) {
			t.Errorf("%s, %v", b, err)
		}
	})
}

// Strangers may hold a limited number of places: one more replaces the first one. Known
// clients keep their places.
func TestThreatDoorHeldByStrangers(t *testing.T) {
	api := New(Options{Token: "a token of the owner"})
	for from, most := range map[string]int{"192.0.2.1": maxStrangersFrom, "127.0.0.1": maxStrangers} {
		over(t, api, func(t *testing.T, p *pipes) {
			known := p.dial(from)
			answers := bufio.NewReader(known)
			alive := func() bool {
				if _, err := io.WriteString(known, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/none HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a token of the owner\r\n\r\n"); err != nil {
					return false
				}
				for range 2 {
					res, err := http.ReadResponse(answers, nil)
					if err != nil {
						return false
					}
					_, _ = io.Copy(io.Discard, res.Body)
				}
				return true
			}
			if !alive() {
				t.Fatal("the owner is not let in")
			}
			var list []net.Conn
			for range most + 3 {
				list = append(list, p.dial(from))
				synctest.Wait()
			}
			gone := 0
			for _, c := range list {
				_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); err == io.EOF {
					gone++
				}
			}
			if gone != 3 {
				t.Errorf("%s: %d were hung up on", from, gone)
			}
			if !alive() {
				t.Error("the owner was hung up on")
			}
			for _, c := range list {
				_ = c.Close()
			}
		})
	}
}

// One user of this machine, or one address, takes places from nobody else, and where all
// places are held, the one that has the most gives one up.
func TestThreatDoorHeldByALocalUser(t *testing.T) {
	c := newConns()
	open := func(from source) *guest {
		a, b := net.Pipe()
		t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
		return c.add(a, from)
	}
	held := func(g *guest) bool { return slices.Contains(c.strangers, g) }
	me, other := source{user: int64(os.Getuid())}, source{user: int64(os.Getuid()) + 1}
	honest := open(me)
	for range 3 * maxStrangersFrom {
		open(other)
	}
	if !held(honest) || len(c.strangers) != 1+maxStrangersFrom {
		t.Errorf("%d places held, the honest one's: %v", len(c.strangers), held(honest))
	}
	lan := open(source{addr: netip.MustParseAddr("192.0.2.1")})
	for range 2 * maxStrangers {
		open(me)
	}
	if !held(lan) || len(c.strangers) != maxStrangers {
		t.Errorf("%d places held, that of the network: %v", len(c.strangers), held(lan))
	}
	if newcomer := open(source{addr: netip.MustParseAddr("192.0.2.2")}); !held(newcomer) || !held(lan) || len(c.strangers) != maxStrangers {
		t.Error("a newcomer finds no place where one user holds nearly all")
	}
}

// A client that asks for health, which needs no key, stays a stranger, and so does one that
// reads metrics.
func TestThreatHealthHoldsNoPlace(t *testing.T) {
	api := New(Options{Token: "a token of the owner", MetricsToken: "a token of metrics"})
	for path, token := range map[string]string{"/healthz": "", "/metrics": "a token of metrics", "/v1/none": "a token of the owner"} {
		c := newConns()
		a, b := net.Pipe()
		t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
		ctx := c.begin(t.Context(), addressed{a, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}})
		r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		api.ServeHTTP(httptest.NewRecorder(), r)
		if owner := path == "/v1/none"; guestOf(ctx).known != owner || (len(c.strangers) == 0) != owner {
			t.Errorf("%s: known %v, %d strangers", path, guestOf(ctx).known, len(c.strangers))
		}
	}
}

// The system says to whom a connection over loopback belongs.
func TestUserOfAConnection(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			if strings.HasPrefix(address, "[") {
				continue // no IPv6 here
			}
			t.Fatal(err)
		}
		defer l.Close()
		out, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s := sourceOfConn(in)
		if runtime.GOOS == "linux" && s.user != int64(os.Getuid()) || s.addr.IsValid() || s.most() != maxStrangers {
			t.Errorf("%s: %+v", address, s)
		}
	}
}

// An app may have a limited number of connections, and the owner any number.
func TestConnectionsOfAnApp(t *testing.T) {
	c := newConns()
	open := func() *guest {
		a, b := net.Pipe()
		t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
		return guestOf(c.begin(t.Context(), addressed{a, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}))
	}
	var first *guest
	for i := range maxAppConns + 1 {
		g := open()
		if i == 0 {
			first = g
		}
		if g.admitted("claude") != (i < maxAppConns) {
			t.Errorf("connection %d", i)
		}
		if !open().admitted("") {
			t.Error("the owner's is refused")
		}
	}
	c.changed(first.conn, http.StateClosed)
	if !open().admitted("claude") || open().admitted("claude") || !open().admitted("other") {
		t.Error("a place that was left is not given again, or twice")
	}
}

// Guessing keys from an address is slowed down; clients with right keys are not slowed
// down, nor is anybody at another address.
func TestThreatKeysGuessed(t *testing.T) {
	now := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	api := New(Options{Token: "a token of the owner", Now: func() time.Time { return now }})
	ask := func(from, token string) int {
		r := httptest.NewRequest("GET", "http://localhost/v1/openapi.yaml", nil)
		r.RemoteAddr = from
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code
	}
	const guesser, other, here = "192.0.2.1:1", "192.0.2.2:1", "127.0.0.1:1"
	if c := ask(guesser, "a token of the owner"); c != 200 {
		t.Fatal(c)
	}
	for i := range wrongKeys {
		if c := ask(guesser, fmt.Sprint("guess ", i)); c != 401 {
			t.Errorf("guess %d: %d", i, c)
		}
	}
	if c := ask(guesser, "one more"); c != 429 {
		t.Errorf("one more: %d", c)
	}
	if c := ask(guesser, ""); c != 401 {
		t.Errorf("without a key: %d", c)
	}
	if c := ask(guesser, "a token of the owner"); c != 200 {
		t.Errorf("the right key: %d", c)
	}
	for range wrongKeys + 1 {
		if c := ask(here, "guess"); c != 401 {
			t.Errorf("on loopback: %d", c)
		}
	}
	if c := ask(other, "guess"); c != 401 {
		t.Errorf("from elsewhere: %d", c)
	}
	for i := range wrongKeys {
		ask(fmt.Sprintf("[2001:db8::%x]:1", i+1), fmt.Sprint("guess ", i))
	}
	if c := ask("[2001:db8::ffff]:1", "guess"); c != 429 {
		t.Errorf("from another address of one network: %d", c)
	}
	now = now.Add(time.Minute)
	if c := ask(guesser, "later"); c != 401 {
		t.Errorf("a minute later: %d", c)
	}
}

// Behind a proxy that the wearer named, each of its clients has an address of its own,
// which the client can't choose. What an unnamed proxy says is not believed.
func TestThreatKeysGuessedThroughAProxy(t *testing.T) {
	proxies, err := clientaddr.ParseProxies([]string{"127.0.0.1", "192.0.2.80"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now() // and no time passes in which tries are regained
	api := Forwarded(proxies, New(Options{Token: "a token of the owner", Now: func() time.Time { return now }}))
	ask := func(from, forwarded string) int {
		r := httptest.NewRequest("GET", "http://localhost/v1/openapi.yaml", nil)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", forwarded)
		r.Header.Set("Authorization", "Bearer guess")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code
	}
	for _, proxy := range []string{"127.0.0.1:9", "192.0.2.80:9"} {
		guesser := map[string]string{"127.0.0.1:9": "203.0.113.1", "192.0.2.80:9": "203.0.113.2"}[proxy]
		for i := range wrongKeys {
			if c := ask(proxy, fmt.Sprintf("198.51.100.%d, %s", i, guesser)); c != 401 {
				t.Fatalf("guess %d through %s: %d", i, proxy, c)
			}
		}
		if c := ask(proxy, "198.51.100.99, "+guesser); c != 429 {
			t.Errorf("one more through %s, under another name: %d", proxy, c)
		}
		if c := ask(proxy, "203.0.113.7"); c != 401 {
			t.Errorf("another client of %s: %d", proxy, c)
		}
	}
	for i := range wrongKeys {
		ask("192.0.2.1:1", fmt.Sprintf("198.51.100.%d", i))
	}
	if c := ask("192.0.2.1:1", "198.51.100.99"); c != 429 {
		t.Errorf("a stranger that calls itself a proxy: %d", c)
	}
}

// The Unix socket is in a folder of the user's: many connections at once do not count as
// strangers there.
func TestManyConnectionsOnTheSocket(t *testing.T) {
	c := newConns()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if guestOf(c.begin(t.Context(), addressed{a, &net.UnixAddr{Net: "unix"}})) != nil || guestOf(c.begin(t.Context(), addressed{b, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}})) == nil {
		t.Error("the socket is bounded, or TCP is not")
	}
}
