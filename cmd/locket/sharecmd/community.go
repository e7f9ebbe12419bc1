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
		Long: `A community is a space that many write to. Each member puts in redacted copies under a
policy of their own; what the others put in answers in search, ask and context, marked with
whose it is. The relay can read none of it (docs/communities.md). ID is a community's name,
or 4 characters of its id or more.`,
	}
	c.AddCommand(communityNewCommand(a), communityInviteCommand(a), communityJoinCommand(a), communityListCommand(a), communityShowCommand(a), communityAddCommand(a),
		communityAskCommand(a), communityAnswersCommand(a), communityRemoveCommand(a), communityRulesCommand(a), communityLogCommand(a), communityLeaveCommand(a))
	return c
}

func communityNewCommand(a *cli.App) *cobra.Command {
	var r serve.NewCommunity
	c := &cobra.Command{
		Use: "new NAME", Short: "Found a community at your relay", Args: cli.Between(1, 1, "its name"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Name = args[0]
			v, err := c.NewCommunity(cmd.Context(), r)
			return a.Printed(err, v, func(w io.Writer) {
				fmt.Fprintf(w, "You are the owner of %s, %s.\nLet somebody in, by the key that they print with locket share key:\n  %s\n", cli.OneLine(v.Name), v.ID,
					a.Heref("locket community invite %s NAME=KEY", v.ID.String()[:10]))
			})
		}),
	}
	c.Flags().StringVar(&r.As, "as", "", "what the members call you, by `name`; owner unless said")
	return c
}

func communityInviteCommand(a *cli.App) *cobra.Command {
	var r serve.CommunityInvite
	c := &cobra.Command{
		Use: "invite ID NAME=KEY", Short: "Let somebody in, or propose them as a member", Args: cli.Between(2, 2, "the id, or NAME=KEY, NAME=@FILE or who waits,"),
		Long: `The owner and moderators let somebody in at once. What a member says waits until one of
them says: locket community invite ID NAME. That shows the words of the waiting key, to be
compared with those that NAME's locket share key shows, and asks. Who joins reads what was said before, too. A
key has one role for good.`,
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
			return a.Printed(err, v, func(w io.Writer) {
				if v.Role == "member" {
					fmt.Fprintln(w, "Proposed. The owner or a moderator says yes, or does not.")
					return
				}
				fmt.Fprintf(w, "Let in. They join with:\n  locket community join '%s'\n", v.Link)
			})
		}),
	}
	c.Flags().StringVar(&r.Words, "words", "", "`words` of the key of who waits, instead of being asked")
	c.Flags().BoolVar(&r.Moderator, "moderator", false, "as a moderator, who lets others in and removes them; for the owner only")
	return c
}

// waitingWords asks whether the key of somebody who waits is theirs, and returns its words.
func waitingWords(a *cli.App, ctx context.Context, c *serve.Client, id, name string) (string, error) {
	v, err := c.Community(ctx, id)
	if err != nil {
		return "", err
	}
	var words []string
	for _, m := range v.Waiting {
		if m.Name == name {
			words = append(words, m.Words)
			fmt.Fprintf(a.Stderr, "%s waits, proposed by %s, with the key whose words are: %s\n", cli.OneLine(m.Name), cli.OneLine(m.By), m.Words)
		}
	}
	switch {
	case len(words) == 0:
		return "", fmt.Errorf("who waits as %q: %w", name, memory.ErrNotFound)
	case len(words) > 1:
		return "", fmt.Errorf("who waits as %q: %w: say --words", name, memory.ErrAmbiguous)
	case !a.Confirm("Does locket share key show them these words?"):
		return "", errors.New("nobody was let in")
	}
	return words[0], nil
}

func communityJoinCommand(a *cli.App) *cobra.Command {
	var r serve.JoinCommunity
	c := &cobra.Command{
		Use: "join LINK", Short: "Join a community that let your key in", Args: cli.Between(1, 1, "the link"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Link = args[0]
			v, err := c.JoinCommunity(cmd.Context(), r)
			return a.Printed(err, v, func(w io.Writer) { communityRow(a, w, &v) })
		}),
	}
	c.Flags().StringVar(&r.Name, "name", "", "what you and your policy call it, by `name`")
	return c
}

func communityListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your communities", Args: cli.Nothing(),
		RunE: cli.Listing(a, (*serve.Client).Communities, func(a0 io.Writer, a1 *serve.CommunityHead) { communityRow(a, a0, a1) }, "You are in no community."),
	}
}

func communityRow(a *cli.App, w io.Writer, v *serve.CommunityHead) {
	state := ""
	switch {
	case !v.Ended.IsZero():
		state = ", not served to you since " + a.When(v.Ended)
	case v.Answers:
		state = ", and this node answers its questions"
	}
	fmt.Fprintf(w, "%s  %s  %s, %s; you are %s%s\n", a.Paint.Dim(v.ID.String()[:10]), a.Paint.Bold(cli.OneLine(v.Name)), cli.Plural(v.People, "member", "members"), cli.Plural(v.Count, "item", "items"), v.Role, state)
}

func communityShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show rules, members, items, questions, and what was removed", Args: cli.Between(1, 1, "the id"),
		RunE: cli.ShowingOf(a, (*serve.Client).Community, func(a0 io.Writer, a1 *serve.CommunityView) { showCommunity(a, a0, a1) }),
	}
}

// said names an item or note by what its id says beside its author, as remove takes it.
func said(id memory.ID) string { return id.String()[serve.AuthorChars:][:10] }

func showCommunity(a *cli.App, w io.Writer, v *serve.CommunityView) {
	communityRow(a, w, &v.CommunityHead)
	if v.Rules != "" {
		fmt.Fprintf(w, "rules     %s\n", cli.OneLine(v.Rules))
	}
	if v.Fee != "" {
		fmt.Fprintf(w, "entry     for %s: whoever pays is let in\n", cli.OneLine(v.Fee))
	}
	for _, m := range v.Members {
		fmt.Fprintf(w, "%-9s  %s (%s)\n", m.Role, cli.OneLine(m.Name), m.Words)
	}
	for _, m := range v.Waiting {
		fmt.Fprintf(w, "waits      %s (%s), proposed by %s\n", cli.OneLine(m.Name), m.Words, cli.OneLine(m.By))
	}
	item := func(indent string, it *serve.CommunityItem) {
		fmt.Fprintf(w, "%s%s  %s: %s\n", indent, a.Paint.Dim(said(it.ID)), cli.OneLine(it.By), cli.OneLine(it.Text))
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

// chosen are the flags that choose memories and say what is taken out of them.
func chosen(f *pflag.FlagSet, r *serve.ShareRequest, types *[]string) {
	f.StringSliceVar(types, "type", nil, "only these `types`; not vault")
	cli.Choose(f, "type", cli.OpenTypes...)
	f.StringSliceVar(&r.Tags, "tag", nil, "only with all these `tags`")
	f.StringSliceVar(&r.Redact, "redact", nil, "what is taken out, as locket share create takes it: names, places, times, numbers, or `words`")
}

func communityAddCommand(a *cli.App) *cobra.Command {
	var r serve.ShareRequest
	var types []string
	var yes bool
	c := &cobra.Command{
		Use: "add ID", Short: "Put redacted copies of memories into a community", Args: cli.Between(1, 1, "the id"),
		Long: `Shows what the members would see, and asks. Your policy decides, with community:NAME as
who asks (locket policy). What you forget or change, or your policy holds back later, is
taken out by a running node within a minute or so. What a member has fetched stays theirs.`,
		Example: `  locket community add Gardeners --tag garden --redact names,places`,
		PreRunE: cli.NoneEmpty,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.Types = cli.ReadTypes(types)
			p, err := c.PreviewCommunity(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			if !yes {
				a.ShowPreview(a.Stderr, &p)
				if !a.Confirm("Put it into the community?") {
					return errors.New("nothing was put in")
				}
			}
			r.Confirm = p.Confirm
			v, err := c.AddToCommunity(cmd.Context(), args[0], r)
			return a.Printed(err, v, func(w io.Writer) { communityRow(a, w, &v.CommunityHead) })
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
		Use: "ask ID QUESTION", Short: "Ask all members", Args: cli.Between(2, 2, "the id or the question"),
		Long: `Puts the question to all members. Nodes of those who allow it (locket community answers)
answer at their next look; locket community show has the answers, and they answer in your
searches.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if !yes {
				if _, err := c.Community(cmd.Context(), args[0]); err != nil {
					return err
				}
				fmt.Fprintln(a.Stderr, "Each member of the community, and whoever joins later, can read that you asked this, and what is answered.")
				if !a.Confirm("Ask it?") {
					return errors.New("nothing was asked")
				}
			}
			v, err := c.AskCommunity(cmd.Context(), args[0], args[1])
			return a.Printed(err, v, func(w io.Writer) {
				fmt.Fprintf(w, "Asked. %s\n", knows(a, &v, args[1]))
			})
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// knows says who knows of a question that the wearer has asked.
func knows(a *cli.App, v *serve.CommunityView, text string) string {
	for _, q := range slices.Backward(v.Questions) {
		if q.You && q.Text == text {
			return q.Knows
		}
	}
	return a.Here("It is not shown: locket community show says why.") // a moderator was faster, or a home keeps no more of the wearer's
}

func communityAnswersCommand(a *cli.App) *cobra.Command {
	var r serve.ShareRequest
	var types []string
	var off bool
	c := &cobra.Command{
		Use: "answers ID", Short: "Let this node answer the others' questions", Args: cli.Between(1, 1, "the id"),
		Long: `From now on this node answers questions of the members by itself, with up to three copies
of memories that you choose here and your policy allows, at most twenty questions of one
member a day. Everybody in the community sees the answers. --off ends it.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			with := &r
			if r.Types = cli.ReadTypes(types); off {
				with = nil
			}
			v, err := c.AnswerCommunity(cmd.Context(), args[0], with)
			return a.Printed(err, v, func(w io.Writer) { communityRow(a, w, &v) })
		}),
	}
	chosen(c.Flags(), &r, &types)
	c.Flags().BoolVar(&off, "off", false, "stop answering")
	return c
}

func communityRemoveCommand(a *cli.App) *cobra.Command {
	var r serve.CommunityRemoval
	c := &cobra.Command{
		Use: "remove ID ITEM|MEMBER", Short: "Take out what you put in, or as a moderator anything and anybody", Args: cli.Between(2, 2, "the id, or an item or member,"),
		Long: `What you said yourself is erased. Another's item is hidden by each member's node, with your
reason; a member is put out, and reads nothing that is said afterwards. All members can
read in the log who removed what, and why. What was fetched can't be taken back. The owner
undoes a removal by removing it: locket community log has its id, and a reason is needed.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			r.What = args[1]
			v, err := c.RemoveFrom(cmd.Context(), args[0], r)
			return a.Printed(err, v, func(w io.Writer) { communityRow(a, w, &v.CommunityHead) })
		}),
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "why, in `words` that all members can read")
	return c
}

func communityRulesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "rules ID TEXT", Short: "Set the rules of your community", Args: cli.Between(2, 2, "the id or the rules"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := c.SetCommunityRules(cmd.Context(), args[0], args[1])
			return a.Printed(err, v, func(w io.Writer) { fmt.Fprintln(w, "All members can read them.") })
		}),
	}
}

func communityLogCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "log ID", Short: "Show who let in, removed and ruled what, and why", Args: cli.Between(1, 1, "the id"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			v, err := c.Community(cmd.Context(), args[0])
			return cli.Rows(a, err, v.Log, func(w io.Writer, d *serve.CommunityDeed) {
				id := ""
				if !d.ID.IsZero() {
					id = said(d.ID)
				}
				fmt.Fprintf(w, "%s  %-10s  %s %s  %s  %s\n", a.Paint.Dim(a.When(d.At)), a.Paint.Dim(id), cli.OneLine(d.By), d.Did, cli.OneLine(d.What), cli.OneLine(d.Why))
			}, "Nothing happened yet.")
		}),
	}
}

func communityLeaveCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "leave ID", Short: "Leave a community, or end your own", Args: cli.Between(1, 1, "the id"),
		Long: `Takes out what you put in, and drops what you had of it. If you are its owner, it ends for
all. What others have fetched of yours stays with them.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if !yes {
				if _, err := c.Community(cmd.Context(), args[0]); err != nil {
					return err
				}
				if !a.Confirm("Leave it? Its owner ends it for all.") {
					return errors.New("nothing was changed")
				}
			}
			err := c.LeaveCommunity(cmd.Context(), args[0])
			return a.Printed(err, struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "You are in it no more.") })
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
