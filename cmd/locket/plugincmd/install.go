package plugincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/bundle"
	plugsource "github.com/locket-dev/locket/wasm/source"
	"github.com/locket-dev/locket/wasm/trust"
)

// installOptions are the flags of locket plugin install.
type installOptions struct {
	yes, unsigned, lookalike, dry bool
	settings                      []string
}

func installCommand(a *cli.App) *cobra.Command {
	var o installOptions
	var net plugsource.Options
	c := &cobra.Command{
		Use: "install FILE|FOLDER|URL|NAME[@VERSION]", Short: "Install a plugin, or another version of one", Args: cli.ArgsBetween(1, 1, "what to install"),
		Long: `Shows what the plugin will be able to read and do, and asks. The publisher's key is
pinned: the next version must be signed by the same key. An upgrade asks again only if
it wants more rights. Events that arrive meanwhile are not lost.

A URL is https://… (with #sha256=HEX of the file, if you know it) or
oci://REGISTRY/REPOSITORY:TAG. A NAME is searched for in your registries.`,
		Example: `  locket plugin install ann-parking-1.0.0.locket-plugin
  locket plugin install oci://registry.example.org/ann/parking:1.0.0
  locket plugin install ann/parking
  locket plugin install . --unsigned`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bundleOf(a, cmd.Context(), args[0], net)
			if err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return installPlugin(a, cmd.Context(), c, &b, &o) })
		},
	}
	f := c.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.dry, "dry-run", false, "show what it would be able to do, and install nothing")
	f.BoolVar(&o.unsigned, "unsigned", false, "install an unsigned plugin; for your own plugins")
	f.BoolVar(&o.lookalike, "lookalike", false, "install a plugin whose id looks like another's")
	f.StringArrayVar(&o.settings, "setting", nil, "`key=value` that the plugin can read; may be repeated")
	insecureFlag(c, &net)
	return c
}

// bundleOf gets a plugin from the place that ref names.
func bundleOf(a *cli.App, ctx context.Context, ref string, o plugsource.Options) (bundle.Bundle, error) {
	if plugsource.Remote(ref) {
		b, err := plugsource.Fetch(ctx, ref, o)
		return b, insecureAdvice(err)
	}
	if _, err := os.Stat(ref); errors.Is(err, os.ErrNotExist) && !strings.HasSuffix(ref, bundle.Extension) {
		return findPlugin(a, ctx, ref, o)
	}
	b, err := bundle.ReadPath(ref)
	if err != nil {
		err = notBuilt(ref, err)
	}
	return b, err
}

func installPlugin(a *cli.App, ctx context.Context, c *serve.Client, b *bundle.Bundle, o *installOptions) error {
	m, err := b.Open()
	if err != nil {
		return err
	}
	r := serve.InstallPluginRequest{Manifest: string(b.Manifest), Signature: b.Signature, Module: b.Module, Unsigned: o.unsigned, Lookalike: o.lookalike}
	for _, s := range o.settings {
		key, value, ok := cli.CutSetting(s)
		if !ok {
			return cli.Usagef("--setting %q: want key=value", s)
		}
		if r.Settings == nil {
			r.Settings = map[string]string{}
		}
		r.Settings[key] = value
	}
	plan, err := c.PlanPlugin(ctx, r)
	if err != nil {
		return pluginAdvice(err, m.ID)
	}
	switch {
	case o.dry:
		return a.Print(plan, func(w io.Writer) { showPluginPlan(a, w, &plan) })
	case plan.Step == trust.Again && r.Settings == nil:
		return a.Print(plan, func(w io.Writer) { fmt.Fprintf(w, "%s %s is already installed.\n", plan.ID, plan.Version) })
	case !o.yes && len(plan.Added) > 0:
		showPluginPlan(a, a.Stderr, &plan)
		if err := a.ConfirmOr(question(&plan), "nothing was installed"); err != nil {
			return err
		}
	}
	r.Agreed = plan.Asks
	p, err := c.InstallPlugin(ctx, r)
	if err != nil {
		return pluginAdvice(err, m.ID)
	}
	return a.Print(p, func(w io.Writer) {
		switch {
		case plan.Step == trust.Upgrade:
			fmt.Fprintf(w, "Upgraded %s from %s to %s.\n", p.ID, plan.From, p.Version)
		default:
			fmt.Fprintf(w, "Installed %s %s.\n", p.ID, p.Version)
		}
		if p.State != serve.PluginRuns {
			fmt.Fprint(w, a.WithHomef("It is %s: locket plugin enable %s\n", p.State, p.ID))
		}
	})
}

func question(p *trust.Plan) string {
	if p.Step == trust.Upgrade {
		return "Upgrade it?"
	}
	return "Install it?"
}

// showPluginPlan prints what a person reads before saying yes. Only one line is what the publisher
// wrote; the other sentences are Locket's.
func showPluginPlan(a *cli.App, w io.Writer, p *trust.Plan) {
	fmt.Fprintf(w, "%s %s", a.Paint.Bold(p.ID), p.Version)
	if p.Title != "" {
		fmt.Fprintf(w, ": %s", cli.OneLine(p.Title))
	}
	fmt.Fprintln(w)
	switch {
	case p.Publisher == "":
		fmt.Fprintln(w, a.Paint.Red("Nobody signed it.")+" Install it only if you built it yourself.")
	case p.Known:
		fmt.Fprintf(w, "Signed by %s, whose plugins you have installed before.\n", p.Fingerprint)
	default:
		fmt.Fprintf(w, "Signed by %s, whose key is new here.\nCompare it with the one that the publisher shows elsewhere.\n", p.Fingerprint)
	}
	if p.Step == trust.New {
		list(w, "What it can read:", p.Reads)
		list(w, "What it can do:", p.Writes)
	} else {
		list(w, fmt.Sprintf("More than version %s could:", p.From), p.Added)
	}
	fmt.Fprintln(w, trust.Cannot)
}

func list(w io.Writer, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, head)
	for _, l := range lines {
		fmt.Fprintf(w, "  - %s\n", l)
	}
}

// pluginAdvice says what to do about a refusal of the node. From a daemon, the refusal comes only
// as text.
func pluginAdvice(err error, id string) error {
	for _, c := range []struct {
		reason error
		advice string
	}{
		{trust.ErrPublisher, "If you know from the publisher, through another channel, that the key has changed: locket plugin remove " + id + ", then\nlocket plugin unpin " + id + ", and install it again. Otherwise somebody else may be posing as the publisher."},
		{trust.ErrDowngrade, "An old version may have security holes that were fixed since. If you want it all the same: locket plugin remove " + id + ",\nthen locket plugin unpin " + id + ", and install it again."},
		{trust.ErrChanged, "A changed plugin needs a new version number. Ask the publisher for one, or get the file again."},
		{trust.ErrReserved, "Its author has to choose another id in plugin.toml."},
		{trust.ErrLookalike, "If it is the plugin that you mean, add --lookalike."},
		{trust.ErrUnsigned, "If it is your own, add --unsigned, or sign it: locket plugin sign."},
	} {
		if strings.Contains(err.Error(), c.reason.Error()) {
			return cli.AdvisedError{Err: err, Advice: c.advice}
		}
	}
	return err
}
