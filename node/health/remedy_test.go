package health

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// syncs is a node whose sync has trouble.
type syncs struct {
	status serve.SyncStatus
	relays []serve.Relay
}

func (s syncs) SyncStatus(context.Context) (serve.SyncStatus, error) { return s.status, nil }
func (s syncs) Relays(context.Context) ([]serve.Relay, error)        { return s.relays, nil }

// Another round helps only after a round that failed. A fork, and what was set aside, have to be
// looked at.
func TestRemediesOfSync(t *testing.T) {
	for name, c := range map[string]struct {
		of   syncs
		want string
	}{
		"a round failed":           {syncs{relays: []serve.Relay{{URL: "r", Error: "refused"}}}, "locket sync --now syncNow"},
		"a fork":                   {syncs{relays: []serve.Relay{{URL: "r", Trouble: []string{"r: fork"}}}}, "locket relay list "},
		"a round failed by a fork": {syncs{relays: []serve.Relay{{URL: "r", Error: "fork", Trouble: []string{"r: fork"}}}}, "locket relay list , locket relay list "},
		"set aside":                {syncs{status: serve.SyncStatus{Relay: "r", Error: "refused", Problems: make([]serve.SyncProblem, 1)}}, "locket sync --now syncNow, locket sync "},
		"put out":                  {syncs{status: serve.SyncStatus{Relay: "r", Removed: true}}, "locket pair --join "},
	} {
		got := ""
		var f serve.Finding
		say := func() {
			if f.Command != "" {
				if got != "" {
					got += ", "
				}
				got += f.Command + " " + f.Does
			}
			f = serve.Finding{}
		}
		err := Checks{sync: c.of}.doctorSync(t.Context(), func(check, level, advice, format string, args ...any) *serve.Finding {
			say()
			f = serve.Finding{Check: check, Level: level, Advice: advice, Detail: fmt.Sprintf(format, args...)}
			return &f
		})
		if say(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// Ears are suggested with the command that adds them, even if nothing is wrong.
func TestRemedyOfRecordings(t *testing.T) {
	locked := opened.From(func() (*Health, *opened.Life, func(), error) { return nil, nil, nil, memory.ErrLocked })
	ch := NewChecks(locked, &config.Config{Home: t.TempDir()}, func(context.Context) (s serve.Status, err error) {
		s.Journal.Transcribe = 3
		return s, nil
	}, syncs{})
	r, err := ch.Doctor(t.Context(), false)
	i := slices.IndexFunc(r.Findings, func(f serve.Finding) bool { return f.Check == "recordings" })
	if err != nil || i < 0 || r.Findings[i].Command != "locket engine add ears auto" || r.Findings[i].Does != "" {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}

// An installed plugin that faults disabled stays disabled after a restart, so the advice is to
// enable it.
func TestRemedyOfAFaultyPlugin(t *testing.T) {
	locked := opened.From(func() (*Health, *opened.Life, func(), error) { return nil, nil, nil, memory.ErrLocked })
	ch := NewChecks(locked, &config.Config{Home: t.TempDir()}, func(context.Context) (s serve.Status, err error) {
		s.Plugins = []serve.PluginStatus{{Name: "ann/parking", Faults: 3}}
		return s, nil
	}, syncs{})
	r, err := ch.Doctor(t.Context(), false)
	i := slices.IndexFunc(r.Findings, func(f serve.Finding) bool { return f.Check == "plugin ann/parking" })
	if err != nil || i < 0 || r.Findings[i].Command != "locket plugin enable ann/parking" || r.Findings[i].Does != "enablePlugin" || strings.Contains(r.Findings[i].Advice, "restart") {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}
