package sharecmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

func shareKeyCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print your key, for others to share with", Args: cli.NoArgs(),
		Long: `The key is made the first time. It is not secret; only its other half, in the folder
"reader" of the home, is. Tell the other person the words face to face or by telephone, so
that nobody can replace the key on its way. No node is needed.`,
		Example: "  locket share key > ann.key",
		RunE: func(*cobra.Command, []string) error {
			r, err := cli.Reader(a)
			if err != nil {
				return err
			}
			var k serve.GivenKey
			if k.Key, k.Words, err = r.Key(); err != nil {
				return err
			}
			if !a.JSON {
				fmt.Fprintln(a.Stderr, "Words to compare:", k.Words)
			}
			return a.Print(k, func(w io.Writer) { fmt.Fprintln(w, k.Key) })
		},
	}
}

func shareOpenCommand(a *cli.App) *cobra.Command {
	var offline bool
	var from string
	c := &cobra.Command{
		Use: "open LINK", Short: "Open what somebody shares with you", Args: cli.ArgsBetween(1, 1, "the link"),
		Long: `Fetches what is new, checks who said it, and shows it. With --offline, it shows what was
fetched before, without a network. No node is needed.

From then on, search, ask and context of this home's node use it, marked with whose it is and
until when. It is never mixed with your own memories. The node checks for news every ten
minutes, and removes the share when it expires or is revoked.`,
		Example: "  locket share open 'https://relay.example/#locket-space-1.…' --from Ben",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := cli.Reader(a)
			if err != nil {
				return err
			}
			l, err := share.ParseLink(args[0])
			if err != nil {
				return cli.UsageError{Err: err}
			}
			open := r.Open
			if offline {
				open = r.ReadKept
			}
			o, err := open(cmd.Context(), l)
			if errors.Is(err, share.ErrNotShared) {
				return fmt.Errorf("%w: %s was made for another key, or was revoked", share.ErrNotShared, cli.ShortID(memory.ID(l.Space)))
			}
			if err != nil {
				return err
			}
			if from != "" {
				if err := r.Name(cmd.Context(), l.Space, from); err != nil {
					return err
				}
			}
			if o.Memories == nil {
				o.Memories = []memory.Memory{}
			}
			return a.Print(o, func(w io.Writer) {
				for i := range o.Memories {
					m := &o.Memories[i]
					fmt.Fprintf(w, "%-10s  %s\n", m.Type, cli.OneLine(m.Text))
					a.ShowBeyond(w, 12, &m.Candidate)
				}
				if len(o.Memories) == 0 {
					fmt.Fprintln(w, "The share is empty.")
				}
				for _, p := range o.Problems {
					fmt.Fprintf(w, "Set aside: %s\n", cli.OneLine(p.Reason))
				}
			})
		},
	}
	c.Flags().BoolVar(&offline, "offline", false, "show what was fetched before")
	c.Flags().StringVar(&from, "from", "", "a `name` for the person who shares it, which only you see")
	return c
}
