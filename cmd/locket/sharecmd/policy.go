package sharecmd

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

func PolicyCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "policy", Short: "Set who may get which memories", RunE: a.NeedsCommand,
		Long: `One policy decides for shares, feeds to workers, and apps. It is written in Cedar
(https://docs.cedarpolicy.com). What no rule permits is denied. What a rule forbids is
denied even if another rule permits it. The vault is never given to anybody. As long as you
have set no policy, everything that you share by hand is allowed.

  @id("garden for Ann")
  permit (principal == Reader::"Ann", action == Action::"share", resource)
  when { resource.tags.contains("garden") && resource.sensitivity <= 1 };
  forbid (principal is App, action, resource) when { resource.entities.contains("Zuzana") };

Principals: Reader, App and Worker, each as ::"NAME" or with "is App"; and Buyer. Actions:
share, feed (to workers), read (by apps), sell (a copy), answer (a paid question, from a
memory that stays here). A resource has type, tags, entities, places, sensitivity (0 public,
1 personal, 2 private, 3 secret) and learnt. The context has now and purpose. With
@ask("30 days") before a permit, you are asked first (locket consent).

The policy syncs to your devices like anything that you say. It does not apply to a worker
that is a member of your whole space: that worker has everything except the vault.`,
	}
	c.AddCommand(policyShowCommand(a), policySetCommand(a), policyTestCommand(a), policyDiffCommand(a), policyNeverCommand(a))
	return c
}

// policyText reads a policy from a file, or from standard input if its name is -.
func policyText(a *cli.App, file string) (string, error) {
	read := func() ([]byte, error) { return os.ReadFile(file) }
	if file == "-" {
		read = func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.Stdin, policy.MaxText+1)) }
	}
	b, err := read()
	if err != nil {
		return "", fmt.Errorf("reading policy: %w", err)
	}
	return string(b), nil
}

func showPolicy(a *cli.App, w io.Writer, p *serve.Policy) {
	if !p.Mine {
		fmt.Fprintln(w, "You have set no policy. What you share by hand is allowed; the vault is never shared.")
		return
	}
	if p.Trouble != "" {
		fmt.Fprintf(w, "The policy can't be read, so nothing is allowed: %s\n", cli.OneLine(p.Trouble))
	}
	if len(p.Conflicts) > 0 {
		fmt.Fprintf(w, "Your devices set %d policies independently. Until you set one policy, only what all of them allow is allowed.\n", len(p.Conflicts)+1)
	}
	if len(p.Rules) == 0 {
		fmt.Fprintln(w, "The policy has no rules: nothing is allowed.")
		return
	}
	for _, r := range p.Rules {
		fmt.Fprintf(w, "%s\n    %s\n", a.Paint.Dim(cli.OneLine(r.Name)), cli.OneLine(r.Words))
	}
	fmt.Fprintln(w, "Nothing else is allowed, and the vault never is.")
}

func policyNeverCommand(a *cli.App) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use: "never [WORDS...]", Short: "List, add or remove words that are never shared", Args: cobra.ArbitraryArgs,
		Long: `Names, addresses, numbers: these words are taken out of every share, besides what it redacts,
in upper or lower case, with or without accents. Shared copies that contain one are taken
back; locket share update shares them again without it. A listing at a market that has one,
also in what it sells, is withdrawn. Workers' feeds and apps get your memories unchanged: for
them, write a rule with forbid.`,
		Example: "  locket policy never Zuzana 'Villa Rosa' '+43 660 1234567'\n  locket policy never --remove Zuzana",
		RunE: func(cmd *cobra.Command, args []string) error {
			if remove && len(args) == 0 {
				return cli.Usagef("--remove: give the words to remove")
			}
			if len(args) > 0 && slices.Contains([]string{"add", "list", "remove"}, args[0]) {
				return cli.Usagef("%s", a.WithHomef("%s is not a subcommand: locket policy never lists the words, locket policy never WORDS adds some, and --remove removes some", args[0]))
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				p, err := c.Policy(cmd.Context())
				if err != nil {
					return err
				}
				words := slices.Clone(p.Never)
				for _, w := range args {
					at := slices.Index(words, w)
					switch {
					case !remove:
						words = append(words, w)
					case at < 0:
						return fmt.Errorf("%q is not on the list", w)
					default:
						words = slices.Delete(words, at, at+1)
					}
				}
				if len(args) > 0 {
					if p, err = c.SetNever(cmd.Context(), words, p.Never...); err != nil {
						return err
					}
				}
				return a.Print(serve.NeverList{Words: p.Never}, func(w io.Writer) {
					for _, word := range p.Never {
						fmt.Fprintln(w, cli.OneLine(word))
					}
					if len(p.Never) == 0 {
						fmt.Fprintln(w, "No words.")
					}
				})
			})
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the words from the list")
	return c
}

func policyShowCommand(a *cli.App) *cobra.Command {
	var cedar bool
	c := &cobra.Command{
		Use: "show", Short: "Show your policy in plain words", Args: cli.NoArgs(),
		RunE: cli.PrintCommand(a, (*serve.Client).Policy, func(w io.Writer, p *serve.Policy) {
			if cedar {
				fmt.Fprint(w, p.Text)
				return
			}
			showPolicy(a, w, p)
		}),
	}
	c.Flags().BoolVar(&cedar, "cedar", false, "show it as written, in Cedar")
	return c
}

func policySetCommand(a *cli.App) *cobra.Command {
	var yes, none bool
	c := &cobra.Command{
		Use: "set FILE | set --none", Short: "Set your policy", Args: cli.ArgsBetween(0, 1, "a file with the policy (- is the standard input)"),
		Long: `Shows the rules in plain words, and what they would allow and deny for each existing reader,
app and worker, and asks. What is shared but no longer allowed is taken back. With --none you
have no policy again.`,
		Example: "  locket policy set garden.cedar",
		RunE: func(cmd *cobra.Command, args []string) error {
			if none == (len(args) == 1) {
				return cli.Usagef("want a file, or --none")
			}
			if !none && args[0] == "-" && !yes {
				return cli.Usagef("a policy from standard input needs --yes, because it can't ask you")
			}
			text := ""
			if !none {
				var err error
				if text, err = policyText(a, args[0]); err != nil {
					return err
				}
				if len(text) == 0 {
					return cli.Usagef("%s is empty; to remove your policy, use --none", args[0])
				}
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				var was []string // what the wearer was shown the difference to
				if !yes {
					p, err := c.Policy(cmd.Context())
					if err != nil {
						return err
					}
					was = p.Texts()
					d, err := c.DiffPolicy(cmd.Context(), text)
					if err != nil {
						return err
					}
					showPolicy(a, a.Stderr, &d.Policy)
					showPolicyDiff(a, a.Stderr, &d)
					if err := a.ConfirmOr("Set this policy?", "the policy was not changed"); err != nil {
						return err
					}
				}
				p, err := c.SetPolicy(cmd.Context(), text, was...)
				return a.PrintUnless(err, p, func(w io.Writer) { showPolicy(a, w, &p) })
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&none, "none", false, "remove the policy: everything that you share by hand is allowed")
	return c
}

func policyTestCommand(a *cli.App) *cobra.Command {
	var r serve.PolicyTestRequest
	var at, file string
	c := &cobra.Command{
		Use: "test --as WHO", Short: "List what somebody could get, and which rule decides", Args: cli.NoArgs(),
		Example: "  locket policy test --as reader:Ann\n  locket policy test --as app:garden --policy next.cedar",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if r.At, err = a.ReadTime("--at", at); err != nil {
				return err
			}
			kind, _, err := policy.ParseWho(r.As)
			if err != nil {
				return cli.UsageError{Err: fmt.Errorf("--as: %w", err)}
			}
			if _, err := policy.ActionBy(kind, r.Action); err != nil {
				return cli.UsageError{Err: fmt.Errorf("--action: %w", err)}
			}
			if file != "" {
				if r.Text, err = policyText(a, file); err != nil {
					return err
				}
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).TestPolicy, r, func(a0 io.Writer, a1 *serve.PolicyTested) { showTested(a, a0, a1) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.As, "as", "", "`WHO`: reader:NAME, app:NAME, worker:NAME, community:NAME or buyer")
	f.StringVar(&r.Action, "action", "", "answer: test what may answer a buyer's paid question, instead of what may be sold as a copy")
	f.StringVar(&r.Purpose, "purpose", "", "the `purpose` that they give")
	f.StringVar(&at, "at", "", "test for this `time`; default: now")
	f.StringVar(&file, "policy", "", "test the policy in this `file` instead of yours")
	return c
}

func showTested(a *cli.App, w io.Writer, v *serve.PolicyTested) {
	for _, it := range v.Passes {
		fmt.Fprintf(w, "%s  %-10s  %s  %s\n", a.Paint.Dim(cli.ShortID(it.ID)), it.Type, cli.Listed(it.Text), a.Paint.Dim("by "+cli.OneLine(it.By)))
	}
	fmt.Fprintf(w, "%s to %s (%s).\n", cli.Plural(len(v.Passes), "memory would be given", "memories would be given"), cli.OneLine(v.As), v.Action)
	for _, h := range v.Why {
		fmt.Fprintf(w, "%d would not: %s.\n", h.Memories, cli.OneLine(h.Why))
	}
}

func policyDiffCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "diff FILE", Short: "Show what another policy would allow and deny", Args: cli.ArgsBetween(1, 1, "a file with the policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := policyText(a, args[0])
			if err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).DiffPolicy, text, func(a0 io.Writer, a1 *serve.PolicyDiff) { showPolicyDiff(a, a0, a1) })
		},
	}
}

// shownChanges is how many memories of each change a person is shown.
const shownChanges = 10

func showPolicyDiff(a *cli.App, w io.Writer, d *serve.PolicyDiff) {
	if len(d.Changes) == 0 {
		fmt.Fprintln(w, "It changes nothing for the existing readers, apps and workers.")
	}
	for _, c := range d.Changes {
		for _, part := range []struct {
			what  string
			items []serve.PolicyItem
		}{{"opens", c.Opens}, {"closes", c.Closes}} {
			if len(part.items) == 0 {
				continue
			}
			fmt.Fprintf(w, "It %s %s to %s (%s):\n", part.what, cli.Plural(len(part.items), "memory", "memories"), cli.OneLine(c.As), c.Action)
			for _, it := range part.items[:min(shownChanges, len(part.items))] {
				fmt.Fprintf(w, "  %s  %-10s  %s  %s\n", a.Paint.Dim(cli.ShortID(it.ID)), it.Type, cli.Listed(it.Text), a.Paint.Dim(cli.OneLine(it.By)))
			}
			if more := len(part.items) - shownChanges; more > 0 {
				fmt.Fprintf(w, "  and %d more\n", more)
			}
		}
	}
}
