package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// listening serves until the test ends, and checks that serving ends without
// error.
func listening(t *testing.T, network, address string, o serve.Options) string {
	t.Helper()
	l, err := serve.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve.Serve(ctx, l, serve.New(o), slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "locket") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s.sock")
}

// What a client over the network is told, and what it is asked for.
func TestOverTheNetwork(t *testing.T) {
	services := nodetest.New(t, nodetest.Cheap).Services()
	for _, network := range []string{"unix", "tcp"} {
		c := connect(t, network, services)
		if err := c.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		if doc, err := c.OpenAPI(t.Context()); err != nil || !bytes.HasPrefix(doc, []byte("openapi: 3.1.0\n")) {
			t.Fatalf("%.40q, %v", doc, err)
		}
	}
	wrong := serve.Dial("tcp", listening(t, "tcp", "127.0.0.1:0", serve.Options{Services: services, Token: token, Loopback: true}), "another token")
	defer wrong.Close()
	_, err := wrong.Status(t.Context())
	if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Status != 401 {
		t.Fatal(err)
	}
}

// pages is a node with many memories.
type pages struct {
	serve.Reader
	texts []string
}

func (p pages) List(_ context.Context, q serve.ListQuery) (page serve.ListPage, err error) {
	at := 0
	if q.Cursor != "" {
		if at, err = strconv.Atoi(q.Cursor); err != nil {
			return page, err
		}
	}
	for ; at < len(p.texts) && len(page.Memories) < q.Limit; at++ {
		page.Memories = append(page.Memories, memory.Memory{Candidate: memory.Candidate{Text: p.texts[at]}})
	}
	if at < len(p.texts) {
		page.Next = strconv.Itoa(at)
	}
	return page, nil
}

// A stream of all memories goes through all pages.
func TestLongListStreams(t *testing.T) {
	const many = serve.MaxPage*2 + 7
	var p pages
	for i := range many {
		p.texts = append(p.texts, fmt.Sprint("memory ", i))
	}
	c := connect(t, "unix", serve.Services{Reader: p})
	seen := map[string]bool{}
	for m, err := range c.All(t.Context(), serve.ListQuery{Type: memory.Semantic}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[m.Text] = true
	}
	if len(seen) != many {
		t.Fatalf("%d of %d", len(seen), many)
	}
}

// A stream that is followed ends when the server does, and when its reader
// stops reading; neither keeps the other waiting.
func TestStreamsEnd(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	address := socket(t)
	l, err := serve.Listen(t.Context(), "unix", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- serve.Serve(ctx, l, serve.New(serve.Options{Services: n.Services()}), slog.New(slog.DiscardHandler))
	}()
	c := serve.Dial("unix", address, "")
	defer c.Close()
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "My home is Lyon."}); err != nil {
		t.Fatal(err)
	}
	for range c.Changes(t.Context(), 0, true) {
		break
	}
	for ch, err := range c.Changes(t.Context(), 0, true) {
		if err == nil && ch.Seq > 0 {
			cancel()
			continue
		}
		if err != nil {
			break // cut off, or notified
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := c.Health(t.Context()); !serve.IsUnreachable(err) {
		t.Fatalf("after the end: %v", err)
	}
	if _, err := os.Stat(address); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the socket is left behind: %v", err)
	}
	// The same within this process.
	direct := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer direct.Close()
	for range direct.Changes(t.Context(), 0, true) {
		break
	}
	inner, stop := context.WithCancel(t.Context())
	for _, err := range direct.Changes(inner, 0, true) {
		stop()
		if err != nil {
			break
		}
	}
	stop()
}

func TestListen(t *testing.T) {
	address := socket(t)
	first, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // serves, as a daemon does
		for {
			c, err := first.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if _, err := serve.Listen(t.Context(), "unix", address); !errors.Is(err, serve.ErrRunning) {
		t.Fatalf("a socket that answers is taken over: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as a killed process leaves it
	first.Close()
	second, err := serve.Listen(t.Context(), "unix", address)
	if err != nil {
		t.Fatalf("a socket that nobody answers on: %v", err)
	}
	if info, err := os.Stat(address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is open to others: %v, %v", info, err)
	}
	second.Close()
	if err := os.WriteFile(address, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.Listen(t.Context(), "unix", address); err == nil {
		t.Fatal("a file that is no socket is taken over")
	}
	if b, err := os.ReadFile(address); err != nil || string(b) != "precious" {
		t.Fatalf("%q, %v", b, err)
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "api.token")
	if _, err := serve.ReadToken(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	made, err := serve.EnsureToken(path)
	if err != nil || len(made) < 26 {
		t.Fatalf("%d, %v", len(made), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	for range 2 {
		if again, err := serve.EnsureToken(path); err != nil || again != made {
			t.Fatal("another token", err)
		}
	}
	for _, bad := range []string{"", "short\n", "two words of some length\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := serve.EnsureToken(path); err == nil {
			t.Errorf("%q is a token", bad)
		}
	}
}

// Somebody else's server is not mistaken for a node.
func TestForeignServerIsNotANode(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_, _ = c.Read(make([]byte, 1024))
			_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://example.org/\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}
	}()
	c := serve.Dial("tcp", l.Addr().String(), token)
	defer c.Close()
	if err := c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "not Locket's API") {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times, with the token", n)
	}
}
