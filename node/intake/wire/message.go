package wire

import (
	"math"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Header begins every message. (device, boot, seq) identifies a message: if it is
// sent again, it is the same message.
type Header struct {
	Seq     uint64        // the message's sequence number, which grows within a boot
	Boot    uint64        // changes with every start of the device
	At      time.Time     // wall clock, to the ms; zero: the device has none
	Up      time.Duration // since the device's start, to the ms; 0: not sent
	Zone    string        // IANA name of the zone where the wearer is
	Unknown int           // fields that decoding did not know
}

// maxUp is the longest uptime: 100 years.
const maxUp = 100 * 365 * 24 * time.Hour

// Head returns the header, for any message.
func (h *Header) Head() *Header { return h }

func (h *Header) read(r *fields) {
	h.Seq = r.uint("seq", need, 0, math.MaxUint64)
	h.Boot = r.uint("boot", need, 0, math.MaxUint64)
	h.At = r.wall("at")
	h.Up = time.Duration(r.uint("up", optional, 0, uint64(maxUp/time.Millisecond))) * time.Millisecond
	h.Zone = r.zone()
}

func (h *Header) put(m map[string]any) {
	m["seq"], m["boot"] = h.Seq, h.Boot
	if !h.At.IsZero() {
		m["at"] = h.At.UnixMilli()
	}
	put(m, "up", h.Up.Milliseconds())
	put(m, "zone", h.Zone)
}

// Message is one of *Hello, *Audio, *Photo, *Words, *Location, *Sensor,
// *Button, *Gap, *Status and *Sealed.
type Message interface {
	Kind() memory.Kind
	Head() *Header
	fromFields(*fields)
	toFields(map[string]any)
	event(*memory.Event)
}

// Hello describes the device. It is published retained, first on every connection.
type Hello struct {
	Header
	Model    string
	Firmware string
	Codecs   []string // that it can send
	Battery  *int     // %, 0 to 100
	Mic      *bool    // whether the microphone is on
	Keeps    bool     // it keeps unacknowledged messages as [Sealed], and wants a CmdKey
	Tells    bool     // it can show or speak the text of a CmdSay
}

// Audio is a piece of a recording.
type Audio struct {
	Header
	Codec string // pcm16, pcm8, opus, ulaw, wav
	Rate  int    // samples a second, 4000 to 192000; a wav carries its own and may leave it 0
	Data  []byte
	Last  bool   // nothing more of this recording comes
	Index uint64 // the piece's place in its recording, from 0
}

// Photo is a picture, or a part of a large one. The parts of a photo have
// consecutive sequence numbers, so that Seq-Part names it.
type Photo struct {
	Header
	Codec       string // jpeg, png
	Data        []byte
	Orientation int // degrees clockwise by which it is to be turned to stand upright: 0, 90, 180, 270
	Part, Parts int // Part from 0; Parts 0 or 1: all in one
}

// Words is a line of text that was said and is transcribed already.
type Words struct {
	Header
	Text    string
	Speaker string
	Lang    string // BCP 47
}

// Location is where the wearer is.
type Location struct {
	Header
	memory.Place
}

// Sensor is one or more readings.
type Sensor struct {
	Header
	Name   string
	Values []float64
	Unit   string
}

// Button is a press.
type Button struct {
	Header
	Name    string
	Gesture string // single, double, long, press, release
}

// Gestures in the order of the numbers that stand for them in an event's
// Values: 1 to 5, as Omi counts them.
var Gestures = [...]string{"single", "double", "long", "press", "release"}

// Gap says that some messages will never come.
type Gap struct {
	Header
	Missing memory.Range // sequence numbers, of this boot
	Reason  string
}

// Status is what the device is doing. Offline is its last will.
type Status struct {
	Header
	State  string // online, offline, recording, muted
	Reason string
}

func (*Hello) Kind() memory.Kind    { return memory.KindHello }
func (*Audio) Kind() memory.Kind    { return memory.KindAudio }
func (*Photo) Kind() memory.Kind    { return memory.KindPhoto }
func (*Words) Kind() memory.Kind    { return memory.KindText }
func (*Location) Kind() memory.Kind { return memory.KindLocation }
func (*Sensor) Kind() memory.Kind   { return memory.KindSensor }
func (*Button) Kind() memory.Kind   { return memory.KindButton }
func (*Gap) Kind() memory.Kind      { return memory.KindGap }
func (*Status) Kind() memory.Kind   { return memory.KindStatus }
func (*Sealed) Kind() memory.Kind   { return memory.KindSealed }

func newMessage(kind memory.Kind) Message {
	switch kind {
	case memory.KindHello:
		return &Hello{}
	case memory.KindAudio:
		return &Audio{}
	case memory.KindPhoto:
		return &Photo{}
	case memory.KindText:
		return &Words{}
	case memory.KindLocation:
		return &Location{}
	case memory.KindSensor:
		return &Sensor{}
	case memory.KindButton:
		return &Button{}
	case memory.KindGap:
		return &Gap{}
	case memory.KindStatus:
		return &Status{}
	case memory.KindSealed:
		return &Sealed{}
	}
	return nil
}

// Encode writes a message. A message that Decode would refuse is an error here.
func Encode(m Message, f Format) ([]byte, error) {
	out := map[string]any{}
	m.Head().put(out)
	m.toFields(out)
	b, err := emit(out, f)
	if err != nil {
		return nil, &Error{Kind: m.Kind(), Problem: Encoding, Detail: "not a value of " + f.String()}
	}
	if _, _, err := Decode(m.Kind(), b); err != nil {
		return nil, err
	}
	return b, nil
}

// Decode reads a message of the kind that its topic names. On an error the message
// is nil. head then identifies the message, if that could be read, so that it can
// be refused.
func Decode(kind memory.Kind, payload []byte) (m Message, head *Header, err error) {
	m = newMessage(kind)
	if m == nil {
		return nil, nil, &Error{Problem: Topic, Detail: "no such kind of message"}
	}
	fieldMap, format, err := parse(payload)
	if err != nil {
		err.(*Error).Kind = kind
		return nil, nil, err
	}
	r := &fields{m: fieldMap, json: format == JSON}
	h := m.Head()
	h.read(r)
	m.fromFields(r)
	if r.err != nil {
		r.err.(*Error).Kind = kind
		return nil, salvage(fieldMap), r.err
	}
	h.Unknown = r.unknown()
	return m, h, nil
}

// salvage reads the header of a message that is otherwise invalid.
func salvage(m map[string]any) *Header {
	r := &fields{m: m}
	h := &Header{Seq: r.uint("seq", need, 0, math.MaxUint64), Boot: r.uint("boot", need, 0, math.MaxUint64)}
	if r.err != nil {
		return nil
	}
	return h
}

// Audio and photo codecs.
var (
	AudioCodecs = [...]string{"pcm16", "pcm8", "opus", "ulaw", "wav"}
	PhotoCodecs = [...]string{"jpeg", "png"}
)

// States of a device.
var States = [...]string{"online", "offline", "recording", "muted"}

func (m *Hello) fromFields(r *fields) {
	m.Model = r.text("model", need, memory.MaxName)
	m.Firmware = r.text("firmware", need, memory.MaxName)
	m.Codecs = r.texts("codecs", MaxCodecs, 32)
	if _, ok := r.m["battery"]; ok {
		b := int(r.uint("battery", optional, 0, 100))
		m.Battery = &b
	}
	if on, ok := r.bool("mic"); ok {
		m.Mic = &on
	}
	m.Keeps, _ = r.bool("keeps")
	m.Tells, _ = r.bool("tells")
}

func (m *Hello) toFields(out map[string]any) {
	out["model"], out["firmware"] = m.Model, m.Firmware
	if len(m.Codecs) > 0 {
		out["codecs"] = m.Codecs
	}
	if m.Battery != nil {
		out["battery"] = *m.Battery
	}
	if m.Mic != nil {
		out["mic"] = *m.Mic
	}
	put(out, "keeps", m.Keeps)
	put(out, "tells", m.Tells)
}

func (m *Audio) fromFields(r *fields) {
	m.Codec = r.word("codec", AudioCodecs[:]...)
	m.Rate = int(r.uint("rate", m.Codec != "wav", 4000, 192000))
	m.Data = r.bytes("data", MaxData)
	m.Last, _ = r.bool("last")
	m.Index = r.uint("index", optional, 0, math.MaxUint32)
	if r.err != nil {
		return
	}
	switch m.Codec {
	case "pcm16":
		if len(m.Data)%2 != 0 {
			r.fail("data", Limits, "an odd number of bytes in 16 bit samples")
		}
	case "opus":
		if _, err := Packets(m.Data); err != nil {
			r.fail("data", Limits, "%s", err)
		}
	case "wav":
		if len(m.Data) < 12 || string(m.Data[:4]) != "RIFF" || string(m.Data[8:12]) != "WAVE" {
			r.fail("data", Limits, "no RIFF header")
		}
	}
}

func (m *Audio) toFields(out map[string]any) {
	out["codec"], out["data"] = m.Codec, m.Data
	put(out, "rate", m.Rate)
	put(out, "last", m.Last)
	put(out, "index", m.Index)
}

func (m *Photo) fromFields(r *fields) {
	m.Codec = r.word("codec", PhotoCodecs[:]...)
	m.Data = r.bytes("data", MaxData)
	m.Orientation = int(r.uint("orientation", optional, 0, 270))
	if m.Orientation%90 != 0 {
		r.fail("orientation", Limits, "want 0, 90, 180 or 270")
	}
	m.Parts = int(r.uint("parts", optional, 1, MaxParts))
	_, has := r.m["part"]
	if m.Part = int(r.uint("part", m.Parts > 0, 0, MaxParts-1)); has && m.Part >= max(m.Parts, 1) {
		r.fail("part", Limits, "want less than parts")
	}
	if uint64(m.Part) > m.Seq {
		r.fail("part", Limits, "its first part would have a sequence number below 0")
	}
	if m.Parts == 1 {
		m.Parts = 0
	}
}

func (m *Photo) toFields(out map[string]any) {
	out["codec"], out["data"] = m.Codec, m.Data
	put(out, "orientation", m.Orientation)
	if m.Parts > 1 || m.Part > 0 {
		out["part"], out["parts"] = m.Part, m.Parts
	}
}

func (m *Words) fromFields(r *fields) {
	m.Text = r.text("text", need, memory.MaxText)
	m.Speaker = r.text("speaker", optional, memory.MaxName)
	m.Lang = r.text("lang", optional, 35) // RFC 5646 section 4.4.1
}

func (m *Words) toFields(out map[string]any) {
	out["text"] = m.Text
	put(out, "speaker", m.Speaker)
	put(out, "lang", m.Lang)
}

func (m *Location) fromFields(r *fields) {
	m.Lat = r.float("lat", need, -90, 90)
	m.Lon = r.float("lon", need, -180, 180)
	m.Accuracy = r.float("acc", optional, 0, MaxAcc)
	m.Name = r.text("name", optional, memory.MaxName)
}

func (m *Location) toFields(out map[string]any) {
	out["lat"], out["lon"] = m.Lat, m.Lon
	put(out, "acc", m.Accuracy)
	put(out, "name", m.Name)
}

func (m *Sensor) fromFields(r *fields) {
	m.Name = r.text("name", need, memory.MaxName)
	m.Values = r.floats("values")
	m.Unit = r.text("unit", optional, MaxUnit)
}

func (m *Sensor) toFields(out map[string]any) {
	out["name"], out["values"] = m.Name, m.Values
	put(out, "unit", m.Unit)
}

func (m *Button) fromFields(r *fields) {
	m.Name = r.text("name", optional, memory.MaxName)
	m.Gesture = r.word("gesture", Gestures[:]...)
}

func (m *Button) toFields(out map[string]any) {
	out["gesture"] = m.Gesture
	put(out, "name", m.Name)
}

func (m *Gap) fromFields(r *fields) {
	m.Missing.From = r.uint("from", need, 0, math.MaxUint64)
	m.Missing.To = r.uint("to", need, 0, math.MaxUint64)
	m.Reason = r.text("reason", need, MaxReason)
	if m.Missing.To < m.Missing.From {
		r.fail("to", Limits, "less than from")
	}
}

func (m *Gap) toFields(out map[string]any) {
	out["from"], out["to"], out["reason"] = m.Missing.From, m.Missing.To, m.Reason
}

func (m *Status) fromFields(r *fields) {
	m.State = r.word("state", States[:]...)
	m.Reason = r.text("reason", optional, MaxReason)
}

func (m *Status) toFields(out map[string]any) {
	out["state"] = m.State
	put(out, "reason", m.Reason)
}

// gestureNumber returns a gesture's place in Gestures, from 1.
func gestureNumber(g string) float64 { return float64(slices.Index(Gestures[:], g) + 1) }
