package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node/lan"
)

// listed is a line of list as JSON.
type listed struct {
	What   string `json:"what"`             // device, waiting
	Family string `json:"family,omitempty"` // device: empty where it is none that is carried
	*link.Found
	Wearable string `json:"wearable,omitempty"` // waiting: its name
	Messages *int   `json:"messages,omitempty"` // waiting
	Bytes    *int64 `json:"bytes,omitempty"`    // waiting
	Why      string `json:"why,omitempty"`      // waiting: why more waits in the device, or the folder
}

func (a *app) listCommand() *cobra.Command {
	search, all := 8*time.Second, false
	c := &cobra.Command{
		Use: "list", Short: "List the devices in range, and what waits for the node",
		Long: `Looks for Bluetooth devices that can be carried, and for Wyoming satellites that the network
announces, and shows their address, name, signal and battery. Then it shows, for each wearable that was carried by this user, how many messages
lie in its spool because the node has not taken them yet, and why more waits in the device.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if search <= 0 || search > 10*time.Minute {
				return usagef("--for %s: want up to 10m", search)
			}
			return a.list(cmd.Context(), search, all)
		},
	}
	c.Flags().DurationVar(&search, "for", search, "the `duration` of the search for devices")
	c.Flags().BoolVar(&all, "all", false, "show devices of no known family, too")
	return c
}

func (a *app) list(ctx context.Context, search time.Duration, all bool) error {
	var asked sync.WaitGroup
	var voices []link.Found
	asked.Go(func() { voices = satellites(ctx, lan.Services(ctx, announcedAs, min(search, announcedIn), nil)) })
	devices, err := (&link.BlueZ{Search: search}).Scan(ctx)
	asked.Wait()
	if err != nil {
		if !errors.Is(err, link.ErrNoBluetooth) {
			return err
		}
		fmt.Fprintf(a.stderr, "locket-bridge: %v\n", err) // other carriers don't need it
	}
	known := 0
	row := func(family string, d *link.Found) error {
		known++
		return a.row(listed{What: "device", Family: family, Found: d}, "FAMILY     ADDRESS            NAME                      SIGNAL     BATTERY", known == 1, fmt.Sprintf("%-9s  %s", family, d))
	}
	for i := range devices {
		d := &devices[i]
		family := familyOf(d)
		if family == "" && !all {
			continue
		}
		if err := row(family, d); err != nil {
			return err
		}
	}
	for i := range voices {
		if err := row(wyoming.Family.Name, &voices[i]); err != nil {
			return err
		}
	}
	if err == nil && known == 0 && !a.json {
		fmt.Fprintln(a.stdout, "No device that can be carried is in range.")
	}
	return a.listWaiting(known > 0)
}

// familyOf is the family of what advertises its service, or was paired. Of several, it is the one
// whose devices have such a name, else the first.
func familyOf(d *link.Found) (name string) {
	for _, f := range families() {
		if f.Carrier != carry.Bluetooth || f.Service == "" || !slices.Contains(d.Services, f.Service) {
			continue
		}
		if f.Called != "" && strings.HasPrefix(d.Name, f.Called) {
			return f.Name
		}
		name = cmp.Or(name, f.Name)
	}
	return name
}

// listWaiting lists what waits in the spools beside the state files.
func (a *app) listWaiting(apart bool) error {
	any, err := (&deviceFlags{name: "*"}).statePath()
	if err != nil {
		return err
	}
	states, err := filepath.Glob(any)
	if err != nil {
		return err
	}
	if len(states) > 0 && apart && !a.json {
		fmt.Fprintln(a.stdout)
	}
	for i, path := range states {
		base := strings.TrimSuffix(path, ".json")
		n, size, err := spool.Waiting(base + ".spool")
		if err != nil {
			return err
		}
		why, err := carry.Waits(path)
		if err != nil {
			return err
		}
		name, more := filepath.Base(base), ""
		if why != "" {
			more = "; " + why
		}
		if err := a.row(listed{What: "waiting", Wearable: name, Messages: &n, Bytes: &size, Why: why}, "WEARABLE                          WAITING", i == 0,
			fmt.Sprintf("%-32s  %d messages, %d KiB%s", name, n, (size+1023)>>10, more)); err != nil {
			return err
		}
	}
	return nil
}

// row prints a line, after a head where it is the first.
func (a *app) row(l listed, head string, first bool, line string) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(l)
	}
	if first {
		if _, err := fmt.Fprintln(a.stdout, head); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}
