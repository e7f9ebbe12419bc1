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
		Use: "core", Short: "Show core memory: what is always in an assistant's context", Args: cli.NoArgs(),
		Long: `Shows each block with its lines and how full it is. Dreams maintain the block human: what
you say repeatedly about your name, home, work, family and diet, and what concerns your
health, becomes a line in it. What is no longer true is removed. A full block loses its
least used and oldest lines, which stay as memories, except lines that are pinned or about
health. To add a line of your own: locket add --plain --block human TEXT.`,
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
	Lines      []memory.Memory `json:"lines"` // in the order in which they were learnt
}

// coreBlocks returns the blocks, the fullest first. It leaves out a line whose memory is no longer
// true, as every context does.
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
		b.Lines = slices.Insert(b.Lines, 0, m) // the list is newest first
	}
	sorting.Stable(list, func(x, y coreBlock) int { return y.Characters - x.Characters })
	return list, nil
}

func showBlock(a *cli.App, w io.Writer, b *coreBlock) {
	fmt.Fprintf(w, "%s  %s\n", a.Paint.Bold(cli.OneLine(b.Block)), a.Paint.Dim(fmt.Sprintf("%d of %d characters", b.Characters, b.Limit)))
	for i := range b.Lines {
		m := &b.Lines[i]
		fmt.Fprintf(w, "  %s  %s%s\n", a.Paint.Dim(cli.ShortID(m.ID)), cli.OneLine(m.Text), cli.MemoryMarks(m))
	}
}
