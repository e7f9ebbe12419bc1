package sharecmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
)

// collection is what others share with this home. It needs no node.
func collection(a *cli.App, ctx context.Context) (*given.Collection, error) {
	r, err := cli.Reader(a)
	if err != nil {
		return nil, err
	}
	return given.Open(ctx, r, []given.Source{&market.Buyer{Dir: r.Dir}, &community.Communities{Reader: r}}, nil, r.Log)
}

// withCollection returns a Run function that calls do with the collection.
func withCollection(a *cli.App, do func(ctx context.Context, s *given.Collection, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := collection(a, cmd.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		return do(cmd.Context(), s, args)
	}
}

func shareGivenCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "given [ID]", Short: "List what others share with you, and what you bought", Args: cli.ArgsBetween(0, 1, "a share's id"),
		Long: `What others share with you, and what you bought at a market, is used by search, ask and
context of this home's node, marked with its source. With an id, the memories are listed,
too. No node is needed.`,
		RunE: withCollection(a, func(ctx context.Context, s *given.Collection, args []string) error {
			list, err := s.Shares(ctx)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				g, err := oneGiven(list, args[0])
				return a.PrintUnless(err, g, func(w io.Writer) {
					givenRow(a, w, g)
					for i := range g.Memories {
						m := &g.Memories[i]
						fmt.Fprintf(w, "%s  %-10s  %s\n", a.Paint.Dim(cli.ShortID(m.ID)), m.Type, cli.OneLine(m.Text))
						a.ShowBeyond(w, 24, &m.Candidate)
					}
				})
			}
			return cli.Rows(a, nil, list, func(a0 io.Writer, a1 *serve.GivenShare) { givenRow(a, a0, a1) }, "Nothing is shared with you, and you have bought nothing.")
		}),
	}
}

func givenRow(a *cli.App, w io.Writer, g *serve.GivenShare) {
	state, by := "until it is revoked", cli.OneLine(g.By)
	if g.Order != "" {
		state, by = "bought for good", cli.OneLine(g.Title)+", bought from "+by
	}
	switch {
	case !g.Ended.IsZero():
		state = "not served since " + a.ShowTime(g.Ended) + ": no longer used"
	case !g.Until.IsZero():
		state = "until " + a.ShowTime(g.Until)
	}
	asked := ""
	if !g.Fetched.IsZero() {
		asked = ", fetched " + a.ShowTime(g.Fetched)
	}
	fmt.Fprintf(w, "%s  %s  %s  %s%s\n", a.Paint.Dim(g.ID.String()[:10]), a.Paint.Bold(by), cli.Plural(len(g.Memories), "memory", "memories"), state, a.Paint.Dim(asked))
}

func oneGiven(list []serve.GivenShare, id string) (*serve.GivenShare, error) {
	found := slices.DeleteFunc(slices.Clone(list), func(g serve.GivenShare) bool { return !strings.HasPrefix(g.ID.String(), strings.ToLower(id)) })
	switch {
	case len(id) < 4:
		return nil, cli.Usagef("share %q: want at least 4 characters of its id", id)
	case len(found) == 0:
		return nil, fmt.Errorf("given share %s: %w", id, memory.ErrNotFound)
	case len(found) > 1:
		return nil, fmt.Errorf("share %s: %w", id, memory.ErrAmbiguous)
	}
	return &found[0], nil
}

func shareSearchCommand(a *cli.App) *cobra.Command {
	var k int
	c := &cobra.Command{
		Use: "search QUESTION", Short: "Search what others share with you, without a node", Args: cli.ArgsBetween(1, 1, "a question"),
		Long: `For an agent or a person without a node. Searches what locket share open has fetched into
this home, and what was bought. With a node, locket search finds it beside your own memories.`,
		Example: `  locket share search "when do the tomatoes want water"`,
		RunE: withCollection(a, func(ctx context.Context, s *given.Collection, args []string) error {
			if k < 1 || k > serve.MaxHits {
				return cli.Usagef("--limit: %d, want 1 to %d", k, serve.MaxHits)
			}
			got, err := s.Search(ctx, recall.Query{Text: args[0], Now: time.Now(), K: k}, nil)
			if err != nil {
				return err
			}
			res := serve.SearchResult{Hits: []serve.Hit{}, Known: len(got.Hits) > 0 && got.Confidence >= recall.Unsure, Confidence: got.Confidence, Shape: string(got.Shape)}
			for _, h := range got.Hits {
				res.Hits = append(res.Hits, h.Shown(1))
			}
			return a.Print(res, func(w io.Writer) { a.ShowHits(w, &res, cli.HitStyle{Minor: true}) })
		}),
	}
	cli.LimitFlag(c.Flags(), &k, 10, "at most this `count` of hits")
	return c
}

func shareLeaveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "leave ID", Short: "Remove what somebody shares with you from this home", Args: cli.ArgsBetween(1, 1, "a share's id"),
		Long: `Removes what was fetched, so that it is no longer used for answers. The person who shares it
is not told, and the link works again for as long as it is shared. What you bought is no
longer used either, but you can still open it. No node is needed.`,
		RunE: withCollection(a, func(ctx context.Context, s *given.Collection, args []string) error {
			list, err := s.Shares(ctx)
			if err != nil {
				return err
			}
			g, err := oneGiven(list, args[0])
			if err != nil {
				return err
			}
			if err := s.Leave(g.ID); err != nil {
				return err
			}
			return a.Print(g, func(w io.Writer) {
				if g.Order != "" {
					fmt.Fprint(w, a.WithHomef("It is no longer used for answers, but still yours. To use it again: locket market open %s\n", g.Order[:10]))
					return
				}
				fmt.Fprintf(w, "Removed what %s shared.\n", cli.OneLine(g.By))
			})
		}),
	}
}
