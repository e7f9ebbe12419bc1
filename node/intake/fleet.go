package intake

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// maxDevices is how many devices are remembered. For others the format is guessed from each
// message.
const maxDevices = 1024

// fleet is what is known of the devices that have sent something.
type fleet struct {
	mu      sync.Mutex // guards all fields
	paused  bool       // by the wearer
	private bool       // the wearer is in a private zone
	devices map[string]*device
}

type device struct {
	format        wire.Format
	out           outlet // the connection over which its last message came
	storesOffline bool   // it stores events while it is offline, and wants the key to seal them
	showsAnswers  bool   // it shows or speaks answers
	micOn         bool   // it has a microphone, which is on
	hasMic        bool   // it has a microphone, on or off

	pressed   memory.EventID // the last press that was obeyed
	pressedAt time.Time      // its time, by the device's clock
}

// noteFormat records the format and the connection of a device's message.
func (f *fleet) noteFormat(name string, format wire.Format, out outlet) {
	if name == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.devices[name]
	if d == nil {
		if len(f.devices) >= maxDevices {
			return
		}
		d = &device{}
		f.devices[name] = d
	}
	d.format, d.out = format, out
}

// noteHello records what a device's hello says about its abilities.
func (f *fleet) noteHello(name string, h *wire.Hello) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.devices[name]; d != nil {
		d.storesOffline, d.showsAnswers = h.Keeps, h.Tells
		d.hasMic = h.Mic != nil
		d.micOn = d.hasMic && *h.Mic
	}
}

// wantsKey reports whether a device wants to know the key to seal to.
func (f *fleet) wantsKey(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.devices[name]
	return d != nil && d.storesOffline
}

// format returns the format that the device used last; JSON if that is unknown.
func (f *fleet) format(name string) wire.Format {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.devices[name]; d != nil {
		return d.format
	}
	return wire.JSON
}

func (f *fleet) isPaused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused
}

// Paused reports whether events are dropped because the wearer has paused.
func (in *Intake) Paused() bool { return in.fleet.isPaused() }

// SetPaused begins or ends a pause. During a pause the intake drops what tells something
// about the wearer, and acknowledges it as dropped. It notifies each device that has sent
// something so far. A device that can't be reached now is notified when it says hello.
func (in *Intake) SetPaused(paused bool) {
	in.fleet.mu.Lock()
	in.fleet.paused = paused
	in.fleet.mu.Unlock()
	in.sendPauseState(nil)
}

// sendPauseState tells all devices of one outlet, or of all outlets, whether to pause.
func (in *Intake) sendPauseState(out outlet) {
	in.fleet.mu.Lock()
	to := map[string]device{}
	for name, d := range in.fleet.devices {
		if out == nil || d.out == out {
			to[name] = *d
		}
	}
	in.fleet.mu.Unlock()
	for name, d := range to {
		in.trySend(d.out, name, in.pauseCmd(), 1, true)
	}
}

// SetPrivate tells each device that has sent something so far that the wearer has entered a
// private zone, or has left the last one. PrivateZones decides what is dropped.
func (in *Intake) SetPrivate(private bool) {
	in.fleet.mu.Lock()
	same := in.fleet.private == private
	in.fleet.private = private
	in.fleet.mu.Unlock()
	if !same {
		in.sendPauseState(nil)
	}
}

// isSilenced reports whether nothing about the wearer may be kept now.
func (in *Intake) isSilenced() bool {
	in.fleet.mu.Lock()
	defer in.fleet.mu.Unlock()
	return in.fleet.paused || in.fleet.private
}

func (in *Intake) pauseCmd() *wire.Cmd {
	var since time.Time // start of the wearer's pause; devices are not told when a private zone began
	if in.cfg.LastChange != nil {
		since = in.cfg.LastChange()
	}
	in.fleet.mu.Lock()
	defer in.fleet.mu.Unlock()
	switch {
	case in.fleet.paused:
		return &wire.Cmd{Cmd: wire.CmdPause, At: since}
	case in.fleet.private:
		return &wire.Cmd{Cmd: wire.CmdPause, Why: wire.WhyPrivate}
	}
	return &wire.Cmd{Cmd: wire.CmdResume, At: since}
}

// answerHello answers a hello: with the time, how much may be sent at once, and whether to pause.
// The time is sent with QoS 0, so that no broker delivers it late.
func (in *Intake) answerHello(out outlet, name string) {
	in.trySend(out, name, &wire.Cmd{Cmd: wire.CmdTime, At: in.cfg.Now(), Zone: in.cfg.Zone, Max: wire.MaxPayload}, 0, false)
	in.trySend(out, name, in.pauseCmd(), 1, true)
	if in.cfg.SealTo != "" && in.fleet.wantsKey(name) {
		in.trySend(out, name, &wire.Cmd{Cmd: wire.CmdKey, To: in.cfg.SealTo}, 0, false)
	}
}

func (in *Intake) trySend(out outlet, name string, c *wire.Cmd, qos byte, retain bool) {
	if err := in.sendCommand(out, name, c, qos, retain); err != nil {
		in.log.Debug("intake: a command could not be sent", "device", name, "cmd", c.Cmd, "error", err)
	}
}

func (in *Intake) sendCommand(out outlet, name string, c *wire.Cmd, qos byte, retain bool) error {
	b, err := wire.EncodeCmd(c, in.fleet.format(name))
	if err != nil {
		return err
	}
	return out.publish(wire.CmdTopic(name), b, qos, retain)
}

// Capture asks a device for a photo, or for audio of a length. The error is
// memory.ErrNotFound if the device has sent nothing since the start.
func (in *Intake) Capture(name, what string, length time.Duration) error {
	in.fleet.mu.Lock()
	d := in.fleet.devices[name]
	var out outlet
	if d != nil {
		out = d.out
	}
	in.fleet.mu.Unlock()
	if d == nil {
		return fmt.Errorf("intake: device %s: %w", name, memory.ErrNotFound)
	}
	return in.sendCommand(out, name, &wire.Cmd{Cmd: wire.CmdCapture, What: what, For: length}, 0, false)
}

// CanAnswer reports whether a device can show or speak answers.
func (in *Intake) CanAnswer(name string) bool {
	in.fleet.mu.Lock()
	defer in.fleet.mu.Unlock()
	d := in.fleet.devices[name]
	return d != nil && d.showsAnswers
}

// HasMicrophone reports whether a device has said that its microphone is on. A screen, a folder or a
// camera has none, so what it sends is not the wearer's voice.
func (in *Intake) HasMicrophone(name string) bool {
	in.fleet.mu.Lock()
	defer in.fleet.mu.Unlock()
	d := in.fleet.devices[name]
	return d != nil && d.micOn
}

// Say makes a device show or speak a text, of which at most [wire.MaxSay] bytes are sent. It
// is sent with QoS 0, because a late answer is useless. The error is memory.ErrNotFound if
// the device can't show or speak.
func (in *Intake) Say(name, text string) error {
	in.fleet.mu.Lock()
	d := in.fleet.devices[name]
	var out outlet
	if d != nil && d.showsAnswers {
		out = d.out
	}
	in.fleet.mu.Unlock()
	if out == nil {
		return fmt.Errorf("intake: device %s: %w", name, memory.ErrNotFound)
	}
	if len(text) > wire.MaxSay {
		text = strings.ToValidUTF8(text[:wire.MaxSay-len("…")], "") + "…"
	}
	return in.sendCommand(out, name, &wire.Cmd{Cmd: wire.CmdSay, Text: text}, 0, false)
}

// splitTopic finds the device to answer if a topic is not quite one of ours.
func splitTopic(topic string) (device string, leaf memory.Kind) {
	rest, ours := strings.CutPrefix(topic, wire.Root)
	device, last, _ := strings.Cut(rest, "/")
	if !ours || wire.CheckDevice(device) != nil {
		return "", ""
	}
	if last = strings.ToValidUTF8(last[:min(len(last), 32)], ""); last == "" {
		last = "?"
	}
	return device, memory.Kind(last)
}
