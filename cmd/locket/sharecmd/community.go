package sharecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func CommunityCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "community", Short: "Pool redacted memories with others, and ask them", RunE: a.NeedsCommand,
		Long: `A community is a space that many people write to. Each member contributes redacted copies
under a policy of their own. search, ask and context also use what the others contributed,
marked with the contributor. The relay can read none of it (docs/communities.md). ID is a
community's name, or at least 4 characters of its id.`,
	}
	c.AddCommand(communityNewCommand(a), communityInviteCommand(a), communityJoinCommand(a), communityListCommand(a), communityShowCommand(a), communityAddCommand(a),
		communityAskCommand(a), communityAnswersCommand(a), communityRemoveCommand(a), communityRulesCommand(a), communityLogCommand(a), communityLeaveCommand(a))
	return c
}

func communityNewCommand(a *cli.App) *cobra.Command {
	var r serve.NewCommunity
	c := &cobra.Command{
		Use: "new NAME", Short: "Found a community at your relay", Args: cli.ArgsBetween(1, 1, "its name"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Name = args[0]
			v, err := c.NewCommunity(cmd.Context(), r)
			return a.PrintUnless(err, v, func(w io.Writer) {
				fmt.Fprintf(w, "You are the owner of %s, %s.\nTo invite somebody, use the key that they print with locket share key:\n  %s\n", cli.OneLine(v.Name), v.ID,
					a.WithHomef("locket community invite %s NAME=KEY", v.ID.String()[:10]))
			})
		}),
	}
	c.Flags().StringVar(&r.As, "as", "", "your `name` among the members; default owner")
	return c
}

func communityInviteCommand(a *cli.App) *cobra.Command {
	var r serve.CommunityInvite
	c := &cobra.Command{
		Use: "invite ID NAME=KEY", Short: "Admit somebody, or propose them as a member", Args: cli.ArgsBetween(2, 2, "the id, or NAME=KEY, NAME=@FILE or the name of a proposed member,"),
		Long: `If the owner or a moderator invites somebody, they are admitted at once. If a member does, it
is a proposal, until the owner or a moderator runs locket community invite ID NAME. That
shows the words of the proposed key, to compare with those that NAME sees in locket share
key, and asks. New members can also read what was said before. The role of a key can't be
changed later.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) (err error) {
			if r.Who, err = cli.KeyText(args[1]); err != nil {
				return err
			}
			if r.Words == "" && !strings.Contains(r.Who, "=") {
				if r.Words, err = waitingWords(a, cmd.Context(), c, args[0], r.Who); err != nil {
					return err
				}
			}
			v, err := c.InviteTo(cmd.Context(), args[0], r)
			return a.PrintUnless(err, v, func(w io.Writer) {
				if v.Role == "member" {
					fmt.Fprintln(w, "Proposed. The owner or a moderator decides.")
					return
				}
				fmt.Fprintf(w, "Admitted. They join with:\n  locket community join '%s'\n", v.Link)
			})
		}),
	}
	c.Flags().StringVar(&r.Words, "words", "", "the `words` of the proposed key, instead of being asked")
	c.Flags().BoolVar(&r.Moderator, "moderator", false, "invite them as a moderator, who can admit and remove others; only for the owner")
	return c
}

// waitingWords asks whether the key of a proposed member is theirs, and returns its words.
func waitingWords(a *cli.App, ctx context.Context, c *serve.Client, id, name string) (string, error) {
	v, err := c.Community(ctx, id)
	if err != nil {
		return "", err
	}
	var words []string
	for _, m := range v.Waiting {
		if m.Name == name {
			words = append(words, m.Words)
			fmt.Fprintf(a.Stderr, "%s is proposed by %s, with a key that has the words: %s\n", cli.OneLine(m.Name), cli.OneLine(m.By), m.Words)
		}
	}
	switch {
	case len(words) == 0:
		return "", fmt.Errorf("proposed member %q: %w", name, memory.ErrNotFound)
	case len(words) > 1:
		return "", fmt.Errorf("proposed member %q: %w: give --words", name, memory.ErrAmbiguous)
	case !a.Confirm("Do they see these words in locket share key?"):
		return "", errors.New("nobody was admitted")
	}
	return words[0], nil
}

func communityJoinCommand(a *cli.App) *cobra.Command {
	var r serve.JoinCommunity
	c := &cobra.Command{
		Use: "join LINK", Short: "Join a community that has admitted your key", Args: cli.ArgsBetween(1, 1, "the link"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Link = args[0]
			v, err := c.JoinCommunity(cmd.Context(), r)
			return a.PrintUnless(err, v, func(w io.Writer) { communityRow(a, w, &v) })
		}),
	}
	c.Flags().StringVar(&r.Name, "name", "", "a `name` for the community, for you and your policy")
	return c
}

func communityListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your communities", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Communities, func(a0 io.Writer, a1 *serve.CommunityHead) { communityRow(a, a0, a1) }, "No communities."),
	}
}

func communityRow(a *cli.App, w io.Writer, v *serve.CommunityHead) {
	state := ""
	switch {
	case !v.Ended.IsZero():
		state = ", no longer served to you since " + a.ShowTime(v.Ended)
	case v.Answers:
		state = ", and this node answers its questions"
	}
	fmt.Fprintf(w, "%s  %s  %s, %s; you are %s%s\n", a.Paint.Dim(v.ID.String()[:10]), a.Paint.Bold(cli.OneLine(v.Name)), cli.Plural(v.People, "member", "members"), cli.Plural(v.Count, "item", "items"), v.Role, state)
}

func communityShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show rules, members, items, questions, and what was removed", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).Community, func(a0 io.Writer, a1 *serve.CommunityView) { showCommunity(a, a0, a1) }),
	}
}

// itemPart names an item or note by the part of its id that follows the author, as remove accepts it.
func itemPart(id memory.ID) string { return id.String()[serve.AuthorChars:][:10] }

func showCommunity(a *cli.App, w io.Writer, v *serve.CommunityView) {
	communityRow(a, w, &v.CommunityHead)
	if v.Rules != "" {
		fmt.Fprintf(w, "rules     %s\n", cli.OneLine(v.Rules))
	}
	if v.Fee != "" {
		fmt.Fprintf(w, "entry     for %s: whoever pays is admitted\n", cli.OneLine(v.Fee))
	}
	for _, m := range v.Members {
		fmt.Fprintf(w, "%-9s  %s (%s)\n", m.Role, cli.OneLine(m.Name), m.Words)
	}
	for _, m := range v.Waiting {
		fmt.Fprintf(w, "proposed   %s (%s), by %s\n", cli.OneLine(m.Name), m.Words, cli.OneLine(m.By))
	}
	item := func(indent string, it *serve.CommunityItem) {
		fmt.Fprintf(w, "%s%s  %s: %s\n", indent, a.Paint.Dim(itemPart(it.ID)), cli.OneLine(it.By), cli.OneLine(it.Text))
	}
	for i := range v.Items {
		item("", &v.Items[i])
	}
	for i := range v.Questions {
		q := &v.Questions[i]
		item("asked  ", &q.CommunityItem)
		for j := range q.Answers {
			item("       ", &q.Answers[j])
		}
	}
	for i := range v.Removed {
		item("removed: "+cli.OneLine(v.Removed[i].Why)+"  ", &v.Removed[i])
	}
}

// chosen adds the flags that select memories and say what to redact.
func chosen(f *pflag.FlagSet, r *serve.ShareRequest, types *[]string) {
	f.StringSliceVar(types, "type", nil, "only these `types`; not vault")
	cli.Choose(f, "type", cli.OpenTypes...)
	f.StringSliceVar(&r.Tags, "tag", nil, "only with all these `tags`")
	f.StringSliceVar(&r.Redact, "redact", nil, "what to take out, as in locket share create: names, places, times, numbers, or `words`")
}

func communityAddCommand(a *cli.App) *cobra.Command {
	var r serve.ShareRequest
	var types []string
	var yes bool
	c := &cobra.Command{
		Use: "add ID", Short: "Contribute redacted copies of memories to a community", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `Shows what the members would see, and asks. Your policy decides, with community:NAME as the
principal (locket policy). What you later forget or change, or your policy holds back, a
running node removes within a minute or so. What a member has fetched stays with them.`,
		Example: `  locket community add Gardeners --tag garden --redact names,places`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Types = cli.ReadTypes(types)
			p, err := c.PreviewCommunity(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			if !yes {
				a.ShowPreview(a.Stderr, &p)
				if !a.Confirm("Add it to the community?") {
					return errors.New("nothing was added")
				}
			}
			r.Confirm = p.Confirm
			v, err := c.AddToCommunity(cmd.Context(), args[0], r)
			return a.PrintUnless(err, v, func(w io.Writer) { communityRow(a, w, &v.CommunityHead) })
		}),
	}
	f := c.Flags()
	f.StringVar(&r.Query, "query", "", "what the memories are about")
	chosen(f, &r, &types)
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func communityAskCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "ask ID QUESTION", Short: "Ask all members", Args: cli.ArgsBetween(2, 2, "the id or the question"),
		Long: `Asks all members. The nodes of those who allow it (locket community answers) answer when they
next check. locket community show shows the answers, and your searches find them.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if !yes {
				if _, err := c.Community(cmd.Context(), args[0]); err != nil {
					return err
				}
				fmt.Fprintln(a.Stderr, "Every member, also those who join later, can read that you asked this, and the answers.")
				if !a.Confirm("Ask it?") {
					return errors.New("nothing was asked")
				}
			}
			v, err := c.AskCommunity(cmd.Context(), args[0], args[1])
			return a.PrintUnless(err, v, func(w io.Writer) {
				fmt.Fprintf(w, "Asked. %s\n", knows(a, &v, args[1]))
			})
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// knows says who knows about a question of the wearer.
func knows(a *cli.App, v *serve.CommunityView, text string) string {
	for _, q := range slices.Backward(v.Questions) {
		if q.You && q.Text == text {
			return q.Knows
		}
	}
	return a.WithHome("The question is not shown: locket community show says why.") // a moderator has removed it, or homes keep no more questions of the wearer
}

func communityAnswersCommand(a *cli.App) *cobra.Command {
	var r serve.ShareRequest
	var types []string
	var off bool
	c := &cobra.Command{
		Use: "answers ID", Short: "Let this node answer the others' questions", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `From now on this node answers questions of members by itself, with up to three copies of
memories that you select here and your policy allows. It answers at most twenty questions per
member and day. All members see the answers. --off ends this.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			with := &r
			if r.Types = cli.ReadTypes(types); off {
				with = nil
			}
			v, err := c.AnswerCommunity(cmd.Context(), args[0], with)
			return a.PrintUnless(err, v, func(w io.Writer) { communityRow(a, w, &v) })
		}),
	}
	chosen(c.Flags(), &r, &types)
	c.Flags().BoolVar(&off, "off", false, "stop answering")
	return c
}

func communityRemoveCommand(a *cli.App) *cobra.Command {
	var r serve.CommunityRemoval
	c := &cobra.Command{
		Use: "remove ID ITEM|MEMBER", Short: "Remove your own items, or as a moderator any item or member", Args: cli.ArgsBetween(2, 2, "the id, or an item or member,"),
		Long: `What you said yourself is erased. An item of somebody else is hidden by each member's node,
with your reason. A removed member can read nothing that is said afterwards. All members can
see in the log who removed what, and why. What was fetched can't be taken back. The owner can
undo a removal by removing it: its id is in locket community log, and a reason is needed.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.What = args[1]
			v, err := c.RemoveFrom(cmd.Context(), args[0], r)
			return a.PrintUnless(err, v, func(w io.Writer) { communityRow(a, w, &v.CommunityHead) })
		}),
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, in `words` that all members can read")
	return c
}

func communityRulesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "rules ID TEXT", Short: "Set the rules of your community", Args: cli.ArgsBetween(2, 2, "the id or the rules"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := c.SetCommunityRules(cmd.Context(), args[0], args[1])
			return a.PrintUnless(err, v, func(w io.Writer) { fmt.Fprintln(w, "The rules are set. All members can read them.") })
		}),
	}
}

func communityLogCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "log ID", Short: "Show who admitted whom, removed what and set rules, and why", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := c.Community(cmd.Context(), args[0])
			return cli.Rows(a, err, v.Log, func(w io.Writer, d *serve.CommunityDeed) {
				id := ""
				if !d.ID.IsZero() {
					id = itemPart(d.ID)
				}
				fmt.Fprintf(w, "%s  %-10s  %s %s  %s  %s\n", a.Paint.Dim(a.ShowTime(d.At)), a.Paint.Dim(id), cli.OneLine(d.By), d.Did, cli.OneLine(d.What), cli.OneLine(d.Why))
			}, "The log is empty.")
		}),
	}
}

func communityLeaveCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "leave ID", Short: "Leave a community, or end your own", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `Removes what you contributed, and deletes your copy of the community. If you are its owner,
the community ends for all. What others have fetched from you stays with them.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if !yes {
				if _, err := c.Community(cmd.Context(), args[0]); err != nil {
					return err
				}
				if !a.Confirm("Leave the community? If you are its owner, it ends for all.") {
					return errors.New("nothing was changed")
				}
			}
			err := c.LeaveCommunity(cmd.Context(), args[0])
			return a.PrintUnless(err, struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "You have left the community.") })
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
