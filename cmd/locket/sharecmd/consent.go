package sharecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func ConsentCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "consent", Short: "Answer requests that need your consent", RunE: a.NeedsCommand,
		Long: `A rule of your policy (locket policy) with @ask permits only what you agree to:

  @ask("30 days") permit (principal == App::"coach", action == Action::"read", resource)
  when { resource.tags.contains("health") };

Until you have answered, nothing is shown, and whoever asked does not learn that there is
something. "30 days" is the longest time for which a yes holds. With @ask("each time") you
are asked for everything again, and a yes holds for a day. A request that nobody repeats
lapses after a week.

Apps also ask here for entries of your vault (locket app add NAME --can vault), each time
that they need one. Such a request lapses after a day.`,
	}
	c.AddCommand(consentListCommand(a), consentShowCommand(a), consentAnswerCommand(a, "allow"), consentAnswerCommand(a, "refuse"))
	return c
}

func consentListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what waits for your consent, and what you answered", Args: cli.NoArgs(),
		Long: `Lists the requests that wait, and your answers while they hold, with who asked, the rule, and
the first memories of each. locket consent show lists all memories.`,
		Example: "  locket consent list\n  locket consent list --json",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
			list, err := c.Consents(cmd.Context())
			var p serve.Policy
			if err == nil && !a.JSON && len(list) > 0 {
				p, err = c.Policy(cmd.Context())
			}
			return cli.Rows(a, err, list, func(w io.Writer, v *serve.Consent) {
				showConsent(a, w, v, shownConsent)
				showGone(a, w, v, &p)
			}, "Nothing waits for your consent.")
		}),
	}
}

// shownConsent is how many memories of a question a list has.
const shownConsent = 3

// showConsent shows a request with at most most of its memories, or with all if most is 0.
func showConsent(a *cli.App, w io.Writer, v *serve.Consent, most int) {
	purpose := ""
	if v.Purpose != "" {
		purpose = " for “" + cli.OneLine(v.Purpose) + "”"
	}
	by := ", by " + ruleName(v.Rule)
	if v.Action == "reveal" { // no rule permits this
		by = ""
	}
	fmt.Fprintf(w, "%s  %s would %s%s%s; asked %s, last %s\n", a.Paint.Dim(v.ID), a.Paint.Bold(cli.OneLine(v.Who)), verbOf(v.Action), purpose, by,
		cli.Plural(v.Asked, "time", "times"), a.ShowTime(v.Last))
	consentItems(a, w, v.ID, "waits", v.Waits, most)
	if v.More {
		fmt.Fprintln(w, "  and more, about which you will be asked afterwards")
	}
	switch {
	case v.Answer == "":
	case v.All:
		fmt.Fprintf(w, "  %s until %s, including later memories\n", v.Answer, a.ShowTime(v.Until))
	default:
		fmt.Fprintf(w, "  %s until %s\n", v.Answer, a.ShowTime(v.Until))
	}
	consentItems(a, w, v.ID, "allowed", v.Shown, most)
}

// ruleName names a rule in a sentence. A rule without a name is already called "the rule in line
// 3".
func ruleName(rule string) string {
	if strings.HasPrefix(rule, "the rule in line ") {
		return rule
	}
	return "the rule " + cli.OneLine(rule)
}

// showGone says that the rule of a request is no longer in the policy. Requests before a payment
// have no rule.
func showGone(a *cli.App, w io.Writer, v *serve.Consent, p *serve.Policy) {
	if v.Action != "buy" && v.Action != "reveal" && !slices.ContainsFunc(p.Rules, func(r serve.PolicyRule) bool { return r.Words == v.Words }) {
		fmt.Fprintln(w, "  the rule is no longer in your policy, so nothing is shown")
	}
}

func verbOf(action string) string {
	return map[string]string{"share": "be given", "read": "read", "feed": "be fed", "sell": "buy", "answer": "pay for an answer from", "buy": "pay", "reveal": "read your vault once"}[action]
}

func consentItems(a *cli.App, w io.Writer, id, state string, list []serve.ConsentItem, most int) {
	for i, it := range list {
		if i == most && most > 0 {
			fmt.Fprint(w, a.WithHomef("  and %d more: locket consent show %s\n", len(list)-most, id))
			return
		}
		text := cli.OneLine(it.Text)
		if text == "" {
			text = a.Paint.Dim("(redaction leaves nothing)")
		}
		fmt.Fprintf(w, "  %-8s  %-10s  %s\n", state, it.Type, text)
		if it.Was != "" {
			fmt.Fprintf(w, "  %-8s  %-10s  %s\n", "", "", a.Paint.Dim("was: "+cli.OneLine(it.Was)))
		}
		a.ShowTexts(w, 24, it.Beyond)
	}
}

// consentOf returns the request with this id, or whose id begins so.
func consentOf(ctx context.Context, c *serve.Client, id string) (v serve.Consent, err error) {
	list, err := c.Consents(ctx)
	if err != nil {
		return v, err
	}
	found := 0
	for i := range list {
		if len(id) >= 4 && strings.HasPrefix(list[i].ID, strings.ToLower(id)) {
			v, found = list[i], found+1
		}
	}
	switch {
	case len(id) < 4:
		return v, cli.Usagef("%q: want at least 4 characters of the id, as shown by locket consent list", id)
	case found == 0:
		return v, fmt.Errorf("consent %s: %w", id, memory.ErrNotFound)
	case found > 1:
		return v, fmt.Errorf("consent %s: %w", id, memory.ErrAmbiguous)
	}
	return v, nil
}

func consentShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show everything that would be shown", Args: cli.ArgsBetween(1, 1, "the id"),
		Long:    "Shows the rule in plain words, and all memories that wait or were allowed, as they would be\nshown. The first 4 characters of an id are enough.",
		Example: "  locket consent show 3f9a",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := consentOf(cmd.Context(), c, args[0])
			var p serve.Policy
			if err == nil && !a.JSON {
				p, err = c.Policy(cmd.Context())
			}
			return a.PrintUnless(err, v, func(w io.Writer) {
				fmt.Fprintln(w, cli.OneLine(v.Words))
				showConsent(a, w, &v, 0)
				showGone(a, w, &v, &p)
			})
		}),
	}
}

func consentAnswerCommand(a *cli.App, act string) *cobra.Command {
	var yes bool
	var life, file string
	r := serve.ConsentAnswer{Act: act}
	c := &cobra.Command{
		Use: act + " ID", Args: cli.ArgsBetween(1, 1, "the id"), Short: "Refuse a request, and take back what you allowed",
		Long:    "You are not asked again until the refusal ends: after 30 days, or after --for. What was\nshared after an earlier yes is taken back.",
		Example: "  locket consent refuse 3f9a --for 90d",
		RunE: func(cmd *cobra.Command, args []string) error {
			if life != "" {
				d, err := config.ParseDuration(life)
				if err != nil {
					return cli.Usagef("--for: %v", err)
				}
				r.For = d
			}
			r.ID = args[0]
			return a.WithPassphraseFile(cmd.Context(), file, func(c *serve.Client) error { return answerConsent(a, cmd.Context(), c, r, file, yes) })
		},
	}
	if act == "allow" {
		c.Short, c.Example = "Allow what would be shown", "  locket consent allow 3f9a\n  locket consent allow 3f9a --remember --for 7d"
		c.Long = `Shows what would be shown to them, and asks. A yes covers these memories as they are now; if
one is corrected later, you are asked again. With --remember, it also covers memories to which
the rule applies later. It ends when the rule says, or earlier with --for.

A yes to an app that asks for an entry of your vault opens the vault, for which you may need
the passphrase. It covers one reading within ten minutes.`
		c.Flags().BoolVar(&r.Remember, "remember", false, "also memories to which the rule applies later")
		c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
		c.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase that opens the vault for an app from a `file`")
	}
	c.Flags().StringVar(&life, "for", "", "how long the answer holds: a `duration` such as 12h or 7d")
	return c
}

func answerConsent(a *cli.App, ctx context.Context, c *serve.Client, r serve.ConsentAnswer, file string, yes bool) error {
	v, err := consentOf(ctx, c, r.ID)
	if err != nil {
		return err
	}
	if r.Act == "allow" {
		if !yes {
			showConsent(a, a.Stderr, &v, 0)
			if err := a.ConfirmOr("Allow it?", "nothing was allowed"); err != nil {
				return err
			}
		}
		if len(v.Waits) == 0 && !r.Remember {
			return fmt.Errorf("consent %s: nothing waits for it: %w", v.ID, serve.ErrConflict)
		}
		for _, it := range v.Waits {
			r.Of = append(r.Of, serve.ConsentSeen{ID: it.ID, Mark: it.Mark})
		}
	}
	r.ID = v.ID
	most := v.Most
	v, err = c.AnswerConsent(ctx, r)
	if errors.Is(err, serve.ErrVaultLocked) { // an app may read an entry for as long as the yes holds
		if _, err := a.OpenVault(ctx, c, file, cmp.Or(r.For, most).Std()); err != nil {
			return err
		}
		v, err = c.AnswerConsent(ctx, r)
	}
	return a.PrintUnless(err, v, func(w io.Writer) {
		what := cli.Plural(len(v.Shown), "memory", "memories")
		if v.Action == "reveal" {
			what = "to read it once"
		}
		if v.All || v.Answer == "refused" {
			what = "everything that the rule covers"
		}
		fmt.Fprintf(w, "%s %s %s until %s.\n", strings.ToUpper(v.Answer[:1])+v.Answer[1:], cli.OneLine(v.Who), what, a.ShowTime(v.Until))
	})
}
