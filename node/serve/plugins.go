package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/trust"
)

// Plugger manages extractors while events flow; nothing is lost or done twice
// by it. A plugin is named by its whole id.
//
// Commands (cmd/locket) and conformance rely on the methods here and on
// the wire types below; what shows, asks, signs and downloads is theirs. The
// node is the gate all the same: InstallPlugin checks everything again.
type Plugger interface {
	// Plugins gives all, in the order in which they are called; those that
	// are off come too.
	Plugins(ctx context.Context) ([]Plugin, error)
	// Plugin gives one: memory.ErrNotFound.
	Plugin(ctx context.Context, id string) (PluginView, error)
	// PlanPlugin says what InstallPlugin would do, for the wearer to read, with
	// its errors; Agreed is not looked at, and the module may be left out where
	// the manifest names it.
	PlanPlugin(ctx context.Context, r InstallPluginRequest) (PluginPlan, error)
	// UnpinPlugin forgets whose key an id is pinned to, once the plugin is
	// removed: memory.ErrNotFound, ErrConflict while it is installed.
	UnpinPlugin(ctx context.Context, id string) error
	// InstallPlugin adds one, or puts another version in its place. ErrConflict
	// where it asks for more than was agreed to, is of another publisher than
	// before, older, or not signed; memory.ErrInvalid where the manifest or the
	// module will not do.
	InstallPlugin(ctx context.Context, r InstallPluginRequest) (Plugin, error)
	// EnablePlugin lets it run, also after faults have disabled it, or turns it
	// off: memory.ErrNotFound, ErrConflict where the configuration says so.
	EnablePlugin(ctx context.Context, id string, enabled bool) (Plugin, error)
	// RemovePlugin takes it away with its state; its memories stay.
	// memory.ErrNotFound, ErrConflict for a built-in one.
	RemovePlugin(ctx context.Context, id string) error
}

// Tracer shows what plugins did, and has them do it again.
type Tracer interface {
	// PluginLogs gives the lines that a plugin logged last, oldest first.
	PluginLogs(ctx context.Context, id string) ([]string, error)
	// ReplayPlugin gives a plugin past events again, as far as they are kept.
	// The same candidates get the same ids, so nothing is there twice.
	ReplayPlugin(ctx context.Context, r ReplayPluginRequest) (PluginReplayed, error)
	// TraceEvent tells how an event went through the plugins:
	// memory.ErrNotFound where it isn't known any more.
	TraceEvent(ctx context.Context, id memory.EventID) (Trace, error)
}

// Where a plugin comes from.
const (
	PluginBuiltIn   = "built-in"
	PluginInstalled = "installed"
	PluginFolder    = "folder" // put into the plugins folder by hand
)

// What a plugin does now.
const (
	PluginRuns    = "runs"
	PluginOff     = "off"     // by the wearer's word, or the configuration's
	PluginFaulted = "faulted" // disabled after faults in a row
	PluginBroken  = "broken"  // it can't be loaded; Error says why
)

// Plugin is one extractor.
type Plugin struct {
	ID           string            `json:"id"`
	Version      string            `json:"version"`
	Title        string            `json:"title,omitempty"`
	Licence      string            `json:"licence,omitempty"`
	Source       string            `json:"source"`
	State        string            `json:"state"`
	Error        string            `json:"error,omitempty"`
	Publisher    string            `json:"publisher,omitempty"` // Ed25519 public key, hexadecimal
	Stage        int               `json:"stage"`
	Kinds        []string          `json:"kinds"`
	Types        []string          `json:"types"`
	Capabilities []string          `json:"capabilities"`
	OnFault      string            `json:"on_fault"`          // skip or wait
	Waiting      int               `json:"waiting,omitempty"` // events that are kept for it
	Worker       string            `json:"worker,omitempty"`  // how it is confined; empty: it runs in the node
	Calls        uint64            `json:"calls"`
	Faults       map[string]uint64 `json:"faults"`     // by kind
	Fuel         uint64            `json:"fuel"`       // of all calls
	Seconds      float64           `json:"seconds"`    // of all calls
	PeakBytes    int               `json:"peak_bytes"` // of its memory
	Late         uint64            `json:"late"`       // calls over the time limit
	Dropped      uint64            `json:"dropped"`    // candidates that were left out
}

// PluginView is one with its manifest.
type PluginView struct {
	Plugin
	Manifest  string    `json:"manifest"` // plugin.toml; empty where its file is not kept
	SHA256    string    `json:"sha256"`   // of the module
	Asks      []string  `json:"asks"`     // what it wants to see and do, as InstallPlugin has it agreed to
	Agreed    []string  `json:"agreed"`
	Installed time.Time `json:"installed,omitzero"`
	Limits    PluginMax `json:"limits"`
}

// PluginMax is what one call may take.
type PluginMax struct {
	MemoryMiB  int   `json:"memory_mib"`
	Fuel       int64 `json:"fuel"`
	TimeMS     int   `json:"time_ms"`
	OutputKiB  int   `json:"output_kib"`
	Candidates int   `json:"candidates"`
}

// InstallPluginRequest is a package, and what the wearer said to it.
type InstallPluginRequest struct {
	Manifest  string            `json:"manifest"`            // plugin.toml, as it was signed
	Signature []byte            `json:"signature,omitempty"` // Ed25519; nothing: nobody signed
	Module    []byte            `json:"module"`
	Agreed    []string          `json:"agreed"`              // "sees text", "proposes vault", "may redact", …
	Unsigned  bool              `json:"unsigned,omitempty"`  // a package that nobody signed will do
	Lookalike bool              `json:"lookalike,omitempty"` // so will an id that looks like another's
	Settings  map[string]string `json:"settings,omitempty"`  // of the capability config; nothing: as before
}

// PluginPlan is what a wearer reads before saying yes.
type PluginPlan = trust.Plan

// EnablePluginRequest turns one on or off.
type EnablePluginRequest struct {
	Enabled bool `json:"enabled"`
}

// PluginsAnswer lists them.
type PluginsAnswer struct {
	Plugins []Plugin `json:"plugins"`
}

// RemovedPlugin is the answer to DELETE /v1/plugins/{plugin}.
type RemovedPlugin struct {
	ID string `json:"id"`
}

// UnpinnedPlugin is the answer to DELETE /v1/plugins/{plugin}/pin.
type UnpinnedPlugin struct {
	ID string `json:"id"`
}

// PluginLogsAnswer has the lines.
type PluginLogsAnswer struct {
	Lines []string `json:"lines"`
}

// ReplayPluginRequest says which plugin is given which events again.
type ReplayPluginRequest struct {
	ID    string    `json:"id"`
	Since time.Time `json:"since,omitzero"` // of events at or after
	Until time.Time `json:"until,omitzero"` // before
}

// PluginReplayed says what came of it.
type PluginReplayed struct {
	Events     int             `json:"events"`
	Candidates int             `json:"candidates"`
	Known      int             `json:"known"` // candidates that were there already
	Faults     int             `json:"faults"`
	Changes    []memory.Change `json:"changes"`
}

// Trace is the way of one event through the plugins. It has no texts.
type Trace struct {
	Event    memory.EventID `json:"event"`
	Kind     string         `json:"kind"`
	At       time.Time      `json:"at"`
	Took     float64        `json:"ms"` // in all plugins
	Steps    []TraceStep    `json:"steps"`
	Redacted int            `json:"redacted"`
}

// TraceStep is one call of a plugin.
type TraceStep struct {
	Plugin      string           `json:"plugin"`
	Version     string           `json:"version"`
	Given       string           `json:"given"` // the kind of event that it was given
	Depth       int              `json:"depth"` // 0: the event itself; more: derived from it
	Fuel        int64            `json:"fuel"`
	Took        float64          `json:"ms"`
	MemoryBytes int              `json:"memory_bytes"`
	InBytes     int              `json:"in_bytes"`
	OutBytes    int              `json:"out_bytes"`
	Late        bool             `json:"late,omitempty"`
	Fault       string           `json:"fault,omitempty"`
	Candidates  []TraceCandidate `json:"candidates"`
	Annotations []string         `json:"annotations,omitempty"` // their kinds
	Redactions  int              `json:"redactions,omitempty"`
	Derived     int              `json:"derived,omitempty"`
	Refusals    int              `json:"refusals,omitempty"`
	StateBytes  int              `json:"state_bytes,omitempty"`
	Read        []string         `json:"read,omitempty"` // ids of memories that the plugin was shown
}

// TraceCandidate is what became of a candidate.
type TraceCandidate struct {
	Type    string         `json:"type"`
	Memory  memory.ID      `json:"memory,omitzero"`
	Verdict memory.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
}
