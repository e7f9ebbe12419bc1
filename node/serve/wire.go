package serve

import (
	"log/slog"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/config"
)

// Secret is a passphrase or a revealed value on its way. It is JSON text,
// and nothing else shows it.
type Secret string

const hidden = "[hidden]"

// String implements fmt.Stringer.
func (Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hidden }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// AddRequest is a text to remember.
type AddRequest struct {
	Text        string              `json:"text"`
	Infer       *bool               `json:"infer,omitempty"`       // nil: true
	Type        memory.Type         `json:"type,omitempty"`        // without infer; empty: semantic. Not vault
	At          time.Time           `json:"at,omitzero"`           // when it was said; zero: now
	Speaker     string              `json:"speaker,omitempty"`     // empty: the wearer
	Lang        string              `json:"lang,omitempty"`        // BCP 47
	Agent       string              `json:"agent,omitempty"`       // scope
	Run         string              `json:"run,omitempty"`         // scope
	Tags        []string            `json:"tags,omitempty"`        // without infer
	Metadata    memory.Metadata     `json:"metadata,omitempty"`    // kept with every memory that results
	Fields      memory.Fields       `json:"fields,omitzero"`       // without infer: those of Type
	Slot        *memory.Slot        `json:"slot,omitempty"`        // without infer
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"` // nil: personal
	Expires     time.Time           `json:"expires,omitzero"`
	Key         string              `json:"key,omitempty"` // what the caller calls it: a second one of the same key changes nothing
}

// Infers reports whether the text goes through the extractors.
func (r *AddRequest) Infers() bool { return r.Infer == nil || *r.Infer }

// AddResult says what became of it: changes, and refusals with reasons.
type AddResult struct {
	Changes  []memory.Change  `json:"changes"`
	Refusals []memory.Refusal `json:"refusals"`
	Redacted int              `json:"redacted,omitempty"` // secrets moved to the vault
	Repeated bool             `json:"repeated,omitempty"` // there was one of the same key: nothing was done
}

// SearchRequest asks.
type SearchRequest struct {
	Query     string          `json:"query"`
	K         int             `json:"k,omitempty"`         // 0: 10; at most 100
	Types     []memory.Type   `json:"types,omitempty"`     // empty: all
	At        time.Time       `json:"at,omitzero"`         // when it is asked: what "yesterday" is relative to; zero: now
	AsOf      time.Time       `json:"as_of,omitzero"`      // true then, out in the world
	KnownAt   time.Time       `json:"known_at,omitzero"`   // believed then
	Since     time.Time       `json:"since,omitzero"`      // of the evidence
	Until     time.Time       `json:"until,omitzero"`      // of the evidence
	Threshold float64         `json:"threshold,omitempty"` // hits of a lower score are left out
	History   bool            `json:"history,omitempty"`   // superseded memories too
	Only      string          `json:"only,omitempty"`      // OnlyMemories or OnlyUtterances; empty: both
	Tag       string          `json:"tag,omitempty"`       // memories with this tag
	Filters   filter.Filter   `json:"filters,omitzero"`    // only what they choose
	Metadata  memory.Metadata `json:"metadata,omitempty"`  // memories with all of these
	Agent     string          `json:"agent,omitempty"`     // scope
	Run       string          `json:"run,omitempty"`       // scope
}

// What SearchRequest.Only may be.
const (
	OnlyMemories   = "memories"
	OnlyUtterances = "utterances"
)

// SearchResult answers. Known is false where nothing that was found answers
// the query; hits may then be there as the nearest there is.
type SearchResult struct {
	Hits       []Hit   `json:"hits"`
	Known      bool    `json:"known"`
	Confidence float64 `json:"confidence"` // 0 to 1, of the best hit
	// Shape is what the question is after: who, when, where, how_to,
	// how_many, exact, preference or plain.
	Shape string `json:"shape,omitempty"`
	// Skipped are the models that are set and had no part in this answer.
	Skipped []SkippedPart `json:"skipped,omitempty"`
	Missing int           `json:"missing,omitempty"` // hits that are cold and can't be fetched now
}

// SkippedPart is a part of scores that a model should have given.
type SkippedPart struct {
	Part   string `json:"part"`   // embedding_match or rerank_match
	Reason string `json:"reason"` // late, busy or failed
}

// Hit is one memory or utterance that was found; one of the two is set.
type Hit struct {
	ID        memory.ID          `json:"id"`
	Text      string             `json:"text"`
	At        time.Time          `json:"at"` // of the evidence, or when it was said
	Score     float64            `json:"score"`
	Parts     map[string]float64 `json:"parts"` // what adds up to Score, by name
	Evidence  []memory.Evidence  `json:"evidence,omitempty"`
	Said      string             `json:"said,omitempty"` // the whole line that a memory quotes, while it is kept
	Memory    *memory.Memory     `json:"memory,omitempty"`
	Chunk     *memory.Chunk      `json:"chunk,omitempty"` // the part of a long resource that answers
	Utterance *memory.Utterance  `json:"utterance,omitempty"`
	Cold      bool               `json:"cold,omitempty"` // the text is at the relay, and can't be fetched now
}

// ListQuery chooses memories.
type ListQuery struct {
	Type    memory.Type  // empty: all
	State   memory.State // empty: active; "all": all but erased
	Since   time.Time    // learnt at or after
	Until   time.Time    // learnt before
	Tag     string
	Agent   string
	Run     string
	AsOf    time.Time     // what was so then, whatever its state now
	KnownAt time.Time     // what was believed then, as it was believed
	Filters filter.Filter // only what they choose
	Limit   int           // 1 to MaxPage
	Cursor  string        // as ListPage gave it; another: memory.ErrInvalid
}

// AnyState in ListQuery.State asks for every state but erased.
const AnyState memory.State = "all"

// Page sizes.
const (
	DefaultPage = 50
	MaxPage     = 500
)

// ListPage is one page.
type ListPage struct {
	Memories []memory.Memory `json:"memories"`
	Next     string          `json:"next,omitempty"` // cursor of the next page
	Cold     int             `json:"cold,omitempty"` // memories that are cold: a list does not fetch them
}

// UpdateRequest corrects a memory; nil leaves a field as it is. Of Text, Append
// and Replace one is given, and of Fields and Steps.
type UpdateRequest struct {
	Text        *string             `json:"text,omitempty"`
	Append      *string             `json:"append,omitempty"`  // a line, to a core block
	Replace     *Replacement        `json:"replace,omitempty"` // a part of the text
	Steps       []memory.StepEdit   `json:"steps,omitempty"`   // of a procedure, one after the other
	Value       *string             `json:"value,omitempty"`   // of the slot
	Fields      *memory.Fields      `json:"fields,omitempty"`
	Metadata    *memory.Metadata    `json:"metadata,omitempty"`
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Validity    *memory.Validity    `json:"validity,omitempty"`
	Archived    *bool               `json:"archived,omitempty"`
	Tag         []string            `json:"tag,omitempty"`   // to add
	Untag       []string            `json:"untag,omitempty"` // to take away
	Reason      string              `json:"reason,omitempty"`
}

// Replacement exchanges the one place of a text where Old stands.
type Replacement struct {
	Old  string `json:"old"`
	With string `json:"with"` // empty: take it out
}

// Why is a memory's story.
type Why struct {
	Memory   memory.Memory     `json:"memory"`
	Verdict  memory.Verdict    `json:"verdict"` // by which it came to be
	Reason   string            `json:"reason"`
	By       memory.Source     `json:"by"`
	Rank     memory.Rank       `json:"rank"`
	Evidence []memory.Evidence `json:"evidence"` // what was said, by whom and when
	Replaced []Related         `json:"replaced,omitempty"`
	Into     *Related          `json:"into,omitempty"`   // what took its place
	Spared   []memory.Change   `json:"spared,omitempty"` // what would have changed it, had it not been pinned, or said by the wearer
	History  []memory.Change   `json:"history"`          // oldest first
}

// Related is another memory in a story.
type Related struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// ForgetSelection chooses. All that is set must hold; of the ways to name a
// time (Last, When, Since and Until) at most one is set.
type ForgetSelection struct {
	IDs    []memory.ID     // memories or utterances
	Query  string          // what holds every word
	Last   config.Duration // what was said or taken in during the last so long
	When   string          // in words, by the node's clock and zone: "yesterday in the office"
	Since  time.Time       // said at or after
	Until  time.Time       // said before; zero: no end
	Person string          // who said it, or is named in it
	Place  string          // where it was said, or what it is about
	Device string          // that heard it
	Scope  *memory.Owner   // memories of that owner; empty user: the wearer; empty agent and run: any
}

// ForgetPlan is what will be taken. The handler keeps it under a token: what
// is confirmed is what was shown.
type ForgetPlan struct {
	Memories   []Related `json:"memories"`
	Utterances []Related `json:"utterances"`
	Trimmed    []Related `json:"trimmed"`       // memories that lose evidence, and stand on other; under a new id
	Events     int       `json:"events"`        // raw events: audio, photos, text
	Bytes      int64     `json:"bytes"`         // of the raw events
	From       time.Time `json:"from,omitzero"` // of a time: the span
	To         time.Time `json:"to,omitzero"`
	Unseen     int       `json:"unseen,omitempty"` // cold memories that can't be looked at now: what of them was made of this stays

	Sources   []memory.EventID `json:"-"` // the events
	Malformed []uint64         `json:"-"` // numbers in quarantine
	Scope     *memory.Owner    `json:"-"` // as asked for
}

// ForgetRequest is the body of POST /v1/forget: a selection with Plan, or the
// token of a plan in Confirm.
type ForgetRequest struct {
	IDs     []string        `json:"ids,omitempty"` // may be abbreviated
	Query   string          `json:"query,omitempty"`
	Last    config.Duration `json:"last,omitempty"`
	When    string          `json:"when,omitempty"` // "last 10 minutes", "yesterday in the office"
	Since   time.Time       `json:"since,omitzero"`
	Until   time.Time       `json:"until,omitzero"`
	Person  string          `json:"person,omitempty"`
	Place   string          `json:"place,omitempty"`
	Device  string          `json:"device,omitempty"`
	Plan    bool            `json:"plan,omitempty"`
	Confirm string          `json:"confirm,omitempty"`
}

// Scope is whose memories DELETE /v1/memories takes: of all that is set. An
// empty user is the wearer.
type Scope struct {
	User, Agent, Run string
}

// ForgetAnswer is a plan with its token, or a result.
type ForgetAnswer struct {
	Plan    *ForgetPlan   `json:"plan,omitempty"`
	Confirm string        `json:"confirm,omitempty"` // token, good for PlanTTL and once
	Expires time.Time     `json:"expires,omitzero"`
	Result  *ForgetResult `json:"result,omitempty"`
}

// ForgetResult counts what was erased.
type ForgetResult struct {
	Memories   int `json:"memories"`
	Utterances int `json:"utterances"`
	Events     int `json:"events"`
	Trimmed    int `json:"trimmed"` // memories that stand on other evidence
}

// PauseRequest is the body of POST /v1/pause.
type PauseRequest struct {
	For config.Duration `json:"for,omitempty"` // 0: until resumed
}

// PauseState says whether events are taken.
type PauseState struct {
	Paused bool      `json:"paused"`
	Until  time.Time `json:"until,omitzero"` // zero: until resumed
}

// UnlockRequest is the body of POST /v1/unlock and /v1/vault/unlock.
type UnlockRequest struct {
	Passphrase Secret          `json:"passphrase,omitempty"`
	TTL        config.Duration `json:"ttl,omitempty"` // vault only; 0: 5 minutes, at most 1 hour
}

// UnlockState is the answer.
type UnlockState struct {
	Locked     bool      `json:"locked"`
	VaultUntil time.Time `json:"vault_until,omitzero"` // zero: closed
}

// Revealed is a secret, shown to its owner.
type Revealed struct {
	ID        memory.ID `json:"id"`
	Label     string    `json:"label"`
	EntryType string    `json:"entry_type"`
	Secret    Secret    `json:"secret"`
}

// Device is a wearable that may speak to the node's broker.
type Device struct {
	Name      string    `json:"name"`
	Added     time.Time `json:"added"`
	LastSeen  time.Time `json:"last_seen,omitzero"`
	Connected bool      `json:"connected"`
	Events    uint64    `json:"events"` // taken from it, ever
}

// DeviceCredentials is what to put into a new wearable, shown once.
type DeviceCredentials struct {
	Name     string `json:"name"`
	Broker   string `json:"broker"` // URL that the device connects to
	Username string `json:"username"`
	Password Secret `json:"password"`
	ClientID string `json:"client_id"`
	Topics   string `json:"topics"` // the prefix that it may use
}

// ExportRecord is one line of an export; see package archive.
type ExportRecord = archive.Record

// ExportOptions say what an export holds besides what was said and claimed.
type ExportOptions struct {
	// Secrets has the vault's values in clear: ErrVaultLocked while it is
	// closed. That each was read is noted for the owner.
	Secrets bool
}

// ImportOptions say what the wearer trusts.
type ImportOptions struct {
	Unsigned bool   // take an archive without a signature
	Signer   string // take one that the key of these words signed
}

// ImportResult counts.
type ImportResult struct {
	Taken   int    `json:"taken"`
	Skipped int    `json:"skipped"`          // there already
	Refused int    `json:"refused"`          // broke a rule; listed in the quarantine
	Signer  string `json:"signer,omitempty"` // words of the key that signed it
}

// Status is how the node is, in numbers.
type Status struct {
	Running    bool                `json:"running"` // a daemon; false: the home was opened for this answer
	Version    string              `json:"version"`
	PID        int                 `json:"pid,omitempty"`
	Started    time.Time           `json:"started,omitzero"`
	Home       string              `json:"home"`
	Wearer     string              `json:"wearer"`
	Locked     bool                `json:"locked"`
	VaultUntil time.Time           `json:"vault_until,omitzero"`
	Pause      PauseState          `json:"pause"`
	Private    PrivateStatus       `json:"private"`
	Broker     BrokerStatus        `json:"broker"`
	Devices    int                 `json:"devices"`
	Memories   map[memory.Type]int `json:"memories"` // active, by type
	Utterances int                 `json:"utterances"`
	Journal    JournalStatus       `json:"journal"`
	Disk       DiskStatus          `json:"disk"`
	HeapBytes  int64               `json:"heap_bytes"`
	RSSBytes   int64               `json:"rss_bytes,omitempty"`
	Plugins    []PluginStatus      `json:"plugins"`
}

// BrokerStatus is the MQTT side.
type BrokerStatus struct {
	Embedded  bool   `json:"embedded"`
	URL       string `json:"url,omitempty"`
	Connected bool   `json:"connected"`
}

// JournalStatus counts events that are taken and not yet extracted.
type JournalStatus struct {
	Waiting     int   `json:"waiting"`
	Transcribe  int   `json:"transcribe"` // audio that nobody here can transcribe yet
	Bytes       int64 `json:"bytes"`
	Quarantined int   `json:"quarantined"`
}

// DiskStatus is the home's file system.
type DiskStatus struct {
	Used    int64 `json:"used"` // by the home
	Free    int64 `json:"free"`
	Reserve int64 `json:"reserve"`
}

// PluginStatus is one extractor.
type PluginStatus struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Enabled bool   `json:"enabled"`
	Calls   uint64 `json:"calls"`
	Faults  uint64 `json:"faults"`
	// Blocks: it takes words away and does not run, since faults have disabled
	// it or it is broken, so that all that is said is set aside until it is
	// enabled, turned off or removed.
	Blocks bool `json:"blocks,omitempty"`
}

// DoctorReport lists findings; OK is false where one is an error.
type DoctorReport struct {
	OK       bool      `json:"ok"`
	Verified bool      `json:"verified"` // every record was read
	Findings []Finding `json:"findings"`
}

// Finding levels.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelError   = "error"
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string `json:"check"` // stable name: "keys", "store", "disk", "broker", …
	Level  string `json:"level"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what a person should do
}

// Quarantined is input that was set aside: malformed, oversized, unknown.
type Quarantined struct {
	At     time.Time `json:"at"`
	Source string    `json:"source"` // topic, plugin or "import"
	Kind   string    `json:"kind"`   // malformed, oversized, unknown_topic, …
	Reason string    `json:"reason"`
	Bytes  int64     `json:"bytes"`
	Count  uint64    `json:"count"` // how many of this source and kind
}
