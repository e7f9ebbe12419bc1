package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/assist"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
)

// configAssist is a server for Home Assistant's Assist; see [assist].
type configAssist struct {
	Listen  string   `toml:"listen"`
	Peers   []string `toml:"peers"`
	Node    string   `toml:"node"`
	KeyFile string   `toml:"key_file"`
	Intent  bool     `toml:"intent"`
	Ears    string   `toml:"ears"`
}

// assistant is a checked configAssist.
type assistant struct {
	listen string
	node   *assist.Node
	assist.Config
}

// check checks the settings. File names are relative to dir.
func (c *configAssist) check(dir string) (*assistant, error) {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:10500")
	local, err := assist.Loopback(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	peers, err := clientaddr.ParseProxies(c.Peers)
	switch {
	case err != nil:
		return nil, fmt.Errorf("peers: %w", err)
	case !local && len(peers) == 0:
		return nil, fmt.Errorf("listen: other machines can reach %s, and ask your memory: list those that may in peers, such as peers = [\"192.168.1.10\"]", c.Listen)
	case c.KeyFile == "":
		return nil, errors.New("key_file is missing: a file with the key of an app that may read (locket app add)")
	}
	ears := strings.TrimPrefix(c.Ears, "tcp://")
	if host, port, err := net.SplitHostPort(ears); ears != "" && (err != nil || host == "" || port == "") {
		return nil, fmt.Errorf("ears: %q: want HOST:PORT of a speech server that speaks Wyoming", c.Ears)
	} else if ears != "" && reaches(c.Listen, host, port) {
		return nil, fmt.Errorf("ears: %q is the bridge's own address: give the address of the speech server", c.Ears)
	}
	in := func(name string) string {
		if name == "" || filepath.IsAbs(name) || strings.Contains(name, "://") {
			return name
		}
		return filepath.Join(dir, name)
	}
	key, err := os.ReadFile(in(c.KeyFile))
	if err != nil {
		return nil, fmt.Errorf("key_file: %w", err)
	}
	n, err := assist.NewNode(in(c.Node), string(key))
	if err != nil {
		return nil, err
	}
	return &assistant{listen: c.Listen, node: n, Config: assist.Config{Peers: peers, Intent: c.Intent, Ears: ears, Ask: n.Ask, Version: thisVersion()}}, nil
}

// reaches reports whether host and port lead to a listener at an address of this machine.
func reaches(listen, host, port string) bool {
	at, its, err := net.SplitHostPort(listen)
	if err != nil || its != port {
		return false
	}
	ip := net.ParseIP(at)
	all := at == "" || ip != nil && ip.IsUnspecified()
	named := strings.EqualFold(at, "localhost") || strings.EqualFold(host, "localhost")
	return at == host || clientaddr.Loopback(host) && (all || named && clientaddr.Loopback(at))
}

// assist serves until ctx ends. If it can't listen, it tries again.
func (a *app) assist(ctx context.Context, c *assistant) {
	defer c.node.Close()
	tell := func(what, text string) { a.printNote("assist", carry.Note{What: what, Text: text}) }
	c.OnMessage = func(text string) { tell("warning", text) }
	pace := retry.Backoff{First: time.Second, Most: time.Minute}
	for ctx.Err() == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.listen)
		if err == nil {
			pace.Reset()
			tell("address", "Assist may ask at "+l.Addr().String())
			err = assist.Serve(ctx, l, c.Config)
		}
		if err != nil {
			rest := pace.Next()
			tell("waiting", fmt.Sprintf("%v; next attempt in %s", err, rest.Round(time.Millisecond)))
			wait.For(ctx, rest)
		}
	}
}
