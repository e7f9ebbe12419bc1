//go:build !386 && !arm

// Command locket-model serves model folders to a node: embeddings over OpenAI's protocol, and a
// reranker over the protocol that Jina, Cohere and others share. It is a separate process, so that
// the daemon stays small.
//
//	locket-model serve --embed DIR [--rerank DIR] [--listen HOST:PORT]
//
// A folder contains model.onnx, tokenizer.json and config.json, in the form of Hugging Face's
// sentence-transformers. The reranker's folder contains a cross-encoder with one output, and
// special_tokens_map.json. Locket comes without weights.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The defaults of the server.
const (
	defaultListen = "127.0.0.1:8430"
	drain         = 5 * time.Second
)

const usage = `usage: locket-model serve --embed DIR [--rerank DIR] [--listen 127.0.0.1:8430] [--key-file FILE]

Runs the models in these folders on this machine's processors. A folder contains model.onnx,
tokenizer.json and config.json. Put this into the node's settings:

  [dense]
  url = "http://127.0.0.1:8430/v1"
  model = "the folder's name"
  rerank_url = "http://127.0.0.1:8430/v1"
`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] != "serve" {
		fmt.Fprint(stderr, usage)
		if len(args) > 0 && (args[0] == "help" || args[0] == "-h" || args[0] == "--help") {
			return 0
		}
		return 2
	}
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	embed, rerank := f.String("embed", "", ""), f.String("rerank", "", "")
	listen, keyFile := f.String("listen", defaultListen, ""), f.String("key-file", "", "")
	if err := f.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if f.NArg() > 0 || *embed == "" && *rerank == "" {
		fmt.Fprint(stderr, usage)
		return 2
	}
	if err := serve(ctx, *embed, *rerank, *listen, *keyFile, stdout); err != nil {
		fmt.Fprintf(stderr, "locket-model: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, embed, rerank, listen, keyFile string, stdout io.Writer) (err error) {
	if runtime.NumCPU() < 2 {
		// Its work queue waits for a second worker for ever (gomlx v0.26.0, simplego).
		return errors.New("the library that runs models needs two processors; this machine has one")
	}
	s := server{}
	if keyFile != "" {
		if s.key, err = readKey(keyFile); err != nil {
			return err
		}
	}
	m, err := open(embed, rerank)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	s.models = m
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	for _, name := range m.names() {
		fmt.Fprintf(stdout, "Serving %s.\n", name)
	}
	fmt.Fprintf(stdout, "Listening on http://%s/v1\n", ln.Addr())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err = h.Shutdown(end)
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// nameOf returns the name of a folder's model.
func nameOf(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	return filepath.Base(abs)
}
