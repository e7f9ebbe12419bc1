// Package sharecmd contains the commands that share memories with people and communities, and
// compare interests: share, community, match; and those for the rules and requests behind them:
// policy, consent.
package sharecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

func ShareCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "share", Short: "Share redacted copies of memories, or open what others share", RunE: a.NeedsCommand,
		Long: `A share contains copies of the memories that you choose, without what you redact. The copies
are sealed to the readers that you name, and stored at the relay in a separate space. A
reader makes a key with locket share key, and opens your link with it. From then on the
reader's search, ask and context use what you share, marked as yours.`,
	}
	c.AddCommand(shareCreateCommand(a), shareListCommand(a), shareShowCommand(a), shareUpdateCommand(a), shareRevokeCommand(a),
		shareKeyCommand(a), shareOpenCommand(a), shareLogCommand(a), shareGivenCommand(a), shareSearchCommand(a), shareLeaveCommand(a))
	return c
}

func shareCreateCommand(a *cli.App) *cobra.Command {
	var r serve.ShareRequest
	var types, to, without []string
	var since, until, sensitivity, life string
	var yes, dry, exact bool
	c := &cobra.Command{
		Use: "create", Short: "Share memories with readers", Args: cli.NoArgs(),
		Long: `Shows what the readers would see, and asks. The vault is never shared. Private and secret
memories are shared only with --sensitivity. Where a memory comes from (devices, events, what
was said around it) is not shared. --quotes adds the quoted words, also redacted.

--redact takes "names", "places" and "times", which means all that your memories know, and
words of your own. It removes too much rather than too little.

  "Zuzana=my sister"  replaces a name by a role
  times=month         rounds times down; also week, day
  names=pseudonyms    replaces each name by an invented one, the same in the whole share;
                      this links what is said about a person, and so helps to guess
  places=Lisbon       says "Lisbon" for places that memories say are in it, and removes others
  numbers             keeps the first digit of numbers: 1,234 becomes 1000

--at-least 3 shares a statement only if memories about three people say the same, once names
are removed. --dry-run --exact shows the exact bytes that a reader gets.

Before it asks, the command lists what might still identify somebody: addresses and numbers,
words that may be names, exact times, and what an earlier share to the same key left in. The
list may be incomplete.`,
		Example: `  locket share create --query "tomatoes in the garden" --redact names,places --to Ann=@ann.key
  locket share create --tag recipes --to @ben.key --title "Recipes" --for 30d --yes`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			r.Types = cli.ReadTypes(types)
			if r.Since, r.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if r.Sensitivity, err = cli.ReadSensitivity(sensitivity); err != nil {
				return err
			}
			if life != "" {
				d, err := config.ParseDuration(life)
				if err != nil || d <= 0 {
					return cli.Usagef("--for %q: want how long, such as 30d", life)
				}
				r.Expires = time.Now().Add(d.Std()).UTC().Truncate(time.Second)
			}
			if len(to) == 0 {
				return cli.Usagef("--to is missing: a reader's key, as printed by locket share key")
			}
			for _, t := range to {
				key, err := cli.KeyText(t)
				if err != nil {
					return err
				}
				r.To = append(r.To, key)
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return createShare(a, cmd.Context(), c, r, without, yes, dry, exact) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.Query, "query", "", "what the memories are about")
	f.StringSliceVar(&types, "type", nil, "only these `types`; not vault")
	cli.Choose(f, "type", cli.OpenTypes...)
	f.StringSliceVar(&r.Tags, "tag", nil, "only with all these `tags`")
	f.StringVar(&since, "since", "", "learnt at this `time` or later")
	f.StringVar(&until, "until", "", "learnt before this `time`")
	f.StringVar(&sensitivity, "sensitivity", "", "the highest sensitivity `level` that is shared; default personal")
	cli.LimitFlag(f, &r.Limit, 0, "at most this `count` of memories")
	f.StringSliceVar(&r.Redact, "redact", nil, "what to take out: names, places, times, numbers, or `words`")
	f.BoolVar(&r.Quotes, "quotes", false, "include the words that a memory quotes")
	f.StringArrayVar(&to, "to", nil, "a reader's `key`, or NAME=KEY, or NAME=@FILE; may be repeated")
	f.StringVar(&r.Title, "title", "", "a title, which the readers do not see")
	f.StringVar(&r.Purpose, "purpose", "", "the readers' `purpose`; rules of your policy can check it")
	f.StringVar(&life, "for", "", "how long it lasts: a `duration` such as 30d; default: until it is revoked")
	f.IntVar(&r.AtLeast, "at-least", 0, "how many `people` must have made each statement")
	f.StringSliceVar(&without, "without", nil, "leave out memories, by `id`")
	f.BoolVar(&exact, "exact", false, "with --dry-run: show the JSON that a reader gets, byte for byte")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&dry, "dry-run", false, "show what the readers would see, and share nothing")
	return c
}

func createShare(a *cli.App, ctx context.Context, c *serve.Client, r serve.ShareRequest, without []string, yes, dry, exact bool) error {
	for _, id := range without {
		m, err := c.Get(ctx, id)
		if err != nil {
			return fmt.Errorf("--without %s: %w", id, err)
		}
		r.Without = append(r.Without, m.ID)
	}
	if exact && !dry {
		return cli.Usagef("--exact needs --dry-run")
	}
	p, err := c.PreviewShare(ctx, r)
	if err != nil {
		return err
	}
	if exact {
		for _, m := range p.Memories {
			b, err := json.Marshal(m.Copy)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "%s\n", b)
		}
		return nil
	}
	if dry {
		return a.Print(p, func(w io.Writer) { a.ShowPreview(w, &p) })
	}
	if !yes {
		a.ShowPreview(a.Stderr, &p)
		if err := a.ConfirmOr("Share it?", "nothing was shared"); err != nil {
			return err
		}
	}
	r.Confirm = p.Confirm
	s, err := c.CreateShare(ctx, r)
	return a.PrintUnless(err, s, func(w io.Writer) {
		fmt.Fprintf(w, "Shared %s with %s as %s.\n", cli.Plural(s.Memories, "memory", "memories"), cli.OneLine(names(s.Readers)), s.ID)
		fmt.Fprintf(w, "They open it with:\n  locket share open '%s'\n", s.Link)
	})
}

func names(rs []serve.ShareReader) string {
	var out []string
	for _, r := range rs {
		if r.Removed.IsZero() {
			out = append(out, r.Name)
		}
	}
	if len(out) == 0 {
		return "nobody"
	}
	return strings.Join(out, ", ")
}

func shareLogCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "log", Short: "Show what was shared, changed, taken back and refused", Args: cli.NoArgs(),
		Long: `The log is kept sealed in this home, only for you. It has the last 500 entries, including
what your policy asked you and your answers (locket consent). A relay does not say who
fetched what. What apps were shown is in locket app log.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
			l, err := c.ShareLog(cmd.Context())
			return cli.Rows(a, err, l.Deeds, func(a0 io.Writer, a1 *serve.ShareDeed) { deedRow(a, a0, a1) }, "Nothing was shared yet.")
		}),
	}
}

func deedRow(a *cli.App, w io.Writer, d *serve.ShareDeed) {
	what := cli.Plural(d.Copies, "memory", "memories") + " shared now"
	if d.Added+d.Removed > 0 {
		what = fmt.Sprintf("%d added, %d taken out; ", d.Added, d.Removed) + what
	}
	if d.Did == share.DidAsk {
		what = cli.Plural(d.Copies, "memory waits", "memories wait")
	}
	if d.Why != "" {
		what = d.Why
	}
	if d.By != "" {
		what += ", by " + d.By
	}
	id := ""
	if !d.Share.IsZero() {
		id = d.Share.String()[:10]
	}
	fmt.Fprintf(w, "%s  %-15s  %-10s  %s  %s  %s\n", a.Paint.Dim(a.ShowTime(d.At)), d.Did, a.Paint.Dim(id), cli.OneLine(strings.Join(d.To, ", ")), cli.OneLine(d.Title), cli.OneLine(what))
}

func shareListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what is shared, and what was", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Shares, func(a0 io.Writer, a1 *serve.Share) { shareRow(a, a0, a1) }, "Nothing is shared."),
	}
}

func shareRow(a *cli.App, w io.Writer, s *serve.Share) {
	state := "with " + cli.OneLine(names(s.Readers))
	switch {
	case !s.Revoked.IsZero():
		state = "revoked " + a.ShowTime(s.Revoked)
	case s.Revoking:
		state = "ended; the relay could not be reached to delete it: run " + a.WithHome("locket share revoke "+s.ID.String()[:10])
	case !s.Expires.IsZero():
		state += ", until " + a.ShowTime(s.Expires)
	}
	if s.App != "" {
		state += ", by app:" + s.App
	}
	title := s.Title
	title = cmp.Or(title, s.Query)
	fmt.Fprintf(w, "%s  %s  %s  %s  %s\n", a.Paint.Dim(s.ID.String()[:10]), a.Paint.Dim(a.ShowTime(s.Created)), cli.Plural(s.Memories, "memory", "memories"), cli.OneLine(title), state)
}

func shareShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a share as its readers see it", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).Share, func(w io.Writer, v *serve.SharedView) {
			shareRow(a, w, &v.Share)
			for _, r := range v.Share.Readers {
				out := ""
				if !r.Removed.IsZero() {
					out = ", removed " + a.ShowTime(r.Removed)
				}
				fmt.Fprintf(w, "reader      %s (%s)%s\n", cli.OneLine(r.Name), r.Words, out)
			}
			fmt.Fprintf(w, "link        %s\n", v.Share.Link)
			for i := range v.Memories {
				m := &v.Memories[i]
				fmt.Fprintf(w, "%-10s  %s\n", m.Type, cli.OneLine(m.Text))
				a.ShowBeyond(w, 12, &m.Candidate)
			}
		}),
	}
}

func shareUpdateCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "update ID", Short: "Add memories that now match the share, and remove those that no longer do", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).UpdateShare, func(w io.Writer, u *serve.ShareUpdated) {
			fmt.Fprintf(w, "%d added, %d removed; the share has %s.\n", u.Added, u.Removed, cli.Plural(u.Share.Memories, "memory", "memories"))
		}),
	}
}

// cannot says what revocation can't do.
const cannot = "What a reader has already fetched cannot be taken back. Nor can a copy that the relay or its\nbackups keep against its promise: readers had the key to it."

func shareRevokeCommand(a *cli.App) *cobra.Command {
	var reader string
	c := &cobra.Command{
		Use: "revoke ID", Short: "End a share, or remove one reader", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `Removes all readers, and makes the relay delete the copies. From then on nothing is served.
With --reader, only one reader is removed, and the others continue with a new key.

` + cannot,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			s, err := c.RevokeShare(cmd.Context(), args[0], reader)
			if errors.Is(err, serve.ErrRelay) && reader == "" {
				return cli.AdvisedError{Err: err, Advice: "Nothing new is shared any more, but the relay still serves what was shared. The running daemon revokes it when the relay\nanswers again; or run the command again."}
			}
			return a.PrintUnless(err, s, func(w io.Writer) {
				if s.Revoked.IsZero() {
					fmt.Fprintf(w, "Reader removed. The share continues with %s, under a new key.\n", cli.OneLine(names(s.Readers)))
				} else {
					fmt.Fprintln(w, "Revoked. The relay was told to delete it, and no longer serves it to anybody.")
				}
				fmt.Fprintln(w, cannot)
			})
		}),
	}
	c.Flags().StringVar(&reader, "reader", "", "remove only this reader, by `name` or member id")
	return c
}
