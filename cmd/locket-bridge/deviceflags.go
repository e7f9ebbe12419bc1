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

// deviceFlags is what the command of a family was asked for.
type deviceFlags struct {
	family          carry.Family
	device          string
	display         string // of X11, or of Wayland; empty: that of the session
	folder          string
	listen          string // host:port, where the device connects to us
	mqtt            string // the same, where it connects by MQTT and sends datagrams; empty: nowhere
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
	tellFirst       string        // before anything else
	label           string        // what is told begins with it; empty: there is one device
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

// sourceFlags adds the flags that say where the device is, or which capture is played or recorded.
func (f *deviceFlags) sourceFlags(fl *pflag.FlagSet) {
	switch f.family.Carrier {
	case carry.Bluetooth:
		fl.StringVar(&f.device, "device", "", map[bool]string{false: "the device's Bluetooth `address` or name", true: "Bluetooth `addresses` or names of the left and the right arm, with a comma between"}[f.family.Pair])
	case carry.TCP:
		fl.StringVar(&f.device, "device", "", "where the device listens, `host:port`, or the name by which the network announces it")
	case carry.MQTT:
		fl.StringVar(&f.from, "from", "", "the `url` of the broker that has its messages: tcp://host:1883 or ssl://host:8883")
		fl.StringVar(&f.fromUser, "from-user", "", "the user `name` at that broker")
		fl.StringVar(&f.fromPassword, "from-password-file", "", "read the password at that broker from a `file`")
		fl.StringVar(&f.fromCA, "from-ca", "", "trust this `file` of certificates (PEM) for ssl:// there")
		if f.family.Takes&carry.WithDevice != 0 {
			fl.StringVar(&f.options.Device, "device", "", f.family.Device)
		}
		fl.StringVar(&f.options.Prefix, "prefix", f.family.Prefix, "what the topics begin with, a `name`")
	case carry.Served:
		fl.StringVar(&f.listen, "listen", "", "listen for the device at `host:port`, such as :8003")
		fl.StringVar(&f.mqtt, "mqtt", "", "have the device connect by MQTT, and send its sound by UDP, at `host:port`, such as :8004")
		fl.StringVar(&f.options.Device, "device", "", f.family.Device)
	case carry.Folder:
		fl.StringVar(&f.folder, "folder", "", "watch this `folder`, and those in it")
	case carry.Screen:
		fl.StringVar(&f.display, "display", "", "the `display` of X11, such as :0, or of Wayland, such as wayland-1 (default: $WAYLAND_DISPLAY, or else $DISPLAY)")
		fl.StringSliceVar(&f.options.Deny, "deny", nil, "take nothing while a window is there whose class or title has one of these `words`; notifications, menus and panels say neither mostly, and stay in pictures of what they lie over")
	}
	fl.StringVar(&f.capture, "capture", "", "play a capture `file` instead of a device")
	fl.StringVar(&f.record, "record", "", "write what the device says to a capture `file`")
}

// optionFlags adds the flags that only some families have.
func (f *deviceFlags) optionFlags(fl *pflag.FlagSet) {
	takes := func(o carry.Option) bool { return f.family.Takes&o != 0 }
	if takes(carry.WithStorage) {
		fl.BoolVar(&f.options.Storage, "storage", false, "fetch what the device stored, and have it forget what the node has")
	}
	if takes(carry.WithMetered) {
		fl.StringVar(&f.metered, "metered", "auto", "whether the network to the node costs by the byte, so that what can wait does: yes, no, or auto, as NetworkManager has `it`")
	}
	if takes(carry.WithPhotos) {
		fl.IntVar(&f.options.PhotoEvery, "photo-every", 0, "have the device take a photo each so many `seconds`, 5 to 127; 0: leave it as it is")
	}
	if takes(carry.WithPictures) {
		fl.BoolVar(&f.options.Pictures, "pictures", false, "take the snapshots of what the cameras saw, too")
	}
}

// nodeFlags adds the flags of the node's side.
func (f *deviceFlags) nodeFlags(fl *pflag.FlagSet) {
	fl.StringVar(&f.broker, "broker", "", "the broker's `url`: tcp://host:1883 or ssl://host:8883")
	fl.StringVar(&f.ca, "ca", "", "trust this `file` of certificates (PEM) for ssl://")
	fl.StringVar(&f.name, "name", "", "the device's `name` at the node, as in locket wearable add")
	fl.StringVar(&f.passwordFile, "password-file", "", "read the device's password from a `file`")
	fl.IntVar(&f.spoolMiB, "spool", 0, "keep at most so many `MiB` of what waits for the node on disk, sealed; 0: 1024")
	fl.StringVar(&f.state, "state", "", "`file` for what must outlive a restart (default: NAME.json in the user's state folder)")
}

// check finds what is wrong with the command line alone.
func (f *deviceFlags) check() error {
	own := f.family.Carrier == carry.Screen && f.display == "" // that of the session, or a capture
	switch {
	case !own && (f.device+f.from+f.listen+f.folder+f.display == "") == (f.capture == ""):
		return usagef("give %s or --capture", sources[f.family.Carrier].flag)
	case f.capture != "" && f.record != "":
		return usagef("--record is for a device: a capture is recorded already")
	case f.record != "" && f.mqtt != "":
		return usagef("--record: what comes by --mqtt is encrypted, so a capture of it can't be played")
	case f.mqtt != "" && f.listen == "":
		return usagef("--mqtt goes with --listen, where the device asks for it")
	case f.capture != "" && f.options.Storage:
		return usagef("--storage is for a device: a capture can't be asked")
	case f.from != "" && f.family.Takes&carry.WithDevice != 0 && f.options.Device == "":
		return usagef("--device is missing: whose messages at %s?", f.from)
	case strings.ContainsAny(f.options.Device, "+#"):
		return usagef("--device %q: want one device, without + and #", f.options.Device)
	case f.family.Pair && f.device != "" && !isPair(f.device):
		return usagef("--device %q: want the left and the right arm, LEFT,RIGHT", f.device)
	case f.family.Carrier == carry.TCP && strings.Contains(f.device, ":") && !isHostPort(f.device):
		return usagef("--device %q: want host:port, or the name of a satellite that locket-bridge list shows", f.device)
	case f.fromPassword != "" && f.fromUser == "":
		return usagef("--from-password-file is for --from-user, which is missing")
	case strings.ContainsAny(f.options.Prefix, "+#") || strings.HasSuffix(f.options.Prefix, "/"):
		return usagef("--prefix %q: want a name, without +, # and a / at its end", f.options.Prefix)
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

// checkNode is check for the node's side.
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
			return "", fmt.Errorf("where to keep the state: %w; give --state", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "locket-bridge", f.name+".json"), nil
}
