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
		Use: "consent", Short: "Answer what your policy asks you", RunE: a.NeedsCommand,
		Long: `A rule of your policy (locket policy) with @ask permits what you say yes to:

  @ask("30 days") permit (principal == App::"coach", action == Action::"read", resource)
  when { resource.tags.contains("health") };

As long as you have not answered, nothing of it passes, and whoever asked does not learn
that there is something. "30 days" is for how long a yes holds at most; @ask("each time")
is asked again for everything, and a yes holds for a day. A question that nobody asks
again lapses after a week.

Here an app also asks for an entry of your vault (locket app add NAME --can vault), each
time that it needs it. Such a question lapses after a day.`,
	}
	c.AddCommand(consentListCommand(a), consentShowCommand(a), consentAnswerCommand(a, "allow"), consentAnswerCommand(a, "refuse"))
	return c
}

func consentListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what waits for your consent, and what you answered", Args: cli.Nothing(),
		Long: `Lists what waits for a yes and what you answered as long as that holds, with who asked, by
which rule, and the first memories of each. locket consent show has all of them.`,
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

// showConsent shows a question with its memories, as many of them as most says; 0: all.
func showConsent(a *cli.App, w io.Writer, v *serve.Consent, most int) {
	purpose := ""
	if v.Purpose != "" {
		purpose = " for “" + cli.OneLine(v.Purpose) + "”"
	}
	by := ", by " + ruleName(v.Rule)
	if v.Action == "reveal" { // which no rule permits
		by = ""
	}
	fmt.Fprintf(w, "%s  %s would %s%s%s; asked %s, last %s\n", a.Paint.Dim(v.ID), a.Paint.Bold(cli.OneLine(v.Who)), verbOf(v.Action), purpose, by,
		cli.Plural(v.Asked, "time", "times"), a.When(v.Last))
	consentItems(a, w, v.ID, "waits", v.Waits, most)
	if v.More {
		fmt.Fprintln(w, "  and more, which is asked about afterwards")
	}
	switch {
	case v.Answer == "":
	case v.All:
		fmt.Fprintf(w, "  %s until %s, also what comes later\n", v.Answer, a.When(v.Until))
	default:
		fmt.Fprintf(w, "  %s until %s\n", v.Answer, a.When(v.Until))
	}
	consentItems(a, w, v.ID, "allowed", v.Shown, most)
}

// ruleName names a rule in a sentence: one without a name is "the rule in line 3" already.
func ruleName(rule string) string {
	if strings.HasPrefix(rule, "the rule in line ") {
		return rule
	}
	return "the rule " + cli.OneLine(rule)
}

// showGone says of a question whose rule the policy has no more that it has none. What is
// asked before money is paid has no rule of the policy.
func showGone(a *cli.App, w io.Writer, v *serve.Consent, p *serve.Policy) {
	if v.Action != "buy" && v.Action != "reveal" && !slices.ContainsFunc(p.Rules, func(r serve.PolicyRule) bool { return r.Words == v.Words }) {
		fmt.Fprintln(w, "  the rule is no longer in your policy, so that nothing passes by it")
	}
}

func verbOf(action string) string {
	return map[string]string{"share": "be given", "read": "read", "feed": "be fed", "sell": "buy", "answer": "pay for an answer from", "buy": "pay", "reveal": "read your vault once"}[action]
}

func consentItems(a *cli.App, w io.Writer, id, state string, list []serve.ConsentItem, most int) {
	for i, it := range list {
		if i == most && most > 0 {
			fmt.Fprint(w, a.Heref("  and %d more: locket consent show %s\n", len(list)-most, id))
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
	}
}

// consentOf gives the one that an id, or the beginning of one, names.
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
		return v, cli.Usagef("%q: want at least 4 characters of the id, which locket consent list shows", id)
	case found == 0:
		return v, fmt.Errorf("consent %s: %w", id, memory.ErrNotFound)
	case found > 1:
		return v, fmt.Errorf("consent %s: %w", id, memory.ErrAmbiguous)
	}
	return v, nil
}

func consentShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show all of what would be shown", Args: cli.Between(1, 1, "the id"),
		Long:    "Shows the rule in plain words, and all memories that wait or were allowed, as they would be\nshown. The beginning of an id is enough: 4 characters or more.",
		Example: "  locket consent show 3f9a",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := consentOf(cmd.Context(), c, args[0])
			var p serve.Policy
			if err == nil && !a.JSON {
				p, err = c.Policy(cmd.Context())
			}
			return a.Printed(err, v, func(w io.Writer) {
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
		Use: act + " ID", Args: cli.Between(1, 1, "the id"), Short: "Refuse it, and take back what you allowed",
		Long:    "You are not asked about it again until the refusal ends: after 30 days, unless --for says\notherwise. What was shared by an earlier yes is taken back.",
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
			return a.With(cmd.Context(), true, func(c *serve.Client) error { return answerConsent(a, cmd.Context(), c, r, file, yes) })
		},
	}
	if act == "allow" {
		c.Short, c.Example = "Say yes to what would be shown", "  locket consent allow 3f9a\n  locket consent allow 3f9a --remember --for 7d"
		c.Long = `Shows what would pass, and asks. A yes is for these memories as they are; one that is
corrected later is asked about again. With --remember it is also for what the rule will be
about later. It ends when the rule says, or sooner by --for.

A yes to an app that would read an entry of your vault opens the vault, which may take the
passphrase, and is for one reading within ten minutes.`
		c.Flags().BoolVar(&r.Remember, "remember", false, "also memories to which the rule applies later")
		c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
		c.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase, which opens the vault for an app's reading, from a `file`")
	}
	c.Flags().StringVar(&life, "for", "", "the `duration` that the answer holds, such as 12h or 7d")
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
	if errors.Is(err, serve.ErrVaultLocked) { // an app is to read an entry: as long as the yes holds
		if _, err := a.OpenVault(ctx, c, file, cmp.Or(r.For, most).Std()); err != nil {
			return err
		}
		v, err = c.AnswerConsent(ctx, r)
	}
	return a.Printed(err, v, func(w io.Writer) {
		what := cli.Plural(len(v.Shown), "memory", "memories")
		if v.Action == "reveal" {
			what = "one reading of it"
		}
		if v.All || v.Answer == "refused" {
			what = "whatever the rule is about"
		}
		fmt.Fprintf(w, "%s %s %s until %s.\n", strings.ToUpper(v.Answer[:1])+v.Answer[1:], cli.OneLine(v.Who), what, a.When(v.Until))
	})
}
