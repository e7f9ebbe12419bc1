package testservers

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// Google starts fake-gcs-server with an empty bucket, behind a front. It speaks the JSON API, with
// resumable uploads, and the XML API's reads; it does not authenticate clients.
func Google(tb testing.TB, bucket string) *Front {
	tb.Helper()
	f := newFront(tb)
	path := goTool(tb, "fake-gcs-server")
	for range 5 { // another process may take the port meanwhile
		addr := freeport.Addr(tb)
		host, port, _ := net.SplitHostPort(addr)
		p := start(tb, path, []string{"-scheme", "http", "-host", host, "-port", port, "-public-host", addr, "-external-url", f.URL,
			"-backend", "memory", "-log-level", "info"}, nil)
		if _, ok := p.await(tb, "server started"); !ok {
			continue
		}
		f.pass(&url.URL{Scheme: "http", Host: addr})
		res, err := http.Post(f.URL+"/storage/v1/b?project=test", "application/json", strings.NewReader(fmt.Sprintf(`{"name":%q}`, bucket)))
		if err != nil {
			tb.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusOK {
			tb.Fatalf("make bucket %s: %s: %s", bucket, res.Status, p.log())
		}
		return f
	}
	tb.Fatal("fake-gcs-server does not start")
	return nil
}

// Azure starts Azurite's blob service behind a front, with one account, no containers, and a key in
// base64. It checks signatures (SharedKey) like Azure. The account's URL is the front's and
// /account.
func Azure(tb testing.TB, account, key string) *Front {
	tb.Helper()
	f := newFront(tb)
	main := filepath.Join(npmFolder(tb), "node_modules", "azurite", "dist", "src", "blob", "main.js")
	p := start(tb, "node", []string{main, "--inMemoryPersistence", "--blobPort", "0", "--disableTelemetry", "--skipApiVersionCheck", "--silent"},
		[]string{"AZURITE_ACCOUNTS=" + account + ":" + key})
	at, ok := p.await(tb, "successfully listens on ")
	if !ok {
		tb.Fatalf("azurite does not start: %s", p.log())
	}
	u, err := url.Parse(strings.TrimSpace(at))
	if err != nil {
		tb.Fatal(err)
	}
	f.pass(u)
	return f
}
