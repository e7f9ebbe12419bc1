package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// certificates says where TLS has its certificate from: two files, or an ACME
// authority, which looks at port 443 of each name for its proof (TLS-ALPN-01).
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
		return fmt.Errorf("%w: --tls-cert and --tls-key go together", errUsage)
	case c.cert != "" && len(c.hosts) > 0:
		return fmt.Errorf("%w: --tls-cert or --acme, not both", errUsage)
	case len(c.hosts) > 0 && c.cache == "" && data == "":
		return fmt.Errorf("%w: --acme-cache is needed with --db: where certificates are kept", errUsage)
	}
	return nil
}

func (c *certificates) on() bool { return c.cert != "" || len(c.hosts) > 0 }

// config gives nil for plain HTTP.
func (c *certificates) config(data string, log *slog.Logger) (*tls.Config, error) {
	switch {
	case c.cert != "":
		files := &pairFiles{cert: c.cert, key: c.key, now: time.Now, log: log}
		if err := files.load(); err != nil {
			return nil, err
		}
		return &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS13}, nil
	case len(c.hosts) > 0:
		dir := c.cache
		if dir == "" {
			dir = filepath.Join(data, "certificates")
		}
		m := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), HostPolicy: autocert.HostWhitelist(c.hosts...),
			Email: c.mail, Client: &acme.Client{DirectoryURL: c.authority, UserAgent: "locket-cloud"}}
		// An authority's probe may come with TLS 1.2.
		return &tls.Config{GetCertificate: m.GetCertificate, NextProtos: []string{"http/1.1", acme.ALPNProto}, MinVersion: tls.VersionTLS12}, nil
	}
	return nil, nil
}
