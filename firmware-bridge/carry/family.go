package carry

import (
	"context"
	"net/http"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Carrier is how devices of a family are reached.
type Carrier uint8

const (
	Bluetooth Carrier = iota // this machine connects to the device by BLE
	MQTT                     // the device publishes to a broker, of which this machine is another client
	Served                   // the device connects to this machine, by WebSocket
	TCP                      // this machine connects to the device
	Folder                   // files come into a folder of this machine
	Screen                   // the screen of this machine
)

// Option is a flag that not every family has.
type Option uint8

const (
	WithStorage  Option = 1 << iota // --storage
	WithPhotos                      // --photo-every
	WithPictures                    // --pictures
	WithDevice                      // --device is needed beside the broker
	WithDeny                        // --deny
	WithMetered                     // --metered: it has something that can wait
)

// Options are what a person chose. A family reads those that its Takes names.
type Options struct {
	Storage    bool     // fetch what the device stored
	PhotoEvery int      // seconds, 5 to 127; 0: leave it as it is
	Prefix     string   // of MQTT topics; empty: the family's own
	Device     string   // whose topics, of several devices at one broker
	Pictures   bool     // take snapshots of cameras
	Deny       []string // parts of classes and titles of windows that are not to be remembered
	// Metered reports whether the way to the node costs by the byte now; nil: it never does. It is asked often, and
	// may take 2 s.
	Metered func(context.Context) bool
}

// lowBattery is the level, in per cent, below which a device takes fewer photos.
const lowBattery = 20

// PhotoEach gives the seconds between two photos at a battery's level, in per cent or -1: PhotoEvery, and
// four times that below 20 %, 127 at most; 0 where none are asked for.
func (o *Options) PhotoEach(battery int) int {
	if battery < 0 || battery >= lowBattery {
		return o.PhotoEvery
	}
	return min(4*o.PhotoEvery, 127)
}

// Family is a kind of device: one package with its session, and one line in the
// list of families of locket-bridge.
type Family struct {
	Name    string // of its command
	Short   string // one line of help
	Long    string // the rest of it
	Carrier Carrier
	Takes   Option
	Prefix  string // of MQTT topics, by default
	Device  string // help of --device; with WithDevice
	// Service is the UUID that its devices advertise, in lower case; with Bluetooth alone.
	Service string
	// Called is what the names of its devices begin with, where another family has the same Service.
	Called string
	// Pair: a device is two peripherals, left and right; with Bluetooth alone.
	Pair bool
	// Tells: its devices show or speak what the node says.
	Tells bool
	// Topics gives the filters of what is wanted; with MQTT alone.
	Topics func(*Options) []string
	// Config answers a device that asks where its server is; with Served alone, as [link.Sockets] has it.
	Config func(r *http.Request, at link.Server) []byte
	// Begin asks what the device is, tells it what it forgets over a connection,
	// and subscribes. It ends soon, or with ctx. Its error ends the connection.
	Begin func(ctx context.Context, c *Conn) (Session, error)
	// Simulate makes a device of the family that is made of software; nil: there is none.
	Simulate func(Play) link.Dialer
	// Lives are the kinds of scenes of a day that its simulated device takes part in, and
	// Hears is how it then has what is heard.
	Lives []memory.Kind
	Hears Codec
}

// Codec is how a device has its sound.
type Codec struct {
	Name  string        // opus, lc3, or pcm16, which is little-endian
	Bytes int           // of a frame; of lc3 alone
	Rate  int           // samples a second, one channel
	Frame time.Duration // for how long a frame sounds
}

// Scene is one thing of a day: sound, a photo (JPEG), a place, a press, or a battery.
type Scene struct {
	memory.Event          // without the sound
	Frames       [][]byte // of sound, in the family's codec
}

// Play is what a simulated device is to do.
type Play struct {
	Seed     uint64        // of what is left to chance
	Loss     float64       // part of what the device sends that does not arrive, 0 to 1
	Reorder  bool          // neighbours change places now and then
	Reboot   int           // how often the device starts anew
	ClockOff time.Duration // by which the device's clock is ahead
	Amount   int           // of what the family counts: pages, fixes, events
	Day      []Scene       // what it lives through, in order; empty: it makes that up
}

// Part gives what a device with a number of connections lives through in the i-th: an
// equal share of the scenes, in order.
func (p *Play) Part(i, connections int) []Scene {
	n := len(p.Day)
	return p.Day[i*n/connections : (i+1)*n/connections]
}

// Sound gives the frames of the sound that a device lives through in its i-th connection
// of Reboot+1.
func (p *Play) Sound(i int) (frames [][]byte) {
	for _, s := range p.Part(i, p.Reboot+1) {
		frames = append(frames, s.Frames...)
	}
	return frames
}

// Session is the state machine of one connection. One goroutine calls its
// methods, one after the other. An error ends the connection.
type Session interface {
	// Take is given what the device sent.
	Take(ctx context.Context, n link.Notification) error
	// Tick is called every quarter of a second, but not while a capture is played.
	Tick(ctx context.Context, now time.Time) error
	// Command does what the node asks.
	Command(ctx context.Context, cmd *wire.Cmd) error
	// End publishes what is left, and says that the device is gone.
	End(ctx context.Context) error
}
