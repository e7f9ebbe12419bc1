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

// listed is one line of list, as JSON.
type listed struct {
	What   string `json:"what"`             // device, waiting
	Family string `json:"family,omitempty"` // device: empty if it can't be carried
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
		Long: `Searches for Bluetooth devices that can be carried, and for Wyoming satellites announced in
the network, and shows their address, name, signal and battery. Then it shows, for each
wearable that this user has carried, how many messages are in its spool because the node has
not accepted them yet, and why more is waiting in the device.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if search <= 0 || search > 10*time.Minute {
				return usagef("--for %s: want up to 10m", search)
			}
			return a.list(cmd.Context(), search, all)
		},
	}
	c.Flags().DurationVar(&search, "for", search, "how long to search for devices: a `duration`")
	c.Flags().BoolVar(&all, "all", false, "also show devices of unknown families")
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
		fmt.Fprintf(a.stderr, "locket-bridge: %v\n", err) // other carriers don't need Bluetooth
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
		fmt.Fprintln(a.stdout, "No supported device is in range.")
	}
	return a.listWaiting(known > 0)
}

// familyOf returns the family of a device that advertises the family's service, or that was paired.
// Of several families it returns the one whose devices have such a name, or else the first.
func familyOf(d *link.Found) (name string) {
	for _, f := range families() {
		if f.Carrier != carry.Bluetooth || f.Service == "" || !slices.Contains(d.Services, f.Service) {
			continue
		}
		if f.NamePrefix != "" && strings.HasPrefix(d.Name, f.NamePrefix) {
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
		why, err := carry.WaitReason(path)
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

// row prints a line, with a heading before the first one.
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
