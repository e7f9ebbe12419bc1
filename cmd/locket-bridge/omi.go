package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// brokerWait is how long the broker may take to let the device in.
const brokerWait = 20 * time.Second

var errBroker = errors.New("no connection to the broker")

// omiFlags is what the omi command was asked for.
type omiFlags struct {
	device, capture, record string
	broker, ca              string
	name, passwordFile      string
	state                   string
	storage                 bool
	photoEvery              int
}

func (a *app) omiCommand() *cobra.Command {
	var f omiFlags
	c := &cobra.Command{
		Use: "omi (--device ADDRESS | --capture FILE)", Short: "Carry an Omi pendant or OmiGlass over Bluetooth",
		Long: `Connects to an Omi over Bluetooth (BlueZ), and publishes its sound, photos, presses
and battery to the broker as the wearable --name, again and again until it is stopped.
What is lost on the way becomes gap events. With --storage it also fetches what the
device recorded while nobody listened; the device forgets it only after the node has
acknowledged it.

--record writes what the device says to a file; --capture plays such a file instead of
a device, and ends with it.`,
		Example: `  locket wearable add omi
  locket-bridge omi --device D0:12:34:56:78:9A --broker tcp://127.0.0.1:1883 --name omi --password-file omi.password --storage
  locket-bridge omi --device Omi --record walk.jsonl --broker tcp://127.0.0.1:1883 --name omi --password-file omi.password`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q is one argument too many", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.omi(cmd.Context(), &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.device, "device", "", "the device's Bluetooth `address` or name")
	fl.StringVar(&f.capture, "capture", "", "play a capture `file` instead of a device")
	fl.StringVar(&f.record, "record", "", "write what the device says to a capture `file`")
	fl.StringVar(&f.broker, "broker", "", "the broker's `url`: tcp://host:1883 or ssl://host:8883")
	fl.StringVar(&f.ca, "ca", "", "trust this `file` of certificates (PEM) for ssl://")
	fl.StringVar(&f.name, "name", "", "the device's `name` at the node, as in locket wearable add")
	fl.StringVar(&f.passwordFile, "password-file", "", "read the device's password from a `file`")
	fl.StringVar(&f.state, "state", "", "`file` for what must outlive a restart (default: NAME.json in the user's state folder)")
	fl.BoolVar(&f.storage, "storage", false, "fetch what the device stored, and have it forget what the node has")
	fl.IntVar(&f.photoEvery, "photo-every", 0, "have the device take a photo each so many `seconds`, 5 to 127; 0: leave it as it is")
	return c
}

// check finds what is wrong with the command line alone.
func (f *omiFlags) check() error {
	switch {
	case (f.device == "") == (f.capture == ""):
		return usagef("give --device or --capture")
	case f.capture != "" && f.record != "":
		return usagef("--record is for a device: a capture is recorded already")
	case f.capture != "" && f.storage:
		return usagef("--storage is for a device: a capture can't be asked")
	case f.broker == "":
		return usagef("--broker is missing")
	case f.name == "":
		return usagef("--name is missing")
	case f.passwordFile == "":
		return usagef("--password-file is missing")
	case f.photoEvery != 0 && (f.photoEvery < 5 || f.photoEvery > 127):
		return usagef("--photo-every %d: want 5 to 127", f.photoEvery)
	}
	if err := wire.CheckDevice(f.name); err != nil {
		return usagef("--name %q: %v", f.name, err)
	}
	return nil
}

func (a *app) omi(ctx context.Context, f *omiFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	password, err := os.ReadFile(f.passwordFile)
	if err != nil {
		return fmt.Errorf("read the device's password: %w", err)
	}
	dialer, closeLink, err := f.dialer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLink()) }()

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
	commands := make(chan *wire.Cmd, 64)
	cfg := wear.Config{
		URL: f.broker, Device: f.name, Password: strings.TrimRight(string(password), "\r\n"),
		Boot: boot, Window: carry.Window, Hello: wire.Hello{Model: "omi", Firmware: "not connected yet"},
		OnCmd: func(cmd *wire.Cmd) {
			select {
			case commands <- cmd:
			default: // nobody is connected: the next connection begins without old ones
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
		Dialer: dialer, Client: client, Commands: commands, State: state,
		Storage: f.storage, PhotoEvery: f.photoEvery, Lossless: f.capture != "", Tell: a.tell,
	})
	return errors.Join(err, a.report(&report))
}

// dialer is the device or the capture, recorded where that is asked for.
func (f *omiFlags) dialer() (_ link.Dialer, closeAll func() error, err error) {
	if f.capture != "" {
		file, err := os.Open(f.capture)
		if err != nil {
			return nil, nil, fmt.Errorf("capture: %w", err)
		}
		return link.NewCapture(file), file.Close, nil
	}
	device := &link.BlueZ{Device: f.device}
	if f.record == "" {
		return device, func() error { return nil }, nil
	}
	// What a person wore is in it. It is never written over.
	file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("record: %w", err)
	}
	rec := link.NewRecorder(device, f.device, file)
	return rec, func() error { return errors.Join(rec.Err(), file.Close()) }, nil
}

// statePath follows the XDG base directory specification.
func (f *omiFlags) statePath() (string, error) {
	if f.state != "" {
		return f.state, nil
	}
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("where to keep the state: %w; give --state", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "locket-bridge", f.name+".json"), nil
}

// tell prints what happens: for a person on standard error, as it is progress;
// as JSON on standard output.
func (a *app) tell(n carry.Note) {
	if a.json {
		_ = json.NewEncoder(a.stdout).Encode(n) // a closed pipe must not end the recording
		return
	}
	fmt.Fprintf(a.stderr, "%s  %s: %s\n", time.Now().Format(time.TimeOnly), n.What, n.Text)
}

func (a *app) report(r *carry.Report) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(struct {
			What string `json:"what"`
			*carry.Report
		}{"done", r})
	}
	_, err := fmt.Fprintf(a.stdout, "Carried %s of live sound in %d frames, %d photos, %d presses, %d stored records; %d messages.\n",
		r.Sound.Round(time.Second), r.Frames, r.Photos, r.Presses, r.Records, r.Published)
	if r.Lost+r.LostPhotos+r.Spoilt+r.Dropped > 0 {
		fmt.Fprintf(a.stdout, "Lost: %d audio notifications, %d photos, %d unusable, %d messages dropped.\n", r.Lost, r.LostPhotos, r.Spoilt, r.Dropped)
	}
	if r.Refused+r.Waiting > 0 {
		fmt.Fprintf(a.stdout, "The node refused %d messages and did not acknowledge %d.\n", r.Refused, r.Waiting)
	}
	return err
}
