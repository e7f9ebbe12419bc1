package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/sjson"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) mcpCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "mcp --key-file FILE", Short: "Serve an assistant by the Model Context Protocol", Args: nothing(),
		Long: `Speaks the Model Context Protocol over standard input and output, for a host that starts
it, and asks the daemon (locket run) with the key of an app. What the host may do is what
the app may: see locket app add --help. The daemon also serves it over HTTP, at /mcp.

In place of the key, FILE may hold the link that locket app add shows where the node has
api.remote. Then the node may be on another machine, and this one needs no home.`,
		Example: `  locket mcp install cursor
  locket mcp --key-file claude.key`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.asApp(cmd.Context(), file)
			if err != nil {
				return err
			}
			defer c.Close()
			return mcp.Stdio(cmd.Context(), c, version().Release)
		},
	}
	c.Flags().StringVar(&file, "key-file", "", "`file` with the key of an app")
	c.AddCommand(a.mcpInstallCommand())
	return c
}

// asApp gives a client that asks as the app whose key a file has: the running daemon,
// or, if the file has a link, the node there.
func (a *app) asApp(ctx context.Context, file string) (*serve.Client, error) {
	if file == "" {
		return nil, usagef("give --key-file, with the key that locket app add printed")
	}
	key, err := serve.ReadToken(file)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(key), "https://") {
		return a.daemonAs(ctx, key)
	}
	l, err := door.ParseLink(string(key))
	if err != nil {
		return nil, err
	}
	c, err := door.Dial(l)
	if err != nil {
		return nil, err
	}
	if _, err := c.Self(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("asking the node at %s: %w", l.Address, err)
	}
	return c, nil
}

// daemonAs gives a client of the running daemon that asks as an app.
func (a *app) daemonAs(ctx context.Context, key serve.Secret) (*serve.Client, error) {
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	network, address, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	c := serve.Dial(network, address, key)
	self, err := c.Self(ctx)
	switch {
	case serve.IsUnreachable(err):
		err = advisedError{errors.New("no daemon runs on " + l.Home), "Start it: locket run"}
	case err == nil && self.App == nil:
		err = errors.New("the key file holds no key of an app")
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// host is a program that starts MCP servers.
type host struct {
	name string
	list string // member of its file that has the servers
	path func(home, config string) string
}

var hosts = []host{
	{"claude-desktop", "mcpServers", func(_, config string) string { return filepath.Join(config, "Claude", "claude_desktop_config.json") }},
	{"claude-code", "mcpServers", func(_, _ string) string { return ".mcp.json" }},
	{"cursor", "mcpServers", func(home, _ string) string { return filepath.Join(home, ".cursor", "mcp.json") }},
	{"vscode", "servers", func(_, config string) string { return filepath.Join(config, "Code", "User", "mcp.json") }},
}

func hostNames() string {
	var out []string
	for _, h := range hosts {
		out = append(out, h.name)
	}
	return strings.Join(out, ", ")
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var r serve.AppRequest
	var can []string
	var file string
	var yes bool
	c := &cobra.Command{
		Use: "install CLIENT", Short: "Make a key for an assistant, and enter Locket into its settings", Args: between(1, 1, "a client: "+hostNames()),
		Long: `CLIENT is ` + hostNames() + `. Shows the change to its settings, and makes it when you
agree. The key goes into a file of this home that is yours alone, and not into the settings.
For claude-code the settings are .mcp.json in this folder.`,
		Example: `  locket mcp install claude-desktop
  locket mcp install cursor --can read --types semantic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.IndexFunc(hosts, func(h host) bool { return h.name == args[0] })
			if i < 0 {
				return usagef("%q is no client that is known: want %s", args[0], hostNames())
			}
			if a.json && !yes {
				return usagef("--json asks nobody: add --yes")
			}
			for _, s := range can {
				r.Can = append(r.Can, serve.Right(s))
			}
			if r.Name == "" {
				r.Name = args[0]
			}
			return a.installMCP(cmd.Context(), &hosts[i], file, r, yes)
		},
	}
	f := c.Flags()
	f.StringVar(&r.Name, "name", "", "of the app; the client's unless said")
	f.StringSliceVar(&can, "can", []string{"read", "add"}, "`rights`: read, add, update, forget")
	f.StringSliceVar(&r.Types, "types", []string{"core", "episodic", "semantic", "procedural", "resource"}, "`types` that it may see and add")
	f.StringVar(&file, "file", "", "the client's settings, where they are in another `file`")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// installed is what install did.
type mcpInstalled struct {
	Client  string `json:"client"`
	App     string `json:"app"`
	File    string `json:"file"`
	KeyFile string `json:"key_file"`
}

func (a *app) installMCP(ctx context.Context, h *host, file string, r serve.AppRequest, yes bool) error {
	l, err := a.load()
	if err != nil {
		return err
	}
	if file, err = h.settings(file); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	keyFile := filepath.Join(l.Home, "apps", r.Name+".key")
	entry := map[string]any{"command": exe, "args": []string{"--home", l.Home, "mcp", "--key-file", keyFile}}
	if h.list == "servers" {
		entry["type"] = "stdio"
	}
	was, now, shown, err := entered(file, h.list+".locket", entry)
	if err != nil {
		return err
	}
	return a.with(ctx, true, func(c *serve.Client) error {
		there := keyThere(ctx, c, r.Name, keyFile)
		if there != nil && !(sameOf(there.Can, r.Can) && sameOf(there.Types, r.Types)) {
			return advisedError{fmt.Errorf("there is an app %q already, which may %s, and see %s", r.Name, rights(there.Can), listed(there.Types)),
				"End its key, and install again: locket app revoke " + r.Name + "\nOr give this one a name of its own: --name"}
		}
		fmt.Fprintf(a.stderr, "%s, %q in %q becomes:\n%s\nEverything else in the file stays. The app %q may %s, and see %s.\n", file, "locket", h.list, shown, r.Name, rights(r.Can), strings.Join(r.Types, ", "))
		if !yes && !a.confirm("Make this change?") {
			return nil
		}
		made := there == nil
		if made {
			if err := a.keyFor(ctx, c, r, keyFile); err != nil {
				return err
			}
		}
		if err := writeSettings(file, was, now); err != nil {
			if made {
				_, rerr := c.RevokeApp(ctx, r.Name)
				err = errors.Join(err, rerr, os.Remove(keyFile))
			}
			return err
		}
		return a.print(mcpInstalled{h.name, r.Name, file, keyFile}, func(w io.Writer) {
			fmt.Fprintf(w, "Done. Restart %s, with locket run going. What it does: locket app log %s\n", h.name, r.Name)
		})
	})
}

// settings is where the host has its file.
func (h *host) settings(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		config = os.Getenv("APPDATA")
	}
	return filepath.Abs(h.path(home, config))
}

// entered gives a JSON file as it is and as it is to be, with value at path, and the
// new value as lines. nil: the file is not there.
func entered(file, path string, value any) (was, now []byte, shown string, err error) {
	text, err := json.MarshalIndent(value, "    ", "  ")
	if err != nil {
		return nil, nil, "", err
	}
	shown = "+   " + strings.ReplaceAll(string(text), "\n", "\n+ ")
	was, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(was)) == 0 {
		was, err = nil, nil
	}
	if err != nil {
		return nil, nil, "", err
	}
	from := was
	if from == nil {
		from = []byte("{}")
	}
	if !json.Valid(from) {
		return nil, nil, "", fmt.Errorf("%s is not plain JSON (it may have comments): enter this yourself as %q:\n%s", file, path, text)
	}
	if now, err = sjson.SetRawBytes(from, path, text); err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", file, err)
	}
	if was == nil {
		var b bytes.Buffer
		if err := json.Indent(&b, now, "", "  "); err != nil {
			return nil, nil, "", err
		}
		now = append(b.Bytes(), '\n')
	}
	return was, now, shown, nil
}

// writeSettings replaces a file that is still as it was read.
func writeSettings(file string, was, now []byte) error {
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if was != nil && !bytes.Equal(have, was) || was == nil && len(bytes.TrimSpace(have)) > 0 {
		return fmt.Errorf("%s was changed meanwhile, and is left as it is", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	return errors.Join(atomicfile.Write(file, now), os.Chmod(file, mode))
}

// keyThere gives the app whose key is in a file and opens; nil: there is none.
func keyThere(ctx context.Context, c *serve.Client, name, file string) *serve.App {
	key, err := serve.ReadToken(file)
	if err != nil {
		return nil
	}
	self, err := c.WithKey(key).Self(ctx)
	if err != nil || self.App == nil || self.App.Name != name {
		return nil
	}
	return self.App
}

// sameOf reports whether two lists have the same in any order.
func sameOf[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// keyFor makes an app with its key in a file.
func (a *app) keyFor(ctx context.Context, c *serve.Client, r serve.AppRequest, file string) error {
	n, err := c.AddApp(ctx, r)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
		err = atomicfile.Write(file, []byte(string(n.Key)+"\n"))
	}
	if err != nil {
		_, rerr := c.RevokeApp(ctx, r.Name)
		return errors.Join(err, rerr)
	}
	return nil
}
