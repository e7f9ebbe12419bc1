// Package kit tests whether a plugin fulfils the contract of docs/wasm.md. Its author runs it, as
// locket plugin test, and so does anybody who examines a stranger's plugin.
//
// A case is an author's event, with the expected result. A check is one thing that every plugin has
// to get right. A record is an event with the answer that was given to it, which has to be repeated
// byte by byte.
package kit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// Options of a run. The zero value works.
type Options struct {
	// Cases are the author's own events.
	Cases []Case
	// Repeat is how often the plugin is called in a row to see whether its memory stops growing; 0:
	// 10,000, after which a host replaces an instance.
	Repeat int
	// Interpret makes wazero interpret even if it could compile.
	Interpret bool
	// Progress is called after each check. May be nil.
	Progress func(Check)
}

const defaultRepeat = 10_000

// Result of a check.
type Result string

// The results.
const (
	OK     Result = "ok"
	Failed Result = "failed"
	// Skipped: the check does not apply to this plugin.
	Skipped Result = "skipped"
)

// Check is the result of one check.
type Check struct {
	Name   string  `json:"name"`
	Result Result  `json:"result"`
	Detail string  `json:"detail"`           // what was observed
	Advice string  `json:"advice,omitempty"` // if it failed: what an author can do
	MS     float64 `json:"ms"`
}

// Report lists the checks. A plugin passes if no check failed.
type Report struct {
	ID      string      `json:"id"`
	Version string      `json:"version"`
	SHA256  string      `json:"sha256"` // hash of the module
	Bytes   int         `json:"bytes"`  // size of the module
	Engine  wasm.Engine `json:"engine"`
	Passed  bool        `json:"passed"`
	Checks  []Check     `json:"checks"`
	Peak    Peak        `json:"peak"`
}

// Peak is the most that a call used for a good event, with its limit.
type Peak struct {
	Fuel       Share `json:"fuel"`
	Memory     Share `json:"memory"` // bytes
	Output     Share `json:"output"` // bytes
	Candidates Share `json:"candidates"`
	Time       Share `json:"time_us"`
}

// Share is how much of a limit was used.
type Share struct {
	Used int64 `json:"used"`
	Of   int64 `json:"of"`
}

func (s *Share) most(v int64) { s.Used = max(s.Used, v) }

// run is one plugin under test.
type run struct {
	opt      Options
	module   []byte
	manifest wasm.Manifest
	events   []named // good events: the kit's and the author's
	answers  [][]byte
	cache    string // folder of machine code, for this run
	key      []byte // the key that seals it
	report   Report
}

// failure is a failed check, with advice.
type failure struct{ what, advice string }

func (f *failure) Error() string { return f.what }

func failf(advice, format string, a ...any) error { return &failure{fmt.Sprintf(format, a...), advice} }

// errSkip: the check does not apply to this plugin.
var errSkip = errors.New("skipped")

// checks, in their order. If one up to mustPass fails, the others make no sense.
var checks = []struct {
	name string
	run  func(*run, context.Context) (string, error)
}{
	{"loads", (*run).loads},
	{"good input", (*run).good},
	{"own cases", (*run).cases},
	{"empty and odd input", (*run).empty},
	{"largest input", (*run).largest},
	{"much to find", (*run).much},
	{"malformed input", (*run).malformed},
	{"input of a later version", (*run).later},
	{"foreign state", (*run).foreignState},
	{"deterministic", (*run).deterministic},
	{"two instances", (*run).twoInstances},
	{"out of fuel", (*run).outOfFuel},
	{"out of memory", (*run).outOfMemory},
	{"over its output size", (*run).overOutput},
	{"over its candidates", (*run).overCandidates},
	{"memory settles", (*run).settles},
}

const mustPass = 1

// Run tests a module under a manifest, as bundle.Open or wasm.ParseManifest returns it. The error
// is of ctx or of the machine; the plugin's faults are in the report.
func Run(ctx context.Context, module []byte, m wasm.Manifest, opt Options) (rep Report, err error) {
	if opt.Repeat <= 0 {
		opt.Repeat = defaultRepeat
	}
	cache, err := os.MkdirTemp("", "locket-kit-")
	if err != nil {
		return Report{}, fmt.Errorf("testing plugin: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	r := &run{opt: opt, module: module, manifest: m, cache: cache}
	r.report = Report{ID: m.ID, Version: m.Version, SHA256: hashOf(module), Bytes: len(module), Passed: true, Checks: []Check{}}
	for i, c := range checks {
		start := time.Now()
		detail, err := c.run(r, ctx)
		if ctx.Err() != nil {
			return r.report, ctx.Err()
		}
		check := Check{Name: c.name, Result: OK, Detail: detail, MS: float64(time.Since(start).Microseconds()) / 1000}
		var f *failure
		switch {
		case errors.Is(err, errSkip):
			check.Result = Skipped
		case errors.As(err, &f):
			check.Result, check.Detail, check.Advice = Failed, f.what, f.advice
		case err != nil:
			check.Result, check.Detail = Failed, err.Error()
		}
		r.report.Checks = append(r.report.Checks, check)
		r.report.Passed = r.report.Passed && check.Result != Failed
		if opt.Progress != nil {
			opt.Progress(check)
		}
		if i <= mustPass && check.Result == Failed {
			break
		}
	}
	return r.report, nil
}

func hashOf(module []byte) string { return fmt.Sprintf("%x", sha256.Sum256(module)) }

// with loads the plugin into a host of its own, and unloads it after f.
func (r *run) with(ctx context.Context, change func(*wasm.Limits), f func(h *wasm.Host, p *wasm.Plugin) error) (err error) {
	if r.key == nil {
		r.key = make([]byte, sha256.Size)
		rand.Read(r.key)
	}
	h, err := wasm.NewHost(ctx, wasm.Options{CacheDir: r.cache, CacheKey: r.key, Idle: -1, MaxFaults: 1 << 30, Interpret: r.opt.Interpret})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(context.WithoutCancel(ctx))) }()
	r.report.Engine = h.Engine()
	m := r.manifest
	if change != nil {
		change(&m.Limits)
	}
	p, err := h.Load(ctx, r.module, m)
	if err != nil {
		return err
	}
	return f(h, p)
}

// answer is a plugin's answer to an event.
type answer struct {
	b      []byte // for comparison: the output in CBOR, or the error's text
	failed bool   // an error of the plugin's own
	out    abi.Output
	wasm.Usage
}

// answer calls the plugin. Its own error is an answer, a fault is not.
func (r *run) answer(ctx context.Context, p *wasm.Plugin, e *abi.Event) (answer, error) {
	out, u, err := p.Extract(ctx, e)
	switch {
	case errors.Is(err, wasm.ErrPlugin):
		return answer{[]byte(err.Error()), true, out, u}, nil
	case err != nil:
		return answer{Usage: u}, err
	}
	return answer{abi.AppendOutput(nil, &out), false, out, u}, nil
}

// limits returns the manifest's limits, or the contract's for those that are not set.
func (r *run) limits() wasm.Limits { return r.manifest.Limits.OrDefault() }

func (r *run) loads(ctx context.Context) (detail string, err error) {
	if r.manifest.Publisher == "" && r.manifest.Title == "" {
		return "", failf("Say what the plugin does, in a few words: title = \"…\"", "plugin.toml has no title")
	}
	start := time.Now()
	err = r.with(ctx, nil, func(h *wasm.Host, p *wasm.Plugin) error {
		how := "compiled and started"
		if h.Engine() == wasm.Interpreter {
			how = "started, interpreted,"
		}
		detail = fmt.Sprintf("%s, %s in %d ms", kilo(len(r.module)), how, time.Since(start).Milliseconds())
		return nil
	})
	switch {
	case errors.Is(err, wasm.ErrImport):
		return "", failf("Ask for the capability in plugin.toml, or don't import it. There is no file, network or environment.", "%v", err)
	case errors.Is(err, wasm.ErrModule):
		return "", failf("The exports are memory, locket_abi, locket_alloc and locket_extract, as docs/wasm.md has them.", "%v", err)
	case err != nil:
		return "", failf("", "%v", err)
	}
	return detail, nil
}

// good calls the plugin with each good event, and keeps its answers for comparison.
func (r *run) good(ctx context.Context) (string, error) {
	r.events = goodEvents(&r.manifest)
	for _, c := range r.opt.Cases {
		if r.manifest.Takes(c.Event.Kind) {
			r.events = append(r.events, named{c.Name, c.Event})
		}
	}
	lim, peak := r.limits(), &r.report.Peak
	peak.Fuel.Of, peak.Memory.Of, peak.Output.Of = lim.Fuel, int64(lim.MemoryMiB)<<20, int64(lim.OutputKiB)<<10
	peak.Candidates.Of, peak.Time.Of = int64(lim.Candidates), lim.Time().Microseconds()
	found := 0
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for _, e := range r.events {
			a, err := r.answer(ctx, p, &e.event)
			if err != nil {
				return failf(faultAdvice(err), "%s: %v", e.name, err)
			}
			if len(a.Dropped) > 0 {
				return failf("The host leaves such a candidate out; docs/wasm.md says what is right.", "%s: %v", e.name, a.Dropped[0].Reason)
			}
			if a.failed {
				return failf("A good event is not an error; answer 0 if there is nothing to say.", "%s: %s", e.name, a.b)
			}
			r.answers = append(r.answers, a.b)
			found += len(a.out.Candidates)
			peak.Fuel.most(a.Fuel)
			peak.Memory.most(int64(a.Memory))
			peak.Output.most(int64(a.Out))
			peak.Candidates.most(int64(len(a.out.Candidates)))
			peak.Time.most(a.Time.Microseconds())
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events, %d candidates; at most %s of its fuel, %s of memory", len(r.events), found, percent(peak.Fuel), kilo(int(peak.Memory.Used))), nil
}

func percent(s Share) string {
	v := 100 * float64(s.Used) / float64(max(s.Of, 1))
	switch {
	case v < 0.1:
		return "under 0.1 %"
	case v < 10:
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", v)
}

// kilo formats a number of bytes for people.
func kilo(n int) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// faultAdvice says what an author can do about a fault.
func faultAdvice(err error) string {
	var f *wasm.Fault
	if !errors.As(err, &f) {
		return ""
	}
	switch f.Kind {
	case wasm.FaultFuel:
		return "Do less for each byte of input, or ask for more in plugin.toml: [limits] fuel = …, at most 2_000_000_000."
	case wasm.FaultMemory:
		return "Reuse buffers from call to call, or ask for more in plugin.toml: [limits] memory_mib = …, at most 64."
	case wasm.FaultStack:
		return "Recursion must not go as deep as the input says: use a loop."
	case wasm.FaultTime:
		return "A call of the host came long after the time limit: do less, or ask for more: [limits] time_ms = …, at most 2000."
	case wasm.FaultTrap:
		return "The plugin aborted: an index out of range, unreachable code, or a panic. Answer with an error instead."
	case wasm.FaultOutput:
		if at, ok := errors.AsType[*abi.Error](err); ok && at.Code == abi.CodeGrant {
			return "plugin.toml does not allow what stands at the place that is named: it takes a type in types, or a capability."
		}
		return "The host refused the answer at the place that is named. Lists and texts have limits: cut before you answer."
	}
	return ""
}
