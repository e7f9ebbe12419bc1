package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
)

// maxDevices is how many devices one process carries: as many as a node's broker accepts.
const maxDevices = 64

// configFile is the TOML file of run. Its keys are the flags of the families' commands. A key at
// the top applies to every device that does not have its own.
type configFile struct {
	Broker  string         `toml:"broker"`
	CA      string         `toml:"ca"`
	Metered string         `toml:"metered"`
	Device  []configDevice `toml:"device"`
	Assist  *configAssist  `toml:"assist"`
}

type configDevice struct {
	Family           string   `toml:"family"`
	Name             string   `toml:"name"`
	PasswordFile     string   `toml:"password_file"`
	Broker           string   `toml:"broker"`
	CA               string   `toml:"ca"`
	State            string   `toml:"state"`
	Device           string   `toml:"device"`
	Storage          bool     `toml:"storage"`
	PhotoEvery       int      `toml:"photo_every"`
	From             string   `toml:"from"`
	Listen           string   `toml:"listen"`
	MQTT             string   `toml:"mqtt"`
	Display          string   `toml:"display"`
	Deny             []string `toml:"deny"`
	Folder           string   `toml:"folder"`
	FromUser         string   `toml:"from_user"`
	FromPasswordFile string   `toml:"from_password_file"`
	FromCA           string   `toml:"from_ca"`
	Prefix           string   `toml:"prefix"`
	Pictures         bool     `toml:"pictures"`
	Spool            int      `toml:"spool"`
	Metered          string   `toml:"metered"`
}

func (a *app) runCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "run --config FILE", Short: "Carry several devices, listed in a file",
		Long: `Carries all devices in a TOML file at once, until it is stopped. A device that is away does
not hold up the others. The keys are the flags of the families' commands, with _ instead of -.
A key at the top applies to every device:

  broker = "tcp://127.0.0.1:1883"

  [[device]]
  family = "omi"
  name = "omi"
  password_file = "omi.password"
  device = "D0:12:34:56:78:9A"
  storage = true

  [[device]]
  family = "owntracks"
  name = "phone"
  password_file = "phone.password"
  from = "tcp://house:1883"
  device = "jane/phone"

With a table [assist], it answers Home Assistant's Assist over Wyoming from what the node
remembers, for anyone who can reach the address. Unless that is a loopback address, peers is
required:

  [assist]
  listen = "192.168.1.5:10500"       # default 127.0.0.1:10500
  peers = ["192.168.1.10"]           # addresses and networks that may ask
  node = "http://127.0.0.1:7331"     # its api.listen, or its socket's path; not with a link
  key_file = "assist.key"            # the key of an app that may read, or its link
  ears = "192.168.1.7:10300"         # a Wyoming speech server, for speech to text; default: none

File names are relative to the folder of the TOML file.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usagef("--config is missing")
			}
			devices, asked, err := readConfig(path)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), devices, asked)
		},
	}
	c.Flags().StringVar(&path, "config", "", "the `file`")
	return c
}

// readConfig reads and checks the whole file before anything is started. The assistant is nil if
// the file has none.
func readConfig(path string) ([]*deviceFlags, *assistant, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("config: %w", err)
	}
	var c configFile
	if err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(&c); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
			row, _ := strict.Errors[0].Position()
			return nil, nil, usagef("config: %s: line %d: %s is not a key", path, row, strings.Join(strict.Errors[0].Key(), "."))
		}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := at.Position()
			return nil, nil, usagef("config: %s: line %d: %v", path, row, at)
		}
		return nil, nil, usagef("config: %s: %v", path, err)
	}
	if len(c.Device) == 0 && c.Assist == nil || len(c.Device) > maxDevices {
		return nil, nil, usagef("config: %s: %d devices, want 1 to %d", path, len(c.Device), maxDevices)
	}
	var out []*deviceFlags
	for i, d := range c.Device {
		f, err := d.flags(&c, filepath.Dir(path))
		if err == nil && slices.ContainsFunc(out, func(o *deviceFlags) bool { return o.name == f.name }) {
			err = fmt.Errorf("there is another device with the name %q", f.name)
		}
		if err != nil {
			return nil, nil, usagef("config: %s: device %d: %s", path, i+1, asKeys.Replace(err.Error()))
		}
		out = append(out, f)
	}
	if c.Assist == nil {
		return out, nil, nil
	}
	asked, err := c.Assist.check(filepath.Dir(path))
	if err != nil {
		return nil, nil, usagef("config: %s: assist: %v", path, err)
	}
	return out, asked, nil
}

// asKeys replaces names of flags in errors by those of configuration keys.
var asKeys = strings.NewReplacer("--password-file", "password_file", "--from-password-file", "from_password_file", "--from-user", "from_user",
	"--photo-every", "photo_every", "--metered", "metered", "give --from or --capture", "from is missing", "give --device or --capture", "device is missing", "--", "")

// flags returns the flags of the family's command.
func (d *configDevice) flags(c *configFile, dir string) (*deviceFlags, error) {
	all := families()
	i := slices.IndexFunc(all, func(f carry.Family) bool { return f.Name == d.Family })
	if i < 0 {
		return nil, fmt.Errorf("family %q is not known", d.Family)
	}
	file := func(names ...string) string {
		for _, n := range names {
			if n != "" && !filepath.IsAbs(n) {
				n = filepath.Join(dir, n)
			}
			if n != "" {
				return n
			}
		}
		return ""
	}
	f := &deviceFlags{
		family: all[i], name: d.Name, passwordFile: file(d.PasswordFile), state: file(d.State),
		broker: d.Broker, metered: d.Metered, ca: file(d.CA, c.CA), spoolMiB: d.Spool,
		from: d.From, listen: d.Listen, mqtt: d.MQTT, display: d.Display, folder: file(d.Folder), fromUser: d.FromUser, fromPassword: file(d.FromPasswordFile), fromCA: file(d.FromCA),
		options: carry.Options{Storage: d.Storage, PhotoEvery: d.PhotoEvery, Prefix: d.Prefix, Pictures: d.Pictures, Deny: d.Deny},
	}
	f.broker = cmp.Or(f.broker, c.Broker)
	f.metered = cmp.Or(f.metered, c.Metered)
	f.options.Prefix = cmp.Or(f.options.Prefix, f.family.Prefix)
	has := func(o carry.Option) bool { return f.family.Accepts&o != 0 }
	mqtt, served := f.family.Carrier == carry.MQTT, f.family.Carrier == carry.Served
	for _, k := range []struct {
		key   string
		given bool
		takes bool
	}{
		{"storage", d.Storage, has(carry.WithStorage)}, {"photo_every", d.PhotoEvery != 0, has(carry.WithPhotos)},
		{"metered", d.Metered != "", has(carry.WithMetered)}, {"pictures", d.Pictures, has(carry.WithPictures)}, {"device", d.Device != "", f.family.Carrier == carry.Bluetooth || f.family.Carrier == carry.TCP || has(carry.WithDevice)},
		{"listen", d.Listen != "", served}, {"mqtt", d.MQTT != "", served}, {"display", d.Display != "", f.family.Carrier == carry.Screen}, {"deny", len(d.Deny) > 0, has(carry.WithDeny)}, {"folder", d.Folder != "", f.family.Carrier == carry.Folder}, {"from", d.From != "", mqtt}, {"from_user", d.FromUser != "", mqtt}, {"from_password_file", d.FromPasswordFile != "", mqtt},
		{"from_ca", d.FromCA != "", mqtt}, {"prefix", d.Prefix != "", mqtt},
	} {
		if k.given && !k.takes {
			return nil, fmt.Errorf("the family %s has no %s", d.Family, k.key)
		}
	}
	if mqtt || served {
		f.options.Device = d.Device
	} else {
		f.device = d.Device
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if _, err := readPassword(f.passwordFile); err != nil {
		return nil, err
	}
	return f, nil
}

// run carries devices until ctx ends, and answers questions if asked is not nil. If one fails, run
// reports the error and restarts it. The others continue.
func (a *app) run(ctx context.Context, devices []*deviceFlags, asked *assistant) error {
	var wg sync.WaitGroup
	if asked != nil {
		wg.Go(func() { a.assist(ctx, asked) })
	}
	for _, f := range devices {
		f.label = f.name
		wg.Go(func() {
			pace := retry.Backoff{First: time.Second, Most: time.Minute}
			for ctx.Err() == nil {
				began := time.Now()
				err := a.device(ctx, f)
				if err == nil {
					continue // ctx ended
				}
				if time.Since(began) > time.Minute {
					pace.Reset()
				}
				rest := pace.Next()
				a.printNote(f.label, carry.Note{What: "waiting", Text: fmt.Sprintf("%v; next attempt in %s", err, rest.Round(time.Millisecond))})
				wait.For(ctx, rest)
			}
		})
	}
	wg.Wait()
	return nil
}
