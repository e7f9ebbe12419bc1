package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// brokerWait is how long the broker may take to accept the device.
const brokerWait = 20 * time.Second

var errBroker = errors.New("no connection to the broker")

// deviceCommand carries devices of one family.
func (a *app) deviceCommand(family carry.Family) *cobra.Command {
	f := deviceFlags{family: family}
	source := sources[family.Carrier]
	value, example := source.value, source.example
	switch {
	case family.Pair:
		value, example = "LEFT,RIGHT", example+",D0:12:34:56:78:9B"
	case family.Carrier == carry.MQTT && family.Accepts&carry.WithDevice != 0:
		value, example = value+" --device USER/DEVICE", example+" --device USER/DEVICE"
	}
	c := &cobra.Command{
		Use: fmt.Sprintf("%s (%s %s | --capture FILE)", family.Name, source.flag, value), Short: family.Short,
		Long: family.Long + `

--record writes what the device sends to a file. --capture plays such a file instead, and
ends with it.`,
		Example: fmt.Sprintf(`  locket wearable add %[1]s
  locket-bridge %[1]s %[2]s %[3]s --broker tcp://127.0.0.1:1883 --name %[1]s --password-file %[1]s.password`,
			family.Name, source.flag, example),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.device(cmd.Context(), &f) },
	}
	f.sourceFlags(c.Flags())
	f.nodeFlags(c.Flags())
	f.optionFlags(c.Flags())
	return c
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is one argument too many", args[0])
	}
	return nil
}

func (a *app) device(ctx context.Context, f *deviceFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	dialer, closeLink, err := f.dialer()
	if err != nil {
		return err
	}
	if f.tellFirst != "" {
		a.printNote(f.label, carry.Note{What: "address", Text: f.tellFirst})
	}
	return errors.Join(a.carry(ctx, f, dialer), closeLink())
}

// carry connects a node with the device that dialer reaches, until ctx ends.
func (a *app) carry(ctx context.Context, f *deviceFlags, dialer link.Dialer) (err error) {
	password, err := readPassword(f.passwordFile)
	if err != nil {
		return err
	}
	path, err := f.statePath()
	if err != nil {
		return err
	}
	state, err := carry.OpenState(path)
	if err != nil {
		return err
	}
	boot, err := state.Begin()
	if err != nil {
		return err
	}
	kept, err := a.spool(f, path)
	if err != nil {
		return err
	}
	if kept != nil {
		defer func() { err = errors.Join(err, kept.Close()) }()
	}
	commands := make(chan *wire.Cmd, 64)
	cfg := wear.Config{
		URL: f.broker, Device: f.name, Password: password,
		Boot: boot, Window: carry.Window, Hello: wire.Hello{Model: f.family.Name, Firmware: "not connected yet", Keeps: kept != nil, Tells: f.family.ShowsAnswers},
		OnWait: func(why string) {
			a.printNote(f.label, carry.Note{What: "waiting", Text: fmt.Sprintf("the node accepts no events now (%s): see locket doctor", why)})
		},
		OnCmd: func(cmd *wire.Cmd) {
			if cmd.Cmd == wire.CmdKey && kept != nil {
				if err := kept.SetKey(cmd.To); err != nil {
					a.printNote(f.label, carry.Note{What: "warning", Text: err.Error()})
				}
				return
			}
			select {
			case commands <- cmd:
			default: // nobody is connected: the next connection starts without old ones
			}
		},
	}
	if f.ca != "" {
		if cfg.TLS, err = intake.TLSConfig(f.ca, "", ""); err != nil {
			return err
		}
	}
	client, err := wear.Dial(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ready, cancel := context.WithTimeout(ctx, brokerWait)
	err = client.Ready(ready)
	cancel()
	if err != nil {
		return fmt.Errorf("%w %s: %v", errBroker, f.broker, client.Err())
	}
	report, err := carry.Run(ctx, carry.Config{
		Dialer: dialer, Client: client, Commands: commands, State: state, Spool: kept,
		Family: f.family, Options: f.withLine(), Lossless: f.capture != "", OnNote: func(n carry.Note) { a.printNote(f.label, n) }, FirstWait: f.firstWait,
	})
	return errors.Join(err, a.report(f.label, &report))
}

// spool opens the spool on disk beside the state file. It returns nil for a capture, which is
// already on disk.
func (a *app) spool(f *deviceFlags, state string) (*spool.Spool, error) {
	if f.capture != "" {
		return nil, nil
	}
	s, lost, err := spool.Open(strings.TrimSuffix(state, ".json")+".spool", int64(f.spoolMiB)<<20)
	if err != nil {
		return nil, err
	}
	for _, l := range lost {
		a.printNote(f.label, carry.Note{What: "warning", Text: "spool: " + l})
	}
	if n := s.Len(); n > 0 {
		a.printNote(f.label, carry.Note{What: "spool", Text: fmt.Sprintf("%d messages from an earlier run wait for the node", n)})
	}
	return s, nil
}

// printNote prints what happens: for a person on standard error, because it is progress; as JSON on
// standard output.
func (a *app) printNote(label string, n carry.Note) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.json {
		_ = json.NewEncoder(a.stdout).Encode(struct { // a closed pipe must not end the recording
			Device string `json:"device,omitempty"`
			carry.Note
		}{label, n})
		return
	}
	if label != "" {
		label += "  "
	}
	fmt.Fprintf(a.stderr, "%s  %s%s: %s\n", time.Now().Format(time.TimeOnly), label, n.What, n.Text)
}

func (a *app) report(label string, r *carry.Report) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.json {
		return json.NewEncoder(a.stdout).Encode(struct {
			What   string `json:"what"`
			Device string `json:"device,omitempty"`
			*carry.Report
		}{"done", label, r})
	}
	if label != "" {
		fmt.Fprintf(a.stdout, "%s:\n", label)
	}
	_, err := fmt.Fprintf(a.stdout, "Carried %s of live sound in %d frames, %d photos, %d presses, %d places, %d sightings, %d stored records; %d messages.\n",
		r.Sound.Round(time.Second), r.Frames, r.Photos, r.Presses, r.Places, r.Sightings, r.Records, r.Published)
	if r.Lost+r.LostPhotos+r.Spoilt+r.Dropped > 0 {
		fmt.Fprintf(a.stdout, "Lost: %d audio notifications, %d photos, %d unusable, %d messages dropped.\n", r.Lost, r.LostPhotos, r.Spoilt, r.Dropped)
	}
	if r.Refused+r.Waiting > 0 {
		fmt.Fprintf(a.stdout, "The node refused %d messages and did not acknowledge %d.\n", r.Refused, r.Waiting)
	}
	return err
}
