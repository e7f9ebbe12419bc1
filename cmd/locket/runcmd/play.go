package runcmd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/serve"
)

// replay is the request of the replay command.
type replay struct {
	device, passwordFile string
	speed                float64
	seed                 uint64
	generate             bool
	files                []string
}

func ReplayCommand(a *cli.App) *cobra.Command {
	var r replay
	c := &cobra.Command{
		Use: "replay [--generate SEED] [FILE...]", Short: "Publish files of events as a wearable would", Args: cli.ArgsBetween(0, -1, ""),
		Long: `Publishes WAV, Ogg Opus, PNG, JPEG, text and JSONL files to the broker of the running
daemon. It waits until each event is acknowledged and processed. A .jsonl file names its own
devices and times. Other files come from --device, and end at the current time. Text is in a
file named .txt or .md, or without an extension; each of its lines is an event. If a file can't
be read, nothing is published.

On the node's own broker, a device without credentials gets temporary ones for the replay. A
replay that is killed leaves them behind, and the next one replaces them. For a wearable that
has credentials, and on any other broker, give the password with --password-file.`,
		Example: `  locket replay testdata/day/day.jsonl
  locket replay --device glasses note.png voice.wav
  locket replay --generate 7 --speed 600`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.files, r.generate = args, cmd.Flags().Changed("generate")
			switch {
			case r.generate && len(args) > 0:
				return cli.Usagef("--generate makes its own events: give no files with it")
			case !r.generate && len(args) == 0:
				return cli.Usagef("a file is missing, or --generate SEED")
			case r.speed < 0:
				return cli.Usagef("--speed %v: want 0 or more", r.speed)
			}
			return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				rep, err := play(a, cmd.Context(), cl, &r)
				if err != nil {
					return err
				}
				if err := workedThrough(a, cmd.Context(), cl); err != nil {
					return cli.InterruptedError{Err: err, State: "Everything is published. The daemon goes on processing it."}
				}
				return a.Print(rep, func(w io.Writer) {
					fmt.Fprintf(w, "Published %s; %d acknowledged", cli.Plural(rep.Sent, "event", "events"), rep.Acked)
					if rep.Paused > 0 {
						fmt.Fprintf(w, ", %d dropped because the node is paused", rep.Paused)
					}
					if rep.Refused > 0 {
						fmt.Fprint(w, a.WithHomef(", %d refused: see locket doctor", rep.Refused))
					}
					fmt.Fprintln(w, ".")
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.device, "device", "replay", "`name` of the device for files that do not name one")
	f.StringVar(&r.passwordFile, "password-file", "", "read the device's password from a `file`")
	f.Float64Var(&r.speed, "speed", 0, "speed of time: 1 is real time, 60 an hour per minute, 0 as fast as events are acknowledged")
	f.Uint64Var(&r.seed, "generate", 0, "generate a day from a `seed`")
	return c
}

// workedThrough waits until the node has processed what it accepted, so that the next question is
// answered from all of it. A locked node can't process events.
func workedThrough(a *cli.App, ctx context.Context, cl *serve.Client) error {
	m := a.Meter("process", "events", 0)
	defer m.End()
	for {
		s, err := cl.Status(ctx)
		if serve.IsUnreachable(err) {
			return nil // what is acknowledged is safe, and is processed when the daemon is back
		}
		if err != nil || s.Locked || s.Journal.Waiting == 0 {
			return err
		}
		if err := cli.CheckDiskSpace(&s); err != nil {
			return fmt.Errorf("%w; what was acknowledged is kept, and %s to be processed", err, cli.Plural(s.Journal.Waiting, "event waits", "events wait"))
		}
		waiting := int64(s.Journal.Waiting)
		m.Total.Store(max(m.Total.Load(), waiting))
		m.Done.Store(m.Total.Load() - waiting)
		if !wait.For(ctx, cli.LockPoll) {
			return ctx.Err()
		}
	}
}

func play(a *cli.App, ctx context.Context, cl *serve.Client, r *replay) (rep player.Report, err error) {
	events, err := r.events(&a.Settings.Config)
	if err != nil {
		return rep, err
	}
	given, err := readPassword(r.passwordFile)
	if err != nil {
		return rep, err
	}
	s, err := cl.Status(ctx)
	if err == nil {
		err = cli.CheckDiskSpace(&s)
	}
	if err != nil {
		return rep, err
	}
	b := &a.Settings.Broker
	m := a.Meter("publish", "events", len(events))
	defer m.End()
	cfg := player.Config{URL: b.URL, Speed: r.speed, Answer: func(_ day.Event, why error) {
		if why == nil || errors.Is(why, wear.ErrRefused) || errors.Is(why, wear.ErrPaused) {
			m.Done.Add(1)
		}
	}, OnWait: func(why string) {
		m.PrintAbove(func() {
			fmt.Fprint(a.Stderr, a.WithHomef("The node accepts no events now (%s): see locket doctor. The events are sent again until it does.\n", cli.OneLine(why)))
		})
	}}
	url, passwords, lent, lendErr := lendCredentials(a, ctx, cl, events, given)
	// Temporary credentials are removed in any case, even after ctx has ended.
	defer func() {
		for _, name := range lent {
			_, e := cl.RemoveDevice(context.WithoutCancel(ctx), name)
			err = errors.Join(err, e)
		}
	}()
	if lendErr != nil {
		return rep, lendErr
	}
	cfg.URL, cfg.Password = cmp.Or(url, cfg.URL, s.Broker.URL), func(device string) string { return passwords[device] }
	if cfg.TLS, err = clientTLS(a); err != nil {
		return rep, err
	}
	if rep, err = player.Play(ctx, cfg, events); err != nil {
		err = cli.InterruptedError{Err: err, State: fmt.Sprintf("At least %d of %s reached the node, and stay there.", rep.Acked, cli.Plural(len(events), "event", "events"))}
	}
	return rep, err
}

// clientTLS trusts broker.ca, or the certificate of the node's own broker.
func clientTLS(a *cli.App) (*tls.Config, error) {
	ca := cmp.Or(a.Settings.Broker.CA, a.Settings.Broker.TLSCert)
	if ca == "" {
		return nil, nil
	}
	return intake.TLSConfig(ca, a.Settings.Broker.Cert, a.Settings.Broker.Key)
}

// lendCredentials makes temporary credentials for each device of the events that has none. For the others,
// given is the password; it is empty if the wearer gave none.
func lendCredentials(a *cli.App, ctx context.Context, cl *serve.Client, events []day.Event, given string) (url string, passwords map[string]string, lent []string, err error) {
	passwords = map[string]string{}
	var names []string
	for _, e := range events {
		if !slices.Contains(names, e.ID.Device) {
			names = append(names, e.ID.Device)
		}
	}
	for _, name := range names {
		d, err := cl.AddLogin(ctx, serve.AddDeviceRequest{Name: name, Replay: true})
		if err != nil && given != "" {
			passwords[name] = given
			continue
		}
		if errors.Is(err, serve.ErrConflict) {
			return "", nil, lent, cli.AdvisedError{Err: fmt.Errorf("wearable %s already has credentials", name),
				Advice: "To replay as that wearable, give its password with --password-file FILE. To replay as another, if the file names none:\n" +
					"--device NAME. To keep it out of your own memory, make a home for it: locket --home DIR init, then run and replay there."}
		}
		if errors.Is(err, serve.ErrUnsupported) {
			return "", nil, lent, fmt.Errorf("%w: give the device's password with --password-file", err)
		}
		if err != nil {
			return "", nil, lent, err
		}
		lent = append(lent, name)
		url, passwords[name] = d.Broker, string(d.Password)
	}
	return url, passwords, lent, nil
}

func (r *replay) events(cfg *config.Config) ([]day.Event, error) {
	if !r.generate {
		zone := ""
		if cfg.Zone != "Local" {
			zone = cfg.Zone
		}
		return day.Replay{Device: r.device, Boot: uint64(time.Now().UnixMilli()), End: time.Now(), Zone: zone}.ReadFiles(r.files...)
	}
	d, err := day.Generate(r.seed)
	if err != nil {
		return nil, err
	}
	var events []day.Event
	for e := range d.Events() {
		e.ID.Boot += r.seed // another seed gives other events; the same seed gives the same ones, which count once
		events = append(events, e)
	}
	return events, nil
}

func readPassword(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the device's password: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func DemoCommand(a *cli.App) *cobra.Command {
	var seed uint64
	var home string
	c := &cobra.Command{
		Use: "demo", Short: "Play a sample day in a separate home, and show what was remembered", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Demo(cmd.Context(), a.Stdout, a.JSON, seed, home)
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 0, "generate the day from a `seed`")
	c.Flags().StringVar(&home, "keep", "", "keep the home in this `folder`")
	return c
}
