package serve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Voicer manages the voices that the node knows: the wearer's, and those that the
// wearer has named.
type Voicer interface {
	// Voices returns the known voices, and the unknown ones of the last day.
	Voices(ctx context.Context) (Voices, error)
	// EnrolVoice learns a voice from a recording, or from what a wearable hears next. Errors:
	// memory.ErrInvalid if it is not a recording, is too short, has several voices, or has a
	// voice that is known under another name.
	EnrolVoice(ctx context.Context, r EnrolVoiceRequest) (Voices, error)
	// NameVoice gives a name to an unknown voice, or another name to a known one. Errors:
	// memory.ErrNotFound, and memory.ErrInvalid if the voice is the wearer's and the name is
	// not.
	NameVoice(ctx context.Context, r NameVoiceRequest) (Voices, error)
	// ForgetVoice erases what the node knows of a voice, also from its files. The lines that
	// were said in it stay. It returns memory.ErrNotFound.
	ForgetVoice(ctx context.Context, name string) (Voices, error)
}

// Voice is a voice that the node can tell from others.
type Voice struct {
	Name    string    `json:"name"`             // of a person, or a label such as S2-a41f for a voice without a name
	Wearer  bool      `json:"wearer,omitempty"` // it is the wearer's own voice
	Known   bool      `json:"known"`            // it was enrolled or named
	Seconds float64   `json:"seconds"`          // seconds of speech that were used to learn it
	Learnt  time.Time `json:"learnt"`           // when it was enrolled, named or first heard
	Heard   time.Time `json:"heard,omitzero"`   // for a voice without a name: when it was last heard
}

// Voices are the voices that the node can tell apart.
type Voices struct {
	Voices    []Voice    `json:"voices"`              // the wearer's first, then by name
	Enrolling *Enrolling `json:"enrolling,omitempty"` // the voice that is being learnt from a wearable
	Failed    string     `json:"failed,omitempty"`    // why the last enrolment from a wearable failed; empty once another one begins
	KnownOnly bool       `json:"known_only"`          // setting voices.known_only: what unknown voices say is not kept
}

// Enrolling is a voice that is being learnt from what a wearable hears.
type Enrolling struct {
	Name   string    `json:"name"`
	Device string    `json:"device"`
	Have   float64   `json:"have"`  // seconds of speech so far
	Want   float64   `json:"want"`  // seconds of speech that are needed
	Until  time.Time `json:"until"` // when the enrolment is given up
}

// EnrolVoiceRequest has a recording, or the name of a wearable that is on.
type EnrolVoiceRequest struct {
	Name    string `json:"name,omitempty"`    // of the person; empty: the wearer
	Sound   []byte `json:"sound,omitempty"`   // a WAV file with one voice and at least 10 s of speech
	Device  string `json:"device,omitempty"`  // instead of Sound: a wearable
	Seconds int    `json:"seconds,omitempty"` // seconds of speech to use from the wearable, 10 to 300; 0: 30
}

// MaxVoiceSound is the maximum size of a recording, in bytes.
const MaxVoiceSound = 32 << 20

func (r *EnrolVoiceRequest) check() error {
	r.Name, r.Device = strings.TrimSpace(r.Name), strings.TrimSpace(r.Device)
	switch {
	case len(r.Name) > memory.MaxName:
		return kindInvalid.problem("name", fmt.Sprintf("name: more than %d bytes", memory.MaxName))
	case (len(r.Sound) == 0) == (r.Device == ""):
		return kindInvalid.problem("sound", "sound: want a WAV file, or the name of a wearable as device")
	case r.Device != "" && r.Seconds != 0 && (r.Seconds < 10 || r.Seconds > 300):
		return kindInvalid.problem("seconds", fmt.Sprintf("seconds: %d: want 10 to 300", r.Seconds))
	}
	return nil
}

// NameVoiceRequest gives a voice a name.
type NameVoiceRequest struct {
	Voice string // a label such as S2-a41f, of which S2 is enough, or its present name
	Name  string
}

// VoiceName is the name that a voice gets.
type VoiceName struct {
	Name string `json:"name"`
}

func (r *VoiceName) check() error {
	if r.Name = strings.TrimSpace(r.Name); r.Name == "" || len(r.Name) > memory.MaxName {
		return kindInvalid.problem("name", fmt.Sprintf("name: want 1 to %d bytes", memory.MaxName))
	}
	return nil
}

type nameVoiceOf struct {
	Voice string `path:"voice" doc:"a label such as S2-a41f or its first part S2, or the present name"`
	Body  VoiceName
}

type voiceOf struct {
	Voice string `path:"voice" doc:"its name"`
}

var voicesTopic = topic[Voicer]{listVoices.untyped, enrolVoice.untyped, nameVoice.untyped, forgetVoice.untyped}

var (
	listVoices = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/voices", id: "voices",
		summary: "List the voices that the node tells apart", gives: "The voices",
	}, Voicer.Voices)

	enrolVoice = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/voices", id: "enrolVoice", body: MaxVoiceSound/3*4 + MaxBody,
		summary: "Learn a voice from a recording, or from what a wearable hears next", gives: "The voices",
		about: "An existing voice of that name is replaced. The voiceprint is kept in the sealed records of this device. It is not synced, exported or backed up.",
	}, Voicer.EnrolVoice)

	nameVoice = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/voices/{voice}", id: "nameVoice",
		summary: "Name a voice", gives: "The voices",
		about: "The name applies from then on. If a known voice has that name, the two voices are merged.",
	}, func(s Voicer, ctx context.Context, r nameVoiceOf) (Voices, error) {
		return s.NameVoice(ctx, NameVoiceRequest{r.Voice, r.Body.Name})
	})

	forgetVoice = fieldRoute[voiceOf](RightOwner, spec{
		method: "DELETE", path: "/v1/voices/{voice}", id: "forgetVoice", slow: true,
		summary: "Forget a voice", gives: "The remaining voices",
		about: "The voiceprint is erased from all files of the home. What was said stays.",
	}, Voicer.ForgetVoice)
)

// Voices returns the voices that are told apart.
func (c *Client) Voices(ctx context.Context) (Voices, error) {
	return call(ctx, c, listVoices, none{})
}

// EnrolVoice learns a voice.
func (c *Client) EnrolVoice(ctx context.Context, r EnrolVoiceRequest) (Voices, error) {
	return call(ctx, c, enrolVoice, r)
}

// NameVoice gives a voice a name.
func (c *Client) NameVoice(ctx context.Context, voice, name string) (Voices, error) {
	return call(ctx, c, nameVoice, nameVoiceOf{voice, VoiceName{name}})
}

// ForgetVoice erases what is known of a voice.
func (c *Client) ForgetVoice(ctx context.Context, name string) (Voices, error) {
	return call(ctx, c, forgetVoice, voiceOf{name})
}
