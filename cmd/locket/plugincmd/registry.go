package plugincmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/wasm/bundle"
	plugsource "github.com/locket-dev/locket/wasm/source"
	"github.com/locket-dev/locket/wasm/trust"
)

// registries are the indexes that the wearer trusts. They are stored as a file in the plugins
// folder.
type registries struct {
	path string
	List []plugsource.Known `json:"registries"`
}

func registriesOf(a *cli.App) (*registries, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	r := &registries{path: filepath.Join(l.Plugins.Dir, "registries.json")}
	b, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading registries: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("reading registries: %s: %w", r.path, err)
	}
	return r, nil
}

func (r *registries) save() error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing registries: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("writing registries: %w", err)
	}
	err = atomicfile.Write(r.path, append(b, '\n'))
	if err != nil {
		return fmt.Errorf("writing registries: %w", err)
	}
	return nil
}

// fetch gets one index, checks it against what is known about it, and stores its serial.
func (r *registries) fetch(ctx context.Context, i int, o plugsource.Options) (plugsource.Index, error) {
	x, key, err := plugsource.FetchIndex(ctx, r.List[i].URL, o)
	if err != nil {
		return x, err
	}
	known, err := r.List[i].Accept(&x, key, time.Now())
	if err != nil {
		return x, registryAdvice(fmt.Errorf("%s: %w", r.List[i].URL, err), r.List[i].URL)
	}
	if known == r.List[i] {
		return x, nil
	}
	r.List[i] = known
	return x, r.save()
}

// fetchAll gets the indexes of all registries, in their order. It reports and leaves out those that
// fail or are refused. If all do, it returns the first error.
func fetchAll(a *cli.App, ctx context.Context, r *registries, o plugsource.Options) ([]plugsource.Index, error) {
	var lists []plugsource.Index
	var failed []error
	for i := range r.List {
		x, err := r.fetch(ctx, i, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, insecureAdvice(err))
			continue
		}
		lists = append(lists, x)
	}
	if len(lists) == 0 && len(failed) > 0 {
		leftOut(a, failed[1:])
		return nil, failed[0]
	}
	leftOut(a, failed)
	return lists, nil
}

// leftOut reports the registries that were left out.
func leftOut(a *cli.App, failed []error) {
	for _, err := range failed {
		fmt.Fprintf(a.Stderr, "Left out: %s\n", cli.OneLine(err.Error()))
		if told, ok := errors.AsType[cli.AdvisedError](err); ok {
			fmt.Fprintln(a.Stderr, told.Advice)
		}
	}
}

func registryAdvice(err error, url string) error {
	switch {
	case errors.Is(err, plugsource.ErrIndexKey):
		return cli.AdvisedError{Err: err, Advice: "If you know from its operator, through another channel, that the key has changed: locket plugin registry remove " + url + ",\nthen add it again."}
	case errors.Is(err, plugsource.ErrRollback):
		return cli.AdvisedError{Err: err, Advice: "The server, or somebody in between, serves an old list. Try again later, or ask its operator."}
	case errors.Is(err, plugsource.ErrExpired):
		return cli.AdvisedError{Err: err, Advice: "Its operator has to sign it again. Until then, install from a file or a URL."}
	}
	return err
}

func registryCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "registry", Short: "Choose the lists of plugins to search", RunE: a.NeedsCommand,
		Long: `A registry is a signed list of plugins at an https URL. Its key is pinned when you add it.
A list that is older than one seen before is refused, and so is one that has expired.`,
	}
	c.AddCommand(registryAddCommand(a), registryListCommand(a), registryRemoveCommand(a))
	return c
}

func registryAddCommand(a *cli.App) *cobra.Command {
	var key string
	var yes bool
	var o plugsource.Options
	c := &cobra.Command{
		Use: "add URL", Short: "Trust a list of plugins", Args: cli.ArgsBetween(1, 1, "the URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := registriesOf(a)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(r.List, func(k plugsource.Known) bool { return k.URL == args[0] }) {
				return fmt.Errorf("%s is already a registry here", args[0])
			}
			x, signer, err := plugsource.FetchIndex(cmd.Context(), args[0], o)
			if err != nil {
				return insecureAdvice(err)
			}
			if key != "" && !strings.EqualFold(key, signer) {
				return fmt.Errorf("%w: %s, not %s", plugsource.ErrIndexKey, trust.Fingerprint(signer), trust.Fingerprint(key))
			}
			known, err := plugsource.Known{URL: args[0], Key: signer}.Accept(&x, signer, time.Now())
			if err != nil {
				return registryAdvice(err, args[0])
			}
			if key == "" && !yes {
				fmt.Fprintf(a.Stderr, "%s lists %s, signed by %s.\nCompare this key with the one that its operator shows elsewhere.\n", cli.OneLine(x.Name), cli.Plural(len(x.Plugins), "plugin", "plugins"), trust.Fingerprint(signer))
				if !a.Confirm("Trust it?") {
					return errors.New("nothing was added")
				}
			}
			r.List = append(r.List, known)
			if err := r.save(); err != nil {
				return err
			}
			return a.Print(known, func(w io.Writer) {
				fmt.Fprintf(w, "Added %s, signed by %s.\n", cli.OneLine(x.Name), trust.Fingerprint(signer))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&key, "key", "", "its public `key`, if you know it; then you are not asked")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	insecureFlag(c, &o)
	return c
}

func insecureFlag(c *cobra.Command, o *plugsource.Options) {
	c.Flags().BoolVar(&o.Insecure, "insecure", false, "allow http, and addresses of your own network")
	c.Flags().StringVar(&o.Logins, "logins", "", "`file` of mode 0600 with a login for each host that needs one, in the format of netrc:\nmachine HOST login NAME password WORD, or, for a token, machine HOST password WORD")
}

func insecureAdvice(err error) error {
	if errors.Is(err, plugsource.ErrAddress) {
		return cli.AdvisedError{Err: err, Advice: "Only https to the public internet is allowed. For a server of your own, add --insecure."}
	}
	if errors.Is(err, plugsource.ErrLogin) {
		return cli.AdvisedError{Err: err, Advice: "Give a name and password, or a token, with --logins FILE."}
	}
	return err
}

func registryListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the registries", Args: cli.NoArgs(),
		RunE: func(*cobra.Command, []string) error {
			r, err := registriesOf(a)
			if err != nil {
				return err
			}
			return cli.Rows(a, nil, r.List, func(w io.Writer, k *plugsource.Known) {
				fmt.Fprintf(w, "%s  signed by %s, list %d\n", cli.OneLine(k.URL), trust.Fingerprint(k.Key), k.Serial)
			}, "No registries. To add one: locket plugin registry add URL")
		},
	}
}

func registryRemoveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove URL", Short: "Stop trusting a list; what was installed stays", Args: cli.ArgsBetween(1, 1, "the URL"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := registriesOf(a)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(r.List, func(k plugsource.Known) bool { return k.URL == args[0] })
			if i < 0 {
				return errors.New(a.WithHomef("%s is not a registry here; to list them: locket plugin registry list", args[0]))
			}
			k := r.List[i]
			r.List = slices.Delete(r.List, i, i+1)
			if err := r.save(); err != nil {
				return err
			}
			return a.Print(k, func(w io.Writer) { fmt.Fprintf(w, "Removed %s.\n", cli.OneLine(k.URL)) })
		},
	}
}

func searchCommand(a *cli.App) *cobra.Command {
	var o plugsource.Options
	c := &cobra.Command{
		Use: "search [WORDS...]", Short: "Search the registries", Args: cli.ArgsBetween(0, -1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := registriesOf(a)
			if err != nil {
				return err
			}
			if len(r.List) == 0 {
				return errors.New(a.WithHome("there are no registries; to add one: locket plugin registry add URL"))
			}
			lists, err := fetchAll(a, cmd.Context(), r, o)
			if err != nil {
				return err
			}
			found := 0
			for _, x := range lists {
				for _, p := range x.Search(args...) {
					found++
					if err := a.Print(p, func(w io.Writer) {
						fmt.Fprintf(w, "%-24s  %-8s  %s  %s\n", cli.OneLine(p.ID), cli.OneLine(p.Version), cli.OneLine(p.Title), a.Paint.Dim(cli.OneLine(x.Name)))
					}); err != nil {
						return err
					}
				}
			}
			if found == 0 && !a.JSON {
				fmt.Fprintln(a.Stderr, "Nothing matches.")
			}
			return nil
		},
	}
	insecureFlag(c, &o)
	return c
}

// findPlugin gets a plugin by its id, optionally with @VERSION, from the first registry that has
// it.
func findPlugin(a *cli.App, ctx context.Context, name string, o plugsource.Options) (bundle.Bundle, error) {
	id, version, _ := strings.Cut(name, "@")
	r, err := registriesOf(a)
	if err != nil {
		return bundle.Bundle{}, err
	}
	lists, err := fetchAll(a, ctx, r, o)
	if err != nil {
		return bundle.Bundle{}, err
	}
	for _, x := range lists {
		p, err := x.Find(id, version)
		if errors.Is(err, plugsource.ErrNoPlugin) {
			continue
		}
		if err != nil {
			return bundle.Bundle{}, err
		}
		b, err := plugsource.FetchListed(ctx, p, o)
		return b, insecureAdvice(err)
	}
	if len(r.List) == 0 {
		return bundle.Bundle{}, errors.New(a.WithHomef("there is no file or folder %s, and no registry to search; to add one: locket plugin registry add URL", name))
	}
	return bundle.Bundle{}, fmt.Errorf("%s: %w: %s", name, plugsource.ErrNoPlugin, a.WithHome("locket plugin search"))
}

func indexCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{Use: "index", Short: "Keep a registry of your own", RunE: a.NeedsCommand}
	var keyFile, passFile, out string
	sign := &cobra.Command{
		Use: "sign FILE", Short: "Sign a list of plugins", Args: cli.ArgsBetween(1, 1, "the list"),
		Long: `The list is JSON. Increase serial with every change, and publish the signed file at an https
URL. docs/wasm.md describes the format.

  {"name": "Ann's plugins", "serial": 1, "expires": "2027-01-01T00:00:00Z",
   "plugins": [{"id": "ann/parking", "version": "1.0.0", "title": "Notes where you parked",
     "url": "https://example.org/ann-parking-1.0.0.locket-plugin",
     "sha256": "…of the module…", "publisher": "…key…"}]}`,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("reading index: %w", err)
			}
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields()
			var x plugsource.Index
			if err := d.Decode(&x); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if !x.Expires.After(time.Now()) {
				return fmt.Errorf("%s: %w: on %s", args[0], plugsource.ErrExpired, x.Expires.Format(time.DateOnly))
			}
			key, err := publisherKey(a, keyFile, passFile)
			if err != nil {
				return err
			}
			text, err := plugsource.SignIndex(x, key)
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".locket-index"
			}
			if err := atomicfile.Write(out, text); err != nil {
				return err
			}
			done := struct {
				File    string `json:"file"`
				Serial  uint64 `json:"serial"`
				Plugins int    `json:"plugins"`
			}{out, x.Serial, len(x.Plugins)}
			return a.Print(done, func(w io.Writer) {
				fmt.Fprintf(w, "Signed list %d of %s as %s.\n", done.Serial, cli.Plural(done.Plugins, "plugin", "plugins"), out)
			})
		},
	}
	f := sign.Flags()
	f.StringVar(&keyFile, "key", "", "the key `file`; default: publisher.key in your configuration folder")
	f.StringVar(&passFile, "passphrase-file", "", "read the key's passphrase from this `file`")
	f.StringVarP(&out, "output", "o", "", "the `file` to write")
	c.AddCommand(sign)
	return c
}
