package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/console"
	"github.com/locket-dev/locket/node/serve"
)

// The console suite runs a whole node in this process, and opens its console in a real Chromium
// whose processor is slowed down. Node and browser share the machine, as on a wearer's machine.

func runConsole(ctx context.Context, f *frame) (err error) {
	b := consoleBench{stderr: f.stderr}
	f.IntVar(&b.memories, "memories", 100_000, "memories of the wearer")
	f.IntVar(&b.names, "names", 5000, "names in the graph")
	f.StringVar(&b.home, "home", "", "a `folder` that keeps the filled home for the next run")
	f.IntVar(&b.rounds, "rounds", 5, "how often each page is opened")
	cache := cacheFlag(f.FlagSet)
	f.Float64Var(&b.slower, "slower", 4, "how many times slower the browser's processor is")
	f.StringVar(&b.chromium, "chromium", "chromium", "the browser's `program`")
	f.StringVar(&b.axe, "axe", "node/console/web/node_modules/axe-core/axe.min.js", "axe-core's `file`, which npm ci in node/console/web brings")
	if !f.parsed() || f.NArg() > 0 || b.names < 60 || b.memories < b.names || b.rounds < 1 || b.slower < 1 {
		return f.usage("--names takes 60 or more, --memories as many or more, --rounds and --slower 1 or more")
	}
	if b.chromium, err = exec.LookPath(b.chromium); err != nil {
		return fmt.Errorf("%w: install chromium, or say where it is with --chromium", err)
	}
	script, err := os.ReadFile(b.axe)
	if err != nil {
		return fmt.Errorf("%w: run npm ci in node/console/web, or say where axe-core is with --axe", err)
	}
	b.axe = string(script)
	if b.dir, err = os.MkdirTemp("", "locket-bench-console-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	return withCache(*cache, func(dir string) error { return f.print(b.run(ctx, dir)) })
}

type consoleBench struct {
	dir, home               string
	chromium, axe           string
	memories, names, rounds int
	slower                  float64
	stderr                  io.Writer
}

func (b *consoleBench) run(ctx context.Context, cache string) (out []result, err error) {
	home := cmp.Or(b.home, filepath.Join(b.dir, "home"))
	cfg := config.Config{Home: home, Wearer: "Anna", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
	cfg.Defaults()
	_, err = os.Stat(home)
	filled := err == nil
	if !filled {
		if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
			return nil, err
		}
	}
	n, err := node.Open(cfg, node.Options{Cache: cache})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if _, err := n.UnlockAsConfigured(ctx); err != nil {
		return nil, err
	}
	services, log := n.Services(), slog.New(slog.DiscardHandler)
	page := console.New(console.Options{Listen: "127.0.0.1:0", Log: log})
	defer func() { err = errors.Join(err, page.Close()) }()
	services.Consoler = page
	api := serve.New(serve.Options{Services: services, Log: log})
	page.Serve(api)
	socket, err := serve.Listen(ctx, "unix", filepath.Join(b.dir, "socket"))
	if err != nil {
		return nil, err
	}
	inner, end := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- serve.Serve(inner, socket, api, log) }()
	defer func() { end(); err = errors.Join(err, <-served) }()
	client := serve.Dial("unix", filepath.Join(b.dir, "socket"), "")
	defer client.Close()
	began := time.Now()
	if !filled {
		if err := b.fill(ctx, client); err != nil {
			return nil, err
		}
		fmt.Fprintf(b.stderr, "filled in %s\n", time.Since(began).Round(time.Second))
	}
	if out, err = b.look(ctx, page); err != nil {
		return nil, err
	}
	kb, err := b.script(ctx, page)
	return append(out, kb), err
}

// consoleDay is how many lines were said today.
const consoleDay = 300

// fill adds talk unchanged, relations between as many people as the graph should have, and a day of
// lines that go through the extractors.
func (b *consoleBench) fill(ctx context.Context, to *serve.Client) error {
	no := false
	var ops []serve.Operation
	g := graphBench{edges: b.names * 5}
	g.begin()
	for i := range b.names {
		r := g.relation()
		if r.Subject = g.name(i); r.Object == r.Subject {
			r.Object = g.name((i + 1) % b.names)
		}
		ops = append(ops, serve.Operation{Add: &serve.AddRequest{Text: r.Subject + " " + r.Predicate + " " + r.Object, Infer: &no, At: time.Date(2024, 1, 1, 0, i, 0, 0, time.UTC),
			Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: r.Subject, Predicate: r.Predicate, Object: r.Object}}}})
	}
	for _, l := range generate(1, max(2*consoleDay, b.memories-b.names), 1).lines[:b.memories-b.names] {
		ops = append(ops, serve.Operation{Add: &serve.AddRequest{Text: l.text, Infer: &no, At: l.at}})
	}
	at := time.Now().UTC().Truncate(24 * time.Hour)
	step := time.Since(at) / consoleDay
	for i := range consoleDay {
		ops = append(ops, serve.Operation{Add: &serve.AddRequest{Text: fmt.Sprintf("My %s number %d is in the hall.", [...]string{"key", "bag", "coat", "lamp"}[i%4], i),
			Speaker: [...]string{"Anna", "Bram"}[i%2], At: at.Add(time.Duration(i) * step)}})
	}
	for len(ops) > 0 {
		part := ops[:min(len(ops), serve.MaxBatch)]
		ops = ops[len(part):]
		if res, err := to.Batch(ctx, part); err != nil || res.Failed > 0 {
			return errors.Join(fmt.Errorf("filling the node: %d were refused", res.Failed), err)
		}
	}
	return nil
}

// scriptParts are the parts of the script that the browser loads for a page in English.
var scriptParts = regexp.MustCompile(`\b(chunk|rest|words\.en)-[0-9A-Z]{8}\.js`)

// script returns how much script the browser loads, as sent by a server that compresses.
func (b *consoleBench) script(ctx context.Context, page *console.Console) (result, error) {
	l, err := page.OpenConsole(ctx)
	if err != nil {
		return result{}, err
	}
	origin, _, _ := strings.Cut(l.URL, "/#")
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return result{}, err
	}
	var files []string
	for left := []string{"console.js", "worker.js"}; len(left) > 0; left = left[1:] {
		name := left[0]
		files = append(files, name)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/"+name, nil)
		if err != nil {
			return result{}, err
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return result{}, err
		}
		text, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK {
			return result{}, errors.Join(fmt.Errorf("%s: %s", name, res.Status), err)
		}
		if _, err := z.Write(text); err != nil {
			return result{}, err
		}
		for _, part := range scriptParts.FindAllString(string(text), -1) { // the names have hashes
			if !slices.Contains(files, part) && !slices.Contains(left, part) {
				left = append(left, part)
			}
		}
	}
	if err := z.Close(); err != nil {
		return result{}, err
	}
	return result{Suite: "console", Case: "script_kb", N: len(files), Value: round(float64(packed.Len()) / 1000), Unit: "kB", Note: "compressed by gzip -9"}, nil
}
