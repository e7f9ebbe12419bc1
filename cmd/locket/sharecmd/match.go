package sharecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/match"
	"github.com/locket-dev/locket/node/serve"
)

func MatchCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "match", Short: "Find the interests that you share with somebody, without revealing the rest", RunE: a.NeedsCommand,
		Long: `Two people compare their interests: first how many both have, and then, if both agree, which.
Neither learns an interest that only the other has. Each step is a line of text, sealed to
the other person's key, that you send in any way you like. No node and no relay is needed.
docs/communities.md says what a person who lies can learn.`,
		Example: `  locket match interests --add "bee keeping" --add 围棋
  locket match ask Ben=@ben.key > ask.txt         # his key, as printed by locket share key
  locket match open answer.txt > count.txt        # opens his answer: how many you share
  locket match which Ben > which.txt              # tells him which ones`,
	}
	c.AddCommand(matchInterestsCommand(a), matchAskCommand(a), matchOpenCommand(a), matchWhichCommand(a), matchListCommand(a), matchAgainCommand(a), matchForgetCommand(a))
	return c
}

func matcher(a *cli.App) (*match.Matcher, error) {
	r, err := cli.Reader(a)
	if err != nil {
		return nil, err
	}
	return &match.Matcher{Dir: r.Dir}, nil
}

// matching returns the Run function of a command that needs the wearer's comparisons.
func matching(a *cli.App, f func(ctx context.Context, m *match.Matcher, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		m, err := matcher(a)
		if err != nil {
			return err
		}
		return f(cmd.Context(), m, args)
	}
}

func matchInterestsCommand(a *cli.App) *cobra.Command {
	var add, remove []string
	var propose bool
	c := &cobra.Command{
		Use: "interests", Short: "Show and choose the interests to compare", Args: cli.NoArgs(),
		Long: `Interests are compared as words: case, width and spaces do not matter, and nothing is
translated. You can have at most 32. --propose suggests some from your memories (what you
like, tags, your communities), and asks about each. It does not use memories that are
private, secret or in the vault.`,
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, _ []string) error {
			list, err := m.Choose(ctx, add, remove)
			if err == nil && propose {
				list, err = proposeMatch(a, ctx, m, list)
			}
			return a.PrintUnless(err, serve.InterestList{Interests: list}, func(w io.Writer) {
				for _, i := range list {
					fmt.Fprintln(w, cli.OneLine(i))
				}
			})
		}),
	}
	c.Flags().StringArrayVar(&add, "add", nil, "add an interest, in `words`")
	c.Flags().StringArrayVar(&remove, "remove", nil, "remove an interest, by its `words`")
	c.Flags().BoolVar(&propose, "propose", false, "suggest interests from your memories and communities")
	return c
}

// proposeMatch asks about each interest that the node finds and that is not in have.
func proposeMatch(a *cli.App, ctx context.Context, m *match.Matcher, have []string) ([]string, error) {
	var found []string
	err := a.WithClient(ctx, true, func(c *serve.Client) (err error) {
		found, err = c.ProposeInterests(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if a.Confirm(fmt.Sprintf("Compare %q?", cli.OneLine(f))) {
			if have, err = m.Choose(ctx, []string{f}, nil); err != nil {
				return nil, err
			}
		}
	}
	return have, nil
}

// sent is a message to send to the other person, with the state of the comparison.
type sent struct {
	serve.Comparison
	Message string `json:"message,omitempty"`
}

// sendOn prints a message to standard output, and tells a person what it is.
func sendOn(a *cli.App, err error, c serve.Comparison, text, what string) error {
	return a.PrintUnless(err, sent{c, text}, func(w io.Writer) {
		fmt.Fprintln(a.Stderr, what)
		if text != "" {
			fmt.Fprintln(w, text)
		}
	})
}

func matchAskCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "ask NAME=KEY", Short: "Start to compare interests with somebody", Args: cli.ArgsBetween(1, 1, "NAME=KEY or NAME=@FILE"),
		Long: `Prints a message for the owner of the key. If they answer it, both of you learn how many
interests you share. In 30 days you can start one comparison with each key, and ten in all.`,
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, args []string) error {
			name, key, named := strings.Cut(args[0], "=")
			if !named {
				return cli.Usagef("%q: want NAME=KEY or NAME=@FILE", args[0])
			}
			key, err := cli.KeyText(key)
			if err != nil {
				return err
			}
			list, err := m.Interests(ctx)
			if err != nil {
				return err
			}
			if !yes && len(list) > 0 { // without interests, it fails below
				if err := a.ConfirmOr(fmt.Sprintf("Let %s find out how many of your %s they share?", cli.OneLine(name), cli.Plural(len(list), "interest", "interests")), "nothing was asked"); err != nil {
					return err
				}
			}
			c, text, err := m.Ask(ctx, name, key)
			return sendOn(a, err, c, text, fmt.Sprintf("Send this to %s. The words of their key are: %s", cli.OneLine(name), c.Words))
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func matchOpenCommand(a *cli.App) *cobra.Command {
	var name string
	var yes bool
	c := &cobra.Command{
		Use: "open FILE", Short: "Open a message of a comparison, and print the answer if there is one", Args: cli.ArgsBetween(1, 1, "a file (- is the standard input)"),
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, args []string) error {
			b, err := a.ReadInput(args[0], 1<<20) // a message is a line of some kilobytes
			if err != nil {
				return err
			}
			text := string(b)
			asked, err := m.Look(ctx, text)
			if err != nil {
				return err
			}
			if asked != nil && !yes {
				fmt.Fprintf(a.Stderr, "The person who asks has a key with the words: %s\nCompare them with the words that %s sees in locket share key.\n", asked.Words, cmp.Or(cli.OneLine(name), "this person"))
				if err := a.ConfirmOr(fmt.Sprintf("Let them find out how many of your %s they share?", cli.Plural(asked.Ours, "interest", "interests")), "nothing was answered"); err != nil {
					return err
				}
			}
			c, reply, err := m.Open(ctx, text, name)
			if errors.Is(err, match.ErrName) {
				return cli.UsageError{Err: fmt.Errorf("%w: --name", err)}
			}
			return sendOn(a, err, c, reply, standing(a, &c, reply != ""))
		}),
	}
	c.Flags().StringVar(&name, "name", "", "a `name` for the person who asks")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// standing describes the state of a comparison, and the next step.
func standing(a *cli.App, c *serve.Comparison, reply bool) string {
	who, next := cli.OneLine(c.Name), ""
	if reply {
		next = fmt.Sprintf(" Send this to %s.", who)
	}
	switch {
	case len(c.Both) > 0:
		return fmt.Sprintf("You and %s have in common: %s.%s", who, cli.OneLine(strings.Join(c.Both, ", ")), next)
	case c.Ended != "":
		return fmt.Sprintf("The comparison with %s has ended: %s.%s", who, cli.OneLine(c.Ended), next)
	case c.Told:
		return a.WithHomef("%s has told you which. To see it, tell them, too: locket match which %s", who, who)
	case c.Agreed:
		return fmt.Sprintf("You have told %s which of their interests you share. You will see them once they have told you, too.%s", who, next)
	case c.Count != nil:
		return a.WithHomef("You and %s have %s in common, as far as their program is honest.%s To tell them which: locket match which %s", who, cli.Plural(*c.Count, "interest", "interests"), next, who)
	}
	return fmt.Sprintf("It is not known yet how many interests %s and you have in common.%s", who, next)
}

func matchWhichCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "which NAME", Short: "Tell somebody which interests you share", Args: cli.ArgsBetween(1, 1, "the name or the beginning of the id"),
		Long: `Prints a message that tells the other person which of their interests you share. You see the
result once both have told. A person with a modified program can read yours and tell you
nothing.`,
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, args []string) error {
			if c, _, err := m.RepeatMessage(ctx, args[0]); errors.Is(err, memory.ErrNotFound) && c.ID == "" {
				return err // fail before asking
			}
			if !yes {
				if err := a.ConfirmOr(fmt.Sprintf("Tell %s which of their interests you share?", cli.OneLine(args[0])), "nothing was told"); err != nil {
					return err
				}
			}
			c, text, err := m.TellCommon(ctx, args[0])
			return sendOn(a, err, c, text, standing(a, &c, true))
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func matchListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List comparisons and their results", Args: cli.NoArgs(),
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, _ []string) error {
			list, err := m.List(ctx)
			return cli.Rows(a, err, list, func(w io.Writer, c *serve.Comparison) {
				fmt.Fprintf(w, "%s  %s  %s\n", a.Paint.Dim(c.ID[:10]), a.Paint.Dim(a.ShowTime(c.Began)), standing(a, c, false))
			}, "No comparisons.")
		}),
	}
}

func matchAgainCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "again NAME", Short: "Print the last message to somebody again", Args: cli.ArgsBetween(1, 1, "the name or the beginning of the id"),
		Long: `Prints what the other person may not have received. If that is both the count and the
interests, it prints two lines, in this order. The other person opens them as one file.`,
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, args []string) error {
			c, text, err := m.RepeatMessage(ctx, args[0])
			return sendOn(a, err, c, text, standing(a, &c, true))
		}),
	}
}

func matchForgetCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Delete a comparison and its result", Args: cli.ArgsBetween(1, 1, "the name or the beginning of the id"),
		Long: `For 30 days, the home still remembers that there was a comparison with this key, so that
nobody can guess by asking repeatedly.`,
		RunE: matching(a, func(ctx context.Context, m *match.Matcher, args []string) error {
			err := m.Forget(ctx, args[0])
			return a.PrintUnless(err, struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "The comparison is deleted here.") })
		}),
	}
}
