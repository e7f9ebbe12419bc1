package recallcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func TiersCommand(a *cli.App) *cobra.Command {
	var r serve.MoveRequest
	var fetch []string
	c := &cobra.Command{
		Use: "tiers", Aliases: []string{"hot"}, Short: "Show which memories are kept here, and which only at the relay", Args: cli.NoArgs(),
		Long: `With a budget (hot.records, hot.bytes; the wearable profile has one), the least used memories
turn cold: their text is only at the relay, sealed, and this device keeps their entry in the
index. A cold memory comes back when it is recalled, or earlier if a coming day will need it.
Pinned memories, core blocks, the vault, and what the relay has not acknowledged never turn
cold.

With a budget in bytes, photos and recordings are moved to the relay a day after they came,
and come back when they are used. Without a network, hot memories are found, and missing ones
are named.`,
		Example: `  locket tiers
  locket tiers --fetch 7q2k
  locket tiers --all          # before a journey without a network`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(fetch) > 0 && (r.All || r.Cool) || r.All && r.Cool {
				return cli.Usagef("--fetch, --all and --cool: choose one")
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if len(fetch) == 0 && !r.All && !r.Cool {
					t, err := cl.Tiers(cmd.Context())
					return a.PrintUnless(err, t, func(w io.Writer) { showTiers(a, w, &t) })
				}
				if len(fetch) > 0 {
					return fetchOnes(a, cmd.Context(), cl, fetch)
				}
				moved, err := cl.MoveTiers(cmd.Context(), r)
				return a.PrintUnless(err, moved, func(w io.Writer) { showMoved(a, w, &moved) })
			})
		},
	}
	c.Flags().StringSliceVar(&fetch, "fetch", nil, "bring memories back, by `id`")
	c.Flags().BoolVar(&r.All, "all", false, "bring everything back")
	c.Flags().BoolVar(&r.Cool, "cool", false, "enforce the budget now instead of in a quiet moment")
	return c
}

// fetchOnes reads memories, which brings them here, and shows them.
func fetchOnes(a *cli.App, ctx context.Context, cl *serve.Client, texts []string) error {
	var all []memory.Memory
	for _, text := range texts {
		m, err := cl.Get(ctx, text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		all = append(all, m)
	}
	return a.Print(map[string]any{"memories": all}, func(w io.Writer) {
		for i := range all {
			fmt.Fprintf(w, "%s  %s\n", a.Paint.Dim(cli.ShortID(all[i].ID)), cli.OneLine(all[i].Text))
		}
	})
}

func showTiers(a *cli.App, w io.Writer, t *serve.Tiers) {
	fmt.Fprintf(w, "%-6s %s", "hot", cli.Plural(t.Hot, "memory", "memories")+" in any state")
	if t.HotBytes > 0 {
		fmt.Fprintf(w, ", about %s", cli.Size(t.HotBytes))
	}
	switch b := t.Budget; {
	case b.Records > 0 && b.Bytes > 0:
		fmt.Fprintf(w, "; at most %d and %s\n", b.Records, cli.Size(b.Bytes))
	case b.Records > 0:
		fmt.Fprintf(w, "; at most %d\n", b.Records)
	case b.Bytes > 0:
		fmt.Fprintf(w, "; at most %s\n", cli.Size(b.Bytes))
	default:
		fmt.Fprintln(w, "; no limit")
	}
	fmt.Fprintf(w, "%-6s %s", "cold", cli.Plural(t.Cold, "memory", "memories"))
	if t.Packs > 0 {
		fmt.Fprintf(w, ", %s at the relay", cli.Size(t.PackedBytes))
	}
	fmt.Fprintln(w)
	if t.Media+t.ColdMedia > 0 {
		fmt.Fprintf(w, "%-6s %s", "media", cli.Plural(t.Media, "photo or recording", "photos and recordings"))
		if t.MediaBytes > 0 {
			fmt.Fprintf(w, ", %s", cli.Size(t.MediaBytes))
		}
		fmt.Fprintf(w, " here; %d only at the relay", t.ColdMedia)
		if t.ColdMediaBytes > 0 {
			fmt.Fprintf(w, ", %s", cli.Size(t.ColdMediaBytes))
		}
		fmt.Fprintln(w)
	}
	if t.Wanted > 0 {
		fmt.Fprintf(w, "%s for news of %s\n", "Wanted back", cli.Plural(t.Wanted, "matter", "matters"))
	}
	if t.Blocked != "" {
		fmt.Fprintln(w, "The budget is exceeded:", cli.OneLine(t.Blocked))
	}
	if t.Missing != "" {
		fmt.Fprintln(w, "What is cold can't be fetched now:", cli.OneLine(t.Missing))
	}
}

func showMoved(a *cli.App, w io.Writer, m *serve.MoveAnswer) {
	switch {
	case m.Cooled > 0:
		fmt.Fprintf(w, "%s turned cold.\n", cli.Plural(m.Cooled, "memory", "memories"))
	case m.Back > 0:
		fmt.Fprintf(w, "%s came back.\n", cli.Plural(m.Back, "memory", "memories"))
	case m.Budget.Records > 0 && m.Hot > m.Budget.Records || m.Budget.Bytes > 0 && m.HotBytes > m.Budget.Bytes:
		fmt.Fprintln(w, "Nothing could be moved. New memories stay for a day; pinned ones, core blocks, the vault,\nand what is not yet at the relay always stay.")
	default:
		fmt.Fprintln(w, "Nothing had to be moved.")
	}
	showTiers(a, w, &m.Tiers)
}
