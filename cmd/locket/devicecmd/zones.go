package devicecmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/zones"
)

func ZonesCommand(a *cli.App) *cobra.Command {
	group := &cobra.Command{
		Use: "zones", Short: "Set when and where nothing is recorded", RunE: a.NeedsCommand,
		Long: `Events from a private zone are acknowledged to the device and dropped. Nothing of them is
kept, and devices are told to pause. What counts is the time and place at which something
happened: what a device recorded in a zone and sends later is dropped, too.`,
	}
	group.AddCommand(addZoneCommand(a), listZonesCommand(a), removeZoneCommand(a))
	return group
}

func addZoneCommand(a *cli.App) *cobra.Command {
	var z zones.Zone
	var at string
	c := &cobra.Command{
		Use: "add NAME", Short: "Make a zone from a time, a place, or both", Args: cli.ArgsBetween(1, 1, "the name"),
		Example: `  locket zones add nights --time "daily 22:00-07:00"
  locket zones add home --at 38.72230,-9.13930 --radius 150
  locket zones add surgery --place clinic --time "mon-fri 8:00-18:00"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			z.Name = args[0]
			f := cmd.Flags()
			if f.Changed("at") != f.Changed("radius") {
				return cli.Usagef("--at and --radius need each other: together they make a circle")
			}
			if at != "" {
				var err error
				if z.Lat, z.Lon, err = readPosition(at); err != nil {
					return cli.UsageError{Err: err}
				}
			}
			if z.Window == "" && z.Place == "" && at == "" {
				return cli.Usagef("give --time, --at with --radius, or --place")
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).AddZone, z, func(w io.Writer, made *zones.Zone) {
				fmt.Fprintf(w, "Nothing is recorded in %s: %s.\n", cli.OneLine(made.Name), cli.OneLine(made.String()))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&z.Window, "time", "", "time `window`: days (daily, weekdays, mon-fri, sat,sun) and hours")
	f.StringVar(&at, "at", "", "centre of a circle: `LAT,LON` in degrees")
	f.Float64Var(&z.Radius, "radius", 0, "radius of the circle in `metres`")
	f.StringVar(&z.Place, "place", "", "`name` of a place, as devices report it")
	return c
}

func readPosition(s string) (lat, lon float64, err error) {
	a, b, ok := strings.Cut(s, ",")
	lat, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
	lon, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("--at: %q: want degrees north and east, such as 38.72230,-9.13930", s)
	}
	return lat, lon, nil
}

func listZonesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the private zones", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				all, err := cl.Zones(cmd.Context())
				return cli.Rows(a, err, all.Zones, func(w io.Writer, z *zones.Zone) {
					fmt.Fprintf(w, "%s  %s\n", cli.Padded(cli.OneLine(z.Name), 16), cli.OneLine(z.String()))
				}, "No private zones. Make one: locket zones add NAME --time \"daily 22:00-07:00\"")
			})
		},
	}
}

func removeZoneCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "End a private zone", Args: cli.ArgsBetween(1, 1, "the name"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).RemoveZone, func(w io.Writer, z *serve.RemovedZone) {
			fmt.Fprintf(w, "%s is no longer a private zone.\n", cli.OneLine(z.Name))
		}),
	}
}
