package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
)

// collection is what others share with this home. It needs no node.
func (a *app) collection(ctx context.Context) (*given.Collection, error) {
	r, err := a.reader()
	if err != nil {
		return nil, err
	}
	return given.Open(ctx, r, []given.Source{&market.Buyer{Dir: r.Dir}, &community.Communities{Reader: r}}, nil, r.Log)
}

// withCollection has do called with it.
func (a *app) withCollection(do func(ctx context.Context, s *given.Collection, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.collection(cmd.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		return do(cmd.Context(), s, args)
	}
}

// sharedBy says whose a memory is, and until when.
func (a *app) sharedBy(by *serve.SharedBy) string {
	s := "shared by " + oneLine(by.By)
	if by.Order != "" {
		s = "bought from " + oneLine(by.By)
	}
	if !by.Until.IsZero() {
		s += " until " + a.when(by.Until)
	}
	return s
}

// noteGiven says at the end of a list that there is more, which is not the wearer's.
func (a *app) noteGiven(ctx context.Context, cl *serve.Client) error {
	list, err := cl.GivenShares(ctx)
	if errors.Is(err, serve.ErrUnsupported) || errors.Is(err, serve.ErrForbidden) {
		return nil
	}
	n := 0
	for _, g := range list {
		n += len(g.Memories)
	}
	if n > 0 {
		fmt.Fprint(a.stderr, a.heref("%s of others, shared with you or bought, answer beside these: locket share given\n", plural(n, "memory", "memories")))
	}
	return err
}

func (a *app) shareGivenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "given [ID]", Short: "List what others share with you, and what you bought", Args: between(0, 1, "a share's id"),
		Long: `What others share, and what you bought at a market, answers in search, ask and context of
this home's node, marked with whose it is. With an id the memories are listed, too. No node is needed.`,
		RunE: a.withCollection(func(ctx context.Context, s *given.Collection, args []string) error {
			list, err := s.Shares(ctx)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				g, err := oneGiven(list, args[0])
				return a.printed(err, g, func(w io.Writer) {
					a.givenRow(w, g)
					for _, m := range g.Memories {
						fmt.Fprintf(w, "%s  %-10s  %s\n", a.paint.dim(shortID(m.ID)), m.Type, oneLine(m.Text))
					}
				})
			}
			return rows(a, nil, list, a.givenRow, "Nobody shares anything with you, and you bought nothing.")
		}),
	}
}

func (a *app) givenRow(w io.Writer, g *serve.GivenShare) {
	state, by := "until it is revoked", oneLine(g.By)
	if g.Order != "" {
		state, by = "bought for good", oneLine(g.Title)+", bought from "+by
	}
	switch {
	case !g.Ended.IsZero():
		state = "not served since " + a.when(g.Ended) + ": it answers nothing"
	case !g.Until.IsZero():
		state = "until " + a.when(g.Until)
	}
	asked := ""
	if !g.Fetched.IsZero() {
		asked = ", fetched " + a.when(g.Fetched)
	}
	fmt.Fprintf(w, "%s  %s  %s  %s%s\n", a.paint.dim(g.ID.String()[:10]), a.paint.bold(by), plural(len(g.Memories), "memory", "memories"), state, a.paint.dim(asked))
}

func oneGiven(list []serve.GivenShare, id string) (*serve.GivenShare, error) {
	found := slices.DeleteFunc(slices.Clone(list), func(g serve.GivenShare) bool { return !strings.HasPrefix(g.ID.String(), strings.ToLower(id)) })
	switch {
	case len(id) < 4:
		return nil, usagef("share %q: want at least 4 characters of its id", id)
	case len(found) == 0:
		return nil, fmt.Errorf("given share %s: %w", id, memory.ErrNotFound)
	case len(found) > 1:
		return nil, fmt.Errorf("share %s: %w", id, memory.ErrAmbiguous)
	}
	return &found[0], nil
}

func (a *app) shareSearchCommand() *cobra.Command {
	var k int
	c := &cobra.Command{
		Use: "search QUESTION", Short: "Search what others share with you, with a key alone", Args: between(1, 1, "a question"),
		Long: `For an agent or a person without a node: searches what locket share open has fetched
into this home, and what was bought. With a node, locket search finds it beside your own memories.`,
		Example: `  locket share search "when do the tomatoes want water"`,
		RunE: a.withCollection(func(ctx context.Context, s *given.Collection, args []string) error {
			if k < 1 || k > serve.MaxHits {
				return usagef("--limit: %d, want 1 to %d", k, serve.MaxHits)
			}
			got, err := s.Search(ctx, recall.Query{Text: args[0], Now: time.Now(), K: k}, nil)
			if err != nil {
				return err
			}
			res := serve.SearchResult{Hits: []serve.Hit{}, Known: len(got.Hits) > 0 && got.Confidence >= recall.Unsure, Confidence: got.Confidence, Shape: string(got.Shape)}
			for _, h := range got.Hits {
				res.Hits = append(res.Hits, h.Shown(1))
			}
			return a.print(res, func(w io.Writer) { a.showHits(w, &res, found{minor: true}) })
		}),
	}
	limitFlag(c.Flags(), &k, 10, "the `count` of hits")
	return c
}

func (a *app) shareLeaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave ID", Short: "Remove what another shares with you from this home", Args: between(1, 1, "a share's id"),
		Long: `What was fetched is removed, and answers no more. The one who shares is not told; the link
opens it again for as long as it is shared. What you bought answers no more, and stays
yours to open. No node is needed.`,
		RunE: a.withCollection(func(ctx context.Context, s *given.Collection, args []string) error {
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
			return a.print(g, func(w io.Writer) {
				if g.Order != "" {
					fmt.Fprint(w, a.heref("It answers no more. It is still yours: locket market open %s has it answer again.\n", g.Order[:10]))
					return
				}
				fmt.Fprintf(w, "Removed what %s shared.\n", oneLine(g.By))
			})
		}),
	}
}
