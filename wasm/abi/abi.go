// Package abi is the contract between Locket's host and an extractor plugin: the names, numbers and
// messages of docs/wasm.md, as Go. Host and guest share this code, so it allocates little and uses
// no reflection.
package abi

// Version of the contract that this package speaks; a plugin exports it as
// locket_abi.
const Version = 1

// Event is a plugin's input: one CBOR map. A field that the manifest does not ask for is not
// sent.
type Event struct {
	ID      string // opaque to the plugin; unchanged on a redelivery
	Kind    string // text, utterance, photo, audio, location, sensor, button
	At      int64  // ms since 1970-01-01 UTC
	Zone    string // IANA name, "UTC" if none is known
	Offset  int    // seconds east of UTC where the wearer is, at At, even if the zone's name is not known: a guest has no time zone database
	Lang    string // BCP 47, or empty
	Speaker string // as the device named them, or empty
	Wearer  string // the wearer's own name, or empty: tells "I" from "you"
	Text    string

	PCM  []byte // audio, utterance: little-endian signed 16 bit, one channel
	Rate int    // samples a second: 16000
	Last bool   // audio: this recording ends here

	Width, Height int    // photo: of the decoded picture, at most 640×480
	Gray          []byte // Width×Height, one byte a pixel
	RGB           []byte // 3×Width×Height, if granted

	Name   string    // sensor, button
	Values []float64 // sensor, button; location: lat, lon, accuracy

	Before   []Turn   // capability "context": earlier turns of the session, oldest first, at most 8
	Memories []Memory // capability "memories": what the wearer now has that is relevant to the event, at most 16

	State []byte // capability "state": what the plugin returned as State for the stream's previous event
}

// Turn is something said earlier in the session.
type Turn struct {
	ID      string
	At      int64
	Speaker string
	Text    string
}

// Memory is one of the wearer's memories, to read. It is never one of the vault, nor private or
// secret.
type Memory struct {
	ID   string // opaque to the plugin
	Type string
	At   int64 // when it was learnt
	Text string
}

// Output is a plugin's answer: one CBOR map, decoded strictly. Nothing in it is
// trusted.
type Output struct {
	Candidates  []Candidate
	Redactions  []Redaction
	Annotations []Annotation
	Derived     []Derived
	Refusals    []Refusal
	State       []byte // capability "state": comes back with the stream's next event, at most 64 KiB
}

// Candidate is a memory that a plugin proposes; package memory has the
// meaning of its fields. Times are ms since 1970, 0 for none.
type Candidate struct {
	Type        string // core, episodic, semantic, procedural, resource, vault
	Text        string
	Lang        string
	Kind        string // the extractor's own word for it: preference, plan, possession, …; becomes a tag
	Slot        *Slot
	Negates     bool
	Confidence  float64
	Sensitivity string // public, personal, private, secret
	TrueFrom    int64
	TrueTo      int64
	Expires     int64
	Spans       []Span // evidence: byte spans of this event's text (Turn 0) or an earlier turn's
	Entities    []Entity
	Tags        []string

	EventType, Details, Actor, Place string   // episodic
	Started, Ended                   int64    // episodic
	Subject, Predicate, Object       string   // semantic
	EntryType                        string   // procedural, vault
	Steps                            []string // procedural
	Title, MediaType                 string   // resource
	Label                            string   // vault: what the secret opens
	Secret                           string   // vault: the secret itself, needs capability "vault"
	Block                            string   // core
}

// Slot is memory.Slot.
type Slot struct {
	Subject, Attribute, Value string
	Many                      bool
}

// Span is a byte range of the text of a turn: 0 is this event, -1 the turn
// before it (the last of Before), and so on.
type Span struct{ Turn, Start, End int }

// Entity is memory.Entity.
type Entity struct{ Name, Kind string }

// Redaction removes a span from a text before anyone else sees it. Kind names the content
// ("password"), for the mark that replaces it.
type Redaction struct {
	Span Span
	Kind string
}

// Annotation is a finding about the event itself: "speech", "hash", "sharpness", "language". Its
// kind determines Number and Text.
type Annotation struct {
	Kind     string
	From, To int64 // ms from the event's start, if it is about a part
	Number   float64
	Text     string
}

// Derived is an event that goes through the chain again: an utterance cut from audio, as a range of
// the stream's samples.
type Derived struct {
	Kind     string // utterance
	At       int64
	From, To int64  // samples from the event's start; From may be negative, for sound held in State
	PCM      []byte // the sound, if the plugin kept it in its State
	Text     string
}

// Refusal says why something was not made a memory.
type Refusal struct {
	Kind, Reason string
	Span         Span
}
