package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// shape is a valid request of a route; a fuzzed one departs from it.
type shape struct {
	method, path string // the path below the space's, or one of the relay's own
	query        []string
	field        [][2]string
	body         []byte
}

// shapes returns a request for every route in docs/protocol.md.
func shapes(h *storetest.Household, d *envelope.Delta) []shape {
	blob := strings.Repeat("ab", 32)
	return []shape{
		{"POST", "/log", nil, nil, h.Entries[len(h.Entries)-1].Bytes()},
		{"GET", "/log", []string{"after", "limit"}, nil, nil},
		{"POST", "/deltas", nil, nil, page.EncodeItems([][]byte{d.Bytes()})},
		{"GET", "/deltas", []string{"after", "limit", "wait"}, nil, nil},
		{"POST", "/forget", nil, nil, page.EncodeRefs([]page.Ref{{Member: h.Owner.ID, Incarnation: 1, Seq: 99}})},
		{"POST", "/checkpoints", nil, nil, []byte{0x82, 0x40, 0x40}},
		{"GET", "/checkpoints", nil, nil, nil},
		{"GET", "/places", []string{"cursor"}, nil, nil},
		{"DELETE", "/checkpoints/" + blob, nil, nil, nil},
		{"POST", "/votes", nil, nil, []byte{0x82, 0x40, 0x40}},
		{"POST", "/compact", nil, nil, make([]byte, 32)},
		{"PUT", "/blobs/" + blob, nil, [][2]string{{"Content-Range", "bytes 0-3/4"}}, []byte("1234")},
		{"GET", "/blobs/" + blob, nil, [][2]string{{"Range", "bytes=0-"}}, nil},
		{"HEAD", "/blobs/" + blob, nil, nil, nil},
		{"DELETE", "/blobs/" + blob, nil, nil, nil},
		{"DELETE", "", nil, nil, nil},
		{"GET", "/events", nil, nil, nil},
		{"GET", "/v1/account", nil, nil, nil},
		{"DELETE", "/v1/account", nil, nil, nil},
		{"POST", "/v1/mailboxes/" + blob[:32], nil, nil, []byte("sealed")},
		{"GET", "/v1/mailboxes/" + blob[:32], []string{"after", "limit", "wait"}, nil, nil},
		{"GET", "/healthz", nil, nil, nil},
		{"GET", "/readyz", nil, nil, nil},
	}
}

// own reports whether a shape's path is the relay's own.
func (sh shape) own() bool {
	return strings.HasPrefix(sh.path, "/v1/") || strings.HasSuffix(sh.path, "z")
}

// A new route has to be fuzzed, too.
func TestEveryRouteIsFuzzed(t *testing.T) {
	h := storetest.NewHousehold(t, "routes")
	fuzzed := map[string]bool{}
	for _, sh := range shapes(h, h.Delta(h.Owner, "text")) {
		route := sh.path
		if !sh.own() {
			route = "/v1/spaces/:space" + route
		}
		for _, what := range []string{"/blobs/", "/checkpoints/", "/mailboxes/"} {
			if before, _, ok := strings.Cut(route, what); ok {
				route = before + what + ":id"
			}
		}
		fuzzed[sh.method+" "+route] = true
	}
	all := api.Routes()
	for _, r := range all {
		if !fuzzed[r] {
			t.Errorf("%s is not fuzzed", r)
		}
	}
	if len(all) != len(fuzzed) {
		t.Errorf("%d routes, %d fuzzed", len(all), len(fuzzed))
	}
}

// odd are replacements for values. None of them makes a relay wait.
var odd = []string{"", "0", "-1", "1", "18446744073709551615", "18446744073709551616", "1e9", "%00", "%2e%2e%2f", "../..", "é", "'; DROP TABLE deltas; --",
	strings.Repeat("9", 400), "bytes 3-0/4", "bytes 0-18446744073709551615/18446744073709551615", "bytes */0", "bytes=5-2", "bytes=-0", "chunked", "gzip", "text/html"}

// choices reads decisions from fuzzed bytes; after the last byte, all are 0.
type choices struct{ b []byte }

func (c *choices) next(n int) int {
	if len(c.b) == 0 || n < 1 {
		return 0
	}
	v := int(c.b[0])
	c.b = c.b[1:]
	return v % n
}

func (c *choices) odd() string { return odd[c.next(len(odd))] }

// body departs from a valid one.
func (c *choices) body(good []byte) []byte {
	switch b := slices.Clone(good); c.next(6) {
	case 0:
		return b
	case 1:
		return b[:c.next(len(b)+1)]
	case 2:
		for range 1 + c.next(4) {
			if len(b) > 0 {
				b[(c.next(256)<<8|c.next(256))%len(b)] ^= byte(1 << c.next(8))
			}
		}
		return b
	case 3:
		return slices.Concat(b, c.b)
	case 4: // deeply nested, or beyond the end
		return slices.Concat(bytes.Repeat([]byte{[]byte{0x81, 0x9f, 0xbf, 0xd8, 0xa1}[c.next(5)]}, 1+c.next(256)*16), c.b)
	default:
		return c.b
	}
}

// Whatever comes to a route with a valid signature, the relay answers at once, describes the error
// in a problem, never reports an internal error, and no other space sees any of it.
func FuzzRoutes(f *testing.F) {
	s := serve(f, relay.Config{}, nil)
	h, other := s.settle("fuzzed"), s.settle("other")
	d := s.send(h, h.Owner, "first")[0]
	theirs := s.send(other, other.Owner, "not touched")[0]
	all := shapes(h, d)
	for i := range all {
		f.Add([]byte{byte(i)})
		for mode := range byte(6) {
			f.Add([]byte{byte(i), 0, 0, 0, mode, 3, 1, 4, 1, 5})
		}
	}
	client := &http.Client{Timeout: time.Minute}
	watcher := s.as(other, other.Owner)
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &choices{b}
		sh := all[c.next(len(all))]
		r := s.owner(h, sh.method, sh.path)
		if sh.own() {
			r.path = sh.path
		}
		if c.next(4) == 1 {
			r.method = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"}[c.next(6)]
		}
		if c.next(4) == 1 {
			r.path += "/" + []string{"..", "%2e%2e", "x", "log", "blobs", memory.SpaceID{}.String()}[c.next(6)]
		}
		for _, name := range sh.query {
			if c.next(2) == 1 {
				r.query += "&" + name + "=" + strings.ReplaceAll(strings.ReplaceAll(c.odd(), " ", "+"), "%00", "%01")
			}
		}
		r.query = strings.TrimPrefix(r.query, "&")
		for _, kv := range sh.field {
			r.field[kv[0]] = kv[1]
			if c.next(3) == 1 {
				r.field[kv[0]] = strings.Trim(c.odd(), " ")
			}
		}
		if sh.body != nil || c.next(8) == 1 {
			r.body = c.body(sh.body)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res, err := client.Do(r.request(t, s.addr).WithContext(ctx))
		if err != nil {
			t.Fatalf("%s %s?%s: %v", r.method, r.path, r.query, err)
		}
		defer res.Body.Close()
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			return // it has no end
		}
		said, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode >= 400 && r.method != "HEAD" {
			if p, _ := page.ParseProblem(said); p.Status != res.StatusCode {
				t.Errorf("%s %s: %d without a problem: %q", r.method, r.path, res.StatusCode, said)
			}
		}
		if res.StatusCode == http.StatusInternalServerError {
			t.Errorf("%s %s?%s %q %x: %s\n%s", r.method, r.path, r.query, r.field, r.body, said, s.logs)
		}
		ds, _, err := watcher.Pull(t.Context(), 0, 9, 0)
		if err != nil || len(ds) != 1 || ds[0].Header.Hash() != theirs.Header.Hash() {
			t.Fatalf("another space has changed: %d deltas, %v", len(ds), err)
		}
	})
}
