package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/match"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) matchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "match", Short: "Find out what interests you share with somebody, without telling the rest", RunE: a.needsCommand,
		Long: `Two people compare their interests: first how many both have, then, if both want, which.
What only one of the two has stays with that one. Each step is a message, a line of text
sealed to the other's key, that you send by any way you like. No node and no relay is
needed. docs/communities.md says what somebody who lies can learn.`,
		Example: `  locket match interests --add "bee keeping" --add 围棋
  locket match ask Ben=@ben.key > ask.txt         # his key is what locket share key prints
  locket match open answer.txt > count.txt        # his answer: how many
  locket match which Ben > which.txt              # tells him which`,
	}
	c.AddCommand(a.matchInterestsCommand(), a.matchAskCommand(), a.matchOpenCommand(), a.matchWhichCommand(), a.matchListCommand(), a.matchAgainCommand(), a.matchForgetCommand())
	return c
}

func (a *app) matcher() (*match.Matcher, error) {
	r, err := a.reader()
	if err != nil {
		return nil, err
	}
	return &match.Matcher{Dir: r.Dir}, nil
}

// matching makes what a command runs that needs the wearer's comparisons.
func (a *app) matching(f func(ctx context.Context, m *match.Matcher, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		m, err := a.matcher()
		if err != nil {
			return err
		}
		return f(cmd.Context(), m, args)
	}
}

func (a *app) matchInterestsCommand() *cobra.Command {
	var add, remove []string
	var propose bool
	c := &cobra.Command{
		Use: "interests", Short: "Show and choose the interests that are compared", Args: nothing(),
		Long: `Interests are compared as words: case, width and spaces do not count, and nothing is
translated. There are 32 at most. --propose takes them from your memories (what you like,
tags, your communities), and asks about each; memories that are private, secret or in the
vault propose nothing.`,
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, _ []string) error {
			list, err := m.Choose(ctx, add, remove)
			if err == nil && propose {
				list, err = a.propose(ctx, m, list)
			}
			return a.printed(err, serve.InterestList{Interests: list}, func(w io.Writer) {
				for _, i := range list {
					fmt.Fprintln(w, oneLine(i))
				}
			})
		}),
	}
	c.Flags().StringArrayVar(&add, "add", nil, "add an interest, in `words`")
	c.Flags().StringArrayVar(&remove, "remove", nil, "remove an interest, by its `words`")
	c.Flags().BoolVar(&propose, "propose", false, "ask about what your memories and communities say")
	return c
}

// propose asks about each interest that the node knows of and that is none yet.
func (a *app) propose(ctx context.Context, m *match.Matcher, have []string) ([]string, error) {
	var found []string
	err := a.with(ctx, true, func(c *serve.Client) (err error) {
		found, err = c.ProposeInterests(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if a.confirm(fmt.Sprintf("Compare %q?", oneLine(f))) {
			if have, err = m.Choose(ctx, []string{f}, nil); err != nil {
				return nil, err
			}
		}
	}
	return have, nil
}

// sent is a message to be sent on, with how the comparison stands.
type sent struct {
	serve.Comparison
	Message string `json:"message,omitempty"`
}

// sendOn prints a message to the standard output, and to a person what it is.
func (a *app) sendOn(err error, c serve.Comparison, text, what string) error {
	return a.printed(err, sent{c, text}, func(w io.Writer) {
		fmt.Fprintln(a.stderr, what)
		if text != "" {
			fmt.Fprintln(w, text)
		}
	})
}

func (a *app) matchAskCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "ask NAME=KEY", Short: "Begin to compare interests with somebody", Args: between(1, 1, "NAME=KEY or NAME=@FILE"),
		Long: `Prints a message for the owner of the key. If they answer it, both of you learn how many
interests you share. One comparison with a key can begin in 30 days, and ten in all.`,
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, args []string) error {
			name, key, named := strings.Cut(args[0], "=")
			if !named {
				return usagef("%q: want NAME=KEY or NAME=@FILE", args[0])
			}
			key, err := keyText(key)
			if err != nil {
				return err
			}
			list, err := m.Interests(ctx)
			if err != nil {
				return err
			}
			if !yes && len(list) > 0 { // without, it fails below
				if err := a.agreed(fmt.Sprintf("Let %s find out how many of your %s are theirs, too?", oneLine(name), plural(len(list), "interest", "interests")), "nothing was asked"); err != nil {
					return err
				}
			}
			c, text, err := m.Ask(ctx, name, key)
			return a.sendOn(err, c, text, fmt.Sprintf("Send this to %s. The words of their key are: %s", oneLine(name), c.Words))
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) matchOpenCommand() *cobra.Command {
	var name string
	var yes bool
	c := &cobra.Command{
		Use: "open FILE", Short: "Open a message of a comparison; prints the answer, if there is one", Args: between(1, 1, "a file (- is the standard input)"),
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, args []string) error {
			b, err := a.readInput(args[0], 1<<20) // a line of some kilobytes
			if err != nil {
				return err
			}
			text := string(b)
			asked, err := m.Look(ctx, text)
			if err != nil {
				return err
			}
			if asked != nil && !yes {
				fmt.Fprintf(a.stderr, "Somebody asks whose key has the words: %s\nCompare them with those that %s has from locket share key.\n", asked.Words, cmp.Or(oneLine(name), "this person"))
				if err := a.agreed(fmt.Sprintf("Let them find out how many of your %s are theirs, too?", plural(asked.Ours, "interest", "interests")), "nothing was answered"); err != nil {
					return err
				}
			}
			c, reply, err := m.Open(ctx, text, name)
			if errors.Is(err, match.ErrName) {
				return usageError{fmt.Errorf("%w: --name", err)}
			}
			return a.sendOn(err, c, reply, a.standing(&c, reply != ""))
		}),
	}
	c.Flags().StringVar(&name, "name", "", "what you call who asks, by `name`")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// standing says how a comparison stands, and what is next.
func (a *app) standing(c *serve.Comparison, reply bool) string {
	who, next := oneLine(c.Name), ""
	if reply {
		next = fmt.Sprintf(" Send this to %s.", who)
	}
	switch {
	case len(c.Both) > 0:
		return fmt.Sprintf("You and %s have in common: %s.%s", who, oneLine(strings.Join(c.Both, ", ")), next)
	case c.Ended != "":
		return fmt.Sprintf("The comparison with %s has ended: %s.%s", who, oneLine(c.Ended), next)
	case c.Told:
		return a.heref("%s has told you which. You see it once you have told them, too: locket match which %s", who, who)
	case c.Agreed:
		return fmt.Sprintf("You have told %s which of their interests are yours, too. You see which once they have told you.%s", who, next)
	case c.Count != nil:
		return a.heref("You and %s have %s in common, by their program's word.%s To tell them which: locket match which %s", who, plural(*c.Count, "interest", "interests"), next, who)
	}
	return fmt.Sprintf("It is not known yet how many interests %s and you have in common.%s", who, next)
}

func (a *app) matchWhichCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "which NAME", Short: "Tell somebody which interests you share", Args: between(1, 1, "the name or the beginning of the id"),
		Long: `Prints a message that tells the other which of their interests are yours, too. You see them
once both have told. Somebody whose program was changed can read yours and tell you
nothing.`,
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, args []string) error {
			if c, _, err := m.Again(ctx, args[0]); errors.Is(err, memory.ErrNotFound) && c.ID == "" {
				return err // before anything is asked
			}
			if !yes {
				if err := a.agreed(fmt.Sprintf("Tell %s which of their interests are yours, too?", oneLine(args[0])), "nothing was told"); err != nil {
					return err
				}
			}
			c, text, err := m.Which(ctx, args[0])
			return a.sendOn(err, c, text, a.standing(&c, true))
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) matchListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List comparisons, and what came of them", Args: nothing(),
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, _ []string) error {
			list, err := m.List(ctx)
			return rows(a, err, list, func(w io.Writer, c *serve.Comparison) {
				fmt.Fprintf(w, "%s  %s  %s\n", a.paint.dim(c.ID[:10]), a.paint.dim(a.when(c.Began)), a.standing(c, false))
			}, "You have compared interests with nobody.")
		}),
	}
}

func (a *app) matchAgainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "again NAME", Short: "Print the last message to somebody once more", Args: between(1, 1, "the name or the beginning of the id"),
		Long: `Prints what the other may not have yet. Where that is the count and which, it prints two
lines, in this order. The other opens them as one file.`,
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, args []string) error {
			c, text, err := m.Again(ctx, args[0])
			return a.sendOn(err, c, text, a.standing(&c, true))
		}),
	}
}

func (a *app) matchForgetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Drop a comparison and what came of it", Args: between(1, 1, "the name or the beginning of the id"),
		Long: `The home keeps for 30 days that there was one with this key, so that nobody can guess by
asking again.`,
		RunE: a.matching(func(ctx context.Context, m *match.Matcher, args []string) error {
			err := m.Forget(ctx, args[0])
			return a.printed(err, struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "It is forgotten here.") })
		}),
	}
}
