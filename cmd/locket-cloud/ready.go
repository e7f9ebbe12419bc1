package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// readyCommand checks a relay's health where no other program can, such as in the health check of
// an image.
func (a *app) readyCommand() *cobra.Command {
	var url, config string
	cmd := &cobra.Command{
		Use: "ready [--url URL | --config FILE]", Short: "Check whether a relay is ready", Args: nothing,
		Long: `Asks a relay's /readyz. The exit code is 0 if the relay and its store answer, and otherwise 1.
Without --url it asks the relay of this machine, where the settings of 'serve' say that it
listens: those in --config and in the environment, or else port 7440. If that relay has a
certificate, the certificate has to be valid.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url != "" {
				return a.ready(cmd.Context(), url, nil)
			}
			var f serveFlags
			serve := &cobra.Command{}
			f.add(serve)
			if err := serve.Flags().Set("config", config); err != nil {
				return err
			}
			if err := serve.PreRunE(serve, nil); err != nil {
				return err
			}
			url, trust, err := f.ownURL()
			if err != nil {
				return err
			}
			return a.ready(cmd.Context(), url, trust)
		},
	}
	cmd.Flags().StringVar(&url, "url", url, "`URL` of the relay")
	cmd.Flags().StringVar(&config, "config", "", "TOML `file` with the settings of the relay on this machine; also "+fileVariable)
	cmd.MarkFlagsMutuallyExclusive("url", "config")
	return cmd
}

// ownURL returns the URL at which this machine reaches a relay with these settings, and how to check
// its certificate; nil means that it has none.
func (f *serveFlags) ownURL() (url string, trust *tls.Config, err error) {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil || port == "0" {
		return "", nil, fmt.Errorf("%w: the relay listens on %q, which says no port: give --url", errUsage, f.listen)
	}
	switch host {
	case "", net.IPv4zero.String():
		host = "127.0.0.1"
	case net.IPv6unspecified.String():
		host = net.IPv6loopback.String()
	}
	at := net.JoinHostPort(host, port)
	switch {
	case f.cert != "":
		trust, err = trustOnly(f.cert)
	case len(f.hosts) > 0:
		trust = &tls.Config{ServerName: f.hosts[0]} // of a public authority, or of one that the system trusts
	default:
		return "http://" + at, nil, nil
	}
	return "https://" + at, trust, err
}

// trustOnly returns a configuration that trusts the first certificate of a file, and connects to
// the first name in it.
func trustOnly(file string) (*tls.Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(leaf)
		trust := &tls.Config{RootCAs: roots}
		switch {
		case len(leaf.DNSNames) > 0:
			trust.ServerName = leaf.DNSNames[0]
		case len(leaf.IPAddresses) > 0:
			trust.ServerName = leaf.IPAddresses[0].String()
		}
		return trust, nil
	}
	return nil, fmt.Errorf("%s: it has no certificate in PEM", file)
}

func (a *app) ready(ctx context.Context, url string, trust *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("%w: --url: %w", errUsage, err)
	}
	// A transport of its own, so that no proxy of the environment is used.
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext, TLSClientConfig: trust, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 512)) // as much of the answer as came
		return fmt.Errorf("the relay is not ready: %s %s", res.Status, why)
	}
	return a.print(map[string]bool{"ready": true}, "The relay is ready.")
}
