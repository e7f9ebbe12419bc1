package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
)

// Type is one of the six kinds of memory (after MIRIX).
type Type string

const (
	Core       Type = "core"       // who the wearer is, and how to be with them
	Episodic   Type = "episodic"   // what happened, where, when, with whom
	Semantic   Type = "semantic"   // what is so: facts and relations
	Procedural Type = "procedural" // how a thing is done
	Resource   Type = "resource"   // a document, a photo, a page
	Vault      Type = "vault"      // a secret
)

// Types in the order in which they are shown.
var Types = [...]Type{Core, Episodic, Semantic, Procedural, Resource, Vault}

// Sensitivity is one scale for events, memories, feeds and shares.
type Sensitivity uint8

const (
	Public Sensitivity = iota
	Personal
	Private
	Secret
)

var sensitivityNames = [...]string{"public", "personal", "private", "secret"}

// String is the scale's word.
func (s Sensitivity) String() string {
	if int(s) < len(sensitivityNames) {
		return sensitivityNames[s]
	}
	return fmt.Sprintf("sensitivity(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s Sensitivity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sensitivity) UnmarshalText(b []byte) error {
	for i, n := range sensitivityNames {
		if n == string(b) {
			*s = Sensitivity(i)
			return nil
		}
	}
	return fmt.Errorf("%w: sensitivity %q: want public, personal, private or secret", ErrInvalid, b)
}

// WearerUser is the Owner.User of what belongs to nobody else.
const WearerUser = "wearer"

// OtherUser returns the user to whom something belongs, or the empty string if that is the wearer.
func OtherUser(user string) string {
	if user == WearerUser {
		return ""
	}
	return user
}

// Someone is the speaker where a voice has neither a name nor a label.
const Someone = "someone"

// Owner is the scope that a memory belongs to. User is never empty.
type Owner struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	Run   string `json:"run,omitempty"`
}

// Slot says which question a memory answers: "the home of the wearer". In a
// single-valued slot only one value is true at a time, and a new value ends the
// old one.
type Slot struct {
	Subject   string `json:"subject"`        // "user", or a person's or thing's name in lower case
	Attribute string `json:"attribute"`      // "home", "employer", "dentist_appointment", …
	Value     string `json:"value"`          // what is compared; empty in a negation of whatever it was
	Many      bool   `json:"many,omitempty"` // several values are true at once: "likes"
}

// Entity is a person, place or thing that a memory names.
type Entity struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"` // person, place, organisation, thing, date
}

// Link connects a memory with another, or with a source.
type Link struct {
	Relation string `json:"relation"` // "derived_from", "about", "same_scene", …
	To       string `json:"to"`       // a memory id or an event id
}

// Evidence says where a memory comes from. The excerpt is kept longer than the
// event.
type Evidence struct {
	Event     EventID   `json:"event,omitzero"`
	Utterance ID        `json:"utterance,omitzero"`
	Speaker   string    `json:"speaker,omitempty"`
	At        time.Time `json:"at"`
	Excerpt   string    `json:"excerpt,omitempty"`
	Start     int       `json:"start,omitempty"` // byte span of Excerpt in the utterance
	End       int       `json:"end,omitempty"`
}

// MaxEvidence is how many pieces a memory keeps: the first and the latest.
const MaxEvidence = 8

// Source says what made a claim.
type Source struct {
	Device  string `json:"device,omitempty"`  // the wearable
	Plugin  string `json:"plugin,omitempty"`  // the extractor, or "person", "api", "import"
	Version string `json:"version,omitempty"` // of the plugin
	Model   string `json:"model,omitempty"`   // of a model, where one was used
}

// WorkerPlugin is the prefix of the plugin name of workers. For an utterance,
// it shows that a worker wrote it. Every replica puts it before the worker's
// own name, see [Source.AsWorker], and no other source has it.
const WorkerPlugin = "worker/"

// AppDevice is the prefix of the device name of apps, followed by the app's
// name. No wearable's name has a colon.
const AppDevice = "app:"

// App returns the name of the app that wrote this, or "" if it was not an app.
func (s Source) App() string {
	name, ok := strings.CutPrefix(s.Device, AppDevice)
	if !ok {
		return ""
	}
	return name
}

// ByWorker reports whether the source is a worker.
func (s Source) ByWorker() bool { return strings.HasPrefix(s.Plugin, WorkerPlugin) }

// AsWorker returns the source marked as a worker's, whatever name it has.
func (s Source) AsWorker() Source {
	if !s.ByWorker() {
		s.Plugin = WorkerPlugin + s.Plugin
	}
	return s
}

// Fields are those beyond the common ones; the one of the memory's type is set.
type Fields struct {
	Core       *CoreFields       `json:"core,omitempty"`
	Episodic   *EpisodicFields   `json:"episodic,omitempty"`
	Semantic   *SemanticFields   `json:"semantic,omitempty"`
	Procedural *ProceduralFields `json:"procedural,omitempty"`
	Resource   *ResourceFields   `json:"resource,omitempty"`
	Vault      *VaultFields      `json:"vault,omitempty"`
}

// Candidate is a memory that someone proposes.
type Candidate struct {
	Type        Type        `json:"type"`
	Text        string      `json:"text"` // one statement that stands by itself
	Lang        string      `json:"lang,omitempty"`
	Owner       Owner       `json:"owner"`
	Slot        *Slot       `json:"slot,omitempty"`
	Negates     bool        `json:"negates,omitempty"` // says that the slot's value, or the text, is no longer true
	Fields      Fields      `json:"fields,omitzero"`
	Entities    []Entity    `json:"entities,omitempty"`
	Links       []Link      `json:"links,omitempty"`
	Tags        []string    `json:"tags,omitempty"`
	Metadata    Metadata    `json:"metadata,omitempty"`
	Evidence    []Evidence  `json:"evidence"`
	Source      Source      `json:"source"`
	Confidence  float64     `json:"confidence"` // 0 to 1
	Sensitivity Sensitivity `json:"sensitivity"`
	TrueFrom    time.Time   `json:"true_from,omitzero"` // zero: from the evidence on
	TrueTo      time.Time   `json:"true_to,omitzero"`   // zero: open
	Expires     time.Time   `json:"expires,omitzero"`
}

// Group returns the key of the group: candidates with the same key are
// reconciled with each other, and with no others.
func (c *Candidate) Group() string {
	scope := c.Owner.User + "\x1f" + c.Owner.Agent + "\x1f" + c.Owner.Run + "\x1f" + string(c.Type) + "\x1f"
	if c.Slot != nil {
		k := "slot\x1f" + Normal(c.Slot.Subject) + "\x1f"
		if !c.Slot.Many || MultiValued(c.Slot.Attribute) {
			return scope + k + Normal(c.Slot.Attribute)
		}
		return scope + k + Opposed(c.Slot.Attribute) + "\x1f" + Normal(c.Slot.Value)
	}
	text := c.Text
	if f := c.Fields.Resource; f != nil && f.Content != "" {
		text += "\x1f" + f.Content // two pages with the same title may differ
	}
	return scope + "text\x1f" + Normal(text)
}

// Fingerprint distinguishes the candidates of one event.
func (c *Candidate) Fingerprint() string {
	f := c.Group()
	if c.Slot != nil {
		if c.Slot.Many && Opposed(c.Slot.Attribute) != Normal(c.Slot.Attribute) {
			f += "\x1f" + Normal(c.Slot.Attribute)
		}
		f += "\x1f" + Normal(c.Slot.Value)
	}
	if c.Negates {
		f += "\x1fno"
	}
	return f
}

// Normal folds text for comparison: lower case, simplified characters, letters and digits only, one
// space between words.
func Normal(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(unicode.ToLower(hans.Rune(r)))
		} else if r != '\'' && r != '’' {
			gap = true
		}
	}
	return b.String()
}

// Beyond returns what a person can read in a candidate's fields and not in its text: the content of a
// document, details, and the steps of a procedure.
func (c *Candidate) Beyond() []string {
	var all []string
	if f := c.Fields.Resource; f != nil {
		all = append(all, f.Content)
	}
	if f := c.Fields.Episodic; f != nil && f.Details != f.EventType {
		all = append(all, f.Details)
	}
	if f := c.Fields.Semantic; f != nil {
		all = append(all, f.Details)
	}
	if f := c.Fields.Procedural; f != nil {
		all = append(append(all, f.Description), f.Steps...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return strings.Contains(c.Text, strings.TrimSpace(s)) })
}
