package delta

import (
	"github.com/locket-dev/locket/memory"
)

// These types have the integer keys of FORMAT.md. Empty values are absent.

type wireAssertion struct {
	Seq       uint64         `cbor:"1,keyasint"` // difference from the previous assertion's number
	Wall      int64          `cbor:"2,keyasint"` // milliseconds after the previous op's time
	Logical   uint32         `cbor:"3,keyasint,omitempty"`
	Rank      memory.Rank    `cbor:"4,keyasint"`
	Memory    memory.ID      `cbor:"5,keyasint"`
	Act       uint8          `cbor:"6,keyasint"` // index in acts, from 1
	Candidate *wireCandidate `cbor:"7,keyasint,omitempty"`
	Patch     *wirePatch     `cbor:"8,keyasint,omitempty"`
	Evidence  []wireEvidence `cbor:"9,keyasint,omitempty"`
	Tags      []string       `cbor:"10,keyasint,omitempty"`
	Seen      []wireDot      `cbor:"11,keyasint,omitempty"`
	Source    *wireSource    `cbor:"12,keyasint,omitempty"`
	Reason    string         `cbor:"13,keyasint,omitempty"`
	Into      *memory.ID     `cbor:"14,keyasint,omitempty"`
}

type wireDot struct {
	_      struct{}         `cbor:",toarray"`
	Member *memory.MemberID // null: the author
	Seq    uint64
}

type wireSource struct {
	Device  string `cbor:"1,keyasint,omitempty"`
	Plugin  string `cbor:"2,keyasint,omitempty"`
	Version string `cbor:"3,keyasint,omitempty"`
	Model   string `cbor:"4,keyasint,omitempty"`
}

type wireEvent struct {
	_      struct{} `cbor:",toarray"`
	Device string
	Boot   uint64
	Seq    uint64
}

type wireEvidence struct {
	Event     *wireEvent `cbor:"1,keyasint,omitempty"`
	Utterance *memory.ID `cbor:"2,keyasint,omitempty"`
	Speaker   string     `cbor:"3,keyasint,omitempty"`
	At        *moment    `cbor:"4,keyasint,omitempty"`
	Excerpt   string     `cbor:"5,keyasint,omitempty"`
	Start     int        `cbor:"6,keyasint,omitempty"`
	End       *int       `cbor:"7,keyasint,omitempty"` // absent: start plus the excerpt's length
}

type wireCandidate struct {
	Type        uint8             `cbor:"1,keyasint"` // index in memory.Types, from 1
	Text        string            `cbor:"2,keyasint"`
	Lang        string            `cbor:"3,keyasint,omitempty"`
	User        string            `cbor:"4,keyasint"`
	Agent       string            `cbor:"5,keyasint,omitempty"`
	Run         string            `cbor:"6,keyasint,omitempty"`
	Slot        *wireSlot         `cbor:"7,keyasint,omitempty"`
	Negates     bool              `cbor:"8,keyasint,omitempty"`
	Fields      *wireFields       `cbor:"9,keyasint,omitempty"`
	Entities    []wirePair        `cbor:"10,keyasint,omitempty"` // name, kind
	Links       []wirePair        `cbor:"11,keyasint,omitempty"` // relation, to
	Tags        []string          `cbor:"12,keyasint,omitempty"`
	Metadata    map[string]string `cbor:"13,keyasint,omitempty"`
	Evidence    []wireEvidence    `cbor:"14,keyasint,omitempty"`
	Source      *wireSource       `cbor:"15,keyasint,omitempty"` // absent: the same as the assertion's
	Confidence  fraction          `cbor:"16,keyasint"`
	Sensitivity uint8             `cbor:"17,keyasint"`
	TrueFrom    *moment           `cbor:"18,keyasint,omitempty"`
	TrueTo      *moment           `cbor:"19,keyasint,omitempty"`
	Expires     *moment           `cbor:"20,keyasint,omitempty"`
}

type wireSlot struct {
	Subject   string `cbor:"1,keyasint"`
	Attribute string `cbor:"2,keyasint"`
	Value     string `cbor:"3,keyasint,omitempty"`
	Many      bool   `cbor:"4,keyasint,omitempty"`
}

type wirePair struct {
	_ struct{} `cbor:",toarray"`
	A string
	B string
}

type wireFields struct {
	Core       *wireCore       `cbor:"1,keyasint,omitempty"`
	Episodic   *wireEpisodic   `cbor:"2,keyasint,omitempty"`
	Semantic   *wireSemantic   `cbor:"3,keyasint,omitempty"`
	Procedural *wireProcedural `cbor:"4,keyasint,omitempty"`
	Resource   *wireResource   `cbor:"5,keyasint,omitempty"`
	Vault      *wireVault      `cbor:"6,keyasint,omitempty"`
}

type wireCore struct {
	Block string `cbor:"1,keyasint"`
	Limit int    `cbor:"2,keyasint"`
}

type wireEpisodic struct {
	EventType string  `cbor:"1,keyasint,omitempty"`
	Details   string  `cbor:"2,keyasint,omitempty"`
	Actor     string  `cbor:"3,keyasint,omitempty"`
	Place     string  `cbor:"4,keyasint,omitempty"`
	Started   *moment `cbor:"5,keyasint,omitempty"`
	Ended     *moment `cbor:"6,keyasint,omitempty"`
}

type wireSemantic struct {
	Name      string `cbor:"1,keyasint,omitempty"`
	Details   string `cbor:"2,keyasint,omitempty"`
	Subject   string `cbor:"3,keyasint,omitempty"`
	Predicate string `cbor:"4,keyasint,omitempty"`
	Object    string `cbor:"5,keyasint,omitempty"`
}

type wireProcedural struct {
	EntryType   string   `cbor:"1,keyasint,omitempty"`
	Description string   `cbor:"2,keyasint,omitempty"`
	Steps       []string `cbor:"3,keyasint,omitempty"`
}

type wireResource struct {
	Title     string   `cbor:"1,keyasint,omitempty"`
	MediaType string   `cbor:"2,keyasint"`
	Content   string   `cbor:"3,keyasint,omitempty"`
	Blob      string   `cbor:"4,keyasint,omitempty"`
	Hash      string   `cbor:"5,keyasint,omitempty"`
	Sharpness fraction `cbor:"6,keyasint"`
}

type wireVault struct {
	EntryType string `cbor:"1,keyasint,omitempty"`
	Label     string `cbor:"2,keyasint"`
	Sealed    []byte `cbor:"3,keyasint"`
}

type wirePatch struct {
	Text        *string            `cbor:"1,keyasint,omitempty"`
	Value       *string            `cbor:"2,keyasint,omitempty"`
	Fields      *wireFields        `cbor:"3,keyasint,omitempty"`
	Metadata    *map[string]string `cbor:"4,keyasint,omitempty"`
	Sensitivity *uint8             `cbor:"5,keyasint,omitempty"`
	Validity    *wireValidity      `cbor:"6,keyasint,omitempty"`
}

type wireValidity struct {
	From *moment `cbor:"1,keyasint,omitempty"`
	To   *moment `cbor:"2,keyasint,omitempty"`
}

type wireUtterance struct {
	ID       memory.ID   `cbor:"1,keyasint"`
	Event    *wireEvent  `cbor:"2,keyasint,omitempty"`
	Session  string      `cbor:"3,keyasint,omitempty"`
	At       *moment     `cbor:"4,keyasint,omitempty"`
	Zone     string      `cbor:"5,keyasint,omitempty"`
	Speaker  string      `cbor:"6,keyasint,omitempty"`
	Lang     string      `cbor:"7,keyasint,omitempty"`
	Text     string      `cbor:"8,keyasint"`
	Place    string      `cbor:"9,keyasint,omitempty"`
	Source   *wireSource `cbor:"10,keyasint,omitempty"`
	Redacted int         `cbor:"11,keyasint,omitempty"`
	Received *moment     `cbor:"12,keyasint,omitempty"`
}

type wireForget struct {
	Memories   []memory.ID `cbor:"1,keyasint,omitempty"`
	Utterances []memory.ID `cbor:"2,keyasint,omitempty"`
	Events     []wireEvent `cbor:"3,keyasint,omitempty"`
	Blobs      []string    `cbor:"4,keyasint,omitempty"`
}

type wireRemovedBody struct {
	_           struct{} `cbor:",toarray"`
	Member      memory.MemberID
	Incarnation uint64
	Seq         uint64
}

type wireBlob struct {
	Name      string     `cbor:"1,keyasint"`
	Sealed    [32]byte   `cbor:"2,keyasint"`
	Size      uint64     `cbor:"3,keyasint"`
	MediaType string     `cbor:"4,keyasint,omitempty"`
	Key       []byte     `cbor:"5,keyasint"`
	Event     *wireEvent `cbor:"6,keyasint,omitempty"`
	Memory    *memory.ID `cbor:"7,keyasint,omitempty"`
	Plain     uint64     `cbor:"8,keyasint,omitempty"`
}

type wireReport struct {
	Number uint64 `cbor:"1,keyasint"`
	Text   string `cbor:"2,keyasint"`
}
