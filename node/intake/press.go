package intake

import (
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// maxPressAge is how old a press that pauses or ends a pause may be, or how far ahead of this
// node's clock. An older press was delayed somewhere and may no longer be what the wearer
// wants.
const maxPressAge = time.Minute

// isPausePress reports whether a message is a press with the gesture that pauses, on a device
// that has a microphone. Such a press has no other meaning, so it is never journalled.
func (in *Intake) isPausePress(device string, m wire.Message) bool {
	b, ok := m.(*wire.Button)
	if !ok || in.cfg.PauseBy == "" || b.Gesture != in.cfg.PauseBy {
		return false
	}
	in.fleet.mu.Lock()
	defer in.fleet.mu.Unlock()
	d := in.fleet.devices[device]
	return d != nil && d.hasMic
}

// handlePress handles a press, unless it is old, has no time, or was handled before. Only the
// appender calls it, so that presses are handled one after another.
func (in *Intake) handlePress(d *delivery) {
	e := &d.pressEvent
	if age := e.Received.Sub(e.At); e.Clock == memory.ClockNone || age > maxPressAge || age < -maxPressAge || e.At.Before(in.startedAt) {
		return // a press from before the start may have been handled before it
	}
	if in.fleet.isRepeatedPress(e) {
		return
	}
	in.cfg.OnPressed(d.device, e.At)
}

// isRepeatedPress reports whether a press is not newer than the last one of its device. If it
// is newer, it becomes the last one.
func (f *fleet) isRepeatedPress(e *memory.Event) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.devices[e.ID.Device]
	if d == nil || e.ID.Boot == d.pressed.Boot && e.ID.Seq <= d.pressed.Seq || !e.At.After(d.pressedAt) {
		return true
	}
	d.pressed, d.pressedAt = e.ID, e.At
	return false
}
