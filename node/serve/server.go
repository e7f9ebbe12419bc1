package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrRunning: a daemon already answers on the address.
var ErrRunning = errors.New("a daemon is running")

// Listen opens the endpoint that config.Config.Endpoint names. Only the owner
// can use a Unix socket. A socket on which nobody answers is replaced. The
// caller holds the home's lock, so that only one process does this.
func Listen(ctx context.Context, network, address string) (net.Listener, error) {
	var lc net.ListenConfig
	if network != "unix" {
		return lc.Listen(ctx, network, address)
	}
	var d net.Dialer
	if c, err := d.DialContext(ctx, network, address); err == nil {
		c.Close()
		return nil, fmt.Errorf("%w: it answers on %s", ErrRunning, address)
	}
	info, err := os.Lstat(address)
	switch {
	case err == nil && info.Mode()&fs.ModeSocket != 0:
		if err := os.Remove(address); err != nil {
			return nil, fmt.Errorf("taking over socket: %w", err)
		}
	case err == nil:
		return nil, fmt.Errorf("listening on %s: a file that is not a socket is there", address)
	}
	l, err := lc.Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	// The home has mode 0700, so nobody could connect before this.
	if err := os.Chmod(address, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("closing socket to others: %w", err)
	}
	return l, nil
}

// drainTime is how long requests may continue after Serve's context has ended.
const drainTime = 3 * time.Second

// Serve answers on l until ctx ends. Then running requests have 3 seconds to
// finish, and streams end at once. It limits connections by their users, and
// requires bodies to arrive at a minimum speed. It closes l. The error is nil
// after ctx has ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	guests := newConns()
	s := &http.Server{
		Handler:           bounded(h),
		ConnContext:       guests.begin,
		ConnState:         guests.changed,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return inner },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving API: %w", err)
	case <-ctx.Done():
	}
	drain, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer stop()
	err := s.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	<-done
	if err != nil {
		return fmt.Errorf("stopping API: %w", err)
	}
	return nil
}

// ReadToken reads the file with the bearer token. It returns fs.ErrNotExist if
// there is none yet.
func ReadToken(path string) (Secret, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("reading token file %s: want one word of 16 characters or more", path)
	}
	return Secret(token), nil
}

// EnsureToken reads the token, or makes one of at least 128 random bits, in a
// file that only its owner can read.
func EnsureToken(path string) (Secret, error) {
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("making token file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("making token file: %w", err)
	}
	made := rand.Text()
	_, err = f.WriteString(made + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("making token file: %w", err)
	}
	return Secret(made), nil
}
