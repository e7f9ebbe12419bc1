package memory

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Kind says what sort of thing a wearable sent.
type Kind string

// The kinds. Each has the name of the last part of its MQTT topic.
const (
	KindHello    Kind = "hello"
	KindAudio    Kind = "audio"
	KindPhoto    Kind = "photo"
	KindText     Kind = "text"
	KindLocation Kind = "location"
	KindSensor   Kind = "sensor"
	KindButton   Kind = "button"
	KindGap      Kind = "gap"
	KindStatus   Kind = "status"
	KindSealed   Kind = "sealed" // an event of another kind, sealed in the journal; it is opened when the journal is read
)

// Event is one thing that a wearable sent, as the journal keeps it.
type Event struct {
	ID       EventID       `json:"id"`
	Kind     Kind          `json:"kind"`
	At       time.Time     `json:"at"`                 // when it happened, placed on the wall clock
	Uptime   time.Duration `json:"uptime,omitempty"`   // ns since the device's boot, if the device sent that
	Clock    ClockQuality  `json:"clock"`              // how At was determined
	Zone     string        `json:"zone,omitempty"`     // IANA name of the wearer's zone; empty: the node's
	Received time.Time     `json:"received"`           // when the node received it
	Codec    string        `json:"codec,omitempty"`    // of Data: pcm16, opus, jpeg, png, …
	Rate     int           `json:"rate,omitempty"`     // samples a second, for audio
	Data     []byte        `json:"data,omitempty"`     // audio, photo: the bytes as sent; sealed: what was sealed
	Last     bool          `json:"last,omitempty"`     // audio: this is the last part of its recording
	Text     string        `json:"text,omitempty"`     // text: what was said, already transcribed
	Speaker  string        `json:"speaker,omitempty"`  // text: who said it; empty: not known
	Lang     string        `json:"lang,omitempty"`     // BCP 47, if the device sets it
	Place    *Place        `json:"place,omitempty"`    // location
	Name     string        `json:"name,omitempty"`     // sensor, button: which
	Values   []float64     `json:"values,omitempty"`   // sensor: readings; button: one, the gesture
	Unit     string        `json:"unit,omitempty"`     // sensor
	Missing  *Range        `json:"missing,omitempty"`  // gap: sequence numbers that will not come
	Reason   string        `json:"reason,omitempty"`   // gap, status: in the device's own words
	Metadata Metadata      `json:"metadata,omitempty"` // hello: the device's description; text: kept with the memories made from it
	Agent    string        `json:"agent,omitempty"`    // text: scope of the memories made from it
	Run      string        `json:"run,omitempty"`      // text: scope of the memories made from it
	User     string        `json:"user,omitempty"`     // text: scope of the memories made from it; empty: the wearer
	Typed    bool          `json:"-"`                  // text: typed by the owner, so it repeats nothing that was read aloud
	Secret   string        `json:"-"`                  // text: the part of Text that is a secret; unless all of it goes to the vault, nothing is kept
	Types    []Type        `json:"-"`                  // text: types of memories that may be made from it, beside secrets; nil: any
}

// Range is a span of sequence numbers, both ends included.
type Range struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Place is a position, a name, or both.
type Place struct {
	Lat      float64 `json:"lat"`                // degrees north, WGS 84
	Lon      float64 `json:"lon"`                // degrees east
	Accuracy float64 `json:"accuracy,omitempty"` // metres, 68 % confidence
	Name     string  `json:"name,omitempty"`
}

// Metadata is what a caller attached. It is kept and can be filtered by, but its content is never
// interpreted.
type Metadata map[string]string

// MetaPosition is the key under which the memory of a visit has its position: degrees north and
// east (WGS 84), separated by a comma, with five decimals, which is about a metre. It is for the
// wearer's own map. Copies for readers and workers have no metadata, and apps are not shown this
// key.
const MetaPosition = "position"

// Limits on metadata from outside.
const (
	MaxMetadata      = 64      // keys
	MaxMetadataValue = 4 << 10 // bytes
)

// Validate reports the first limit that m breaks: [ErrInvalid].
func (m Metadata) Validate() error {
	if len(m) > MaxMetadata {
		return fmt.Errorf("%w: metadata: %d keys, at most %d", ErrInvalid, len(m), MaxMetadata)
	}
	for k, v := range m {
		if k == "" {
			return fmt.Errorf("%w: metadata: an empty key", ErrInvalid)
		}
		if err := checkText("metadata: a key", k, MaxName); err != nil {
			return err
		}
		if err := checkText("metadata."+k, v, MaxMetadataValue); err != nil {
			return err
		}
	}
	return nil
}

// Utterance is what was said in an event. It is a source record, and can be
// searched as long as retention allows. Secrets are already removed from Text.
type Utterance struct {
	ID       ID        `json:"id"`
	Space    SpaceID   `json:"space"`
	Event    EventID   `json:"event"`
	Session  string    `json:"session"` // a run of events with no gap longer than SessionGap
	At       time.Time `json:"at"`
	Received time.Time `json:"received,omitzero"` // when the node received it: "the last ten minutes" refers to this
	Zone     string    `json:"zone,omitempty"`    // IANA name, as in Event
	Speaker  string    `json:"speaker,omitempty"`
	Lang     string    `json:"lang,omitempty"`
	Text     string    `json:"text"`
	Place    string    `json:"place,omitempty"` // name of the place where it was said, if known
	Source   Source    `json:"source"`
	Redacted int       `json:"redacted,omitempty"` // how many secrets were removed
	// These fields come from the event, and are needed for the memories that are made from it
	// later. They are not synced.
	Agent    string   `json:"agent,omitempty"`
	Run      string   `json:"run,omitempty"`
	User     string   `json:"user,omitempty"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// SessionGap is the silence that ends a session.
const SessionGap = 30 * time.Minute

// Limits on text from outside, in bytes of UTF-8.
const (
	MaxText    = 64 << 10 // one utterance
	MaxExcerpt = 512      // one piece of evidence
	MaxName    = 128      // a device, speaker, place, tag
)

func checkText(field, s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %s: %d bytes, at most %d", ErrInvalid, field, len(s), limit)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: %s: not UTF-8", ErrInvalid, field)
	}
	return nil
}
