package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Diagnostics reports the state of the node.
type Diagnostics interface {
	Status(ctx context.Context) (Status, error)
	// Doctor looks for faults; with verify it reads every record.
	Doctor(ctx context.Context, verify bool) (DoctorReport, error)
	// Quarantine returns the newest entries first, at most limit.
	Quarantine(ctx context.Context, limit int) ([]Quarantined, error)
}

// Status is the state of the node in numbers.
type Status struct {
	Running    bool                `json:"running"` // a daemon answers; false: the home was opened only for this answer
	Version    string              `json:"version"`
	PID        int                 `json:"pid,omitempty"`
	Started    time.Time           `json:"started,omitzero"`
	Home       string              `json:"home"`
	Wearer     string              `json:"wearer"`
	Zone       string              `json:"zone"` // time zone in which days begin and end: an IANA name, or Local
	Locked     bool                `json:"locked"`
	VaultUntil time.Time           `json:"vault_until,omitzero"`
	Pause      PauseState          `json:"pause"`
	Private    PrivateStatus       `json:"private"`
	Broker     BrokerStatus        `json:"broker"`
	Devices    int                 `json:"devices"`
	Memories   map[memory.Type]int `json:"memories"` // active memories, by type
	Utterances int                 `json:"utterances"`
	Consents   int                 `json:"consents,omitempty"` // policy questions that wait for the wearer
	Journal    JournalStatus       `json:"journal"`
	Disk       DiskStatus          `json:"disk"`
	HeapBytes  int64               `json:"heap_bytes"`
	RSSBytes   int64               `json:"rss_bytes,omitempty"`
	Plugins    []PluginStatus      `json:"plugins"`
	Engines    []Engine            `json:"engines"`          // ears and eyes; for the mind, see ModelStatus
	Backup     *BackupStatus       `json:"backup,omitempty"` // the scheduled backups, with those by hand in the same place

	BackupByHand *BackupStatus `json:"backup_by_hand,omitempty"` // the last backup that a person made

	// May lists the operations that a console on another machine may ask for. It is absent for
	// everybody else.
	May []string `json:"may,omitempty"`
}

// BackupStatus is the state of backups.
type BackupStatus struct {
	To       string          `json:"to"`              // a folder, or s3://BUCKET/PREFIX
	Every    config.Duration `json:"every,omitzero"`  // interval of the schedule
	At       time.Time       `json:"at,omitzero"`     // time of the last backup
	Vault    bool            `json:"vault"`           // the backup includes the values of the vault
	Failures int             `json:"failures"`        // number of failures since then
	Error    string          `json:"error,omitempty"` // error of the last failure
}

// BrokerStatus is the state of the MQTT connection.
type BrokerStatus struct {
	Embedded  bool   `json:"embedded"`
	URL       string `json:"url,omitempty"`
	Connected bool   `json:"connected"`
}

// JournalStatus counts events that were received but not processed yet.
type JournalStatus struct {
	Waiting     int   `json:"waiting"`
	Transcribe  int   `json:"transcribe"` // recordings that have no transcript yet
	Bytes       int64 `json:"bytes"`
	Quarantined int   `json:"quarantined"`
}

// DiskStatus is the home's file system.
type DiskStatus struct {
	Used    int64 `json:"used"` // bytes that the home takes
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
	// Blocks says that this plugin looks for secrets but can't run, because it is broken or
	// was disabled after faults. Everything that is said is then quarantined until the
	// plugin is enabled, turned off or removed.
	Blocks bool `json:"blocks,omitempty"`
}

// DoctorReport lists findings. OK is false if one of them is an error.
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

// Finding is one result of a check.
type Finding struct {
	Check  string `json:"check"` // stable name: "keys", "store", "disk", "broker", …
	Level  string `json:"level"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what a person should do
	// Command is the command that helps, if there is one. Does is the API operation that does the
	// same, and Of is its target: the id of a plugin.
	Command string `json:"command,omitempty"`
	Does    string `json:"does,omitempty"`
	Of      string `json:"of,omitempty"`
}

// Remedy sets what helps: a command, and the operation of this API that does the same, with
// its object; the strings may be empty. If it were inlined, the binary would be kilobytes
// larger.
//
//go:noinline
func (f *Finding) Remedy(command, does, of string) { f.Command, f.Does, f.Of = command, does, of }

// Quarantined is input that was quarantined: malformed, oversized or unknown.
type Quarantined struct {
	At     time.Time `json:"at"`
	Source string    `json:"source"` // a topic, a plugin or "import"
	Kind   string    `json:"kind"`   // malformed, oversized, unknown_topic, …
	Reason string    `json:"reason"`
	Bytes  int64     `json:"bytes"`
	Count  uint64    `json:"count"` // number of inputs of this source and kind
}

// QuarantineAnswer lists input that was quarantined, newest first.
type QuarantineAnswer struct {
	Quarantine []Quarantined `json:"quarantine"`
}

type doctorQuery struct {
	Verify bool `query:"verify" default:"false" doc:"read every record"`
}

var healthTopic = topic[Diagnostics]{getStatus.untyped, doctor.untyped, quarantine.untyped}

var (
	getStatus = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/status", id: "status",
		summary: "Get the state of the node in numbers", gives: "The status",
	}, func(s Diagnostics, ctx context.Context) (Status, error) {
		st, err := s.Status(ctx)
		if _, far := elsewhereOf(ctx); far {
			st.May = allowedElsewhere
		}
		return st, err
	})

	doctor = fieldRoute[doctorQuery](RightOwner, spec{
		method: "GET", path: "/v1/doctor", id: "doctor",
		summary: "Check the node for faults", gives: "The findings",
	}, Diagnostics.Doctor)

	quarantine = fieldList[QuarantineAnswer, limitQuery](RightOwner, spec{
		method: "GET", path: "/v1/quarantine", id: "quarantine",
		summary: "List quarantined input, newest first", gives: "The input, without its content",
	}, Diagnostics.Quarantine)
)

// Status returns the state of the node.
func (c *Client) Status(ctx context.Context) (Status, error) { return call(ctx, c, getStatus, none{}) }

// Doctor looks for faults.
func (c *Client) Doctor(ctx context.Context, verify bool) (DoctorReport, error) {
	return call(ctx, c, doctor, doctorQuery{verify})
}

// Quarantine returns the newest entries first; limit 0: DefaultPage.
func (c *Client) Quarantine(ctx context.Context, limit int) ([]Quarantined, error) {
	return items(ctx, c, quarantine, limitQuery{limit})
}
