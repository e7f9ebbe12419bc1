package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// bodySize is the size of a sealed delta's body with about ten memories of 142 bytes each.
const bodySize = 1400

// panics implements the part of testing.TB that making households needs.
type panics struct{ testing.TB }

func (panics) Helper()          {}
func (panics) Fatal(why ...any) { panic(fmt.Sprint(why...)) }

func houses(n int) []*storetest.Household {
	tag := rand.Text() // so that a second run finds none of them there
	out := make([]*storetest.Household, n)
	for i := range out {
		out[i] = storetest.NewHousehold(panics{}, fmt.Sprintf("%s %d", tag, i))
	}
	return out
}

// settleAll creates the households' spaces at a relay.
func settleAll(ctx context.Context, addr string, all []*storetest.Household) error {
	for _, h := range all {
		r, err := remote.New("http://"+addr, remote.Option{})
		if err != nil {
			return err
		}
		as := r.Space(h.Space, h.Owner.ID, httpsig.KeySigner(h.Owner.Key))
		for _, e := range h.Entries {
			if err := as.AppendLog(ctx, e, ""); err != nil {
				return err
			}
		}
		r.Close()
	}
	return nil
}

// signedRequest returns the bytes of a request. It is made and signed in advance, because the time
// of the client does not count for the relay.
func signedRequest(addr, method, path, query string, h *storetest.Household, who *storetest.Person, body []byte) ([]byte, error) {
	digest := ""
	if len(body) > 0 {
		digest = httpsig.Digest(body)
	}
	head, err := signedHead(addr, method, path, query, h, who, len(body), digest)
	return append(head, body...), err
}

// signedHead returns the head of a request for a body of this size and digest.
func signedHead(addr, method, path, query string, h *storetest.Household, who *storetest.Person, size int, digest string) ([]byte, error) {
	path = "/v1/spaces/" + h.Space.String() + path
	fields := http.Header{}
	components := []string{"@method", "@authority", "@path", "@query"}
	if size > 0 {
		fields.Set("Content-Digest", digest)
		fields.Set("Content-Type", page.CBOR)
		components = append(components, "content-digest")
	}
	m := httpsig.Message{Method: method, Authority: addr, Path: path, Query: query, Field: fields.Values}
	input, sig, err := httpsig.Sign(m, httpsig.KeySigner(who.Key), httpsig.Params{Components: components, Alg: httpsig.Algorithm, Created: time.Now(),
		Nonce: httpsig.NewNonce(), KeyID: h.Space.String() + "/" + who.ID.String()})
	if err != nil {
		return nil, err
	}
	fields.Set("Signature-Input", input)
	fields.Set("Signature", sig)
	fields.Set("Host", addr)
	if size > 0 || method == "POST" {
		fields.Set("Content-Length", strconv.Itoa(size))
	}
	target := path
	if query != "" {
		target += "?" + query
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, target)
	err = fields.Write(&b)
	b.WriteString("\r\n")
	return b.Bytes(), err
}

// nextDeltas returns the body of an append: this many deltas of a household's owner.
func nextDeltas(h *storetest.Household, n int) []byte {
	items := make([][]byte, n)
	body := make([]byte, bodySize)
	for i := range items {
		rand.Read(body)
		items[i] = h.Delta(h.Owner, string(body)).Bytes()
	}
	return page.EncodeItems(items)
}

// conn is one persistent connection of a client.
type cloudConn struct {
	net.Conn
	r *bufio.Reader
}

func dialCloud(ctx context.Context, addr string) (*cloudConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &cloudConn{c, bufio.NewReader(c)}, nil
}

// ask sends a request and reads its answer to the end.
func (c *cloudConn) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", res.Status, b)
	}
	return nil
}

// inTurn lets all connections work at once, each sending its requests one after the other, and
// returns how long that took.
func inTurn(ctx context.Context, addr string, requests [][][]byte) (time.Duration, error) {
	conns := make([]*cloudConn, len(requests))
	for i := range conns {
		c, err := dialCloud(ctx, addr)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		conns[i] = c
	}
	errs := make([]error, len(conns))
	var wg sync.WaitGroup
	began := time.Now()
	for i, c := range conns {
		wg.Go(func() {
			for _, r := range requests[i] {
				if errs[i] = c.ask(r); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}
