package serve

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/trust"
)

// MaxPackage is the maximum number of bytes of a request to install a plugin: a module
// of 10 MiB in base64, and the rest.
const MaxPackage = 15 << 20

// Plugger manages extractors while events arrive. Nothing is lost or processed twice. A
// plugin is named by its complete id. The command line shows, asks, verifies and
// downloads, but InstallPlugin checks everything again.
type Plugger interface {
	// Plugins returns all plugins in the order in which they are called, including those
	// that are turned off.
	Plugins(ctx context.Context) ([]Plugin, error)
	// Plugin returns one plugin, or memory.ErrNotFound.
	Plugin(ctx context.Context, id string) (PluginView, error)
	// PlanPlugin returns what InstallPlugin would do, for the wearer to read,
	// with its errors. It ignores Agreed, and the module may be missing if the
	// manifest names it.
	PlanPlugin(ctx context.Context, r InstallPluginRequest) (PluginPlan, error)
	// UnpinPlugin forgets the key to which an id is pinned, after the plugin
	// was removed. Errors: memory.ErrNotFound, ErrConflict while it is
	// installed.
	UnpinPlugin(ctx context.Context, id string) error
	// PluginPin returns what UnpinPlugin would forget, with its errors.
	PluginPin(ctx context.Context, id string) (PluginPin, error)
	// InstallPlugin installs a plugin or another version. It returns
	// ErrConflict if the plugin asks for more than was agreed to, has another
	// publisher than before, is older, or is not signed. It returns
	// memory.ErrInvalid if the manifest or the module is invalid.
	InstallPlugin(ctx context.Context, r InstallPluginRequest) (Plugin, error)
	// EnablePlugin turns a plugin on or off. Turning it on works also after faults have
	// disabled it. Errors: memory.ErrNotFound, ErrConflict if the configuration decides
	// it.
	EnablePlugin(ctx context.Context, id string, enabled bool) (Plugin, error)
	// RemovePlugin removes a plugin with its state; its memories stay. Errors:
	// memory.ErrNotFound, ErrConflict for a built-in one.
	RemovePlugin(ctx context.Context, id string) error
	// TryPlugin runs a plugin on a line, as if the wearer had said it, and keeps nothing
	// of it. Errors: memory.ErrNotFound, memory.ErrInvalid if the plugin does not read
	// text or the line is empty or too long, ErrConflict if the plugin does not run.
	TryPlugin(ctx context.Context, id, text string) (TriedPlugin, error)
}

// Sources of a plugin.
const (
	PluginBuiltIn   = "built-in"
	PluginInstalled = "installed"
	PluginFolder    = "folder" // copied into the plugins folder by hand
)

// States of a plugin.
const (
	PluginRuns    = "runs"
	PluginOff     = "off"     // turned off by the wearer or the configuration
	PluginFaulted = "faulted" // disabled after several faults in a row
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
	OnFault      string            `json:"on_fault"`          // skip or wait: what happens to events on which it fails
	Waiting      int               `json:"waiting,omitempty"` // events that wait for it
	Worker       string            `json:"worker,omitempty"`  // how its process is confined; empty: it runs in the node
	Calls        uint64            `json:"calls"`
	Faults       map[string]uint64 `json:"faults"`     // number of faults, by kind
	Fuel         uint64            `json:"fuel"`       // used by all calls
	Seconds      float64           `json:"seconds"`    // time of all calls
	PeakBytes    int               `json:"peak_bytes"` // largest size of its memory
	Late         uint64            `json:"late"`       // calls that took longer than the time limit
	Dropped      uint64            `json:"dropped"`    // candidates that were left out
}

// PluginView is a plugin with its manifest.
type PluginView struct {
	Plugin
	Manifest  string    `json:"manifest"` // plugin.toml; empty if its file is not kept
	SHA256    string    `json:"sha256"`   // hash of the module
	Asks      []string  `json:"asks"`     // what it wants to see and do, in the form that agreed has in the request to install it
	Agreed    []string  `json:"agreed"`
	Installed time.Time `json:"installed,omitzero"`
	Limits    PluginMax `json:"limits"`
}

// PluginMax are the limits of one call.
type PluginMax struct {
	MemoryMiB  int   `json:"memory_mib"`
	Fuel       int64 `json:"fuel"`
	TimeMS     int   `json:"time_ms"`
	OutputKiB  int   `json:"output_kib"`
	Candidates int   `json:"candidates"`
}

// InstallPluginRequest is a package with the wearer's consent.
type InstallPluginRequest struct {
	Manifest  string            `json:"manifest"`            // plugin.toml, as it was signed
	Signature []byte            `json:"signature,omitempty"` // Ed25519; absent: the package is not signed
	Module    []byte            `json:"module"`
	Agreed    []string          `json:"agreed"`              // "sees text", "proposes vault", "may redact", …
	Unsigned  bool              `json:"unsigned,omitempty"`  // accept an unsigned package
	Lookalike bool              `json:"lookalike,omitempty"` // accept an id that looks like another plugin's
	Settings  map[string]string `json:"settings,omitempty"`  // for the capability config; absent: the present settings stay
}

// PluginPlan is what a wearer reads before agreeing.
type PluginPlan = trust.Plan

// EnablePluginRequest turns a plugin on or off.
type EnablePluginRequest struct {
	Enabled bool `json:"enabled"`
}

// MaxTried is the maximum number of bytes of a line with which a plugin is tried.
const MaxTried = 4 << 10

// CheckTried returns memory.ErrInvalid for a line with which no plugin can be tried.
func CheckTried(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: text: an empty line", memory.ErrInvalid)
	case len(text) > MaxTried:
		return fmt.Errorf("%w: text: %d bytes, at most %d", memory.ErrInvalid, len(text), MaxTried)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: text: it is not UTF-8", memory.ErrInvalid)
	}
	return nil
}

// TryPluginRequest is a line that nobody said.
type TryPluginRequest struct {
	Text string `json:"text"` // at most 4 KiB
}

// TriedPlugin is the result of trying a plugin with a line.
type TriedPlugin struct {
	Shown    string         `json:"shown"`           // the line that the plugin was given: without secrets, if it may not see them
	Left     string         `json:"left,omitempty"`  // the line after the plugin's redactions, if it made any
	Memories []TriedMemory  `json:"memories"`        // the memories that it proposes; in real use, Locket would check each
	Refusals []TriedRefusal `json:"refusals"`        // what it reports as not proposed, and why
	Error    string         `json:"error,omitempty"` // how it failed
	MS       float64        `json:"ms"`              // milliseconds that it took
}

// TriedMemory is what a plugin proposes. The secret of a vault entry is not shown.
type TriedMemory struct {
	Type       memory.Type  `json:"type"`
	Text       string       `json:"text"`
	Label      string       `json:"label,omitempty"` // for the vault: what the secret opens
	Slot       *memory.Slot `json:"slot,omitempty"`
	Confidence float64      `json:"confidence"`
}

// TriedRefusal is why a plugin proposes nothing.
type TriedRefusal struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// PluginsAnswer lists plugins.
type PluginsAnswer struct {
	Plugins []Plugin `json:"plugins"`
}

// RemovedPlugin is the answer to DELETE /v1/plugins/{plugin}.
type RemovedPlugin struct {
	ID string `json:"id"`
}

// PluginPin is what is stored about a removed plugin, so that nobody else can take its
// id.
type PluginPin struct {
	ID        string `json:"id"`
	Publisher string `json:"publisher,omitempty"` // Ed25519 public key, hexadecimal; absent: it was not signed
	Version   string `json:"version"`             // the newest version that was installed
}

// UnpinnedPlugin is the answer to DELETE /v1/plugins/{plugin}/pin.
type UnpinnedPlugin struct {
	ID string `json:"id"`
}

type pluginOf struct {
	Plugin string `path:"plugin" doc:"its whole id, with the slash as %2F"`
}

type toPlugin[B any] struct {
	Plugin string `path:"plugin" doc:"its whole id, with the slash as %2F"`
	Body   B
}

var pluginsTopic = topic[Plugger]{listPlugins.untyped, installPlugin.untyped, planPlugin.untyped, pluginPin.untyped, unpinPlugin.untyped, getPlugin.untyped, enablePlugin.untyped, removePlugin.untyped, tryPlugin.untyped}

var (
	listPlugins = plainList[PluginsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/plugins", id: "plugins",
		summary: "List extractors", gives: "All extractors, also those that are off, in the order in which they are called",
	}, Plugger.Plugins)

	installPlugin = jsonRoute(RightCommand, spec{
		method: "POST", path: "/v1/plugins", id: "installPlugin", made: true, body: MaxPackage, slow: true,
		summary: "Install an extractor, or another version of one", gives: "The installed extractor",
	}, Plugger.InstallPlugin)

	planPlugin = jsonRoute(RightCommand, spec{
		method: "POST", path: "/v1/plugins/plan", id: "planPlugin", body: MaxPackage, slow: true,
		summary: "Preview the installation of an extractor, for the wearer to read", gives: "What the installation would do; nothing is installed",
	}, Plugger.PlanPlugin)

	pluginPin = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/plugins/{plugin}/pin", id: "pluginPin",
		summary: "Show the key to which the id of a removed extractor is pinned", gives: "The key, and the newest version that was installed",
	}, func(s Plugger, ctx context.Context, in pluginOf) (PluginPin, error) {
		return s.PluginPin(ctx, in.Plugin)
	})

	unpinPlugin = jsonRoute(RightCommand, spec{
		method: "DELETE", path: "/v1/plugins/{plugin}/pin", id: "unpinPlugin",
		summary: "Remove the pin of a removed extractor's id to its publisher's key", gives: "The id; the next installation pins it again",
	}, func(s Plugger, ctx context.Context, in pluginOf) (UnpinnedPlugin, error) {
		return UnpinnedPlugin{in.Plugin}, s.UnpinPlugin(ctx, in.Plugin)
	})

	getPlugin = fieldRoute[pluginOf](RightOwner, spec{
		method: "GET", path: "/v1/plugins/{plugin}", id: "plugin",
		summary: "Get an extractor with its manifest", gives: "The extractor",
	}, Plugger.Plugin)

	enablePlugin = jsonRoute(RightOwner, spec{
		method: "PATCH", path: "/v1/plugins/{plugin}", id: "enablePlugin",
		summary: "Turn an extractor on or off", gives: "The extractor after the change",
	}, func(s Plugger, ctx context.Context, in toPlugin[EnablePluginRequest]) (Plugin, error) {
		return s.EnablePlugin(ctx, in.Plugin, in.Body.Enabled)
	})

	removePlugin = jsonRoute(RightCommand, spec{
		method: "DELETE", path: "/v1/plugins/{plugin}", id: "removePlugin",
		summary: "Remove an extractor", gives: "The id; the extractor's memories stay",
	}, func(s Plugger, ctx context.Context, in pluginOf) (RemovedPlugin, error) {
		return RemovedPlugin{in.Plugin}, s.RemovePlugin(ctx, in.Plugin)
	})

	tryPlugin = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/plugins/{plugin}/try", id: "tryPlugin",
		summary: "Try an extractor with a line, and store nothing", gives: "What the extractor would make of the line",
	}, func(s Plugger, ctx context.Context, in toPlugin[TryPluginRequest]) (TriedPlugin, error) {
		return s.TryPlugin(ctx, in.Plugin, in.Body.Text)
	})
)

// TryPlugin runs a plugin on a line, and keeps nothing of it.
func (c *Client) TryPlugin(ctx context.Context, id, text string) (TriedPlugin, error) {
	return call(ctx, c, tryPlugin, toPlugin[TryPluginRequest]{id, TryPluginRequest{text}})
}

// Plugins lists extractors.
func (c *Client) Plugins(ctx context.Context) ([]Plugin, error) {
	return items(ctx, c, listPlugins, none{})
}

// Plugin returns a plugin with its manifest.
func (c *Client) Plugin(ctx context.Context, id string) (PluginView, error) {
	return call(ctx, c, getPlugin, pluginOf{id})
}

// InstallPlugin installs a plugin, or another version of it.
func (c *Client) InstallPlugin(ctx context.Context, r InstallPluginRequest) (Plugin, error) {
	r.Agreed = NonNil(r.Agreed)
	return call(ctx, c, installPlugin, r)
}

// PlanPlugin returns what InstallPlugin would do.
func (c *Client) PlanPlugin(ctx context.Context, r InstallPluginRequest) (PluginPlan, error) {
	r.Agreed = NonNil(r.Agreed)
	return call(ctx, c, planPlugin, r)
}

// PluginPin returns what UnpinPlugin would forget.
func (c *Client) PluginPin(ctx context.Context, id string) (PluginPin, error) {
	return call(ctx, c, pluginPin, pluginOf{id})
}

// UnpinPlugin forgets the key to which an id is pinned.
func (c *Client) UnpinPlugin(ctx context.Context, id string) (UnpinnedPlugin, error) {
	return call(ctx, c, unpinPlugin, pluginOf{id})
}

// EnablePlugin turns a plugin on or off.
func (c *Client) EnablePlugin(ctx context.Context, id string, enabled bool) (Plugin, error) {
	return call(ctx, c, enablePlugin, toPlugin[EnablePluginRequest]{id, EnablePluginRequest{enabled}})
}

// RemovePlugin removes a plugin.
func (c *Client) RemovePlugin(ctx context.Context, id string) (RemovedPlugin, error) {
	return call(ctx, c, removePlugin, pluginOf{id})
}
