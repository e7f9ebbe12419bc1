package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
)

// certificates says where TLS gets its certificate from: two files, or an ACME authority, which
// looks for the proof at port 443 of each name (TLS-ALPN-01).
type certificates struct {
	cert, key string
	hosts     []string
	authority string
	mail      string
	cache     string
}

func (c *certificates) check(data string) error {
	switch {
	case (c.cert == "") != (c.key == ""):
		return fmt.Errorf("%w: --tls-cert and --tls-key need each other", errUsage)
	case c.cert != "" && len(c.hosts) > 0:
		return fmt.Errorf("%w: --tls-cert or --acme, not both", errUsage)
	case len(c.hosts) > 0 && c.cache == "" && data == "":
		return fmt.Errorf("%w: --acme with --db needs --acme-cache: where certificates are kept", errUsage)
	case len(c.hosts) > 0 && !strings.HasPrefix(c.authority, "https://"):
		return fmt.Errorf("%w: --acme-directory %q: want https://…", errUsage, c.authority)
	}
	for _, host := range c.hosts {
		if !strings.Contains(host, ".") || strings.ContainsAny(host, ":/* ") {
			return fmt.Errorf("%w: --acme %q: want the name that devices connect to, such as relay.example.org, without a port", errUsage, host)
		}
	}
	return nil
}

func (c *certificates) on() bool { return c.cert != "" || len(c.hosts) > 0 }

// source is where certificates come from. The zero value means plain HTTP.
type source struct {
	config *tls.Config // nil for plain HTTP
	acme   *autocert.Manager
	hosts  []string
	log    *slog.Logger
}

func (c *certificates) source(data string, log *slog.Logger) (source, error) {
	switch {
	case c.cert != "":
		files := &pairFiles{cert: c.cert, key: c.key, now: time.Now, log: log}
		if err := files.load(); err != nil {
			return source{}, err
		}
		return source{config: &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS13}}, nil
	case len(c.hosts) > 0:
		dir := cmp.Or(c.cache, filepath.Join(data, "certificates"))
		m := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), HostPolicy: autocert.HostWhitelist(c.hosts...), Email: c.mail,
			Client: &acme.Client{DirectoryURL: c.authority, UserAgent: "locket-cloud", HTTPClient: &http.Client{Transport: &overheard{log: log}, Timeout: time.Minute}}}
		// An authority's probe may come with TLS 1.2.
		return source{config: &tls.Config{GetCertificate: m.GetCertificate, NextProtos: []string{"http/1.1", acme.ALPNProto}, MinVersion: tls.VersionTLS12},
			acme: m, hosts: c.hosts, log: log}, nil
	}
	return source{}, nil
}

// How often to request a missing certificate: authorities refuse clients that ask too often (Let's
// Encrypt: five failures per name and hour). An existing certificate is checked every hour.
const (
	firstTry = time.Minute
	lastTry  = time.Hour
)

// run gets the certificates before the first device connects, until ctx is done. It logs the
// result, and certificates that are not renewed in time. The manager does the renewing. Call run
// once the relay serves, because the relay answers the authority's check.
func (s source) run(ctx context.Context) error {
	if s.acme == nil {
		return nil
	}
	var all sync.WaitGroup
	for _, host := range s.hosts {
		all.Go(func() { s.watch(ctx, host) })
	}
	all.Wait()
	return nil
}

func (s source) watch(ctx context.Context, host string) {
	said := time.Time{} // the end of the certificate that was logged last
	pace := retry.Backoff{First: firstTry, Most: lastTry}
	for {
		end, late, err := s.get(host)
		pause := lastTry
		switch {
		case err != nil:
			pause = pace.Next()
			s.log.Error("no certificate: devices can't connect. The authority must reach this relay at port 443 of the name",
				"host", host, "authority", s.acme.Client.DirectoryURL, "error", err, "again_in", pause.String())
		case late:
			s.log.Error("the certificate is not renewed", "host", host, "authority", s.acme.Client.DirectoryURL, "until", end)
		default:
			if !end.Equal(said) {
				s.log.Warn("certificate", "host", host, "until", end) // with --no-access-log, too
			}
			said = end
			pace.Reset()
		}
		if !wait.For(ctx, pause) {
			return
		}
	}
}

// get asks for the certificate like a device that connects. It returns until when the certificate
// is valid, and whether it should already have been renewed.
func (s source) get(host string) (end time.Time, late bool, err error) {
	c, err := s.acme.GetCertificate(&tls.ClientHelloInfo{ServerName: host, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
	if err != nil {
		return time.Time{}, false, err
	}
	if c.Leaf == nil {
		return time.Time{}, false, errors.New("the certificate can't be read")
	}
	left := time.Until(c.Leaf.NotAfter) // it is renewed when a third of its life, at most 30 days, is left
	return c.Leaf.NotAfter, left < min(c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)/4, 25*24*time.Hour), nil
}
