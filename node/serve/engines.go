package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrEngine: an engine could not be used. The message is for the wearer.
var ErrEngine = errors.New("engine")

// ErrMisheard is an ErrEngine: the engine's answer is far from what the sample says, and the request
// does not have anyway set.
var ErrMisheard = fmt.Errorf("%w", ErrEngine)

// Enginer manages the engines beside the node: ears, eyes and a mind.
type Enginer interface {
	// Engines returns the engines that the wearer has chosen, with their state.
	Engines(ctx context.Context) ([]Engine, error)
	// FoundEngines looks for engines of a kind on this machine: services at
	// their usual addresses, and programs. It sends none of the wearer's data.
	FoundEngines(ctx context.Context, kind string) ([]FoundEngine, error)
	// AddEngine tests an engine with a sample and uses it from then on. Errors:
	// memory.ErrInvalid; ErrConflict if consent is needed and missing, or if
	// the configuration names a mind; ErrEngine if the test failed, and
	// ErrMisheard.
	AddEngine(ctx context.Context, r AddEngineRequest) (Engine, error)
	// RemoveEngine removes engines, or returns memory.ErrNotFound.
	RemoveEngine(ctx context.Context, r RemoveEngineRequest) ([]Engine, error)
	// TryEngines tests each engine again with the sample.
	TryEngines(ctx context.Context) ([]Engine, error)
}

// EngineKinds are what engines are for.
var EngineKinds = []string{"ears", "eyes", "mind"}

// Engine is an engine that the wearer has chosen.
type Engine struct {
	Kind    string        `json:"kind"`
	Engine  string        `json:"engine"` // pocketsphinx, whisper.cpp, openai, wyoming, tesseract, vision or llm
	Name    string        `json:"name"`   // the name that stands in the source of what it produces
	URL     string        `json:"url,omitempty"`
	Model   string        `json:"model,omitempty"`
	Keyed   bool          `json:"keyed"`  // a key is sent to it
	Local   bool          `json:"local"`  // it is on this machine
	Config  bool          `json:"config"` // it is set in the configuration
	Added   time.Time     `json:"added,omitzero"`
	Consent time.Time     `json:"consent,omitzero"` // when the wearer consented; only for an engine that is not on this machine
	Sample  *EngineSample `json:"sample,omitempty"`

	Waiting int       `json:"waiting"`           // number of recordings, photos or lines that wait
	Parked  int       `json:"parked"`            // how many of Waiting are parked because the engine failed on them
	Held    int       `json:"held"`              // how many stay on this machine because they were near a secret
	Absent  int       `json:"absent"`            // how many have no file on this device
	Done    int       `json:"done"`              // how many are done since the node was unlocked
	Trouble string    `json:"trouble,omitempty"` // why they wait
	Retry   time.Time `json:"retry,omitzero"`    // when the next try is due
	Reasons []string  `json:"reasons"`           // the different reasons why some are parked
}

// EngineSample is the result of an engine's test.
type EngineSample struct {
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Words   int       `json:"words"`
	Seconds float64   `json:"seconds"`
	Factor  float64   `json:"factor,omitempty"` // for ears: seconds of work per second of sound
	Error   string    `json:"error,omitempty"`  // error of the last test, if it failed
	Said    string    `json:"said,omitempty"`   // what the sample says, if the answer is far from it
}

// EnginesAnswer lists engines.
type EnginesAnswer struct {
	Engines []Engine `json:"engines"`
}

// FoundEngine is an engine that could be chosen.
type FoundEngine struct {
	Kind    string `json:"kind"`
	Engine  string `json:"engine"`
	Name    string `json:"name"`
	Address string `json:"address"` // the address with which to add it
	Model   string `json:"model,omitempty"`
}

// FoundEnginesAnswer lists found engines, the best one first.
type FoundEnginesAnswer struct {
	Engines []FoundEngine `json:"engines"`
}

// AddEngineRequest chooses an engine.
type AddEngineRequest struct {
	Kind    string `json:"kind"`
	Address string `json:"address"`           // pocketsphinx, tesseract, http(s)://HOST:PORT, or tcp://HOST:PORT for Wyoming
	Model   string `json:"model,omitempty"`   // for a service with several models
	Key     Secret `json:"key,omitempty"`     // sent as a bearer token
	Consent bool   `json:"consent,omitempty"` // the wearer agrees that the engine is on another machine
	Anyway  bool   `json:"anyway,omitempty"`  // use it even if its answer is far from what the sample says
}

func (r *AddEngineRequest) check() error {
	if !slices.Contains(EngineKinds, r.Kind) {
		return kindInvalid.problem("kind", fmt.Sprintf("kind: %.20q: want %s", r.Kind, strings.Join(EngineKinds, ", ")))
	}
	if r.Address = strings.TrimSpace(r.Address); r.Address == "" {
		return kindInvalid.problem("address", "address: it is empty")
	}
	if strings.Contains(r.Address, "@") { // the message must not repeat a password
		return kindInvalid.problem("address", "address: it has a user name or a password in it")
	}
	return nil
}

// RemoveEngineRequest names engines of a kind: all, or those with this name or
// address.
type RemoveEngineRequest struct {
	Kind string `path:"kind" doc:"ears, eyes or mind"`
	Name string `query:"name" doc:"the engine, its name or its address; empty: all of this kind"`
}

type foundQuery struct {
	Kind string `query:"kind" enum:"ears,eyes,mind" doc:"kind of engine"`
}

func (q *foundQuery) check() error {
	if !slices.Contains(EngineKinds, q.Kind) {
		return kindInvalid.problem("kind", fmt.Sprintf("kind: %.20q: want %s", q.Kind, strings.Join(EngineKinds, ", ")))
	}
	return nil
}

var enginesTopic = topic[Enginer]{listEngines.untyped, foundEngines.untyped, addEngine.untyped, removeEngine.untyped, tryEngines.untyped}

var (
	listEngines = plainList[EnginesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/engines", id: "engines",
		summary: "List the engines (ears, eyes and mind) that the node uses, with their state", gives: "The engines",
	}, Enginer.Engines)

	foundEngines = fieldList[FoundEnginesAnswer, foundQuery](RightOwner, spec{
		method: "GET", path: "/v1/engines/found", id: "foundEngines",
		summary: "Find engines on this machine that could be added", gives: "The engines, best first",
		about: "Checks the usual loopback addresses and the installed programs. None of the wearer's data is sent.",
	}, Enginer.FoundEngines)

	addEngine = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/engines", id: "addEngine", made: true,
		summary: "Add an engine", gives: "The engine, with its answer to a sample",
		about: "The engine is first tested with a sample; if that fails, it is not added. Nor is it, without `anyway`, if its answer is far from what the sample says. It replaces the engine that did the same work. An engine on another machine needs consent.",
	}, Enginer.AddEngine)

	removeEngine = listRoute[EnginesAnswer](RightOwner, spec{
		method: "DELETE", path: "/v1/engines/{kind}", id: "removeEngine",
		summary: "Remove engines", gives: "The remaining engines",
	}, Enginer.RemoveEngine)

	tryEngines = plainList[EnginesAnswer](RightOwner, spec{
		method: "POST", path: "/v1/engines/try", id: "tryEngines",
		summary: "Test each engine with a sample again", gives: "The engines, each with its answer",
	}, Enginer.TryEngines)
)

// Engines returns the chosen engines.
func (c *Client) Engines(ctx context.Context) ([]Engine, error) {
	return items(ctx, c, listEngines, none{})
}

// FoundEngines returns the engines that could be chosen.
func (c *Client) FoundEngines(ctx context.Context, kind string) ([]FoundEngine, error) {
	return items(ctx, c, foundEngines, foundQuery{kind})
}

// AddEngine chooses an engine.
func (c *Client) AddEngine(ctx context.Context, r AddEngineRequest) (Engine, error) {
	return call(ctx, c, addEngine, r)
}

// RemoveEngine removes engines, and returns those that are left.
func (c *Client) RemoveEngine(ctx context.Context, r RemoveEngineRequest) ([]Engine, error) {
	return items(ctx, c, removeEngine, r)
}

// TryEngines tests each engine again.
func (c *Client) TryEngines(ctx context.Context) ([]Engine, error) {
	return items(ctx, c, tryEngines, none{})
}
