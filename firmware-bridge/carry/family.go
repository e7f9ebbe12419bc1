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

// Option is a flag that only some families have.
type Option uint8

const (
	WithStorage  Option = 1 << iota // --storage
	WithPhotos                      // --photo-every
	WithPictures                    // --pictures
	WithDevice                      // --device, which is needed beside the broker
	WithDeny                        // --deny
	WithMetered                     // --metered: the family has something that can wait
)

// Options are a person's choices. A family reads those that its Accepts names.
type Options struct {
	Storage    bool     // fetch what the device stored
	PhotoEvery int      // seconds, 5 to 127; 0: leave it as it is
	Prefix     string   // prefix of MQTT topics; empty: the family's own
	Device     string   // whose topics to take, if several devices share a broker
	Pictures   bool     // take snapshots of cameras
	Deny       []string // parts of classes and titles of windows that are not to be remembered
	// Metered reports whether the network to the node costs by the byte now; nil: it never does. It
	// is called often, and may take 2 s.
	Metered func(context.Context) bool
}

// lowBattery is the level, in per cent, below which a device takes fewer photos.
const lowBattery = 20

// PhotoEach returns the seconds between two photos at a battery level, in per cent or -1. It is
// PhotoEvery, and four times that below 20 %, at most 127; 0 if no photos are asked for.
func (o *Options) PhotoEach(battery int) int {
	if battery < 0 || battery >= lowBattery {
		return o.PhotoEvery
	}
	return min(4*o.PhotoEvery, 127)
}

// Family is a kind of device: one package with its session, and one line in the
// list of families of locket-bridge.
type Family struct {
	Name    string // name of its command
	Short   string // one line of help
	Long    string // the rest of the help
	Carrier Carrier
	Accepts Option
	Prefix  string // default prefix of MQTT topics
	Device  string // help of --device; only with WithDevice
	// Service is the UUID that its devices advertise, in lower case; only with Bluetooth.
	Service string
	// NamePrefix is the prefix of its devices' names, if another family has the same Service.
	NamePrefix string
	// Pair: a device consists of two peripherals, left and right; only with Bluetooth.
	Pair bool
	// ShowsAnswers: its devices show or speak the node's answers.
	ShowsAnswers bool
	// Topics returns the topic filters to subscribe to; only with MQTT.
	Topics func(*Options) []string
	// Config answers a device that asks where its server is, as [link.Sockets] needs it; only with
	// Served.
	Config func(r *http.Request, at link.Server) []byte
	// Begin asks what the device is, sends it the settings that it forgets between connections, and
	// subscribes. It ends soon, or with ctx. Its error ends the connection.
	Begin func(ctx context.Context, c *Conn) (Session, error)
	// Simulate makes a simulated device of the family; nil: there is none.
	Simulate func(Play) link.Dialer
	// SceneKinds are the kinds of scenes of a day that its simulated device plays, and SceneCodec is the
	// codec in which it gets the sound.
	SceneKinds []memory.Kind
	SceneCodec Codec
}

// Codec is the format of a device's sound.
type Codec struct {
	Name  string        // opus, lc3, or pcm16, which is little-endian
	Bytes int           // bytes of a frame; only for lc3
	Rate  int           // samples a second, one channel
	Frame time.Duration // duration of a frame
}

// Scene is one thing of a day: sound, a photo (JPEG), a place, a press, or a battery.
type Scene struct {
	memory.Event          // without the sound
	Frames       [][]byte // the sound, in the family's codec
}

// Play says what a simulated device is to do.
type Play struct {
	Seed     uint64        // seed of the random choices
	Loss     float64       // share of what the device sends that is lost, 0 to 1
	Reorder  bool          // neighbours are swapped now and then
	Reboot   int           // how often the device restarts
	ClockOff time.Duration // how far the device's clock is ahead
	Amount   int           // number of the family's units: pages, fixes, events
	Day      []Scene       // the scenes that it plays, in order; empty: it makes them up
}

// Part returns what a device plays in the i-th of its connections: an equal share of the scenes, in
// order.
func (p *Play) Part(i, connections int) []Scene {
	n := len(p.Day)
	return p.Day[i*n/connections : (i+1)*n/connections]
}

// Sound returns the frames that a device hears in its i-th connection of Reboot+1.
func (p *Play) Sound(i int) (frames [][]byte) {
	for _, s := range p.Part(i, p.Reboot+1) {
		frames = append(frames, s.Frames...)
	}
	return frames
}

// Session is the state machine of one connection. One goroutine calls its
// methods, one after the other. An error ends the connection.
type Session interface {
	// Handle handles what the device sent.
	Handle(ctx context.Context, n link.Notification) error
	// Tick is called every quarter of a second, but not while a capture is played.
	Tick(ctx context.Context, now time.Time) error
	// Command does what the node asks for.
	Command(ctx context.Context, cmd *wire.Cmd) error
	// End publishes the rest, and reports that the device is gone.
	End(ctx context.Context) error
}
