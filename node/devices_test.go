package node_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/pairing"
	"github.com/locket-dev/locket/wasm/plugins"
)

// service is a relay that listens.
type service struct {
	url   string
	store *embedded.Store
	stop  func()
}

func serveRelay(t *testing.T) *service { return serveRelayIn(t, t.TempDir()) }

func serveRelayIn(t *testing.T, dir string) *service {
	t.Helper()
	r := relaytest.Serve(t, dir, relay.Config{}, api.Config{})
	return &service{url: r.URL, store: r.Store, stop: r.Stop}
}

// network is a connection to the relay that may fail.
type network struct {
	mu   sync.Mutex
	rng  *rand.Rand
	bad  bool                               // it fails, in one of the ways below
	lies func(*http.Request, []byte) []byte // what replaces the relay's answers
	next http.RoundTripper
}

func newNetwork(seed uint64) *network {
	return &network{rng: rand.New(rand.NewPCG(seed, seed)), next: &http.Transport{MaxIdleConnsPerHost: 4}}
}

func (n *network) fails(bad bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bad = bad
}

func (n *network) lie(f func(*http.Request, []byte) []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lies = f
}

func (n *network) draw() (way int, delay time.Duration, lies func(*http.Request, []byte) []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bad {
		return n.rng.IntN(10), time.Duration(n.rng.IntN(3)) * time.Millisecond, n.lies
	}
	return 9, 0, n.lies
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	way, delay, lies := n.draw()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	send := func() (*http.Response, error) {
		again := r.Clone(r.Context())
		if body != nil {
			again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		return n.next.RoundTrip(again)
	}
	if delay > 0 {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(delay):
		}
	}
	switch way {
	case 0: // the request is lost
		return nil, errors.New("network: lost")
	case 1: // it was processed, but the answer is lost
		if res, err := send(); err == nil {
			res.Body.Close()
		}
		return nil, errors.New("network: answer lost")
	case 2:
		return &http.Response{StatusCode: 500, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("oops")), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
	case 3: // twice
		if res, err := send(); err == nil {
			res.Body.Close()
		}
	}
	res, err := send()
	if err != nil || strings.HasSuffix(r.URL.Path, "/events") {
		return res, err
	}
	b, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	if lies != nil && res.StatusCode < 300 {
		b = lies(r, b)
		res.ContentLength = int64(len(b))
		res.Header.Set("Content-Length", "")
	}
	res.Body = io.NopCloser(bytes.NewReader(b))
	if way == 4 {
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b[:len(b)/2]), failing{}))
	}
	return res, nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// device is one of the wearer's devices, whose node can be closed and opened again.
type device struct {
	t    *testing.T
	cfg  config.Config
	net  *network
	skew time.Duration
	*node.Node
}

// settings has no plugins, because these tests need none.
func settings(t *testing.T, relay string) config.Config {
	t.Helper()
	all, err := plugins.All()
	if err != nil {
		t.Fatal(err)
	}
	var off []string
	for _, b := range all {
		off = append(off, b.Manifest.ID)
	}
	cfg := config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Maja", Zone: "Europe/Berlin",
		Plugins: config.Plugins{Disabled: off}, Sync: config.Sync{Relay: relay}}
	cfg.Defaults()
	cfg.Disk.Reserve = 1 << 20
	return cfg
}

func newDevice(t *testing.T, relay string, seed uint64) *device {
	d := &device{t: t, cfg: settings(t, relay), net: newNetwork(seed)}
	t.Cleanup(func() {
		if d.Node != nil {
			d.Node.Close()
		}
	})
	return d
}

func (d *device) init() string {
	d.t.Helper()
	phrase, err := node.Init(d.cfg, node.InitOptions{KeyFile: true})
	if err != nil {
		d.t.Fatal(err)
	}
	d.open()
	return phrase
}

func (d *device) open() {
	d.t.Helper()
	n, err := node.Open(d.cfg, node.Options{Cache: os.Getenv(plugincache.Env), HTTP: &http.Client{Transport: d.net}, Now: func() time.Time { return time.Now().Add(d.skew) }})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Node = n
	if ok, err := n.UnlockAsConfigured(d.t.Context()); err != nil || !ok {
		d.t.Fatal(ok, err)
	}
}

func (d *device) reopen() {
	d.t.Helper()
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.open()
}

// pair lets d pair with fresh.
func (d *device) pair(fresh *device) {
	d.t.Helper()
	joined := d.meet(fresh)
	if p, err := d.PairConfirm(d.t.Context(), serve.ConfirmRequest{Same: true}); err != nil || p.State != serve.PairDone {
		d.t.Fatalf("%+v, %v", p, err)
	}
	if err := <-joined; err != nil {
		d.t.Fatal(err)
	}
	fresh.open()
}

// meet has fresh join through d, up to the point where both show the same words. Fresh
// says that they are the same.
func (d *device) meet(fresh *device) (joined chan error) {
	d.t.Helper()
	p, err := d.PairInvite(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	url, code, err := pairing.ParseLink(p.Link)
	if err != nil {
		d.t.Fatal(err)
	}
	words := make(chan []string, 1)
	joined = make(chan error, 1)
	go func() {
		_, err := node.Join(d.t.Context(), fresh.cfg, node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: url}, code,
			func(w []string, _ string) bool { words <- w; return true })
		joined <- err
	}()
	if p, err = d.PairWait(d.t.Context()); err != nil || p.State != serve.PairCompare {
		d.t.Fatalf("%+v, %v", p, err)
	}
	if theirs := <-words; !slices.Equal(theirs, p.Words) {
		d.t.Fatalf("words %v here, %v there", p.Words, theirs)
	}
	return joined
}

func (d *device) sync() serve.SyncStatus {
	d.t.Helper()
	s, err := d.SyncNow(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// well syncs, and fails if anything is wrong.
func (d *device) well() {
	d.t.Helper()
	if s := d.sync(); s.Error != "" || s.Pending != 0 || len(s.Problems) != 0 {
		d.t.Errorf("sync: %+v", s)
	}
}

func (d *device) tell(text string, slot *memory.Slot) memory.ID {
	d.t.Helper()
	no := false
	r, err := d.Add(d.t.Context(), serve.AddRequest{Text: text, Infer: &no, Slot: slot, At: time.Now().Add(d.skew)})
	if err != nil || len(r.Changes) == 0 {
		d.t.Fatalf("%+v, %v", r, err)
	}
	return r.Changes[0].Memory
}

func (d *device) home(place string) memory.ID {
	return d.tell("User lives in "+place+".", &memory.Slot{Subject: "user", Attribute: "home", Value: place})
}

// said adds an utterance.
func (d *device) said(text string) {
	d.t.Helper()
	if _, err := d.Add(d.t.Context(), serve.AddRequest{Text: text}); err != nil {
		d.t.Fatal(err)
	}
}

// state returns what a device knows: memories in any state, and utterances, as JSON with
// times in UTC.
func (d *device) state() string {
	d.t.Helper()
	var out []string
	page, err := d.List(d.t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 1000})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, m := range page.Memories {
		out = append(out, plain(d.t, m))
	}
	for r, err := range d.Export(d.t.Context(), serve.ExportOptions{}) {
		if err != nil {
			d.t.Fatal(err)
		}
		if r.Kind == archive.KindUtterance {
			out = append(out, plain(d.t, r.Data))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func plain(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	if b, err = json.Marshal(inUTC(tree)); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func inUTC(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = inUTC(v[k])
		}
	case []any:
		for i := range v {
			v[i] = inUTC(v[i])
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return v
}
