package recallcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/node/serve"
)

func CoreCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "core", Short: "Show core memory: what is always in an assistant's context", Args: cli.Nothing(),
		Long: `Shows each block with its lines and how full it is. Dreams keep the block human: what you
say of your name, home, work, family and diet again and again, and what concerns your
health, becomes a line of it; what is no longer so leaves it. A block that is full loses
its least used and oldest lines, which stay memories, but none that is pinned or about
health. Add a line of your own with locket add --plain --block human TEXT.`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list, err := coreBlocks(cmd.Context(), cl)
			return cli.Rows(a, err, list, func(a0 io.Writer, a1 *coreBlock) { showBlock(a, a0, a1) }, "Core memory is empty. See locket core --help")
		}),
	}
}

// coreBlock is a block as a model reads it.
type coreBlock struct {
	Block      string          `json:"block"`
	Characters int             `json:"characters"`
	Limit      int             `json:"limit"`
	Lines      []memory.Memory `json:"lines"` // the one that was learnt first before the others
}

// coreBlocks gives the blocks, the fullest first. A line whose memory is no longer so
// is left out, as it is from every context.
func coreBlocks(ctx context.Context, cl *serve.Client) (list []coreBlock, err error) {
	for m, err := range cl.All(ctx, serve.ListQuery{Type: memory.Core}) {
		if err != nil {
			return nil, err
		}
		if of, copied := consolidate.Copied(&m); copied && !m.Pinned {
			source, err := cl.Get(ctx, of.String())
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return nil, err
			}
			if err != nil || source.State != memory.Active {
				continue
			}
		}
		f := m.Fields.Core
		i := slices.IndexFunc(list, func(b coreBlock) bool { return b.Block == f.Block })
		if i < 0 {
			i = len(list)
			list = append(list, coreBlock{Block: f.Block})
		}
		b := &list[i]
		b.Limit, b.Characters = max(b.Limit, f.Limit), b.Characters+utf8.RuneCountInString(m.Text)
		b.Lines = slices.Insert(b.Lines, 0, m) // they come newest first
	}
	sorting.Stable(list, func(x, y coreBlock) int { return y.Characters - x.Characters })
	return list, nil
}

func showBlock(a *cli.App, w io.Writer, b *coreBlock) {
	fmt.Fprintf(w, "%s  %s\n", a.Paint.Bold(cli.OneLine(b.Block)), a.Paint.Dim(fmt.Sprintf("%d of %d characters", b.Characters, b.Limit)))
	for i := range b.Lines {
		m := &b.Lines[i]
		fmt.Fprintf(w, "  %s  %s%s\n", a.Paint.Dim(cli.ShortID(m.ID)), cli.OneLine(m.Text), cli.Marks(m))
	}
}
