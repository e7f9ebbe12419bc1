package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Tracer shows what plugins did, and replays events.
type Tracer interface {
	// PluginLogs returns the lines that a plugin logged last, oldest first.
	PluginLogs(ctx context.Context, id string) ([]string, error)
	// ReplayPlugin gives a plugin past events again, as far as they are stored.
	// The same candidates get the same ids, so nothing is stored twice.
	ReplayPlugin(ctx context.Context, r ReplayPluginRequest) (PluginReplayed, error)
	// TraceEvent returns how an event went through the plugins, or
	// memory.ErrNotFound if that is no longer stored.
	TraceEvent(ctx context.Context, id memory.EventID) (Trace, error)
}

// PluginLogsAnswer has lines that a plugin logged.
type PluginLogsAnswer struct {
	Lines []string `json:"lines"`
}

// ReplayPluginRequest says which plugin gets which events again.
type ReplayPluginRequest struct {
	ID    string    `json:"id"`
	Since time.Time `json:"since,omitzero"` // only events at or after this time
	Until time.Time `json:"until,omitzero"` // only events before this time
}

// PluginReplayed is the result of a replay.
type PluginReplayed struct {
	Events     int             `json:"events"`
	Candidates int             `json:"candidates"`
	Known      int             `json:"known"` // candidates that existed already
	Faults     int             `json:"faults"`
	Changes    []memory.Change `json:"changes"`
}

// Trace is how one event went through the plugins. It has no texts.
type Trace struct {
	Event    memory.EventID `json:"event"`
	Kind     string         `json:"kind"`
	At       time.Time      `json:"at"`
	Took     float64        `json:"ms"` // milliseconds in all plugins
	Steps    []TraceStep    `json:"steps"`
	Redacted int            `json:"redacted"`
}

// TraceStep is one call of a plugin.
type TraceStep struct {
	Plugin      string           `json:"plugin"`
	Version     string           `json:"version"`
	Given       string           `json:"given"` // kind of the event that it got
	Depth       int              `json:"depth"` // 0: the event itself; more: derived from it
	Fuel        int64            `json:"fuel"`
	Took        float64          `json:"ms"`
	MemoryBytes int              `json:"memory_bytes"`
	InBytes     int              `json:"in_bytes"`
	OutBytes    int              `json:"out_bytes"`
	Late        bool             `json:"late,omitempty"`
	Fault       string           `json:"fault,omitempty"`
	Candidates  []TraceCandidate `json:"candidates"`
	Annotations []string         `json:"annotations,omitempty"` // kinds of its annotations
	Redactions  int              `json:"redactions,omitempty"`
	Derived     int              `json:"derived,omitempty"`
	Refusals    int              `json:"refusals,omitempty"`
	StateBytes  int              `json:"state_bytes,omitempty"`
	Read        []string         `json:"read,omitempty"` // ids of memories that the plugin was shown
}

// TraceCandidate is what happened to a candidate.
type TraceCandidate struct {
	Type    string         `json:"type"`
	Memory  memory.ID      `json:"memory,omitzero"`
	Verdict memory.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
}

type traceOf struct {
	Event string `path:"event" doc:"DEVICE/BOOT/SEQ, with each slash as %2F"`
}

var tracesTopic = topic[Tracer]{pluginLogs.untyped, replayPlugin.untyped, traceEvent.untyped}

var (
	pluginLogs = fieldList[PluginLogsAnswer, pluginOf](RightOwner, spec{
		method: "GET", path: "/v1/plugins/{plugin}/logs", id: "pluginLogs",
		summary: "Get the last log lines of an extractor", gives: "The lines, oldest first",
	}, Tracer.PluginLogs)

	replayPlugin = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/replay", id: "replayPlugin",
		summary: "Replay past events to an extractor", gives: "The result",
	}, Tracer.ReplayPlugin)

	traceEvent = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/trace/{event}", id: "traceEvent",
		summary: "Trace an event through the extractors", gives: "Each call of an extractor, without texts",
	}, func(s Tracer, ctx context.Context, in traceOf) (Trace, error) {
		id, err := memory.ParseEventID(in.Event)
		if err != nil {
			return Trace{}, kindInvalid.problem("event", "event: want DEVICE/BOOT/SEQ, as 'locket why' prints it")
		}
		t, err := s.TraceEvent(ctx, id)
		for i := range t.Steps {
			t.Steps[i].Candidates = NonNil(t.Steps[i].Candidates)
		}
		return t, err
	})
)

// PluginLogs returns what a plugin logged.
func (c *Client) PluginLogs(ctx context.Context, id string) ([]string, error) {
	return items(ctx, c, pluginLogs, pluginOf{id})
}

// ReplayPlugin gives a plugin past events again.
func (c *Client) ReplayPlugin(ctx context.Context, r ReplayPluginRequest) (PluginReplayed, error) {
	return call(ctx, c, replayPlugin, r)
}

// TraceEvent returns what each plugin did with an event.
func (c *Client) TraceEvent(ctx context.Context, event string) (Trace, error) {
	return call(ctx, c, traceEvent, traceOf{event})
}
