package appcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/delegate"
	"github.com/locket-dev/locket/node/serve"
)

// appKeyEnv is the environment variable with the key that is passed on. A command line would show
// the key to others.
const appKeyEnv = "LOCKET_APP_KEY"

// passed is a new key as JSON.
type passed struct {
	Key serve.Secret `json:"key"`
	ID  string       `json:"id"`
}

func appPassCommand(a *cli.App) *cobra.Command {
	var n delegate.Narrow
	var can []string
	var sensitivity, since, until, life string
	var more int
	c := &cobra.Command{
		Use: "pass [NAME]", Short: "Make a narrower key from an app's key, without the node", Args: cli.ArgsBetween(0, 1, "the app's name"),
		Long: `For an agent that hands a part of its work to another. The command reads the key of the app
NAME, or one made from it, from ` + appKeyEnv + `. The new key allows what you name here, but
never more than the old key. Only the new key is printed to standard output. The owner must
have let the app pass keys on (locket app add --delegate). Making the key needs neither the
node nor a network.

The owner ends the key with locket app revoke NAME:ID.`,
		Example: `  LOCKET_APP_KEY=lka_… locket app pass planner --can read --types episodic --tags work --for 1h`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: func(cmd *cobra.Command, args []string) error {
			key := serve.Secret(strings.TrimSpace(os.Getenv(appKeyEnv)))
			if !strings.HasPrefix(string(key), serve.KeyPrefix) {
				return cli.Usagef("%s does not contain the key of an app: want %s…", appKeyEnv, serve.KeyPrefix)
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			} else if !delegate.Is(key) {
				return cli.Usagef("the app's name is missing")
			}
			n.Can = can
			var err error
			if n.Sensitivity, err = cli.ReadSensitivity(sensitivity); err != nil {
				return err
			}
			for flag, t := range map[string]struct {
				text string
				to   *int64
			}{"--since": {since, &n.Since}, "--until": {until, &n.Until}} {
				at, err := a.ReadTime(flag, t.text)
				if err != nil {
					return err
				}
				if at.IsZero() {
					continue
				}
				if *t.to = at.Unix(); *t.to == 0 {
					return cli.Usagef("%s: a key can't contain this second of 1970", flag)
				}
			}
			if life != "" {
				d, err := config.ParseDuration(life)
				if err != nil || d <= 0 {
					return cli.Usagef("--for: want a duration such as 1h or 7d")
				}
				n.Ends = time.Now().Add(d.Std()).Unix()
			}
			narrower, id, err := delegate.Pass(key, name, n, more)
			if errors.Is(err, delegate.ErrDepth) {
				return cli.Usagef("--delegate %d: %v", more, err)
			}
			if err != nil {
				return err
			}
			if !a.JSON {
				fmt.Fprintf(a.Stderr, "The owner can end this key with its id, %s:\n", id)
			}
			return a.Print(passed{narrower, id}, func(w io.Writer) { fmt.Fprintln(w, string(narrower)) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&can, "can", nil, "only these `rights`")
	cli.Choose(f, "can", cli.AppRights...)
	f.StringSliceVar(&n.Types, "types", nil, "only these `types`")
	cli.Choose(f, "types", cli.AppTypes...)
	f.StringVar(&sensitivity, "sensitivity", "", "the highest sensitivity `level` that it may see")
	f.StringSliceVar(&n.Tags, "tags", nil, "only memories with one of these `tags`")
	f.StringVar(&since, "since", "", "only what is from this `time` or later")
	f.StringVar(&until, "until", "", "only what is from before this `time`")
	f.StringVar(&life, "for", "", "how long the key is valid: a `duration` such as 1h")
	f.IntVar(&more, "delegate", 0, "how many times (`count`) it may be passed on again")
	return c
}
