// Package recallcmd contains the commands that find and show: search, ask, chat, context, core,
// day, talk, media, graph, entities, trace, tiers.
package recallcmd

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func SearchCommand(a *cli.App) *cobra.Command {
	var r serve.SearchRequest
	var types []string
	var asOf, knownAt, since, until, where string
	var explain bool
	c := &cobra.Command{
		Long: cli.WithFilterHelp(""),
		Use:  "search QUERY...", Short: "Find memories",
		Example: `  locket search "when is the dentist"
  locket search --type semantic --as-of 2026-03-01 where do I live
  locket search --explain "who is my sister's husband"
  locket search --json -n 3 wifi`,
		Args: cli.ArgsBetween(1, -1, "what to search for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Query = strings.Join(args, " ")
			for _, t := range types {
				r.Types = append(r.Types, memory.Type(t))
			}
			for _, t := range []struct {
				flag, text string
				to         *time.Time
			}{{"--as-of", asOf, &r.AsOf}, {"--known-at", knownAt, &r.KnownAt}, {"--since", since, &r.Since}, {"--until", until, &r.Until}} {
				var err error
				if *t.to, err = a.ReadTime(t.flag, t.text); err != nil {
					return err
				}
			}
			counted := cmd.Flags().Changed("limit") || cmd.Flags().Changed("k")
			if counted && (r.K < 1 || r.K > serve.MaxHits) {
				return cli.Usagef("-n %d: want 1 to %d", r.K, serve.MaxHits)
			}
			var err error
			if r.Filters, err = a.ReadFilter(where); err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).Search, r, func(w io.Writer, res *serve.SearchResult) {
				a.ShowHits(w, res, cli.HitStyle{Explain: explain, Minor: counted, Past: r.History || !r.AsOf.IsZero() || !r.KnownAt.IsZero()})
			})
		},
	}
	f := c.Flags()
	cli.LimitFlag(f, &r.K, 0, "show this `count`; default: at most 10, without weak hits")
	f.StringSliceVar(&types, "type", nil, "only these `types`")
	cli.Choose(f, "type", cli.Types...)
	f.StringVar(&asOf, "as-of", "", "what was true at a `time`")
	f.StringVar(&knownAt, "known-at", "", "what was believed at a `time`")
	f.StringVar(&since, "since", "", "heard at this `time` or later")
	f.StringVar(&until, "until", "", "heard before this `time`")
	f.BoolVar(&explain, "explain", false, "explain the score of each hit")
	f.Float64Var(&r.Threshold, "threshold", 0, "leave out hits with a lower score")
	f.BoolVar(&r.History, "history", false, "also what is no longer true")
	f.StringVar(&r.Only, "only", "", "only `memories`, or only utterances")
	cli.Choose(f, "only", "memories", "utterances")
	f.StringVar(&r.Tag, "tag", "", "only with this `tag`")
	f.StringVar(&where, "where", "", "only what matches a `filter`")
	f.StringVar(&r.Agent, "agent", "", "only of this `agent`")
	f.StringVar(&r.Run, "run", "", "only of this `run`")
	return c
}
