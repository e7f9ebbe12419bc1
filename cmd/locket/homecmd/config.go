package homecmd

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
)

func ConfigCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "config [KEY...]", Short: "Show every setting and where it comes from", Args: cli.ArgsBetween(0, -1, ""),
		Long: `Settings come from three places. A later one overrides an earlier one:

  config.toml   in the home, or in the platform's config folder
  LOCKET_…      environment variables: LOCKET_BROKER_URL is broker.url
  flags         --set broker.url=…

To change a setting, write it to config.toml, above the first line in brackets: for example
languages = ["en", "zh"] or retention.rules = ["tag:work 30d"]. The daemon reads the file
when it starts.`,
		Example: `  locket config
  locket config broker.url api.listen
  locket --set log.level=debug run`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			file := cmp.Or(l.File, filepath.Join(l.Home, config.FileName))
			for i, key := range args {
				name, _, assigned := strings.Cut(key, "=")
				switch {
				case slices.Contains(config.Keys(), key):
				case i > 0 || assigned && slices.Contains(config.Keys(), name):
					return cli.Usagef("%q is not a setting; to change one, write it to %s and restart the daemon", key, file)
				case slices.Contains([]string{"get", "set", "list", "show", "edit"}, key):
					return cli.Usagef("%s", a.WithHomef("%q is not a setting; locket config shows them all, and locket config KEY one; to change one, write it to %s and restart the daemon", key, file))
				default:
					return cli.UsageError{Err: cli.WithGuesses(fmt.Errorf("%q is not a setting", key), suggest.Words(config.Keys(), key))}
				}
			}
			width := 0
			for _, s := range l.Settings() {
				width = max(width, len(s.Value))
			}
			for _, s := range l.Settings() {
				if len(args) > 0 && !slices.Contains(args, s.Key) {
					continue
				}
				err := a.Print(s, func(w io.Writer) {
					fmt.Fprintf(w, "%-26s %-*s  %s\n", s.Key, min(width, 48), s.Value, a.Paint.Dim(s.Origin.String()))
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
