package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/node/intake/wire"
)

// deviceFlags are the flags of the command of a family.
type deviceFlags struct {
	family          carry.Family
	device          string
	display         string // an X11 or Wayland display; empty: that of the session
	folder          string
	listen          string // host:port to which the device connects
	mqtt            string // the same for MQTT and datagrams; empty: not used
	from            string // house broker's url
	fromUser        string
	fromPassword    string // a file's name
	fromCA          string
	capture, record string
	broker, ca      string
	name            string
	passwordFile    string
	state           string
	spoolMiB        int // 0: 1024
	options         carry.Options
	metered         string        // auto, yes or no; empty: auto
	firstWait       time.Duration // as in [carry.Config]
	tellFirst       string        // printed before anything else
	label           string        // prefix of messages; empty if there is one device
}

// sourceFlag is the flag that says where a family's devices are.
type sourceFlag struct{ flag, value, example string }

var sources = map[carry.Carrier]sourceFlag{
	carry.Bluetooth: {"--device", "ADDRESS", "D0:12:34:56:78:9A"},
	carry.TCP:       {"--device", "HOST:PORT", "kitchen.local:10700"},
	carry.MQTT:      {"--from", "URL", "tcp://house:1883"},
	carry.Served:    {"--listen", "HOST:PORT", ":8003"},
	carry.Folder:    {"--folder", "FOLDER", "~/Recordings"},
	carry.Screen:    {"--display", "DISPLAY", ":0 --deny signal"},
}

// sourceFlags adds the flags that say where the device is, or which capture to play or record.
func (f *deviceFlags) sourceFlags(fl *pflag.FlagSet) {
	switch f.family.Carrier {
	case carry.Bluetooth:
		fl.StringVar(&f.device, "device", "", map[bool]string{false: "the device's Bluetooth `address` or name", true: "Bluetooth `addresses` or names of the left and the right arm, separated by a comma"}[f.family.Pair])
	case carry.TCP:
		fl.StringVar(&f.device, "device", "", "`host:port` where the device listens, or its name as announced in the network")
	case carry.MQTT:
		fl.StringVar(&f.from, "from", "", "the `url` of the broker with its messages: tcp://host:1883 or ssl://host:8883")
		fl.StringVar(&f.fromUser, "from-user", "", "the user `name` at that broker")
		fl.StringVar(&f.fromPassword, "from-password-file", "", "read the password at that broker from a `file`")
		fl.StringVar(&f.fromCA, "from-ca", "", "trust this `file` of certificates (PEM) for ssl:// there")
		if f.family.Accepts&carry.WithDevice != 0 {
			fl.StringVar(&f.options.Device, "device", "", f.family.Device)
		}
		fl.StringVar(&f.options.Prefix, "prefix", f.family.Prefix, "the `name` with which the topics begin")
	case carry.Served:
		fl.StringVar(&f.listen, "listen", "", "listen for the device at `host:port`, such as :8003")
		fl.StringVar(&f.mqtt, "mqtt", "", "let the device connect by MQTT, and send its sound by UDP, at `host:port`, such as :8004")
		fl.StringVar(&f.options.Device, "device", "", f.family.Device)
	case carry.Folder:
		fl.StringVar(&f.folder, "folder", "", "watch this `folder` and its subfolders")
	case carry.Screen:
		fl.StringVar(&f.display, "display", "", "the X11 `display`, such as :0, or Wayland display, such as wayland-1 (default: $WAYLAND_DISPLAY, or else $DISPLAY)")
		fl.StringSliceVar(&f.options.Deny, "deny", nil, "record nothing while there is a window whose class or title contains one of these `words`; most notifications, menus and panels have neither, and stay in pictures of what is below them")
	}
	fl.StringVar(&f.capture, "capture", "", "play a capture `file` instead of a device")
	fl.StringVar(&f.record, "record", "", "write what the device sends to a capture `file`")
}

// optionFlags adds the flags that only some families have.
func (f *deviceFlags) optionFlags(fl *pflag.FlagSet) {
	takes := func(o carry.Option) bool { return f.family.Accepts&o != 0 }
	if takes(carry.WithStorage) {
		fl.BoolVar(&f.options.Storage, "storage", false, "fetch what the device has stored, and delete there what the node has")
	}
	if takes(carry.WithMetered) {
		fl.StringVar(&f.metered, "metered", "auto", "whether the connection to the node is metered, so that what can wait does: yes, no, or auto (ask NetworkManager)")
	}
	if takes(carry.WithPhotos) {
		fl.IntVar(&f.options.PhotoEvery, "photo-every", 0, "take a photo every this many `seconds`, 5 to 127; 0: do not change the device's setting")
	}
	if takes(carry.WithPictures) {
		fl.BoolVar(&f.options.Pictures, "pictures", false, "also take the snapshots of what the cameras saw")
	}
}

// nodeFlags adds the flags of the node's side.
func (f *deviceFlags) nodeFlags(fl *pflag.FlagSet) {
	fl.StringVar(&f.broker, "broker", "", "the broker's `url`: tcp://host:1883 or ssl://host:8883")
	fl.StringVar(&f.ca, "ca", "", "trust this `file` of certificates (PEM) for ssl://")
	fl.StringVar(&f.name, "name", "", "the device's `name` at the node, as in locket wearable add")
	fl.StringVar(&f.passwordFile, "password-file", "", "read the device's password from a `file`")
	fl.IntVar(&f.spoolMiB, "spool", 0, "keep at most this many `MiB` for the node on disk, sealed; 0: 1024")
	fl.StringVar(&f.state, "state", "", "`file` for what must survive a restart (default: NAME.json in the user's state folder)")
}

// check finds errors in the command line.
func (f *deviceFlags) check() error {
	own := f.family.Carrier == carry.Screen && f.display == "" // the screen of the session, or a capture
	switch {
	case !own && (f.device+f.from+f.listen+f.folder+f.display == "") == (f.capture == ""):
		return usagef("give %s or --capture", sources[f.family.Carrier].flag)
	case f.capture != "" && f.record != "":
		return usagef("--record is for a device: a capture is already recorded")
	case f.record != "" && f.mqtt != "":
		return usagef("--record: what comes by --mqtt is encrypted, so a capture of it can't be played")
	case f.mqtt != "" && f.listen == "":
		return usagef("--mqtt needs --listen, where the device asks for the MQTT address")
	case f.capture != "" && f.options.Storage:
		return usagef("--storage is for a device: a capture can't be asked")
	case f.from != "" && f.family.Accepts&carry.WithDevice != 0 && f.options.Device == "":
		return usagef("--device is missing: whose messages at %s?", f.from)
	case strings.ContainsAny(f.options.Device, "+#"):
		return usagef("--device %q: want one device, without + and #", f.options.Device)
	case f.family.Pair && f.device != "" && !isPair(f.device):
		return usagef("--device %q: want the left and the right arm, LEFT,RIGHT", f.device)
	case f.family.Carrier == carry.TCP && strings.Contains(f.device, ":") && !isHostPort(f.device):
		return usagef("--device %q: want host:port, or the name of a satellite that locket-bridge list shows", f.device)
	case f.fromPassword != "" && f.fromUser == "":
		return usagef("--from-password-file needs --from-user")
	case strings.ContainsAny(f.options.Prefix, "+#") || strings.HasSuffix(f.options.Prefix, "/"):
		return usagef("--prefix %q: want a name without + and #, and without a / at its end", f.options.Prefix)
	}
	return f.checkNode()
}

func isPair(s string) bool {
	left, right, ok := strings.Cut(s, ",")
	return ok && left != "" && right != "" && !strings.Contains(right, ",")
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != ""
}

// checkNode finds errors in the flags for the node.
func (f *deviceFlags) checkNode() error {
	switch every := f.options.PhotoEvery; {
	case f.broker == "":
		return usagef("--broker is missing")
	case f.name == "":
		return usagef("--name is missing")
	case f.passwordFile == "":
		return usagef("--password-file is missing")
	case f.spoolMiB < 0 || f.spoolMiB > 1<<20:
		return usagef("--spool %d: want 0 to 1048576", f.spoolMiB)
	case !slices.Contains([]string{"", "auto", "yes", "no"}, f.metered):
		return usagef("--metered %q: want auto, yes or no", f.metered)
	case every != 0 && (every < 5 || every > 127):
		return usagef("--photo-every %d: want 5 to 127", every)
	}
	if err := wire.CheckDevice(f.name); err != nil {
		return usagef("--name %q: %v", f.name, err)
	}
	return nil
}

func readPassword(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the device's password: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// statePath follows the XDG base directory specification.
func (f *deviceFlags) statePath() (string, error) {
	if f.state != "" {
		return f.state, nil
	}
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no folder for the state: %w; give --state", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "locket-bridge", f.name+".json"), nil
}
