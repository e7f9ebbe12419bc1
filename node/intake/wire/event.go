package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Keys of an event's Metadata, for what has no field of its own.
const (
	MetaDeviceAt    = "device_at"   // a wall time that was not believed, RFC 3339
	MetaIndex       = "index"       // audio: the piece's place in its recording
	MetaOrientation = "orientation" // photo: degrees clockwise
	MetaPart        = "part"        // photo: from 0; sequence numbers of parts are consecutive
	MetaParts       = "parts"       // photo
	MetaState       = "state"       // status
	MetaModel       = "model"       // hello
	MetaFirmware    = "firmware"    // hello
	MetaCodecs      = "codecs"      // hello: separated by spaces
	MetaBattery     = "battery"     // hello: %
	MetaMic         = "mic"         // hello: on, off
)

// Event returns the event that a message stands for. Clocks, which may be nil,
// determine its time.
func Event(device string, m Message, received time.Time, clocks *Clocks) memory.Event {
	h := m.Head()
	e := memory.Event{
		ID:       memory.EventID{Device: device, Boot: h.Boot, Seq: h.Seq},
		Kind:     m.Kind(),
		Uptime:   h.Up,
		Zone:     h.Zone,
		Received: received.UTC(),
	}
	clocks.place(&e, h)
	m.event(&e)
	return e
}

func note(e *memory.Event, key, value string) {
	if value == "" {
		return
	}
	if e.Metadata == nil {
		e.Metadata = memory.Metadata{}
	}
	e.Metadata[key] = value
}

func (m *Hello) event(e *memory.Event) {
	note(e, MetaModel, m.Model)
	note(e, MetaFirmware, m.Firmware)
	note(e, MetaCodecs, strings.Join(m.Codecs, " "))
	if m.Battery != nil {
		note(e, MetaBattery, strconv.Itoa(*m.Battery))
	}
	if m.Mic != nil {
		note(e, MetaMic, map[bool]string{true: "on", false: "off"}[*m.Mic])
	}
}

func (m *Audio) event(e *memory.Event) {
	e.Codec, e.Rate, e.Data, e.Last = m.Codec, m.Rate, m.Data, m.Last
	if m.Index > 0 {
		note(e, MetaIndex, strconv.FormatUint(m.Index, 10))
	}
}

func (m *Photo) event(e *memory.Event) {
	e.Codec, e.Data = m.Codec, m.Data
	if m.Orientation > 0 {
		note(e, MetaOrientation, strconv.Itoa(m.Orientation))
	}
	if m.Parts > 1 {
		note(e, MetaPart, strconv.Itoa(m.Part))
		note(e, MetaParts, strconv.Itoa(m.Parts))
	}
}

func (m *Words) event(e *memory.Event) { e.Text, e.Speaker, e.Lang = m.Text, m.Speaker, m.Lang }

func (m *Location) event(e *memory.Event) {
	p := m.Place
	e.Place = &p
}

func (m *Sensor) event(e *memory.Event) { e.Name, e.Values, e.Unit = m.Name, m.Values, m.Unit }

func (m *Button) event(e *memory.Event) {
	e.Name, e.Values = m.Name, []float64{gestureNumber(m.Gesture)}
}

func (m *Gap) event(e *memory.Event) {
	r := m.Missing
	e.Missing, e.Reason = &r, m.Reason
}

func (m *Status) event(e *memory.Event) {
	note(e, MetaState, m.State)
	e.Reason = m.Reason
}
