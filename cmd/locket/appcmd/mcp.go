package appcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

func MCPCommand(a *cli.App) *cobra.Command {
	var file, name string
	c := &cobra.Command{
		Use: "mcp --key-file FILE", Short: "Serve an assistant over the Model Context Protocol", Args: cli.NoArgs(),
		Long: `Speaks the Model Context Protocol over standard input and output, for a host that starts
it, and calls the daemon (locket run) with the key of an app. The host may do what the app
may do: see locket app add --help. The daemon also serves the protocol over HTTP, at /mcp.

Instead of the key, FILE may contain the link that locket app add shows on a node with
api.remote. Then the node may be on another machine, and this one needs no home.`,
		Example: `  locket mcp install cursor
  locket mcp --key-file claude.key`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := appKeyFile(a, file, name)
			if err != nil {
				return err
			}
			c, err := a.AsApp(cmd.Context(), file)
			if err != nil {
				return err
			}
			defer c.Close()
			return mcp.Stdio(cmd.Context(), c, cli.ThisBuild().Release)
		},
	}
	appFlags(c.Flags(), &file, &name)
	c.AddCommand(mcpInstallCommand(a), mcpHookCommand(a))
	return c
}

// appFlags adds the flags that say which app a command acts as.
func appFlags(f *pflag.FlagSet, file, name *string) {
	f.StringVar(file, "key-file", "", "`file` with the key of an app")
	f.StringVar(name, "app", "", "`name` of the app whose key locket mcp install put into this home")
}

// appKeyFile returns the file with an app's key: the one that was given, or the one where install
// put the key of the app with this name.
func appKeyFile(a *cli.App, file, name string) (string, error) {
	if name == "" {
		return file, nil
	}
	if file != "" || name != filepath.Base(name) {
		return "", cli.Usagef("give --key-file, or the name of an app")
	}
	l, err := a.Load()
	if err != nil {
		return "", err
	}
	return filepath.Join(l.Home, "apps", name+".key"), nil
}

func mcpInstallCommand(a *cli.App) *cobra.Command {
	var r serve.AppRequest
	var can []string
	var file string
	var yes, keyOnly bool
	c := &cobra.Command{
		Use: "install CLIENT", Short: "Make a key for an assistant, and add Locket to its settings", Args: cli.ArgsBetween(1, 1, "a client ("+hostNames()+")"),
		Long: `CLIENT is one of ` + hostNames() + `.

Shows the change to the client's settings, and makes it if you agree. The key goes into a
file in this home that only you can read, and not into the settings. For claude-code the
settings are .mcp.json in this folder. If a plugin brings the settings, only the key is
needed: --key-only.`,
		Example: `  locket mcp install claude-desktop
  locket mcp install cursor --can read --types semantic
  locket mcp install claude-code --key-only`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			i := slices.IndexFunc(hosts, func(h host) bool { return h.name == args[0] })
			if i < 0 {
				return cli.Usagef("%q is not a known client: want %s", args[0], hostNames())
			}
			if a.JSON && !yes {
				return cli.Usagef("--json cannot ask: add --yes")
			}
			for _, s := range can {
				r.Can = append(r.Can, serve.Right(s))
			}
			if r.Name == "" {
				r.Name = args[0]
			}
			if keyOnly && file != "" {
				return cli.Usagef("choose --key-only or --file: --key-only changes no settings")
			}
			in := installing{host: &hosts[i], app: r, yes: yes}
			if !keyOnly {
				in.file, err = hosts[i].settings(file)
			}
			if err != nil {
				return err
			}
			return installMCP(a, cmd.Context(), &in)
		},
	}
	f := c.Flags()
	f.StringVar(&r.Name, "name", "", "name of the app; default: the client's name")
	f.StringSliceVar(&can, "can", []string{"read", "add"}, "`rights`: read, add, update, forget")
	cli.Choose(f, "can", cli.AppRights...)
	f.StringSliceVar(&r.Types, "types", []string{"core", "episodic", "semantic", "procedural", "resource"}, "`types` that it may see and add")
	cli.Choose(f, "types", cli.AppTypes...)
	f.StringVar(&file, "file", "", "the client's settings `file`, if it is not the usual one")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&keyOnly, "key-only", false, "make the key, and change no settings")
	return c
}

// installed is what install did.
type installed struct {
	Client  string `json:"client"`
	App     string `json:"app"`
	File    string `json:"file,omitempty"` // absent if only the key was made
	KeyFile string `json:"key_file"`
}

// installing is what install is to do.
type installing struct {
	host *host
	file string // the host's settings; empty if only the key is made
	app  serve.AppRequest
	yes  bool
}

func installMCP(a *cli.App, ctx context.Context, in *installing) error {
	l, err := a.Load()
	if err != nil {
		return err
	}
	h, r, file := in.host, in.app, in.file
	keyFile := filepath.Join(l.Home, "apps", r.Name+".key")
	what := "The key of the app goes into " + keyFile + "."
	var was, now []byte
	if file != "" {
		var shown string
		if was, now, shown, err = h.change(file, l.Home, keyFile); err != nil {
			return err
		}
		what = fmt.Sprintf("%s, %q in %q becomes:\n%s\nEverything else in the file stays.", file, "locket", h.list, shown)
	}
	return a.WithClient(ctx, true, func(c *serve.Client) error {
		there := keyThere(ctx, c, r.Name, keyFile)
		if there != nil && !(sameOf(there.Can, r.Can) && sameOf(there.Types, r.Types)) {
			return cli.AdvisedError{Err: fmt.Errorf("the app %q already exists, which may %s, and see %s", r.Name, rightsText(there.Can), listed(there.Types)),
				Advice: "End its key, and install again: locket app revoke " + r.Name + "\nOr give this one another name: --name"}
		}
		fmt.Fprintf(a.Stderr, "%s The app %q may %s, and see %s.\n", what, r.Name, rightsText(r.Can), strings.Join(r.Types, ", "))
		if !in.yes && !a.Confirm("Make this change?") {
			return cli.AdvisedError{Err: errors.New("nothing was changed"), Advice: "To agree without a terminal: --yes"}
		}
		made := there == nil
		if made {
			if err := keyFor(a, ctx, c, r, keyFile); err != nil {
				return err
			}
		}
		if file != "" {
			err = writeSettings(file, was, now)
		}
		if err != nil {
			if made {
				_, rerr := c.RevokeApp(ctx, r.Name)
				err = errors.Join(err, rerr, os.Remove(keyFile))
			}
			return err
		}
		return a.Print(installed{h.name, r.Name, file, keyFile}, func(w io.Writer) {
			fmt.Fprint(w, a.WithHomef("Done. Restart %s while locket run is running. To see what the app does: locket app log %s\n", h.name, r.Name))
		})
	})
}

// keyThere returns the app whose valid key is in a file, or nil if there is none.
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

// sameOf reports whether two lists have the same elements in any order.
func sameOf[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// keyFor makes an app with its key in a file.
func keyFor(a *cli.App, ctx context.Context, c *serve.Client, r serve.AppRequest, file string) error {
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
