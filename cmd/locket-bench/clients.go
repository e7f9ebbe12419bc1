package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/proxy"
	"github.com/locket-dev/locket/node/serve"
)

// The clients suite runs a whole node in this process and asks it over real connections: over the
// Unix socket as its owner, and over TCP as apps: with the API itself, with Mem0's calls, with MCP,
// and as the proxy of a model server that answers at once. Each asks the same questions in turn.

func runClients(ctx context.Context, f *frame) (err error) {
	var b clientsBench
	f.IntVar(&b.memories, "memories", 100_000, "memories of the wearer")
	f.IntVar(&b.asks, "questions", 500, "questions asked at each door")
	f.IntVar(&b.adds, "adds", 200, "memories added at each door")
	f.IntVar(&b.streams, "streams", 500, "event streams held at once")
	f.StringVar(&b.profile, "profile", "", "write a CPU profile of the searches and adds into `FILE`")
	if !f.parsed() || f.NArg() > 0 || b.memories < 1 || b.asks < 1 || b.adds < 1 || b.streams < 1 {
		return f.usage("want numbers over 0, and nothing else")
	}
	if b.dir, err = os.MkdirTemp("", "locket-bench-clients-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	return f.print(b.run(ctx))
}

type clientsBench struct {
	dir                           string
	memories, asks, adds, streams int
	profile                       string
}

// doors are the ways to one node.
type doors struct {
	owner  *serve.Client // over the Unix socket
	url    string        // of the TCP port
	model  string        // URL of the model server itself
	key    string        // of an app
	client *http.Client
}

func (b *clientsBench) run(ctx context.Context) (out []result, err error) {
	cfg := config.Config{Home: filepath.Join(b.dir, "home"), Wearer: "Anna", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
	cfg.Defaults()
	const passphrase = "a passphrase of the bench"
	if _, err := node.Init(cfg, node.InitOptions{Passphrase: passphrase, Work: 4}); err != nil {
		return nil, err
	}
	n, err := node.Open(cfg, node.Options{Cache: filepath.Join(b.dir, "cache")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if err := n.Unlock(ctx, passphrase); err != nil {
		return nil, err
	}
	d, end, err := b.open(ctx, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	c := generate(1, b.memories, b.asks)
	if err := b.fill(ctx, d, c); err != nil {
		return nil, err
	}
	if b.profile != "" {
		f, failed := os.Create(b.profile)
		if failed != nil {
			return nil, failed
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
	}
	return b.measure(ctx, d, c)
}

// open serves a node like its daemon, and adds an app.
func (b *clientsBench) open(ctx context.Context, n *node.Node) (d *doors, end func() error, err error) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Yes."}}]}`)
	}))
	services, log := n.Services(), slog.New(slog.DiscardHandler)
	forApps := func(api http.Handler) map[string]serve.Door {
		all := proxy.Doors(proxy.Config{URL: model.URL}, api)
		all["/mcp"], all["/mem0/"] = serve.Door{Handler: mcp.Handler(api, "bench")}, serve.Door{Handler: mem0.Handler(api)}
		return all
	}
	socket := filepath.Join(b.dir, "socket")
	unix, err := serve.Listen(ctx, "unix", socket)
	if err != nil {
		return nil, nil, err
	}
	tcp, err := serve.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(err, unix.Close())
	}
	inner, cancel := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- serve.Serve(inner, unix, serve.New(serve.Options{Services: services}), log) }()
	go func() {
		ended <- serve.Serve(inner, tcp, serve.New(serve.Options{Services: services, ForApps: forApps, AppsAlone: true}), log)
	}()
	d = &doors{owner: serve.Dial("unix", socket, ""), url: "http://" + tcp.Addr().String(), model: model.URL, client: &http.Client{}}
	end = func() error {
		d.owner.Close()
		d.client.CloseIdleConnections()
		cancel()
		model.Close()
		return errors.Join(<-ended, <-ended)
	}
	app, err := d.owner.AddApp(ctx, serve.AppRequest{Name: "bench", Can: []serve.Right{serve.RightRead, serve.RightAdd, serve.RightChat}, Types: []string{"semantic"}, Requests: 10_000, Tokens: 10_000_000})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	d.key = string(app.Key)
	return d, end, nil
}

// fill adds the memories, unchanged.
func (b *clientsBench) fill(ctx context.Context, d *doors, c *corpus) error {
	no := false
	for from := 0; from < len(c.lines); from += serve.MaxBatch {
		var ops []serve.Operation
		for _, l := range c.lines[from:min(from+serve.MaxBatch, len(c.lines))] {
			ops = append(ops, serve.Operation{Add: &serve.AddRequest{Text: l.text, Infer: &no, At: l.at}})
		}
		if res, err := d.owner.Batch(ctx, ops); err != nil || res.Failed > 0 {
			return errors.Join(fmt.Errorf("filling the node: %d were refused", res.Failed), err)
		}
	}
	return nil
}

// post asks over TCP as the app, or the model server without the node.
func (d *doors) post(ctx context.Context, url, body, want string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+d.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	begun := time.Now()
	res, err := d.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	took := time.Since(begun)
	if err == nil && (res.StatusCode/100 != 2 || !bytes.Contains(got, []byte(want))) {
		err = fmt.Errorf("%s: %s %.300s", url, res.Status, got)
	}
	return took, err
}

func (b *clientsBench) measure(ctx context.Context, d *doors, c *corpus) (out []result, err error) {
	no := false
	took := map[string][]time.Duration{}
	timed := func(name string, f func() (time.Duration, error)) {
		if err != nil {
			return
		}
		var t time.Duration
		if t, err = f(); err == nil {
			took[name] = append(took[name], t)
		}
	}
	own := func(f func() error) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			begun := time.Now()
			err := f()
			return time.Since(begun), err
		}
	}
	call := func(tool, args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
	}
	var added []time.Duration
	for i, q := range c.queries {
		if i == len(c.queries)/10 { // the first queries warm up the node
			took, added = map[string][]time.Duration{}, nil
		}
		timed("unix_search", own(func() error {
			_, err := d.owner.Search(ctx, serve.SearchRequest{Query: q.text})
			return err
		}))
		timed("app_search", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/v1/search", fmt.Sprintf(`{"query":%q}`, q.text), `"hits"`)
		})
		timed("mem0_search", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/mem0/v3/memories/search/", fmt.Sprintf(`{"query":%q,"filters":{"user_id":"wearer"}}`, q.text), `"results"`)
		})
		timed("mcp_search", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/mcp", call("search_memories", fmt.Sprintf(`{"query":%q}`, q.text)), `"structuredContent"`)
		})
		talk := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, q.text)
		timed("unix_context", own(func() error {
			_, err := d.owner.Context(ctx, serve.ContextRequest{Messages: []serve.ContextMessage{{Text: q.text}}})
			return err
		}))
		timed("model_alone", func() (time.Duration, error) { return d.post(ctx, d.model+"/v1/chat/completions", talk, "Yes.") })
		timed("model_behind", func() (time.Duration, error) { return d.post(ctx, d.url+"/v1/chat/completions", talk, "Yes.") })
		if err != nil {
			return nil, err
		}
		added = append(added, last(took["model_behind"])-last(took["model_alone"]))
	}
	for i := range b.adds {
		text := fmt.Sprintf("The bench has put box %d onto shelf %d", i, i*7)
		timed("unix_add", own(func() error {
			_, err := d.owner.Add(ctx, serve.AddRequest{Text: text + " of the owner", Infer: &no})
			return err
		}))
		timed("app_add", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/v1/memories", fmt.Sprintf(`{"text":"%s of the app","infer":false}`, text), `ADD`)
		})
		timed("mem0_add", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/mem0/v3/memories/add/", fmt.Sprintf(`{"messages":[{"role":"user","content":"%s of mem0"}],"user_id":"wearer","infer":false}`, text), `"results"`)
		})
		timed("mcp_add", func() (time.Duration, error) {
			return d.post(ctx, d.url+"/mcp", call("add_memory", `{"text":"`+text+` of mcp"}`), `ADD`)
		})
		if err != nil {
			return nil, err
		}
	}
	at := func(name string, some []time.Duration, peer string) {
		for _, p := range []float64{50, 99} {
			r := result{Suite: "clients", Case: fmt.Sprintf("%s_p%.0f", name, p), N: b.memories, Value: round(percentile(milliseconds(some), p)), Unit: "ms", Note: fmt.Sprintf("%d asked", len(some))}
			if peer != "" {
				r = r.beside("the Unix socket", round(percentile(milliseconds(took[peer]), p)), false)
			}
			out = append(out, r)
		}
	}
	for _, name := range [][2]string{{"unix_search", ""}, {"app_search", "unix_search"}, {"mem0_search", "unix_search"}, {"mcp_search", "unix_search"}, {"unix_context", ""}} {
		at(name[0], took[name[0]], name[1])
	}
	at("proxy_added", added, "unix_context")
	for _, name := range [][2]string{{"unix_add", ""}, {"app_add", "unix_add"}, {"mem0_add", "unix_add"}, {"mcp_add", "unix_add"}} {
		at(name[0], took[name[0]], name[1])
	}
	held, err := b.holdStreams(ctx, d)
	return append(out, result{Suite: "clients", Case: "sse_clients", N: b.memories, Value: float64(held), Unit: "streams", Note: "that were told of a change, all held at once"}), err
}

func last[T any](list []T) T { return list[len(list)-1] }

// holdStreams opens event streams, changes something, and counts the streams that are told.
func (b *clientsBench) holdStreams(ctx context.Context, d *doors) (told int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	socket := filepath.Join(b.dir, "socket")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	begun, changed := make(chan error, b.streams), make(chan bool, b.streams)
	var open sync.WaitGroup
	for range b.streams {
		open.Go(func() {
			heard, err := listen(ctx, client, begun)
			if err != nil {
				begun <- err
			}
			changed <- heard
		})
	}
	for range b.streams {
		err = errors.Join(err, <-begun)
	}
	if err == nil {
		no := false
		_, err = d.owner.Add(ctx, serve.AddRequest{Text: "The bench rings a bell", Infer: &no})
	}
	if err != nil {
		cancel()
	}
	for range b.streams {
		if <-changed {
			told++
		}
	}
	open.Wait()
	return told, err
}

// listen reads a stream. The first event is the current state, the second is the change.
func listen(ctx context.Context, client *http.Client, begun chan<- error) (heard bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/v1/live", nil)
	if err != nil {
		return false, err
	}
	res, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	var got []byte
	b, said := make([]byte, 256), false
	for {
		n, err := res.Body.Read(b)
		got = append(got, b[:n]...)
		switch bytes.Count(got, []byte("event: change")) {
		case 0:
		case 1:
			if !said {
				said = true
				begun <- nil
			}
		default:
			return true, nil
		}
		if err != nil {
			if said { // the stream had started, but was told nothing
				return false, nil
			}
			return false, err
		}
	}
}
