package memorycmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func CategoriesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "categories", Short: "Count memories by category", Args: cli.NoArgs(),
		Long: `A memory is in a category if it contains one of the category's words, or is about its
subject. Put your own categories into categories.toml in the home. They replace those that
come with Locket:

  [garden]
  words = ["tomato", "compost heap", "番茄"]

To list the memories of a category: locket list --where 'categories = garden'`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list, err := cl.Categories(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(serve.CategoriesAnswer{Categories: list}, func(w io.Writer) {
				for _, c := range list {
					fmt.Fprintf(w, "%6d  %s\n", c.Memories, c.Name)
				}
			})
		}),
	}
}
