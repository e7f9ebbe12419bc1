package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// record is one event and its answer, in a file NAME.json. Event and Answer are CBOR as in
// docs/wasm.md; a plugin's own error is stored as text.
type record struct {
	Name   string `json:"name"`
	Plugin string `json:"plugin"`
	Module string `json:"module"` // SHA-256
	Event  []byte `json:"event"`
	Answer []byte `json:"answer"`
	Error  string `json:"error,omitempty"`
	Fuel   int64  `json:"fuel"`
	Rules  int    `json:"fuel_rules"` // the version of how fuel is counted
}

// Record writes the plugin's answers to each good event and case into dir, a file each, and returns
// their number.
func Record(ctx context.Context, module []byte, m wasm.Manifest, opt Options, dir string) (int, error) {
	r := &run{opt: opt, module: module, manifest: m}
	r.events = goodEvents(&m)
	for _, c := range opt.Cases {
		if m.Takes(c.Event.Kind) {
			r.events = append(r.events, named{"case " + c.Name, c.Event})
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, fmt.Errorf("recording: %w", err)
	}
	if old, err := filepath.Glob(filepath.Join(dir, "*.json")); err != nil || len(old) > 0 {
		return 0, errors.Join(err, fmt.Errorf("recording: %s holds records already", dir))
	}
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := range r.events {
			rec := record{Name: r.events[i].name, Plugin: m.ID + " " + m.Version, Module: hashOf(module), Event: abi.AppendEvent(nil, &r.events[i].event), Rules: wasm.FuelRules}
			if err := rec.answer(ctx, p, &r.events[i].event); err != nil {
				return fmt.Errorf("recording %s: %w", rec.Name, err)
			}
			b, err := json.MarshalIndent(rec, "", "  ")
			if err != nil {
				return fmt.Errorf("recording: %w", err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.json", i+1)), append(b, '\n'), 0o644); err != nil {
				return fmt.Errorf("recording: %w", err)
			}
		}
		return nil
	})
	return len(r.events), err
}

// answer records the plugin's answer to e.
func (rec *record) answer(ctx context.Context, p *wasm.Plugin, e *abi.Event) error {
	out, u, err := p.Extract(ctx, e)
	switch {
	case errors.Is(err, wasm.ErrPlugin):
		rec.Error = err.Error()
	case err != nil:
		return err
	default:
		rec.Answer = abi.AppendOutput(nil, &out)
	}
	rec.Fuel = u.Fuel
	return nil
}

// Replayed is the result of replaying records.
type Replayed struct {
	Records int          `json:"records"`
	Differ  []Difference `json:"differ"`
}

// Difference is a record whose answer was not repeated.
type Difference struct {
	File string `json:"file"`
	Name string `json:"name"`
	What string `json:"what"`
}

// Replay passes each recorded event to the plugin again, and compares byte by byte. The fuel has to
// be the same, too, if module and rules are. An unreadable record is an error.
func Replay(ctx context.Context, module []byte, m wasm.Manifest, opt Options, dir string) (Replayed, error) {
	rep := Replayed{Differ: []Difference{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return rep, errors.Join(err, fmt.Errorf("replaying: %s holds no records", dir))
	}
	slices.Sort(files)
	r := &run{opt: opt, module: module, manifest: m}
	err = r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return fmt.Errorf("replaying: %w", err)
			}
			var was record
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields()
			if err := d.Decode(&was); err != nil {
				return fmt.Errorf("replaying %s: %w", f, err)
			}
			var e abi.Event
			if err := abi.DecodeEvent(was.Event, &e); err != nil {
				return fmt.Errorf("replaying %s: %w", f, err)
			}
			rep.Records++
			var now record
			err = now.answer(ctx, p, &e)
			if what := was.differs(&now, err, was.Module == hashOf(module) && was.Rules == wasm.FuelRules); what != "" {
				rep.Differ = append(rep.Differ, Difference{filepath.Base(f), was.Name, what})
			}
		}
		return nil
	})
	return rep, err
}

func (was *record) differs(now *record, err error, sameFuel bool) string {
	switch {
	case err != nil:
		return err.Error()
	case was.Error != now.Error:
		return fmt.Sprintf("was %s, is %s", orAnswer(was.Error), orAnswer(now.Error))
	case !bytes.Equal(was.Answer, now.Answer):
		return firstDifference(was.Answer, now.Answer)
	case sameFuel && was.Fuel != now.Fuel:
		return fmt.Sprintf("the same answer for another price: %d units of fuel, now %d", was.Fuel, now.Fuel)
	}
	return ""
}

func orAnswer(err string) string {
	if err == "" {
		return "an answer"
	}
	return "the error " + fmt.Sprintf("%q", err)
}

// firstDifference names the first candidate that differs, or else the first byte.
func firstDifference(was, now []byte) string {
	var a, b abi.Output
	if abi.DecodeOutput(was, abi.Limits{}, &a) == nil && abi.DecodeOutput(now, abi.Limits{}, &b) == nil {
		if len(a.Candidates) != len(b.Candidates) {
			return fmt.Sprintf("%d candidates, now %d", len(a.Candidates), len(b.Candidates))
		}
		for i := range a.Candidates {
			if a.Candidates[i].Text != b.Candidates[i].Text {
				return fmt.Sprintf("candidate %d: %q, now %q", i+1, a.Candidates[i].Text, b.Candidates[i].Text)
			}
		}
	}
	at := 0
	for at < min(len(was), len(now)) && was[at] == now[at] {
		at++
	}
	return fmt.Sprintf("answers of %d and %d bytes differ from byte %d on", len(was), len(now), at)
}
