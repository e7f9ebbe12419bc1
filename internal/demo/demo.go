// Package demo replays a day through a broker and a node, and reports the
// result in plain words. It uses the same parts as the commands: configuration,
// node, and wearables over MQTT on TCP.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Options of a run.
type Options struct {
	JSON  bool   // one object a line instead of text
	Seed  uint64 // 0: the day of testdata/day; otherwise a generated one
	Home  string // it is kept; empty: a temporary one, which is removed at the end
	Cache string // for compiled plugins; empty: in the home
	Relay string // to sync with; empty: none
	// More is called before the verdict and can continue the story. It reports
	// faults with Stage.Wrong.
	More    func(context.Context, *Stage) error
	Version string
}

// ErrWrong: the day's result was wrong; the faults were printed.
var ErrWrong = errors.New("not everything came out as it should")

// Run plays the demo. It returns after everything that it printed has happened.
func Run(ctx context.Context, out io.Writer, opt Options) (err error) {
	d, err := theDay(opt.Seed)
	if err != nil {
		return err
	}
	home := opt.Home
	if home == "" {
		if home, err = os.MkdirTemp("", "locket-demo-"); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	}
	logs := new(logbook.Book)
	r := &run{day: d, say: teller{out: out, json: opt.JSON}, logs: logs, more: opt.More}
	cfg, err := config.Load(config.Sources{Flags: []config.Flag{
		{Key: "home", Value: home}, {Key: "wearer", Value: d.Wearer}, {Key: "zone", Value: d.Zone},
		{Key: "broker.listen", Value: "127.0.0.1:0"}, {Key: "disk.reserve", Value: "64MB"}}})
	if err != nil {
		return err
	}
	cfg.Sync.Relay = opt.Relay
	if _, err := node.Init(cfg.Config, node.InitOptions{KeyFile: true}); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n, err := node.Open(cfg.Config, node.Options{Log: log, Version: opt.Version, Cache: opt.Cache})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if _, err := n.UnlockAsConfigured(ctx); err != nil {
		return err
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	return r.run(ctx, n)
}

func theDay(seed uint64) (*day.Day, error) {
	if seed == 0 {
		return day.Fixed()
	}
	return day.Generate(seed)
}

// run is one running demo.
type run struct {
	day  *day.Day
	say  teller
	logs *logbook.Book
	more func(context.Context, *Stage) error
}

// Stage is a demo that has reached its evening.
type Stage struct {
	Day   *day.Day
	Node  *node.Node
	run   *run
	wrong []string
}

// Say prints one step, like the demo's own.
func (s *Stage) Say(name, heading string, v any, lines ...string) error {
	return s.run.say.step(name, heading, v, lines...)
}

// Wrong records a wrong result.
func (s *Stage) Wrong(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (r *run) run(ctx context.Context, n *node.Node) error {
	began := time.Now()
	if err := r.play(ctx, n); err != nil {
		return err
	}
	if err := n.UnlockVault(ctx, "", time.Now().Add(time.Minute)); err != nil {
		return err
	}
	res, err := gather(ctx, n, r.day)
	if err != nil {
		return err
	}
	res.Elsewhere = append(res.Elsewhere, day.Named{Where: "the log", Text: r.logs.String()})
	for _, step := range []func(context.Context, *node.Node) error{r.remembered, r.refused, r.secrets, r.questions, r.memory} {
		if err := step(ctx, n); err != nil {
			return err
		}
	}
	wrong := r.day.Check(res)
	if r.more != nil {
		s := &Stage{Day: r.day, Node: n, run: r}
		if err := r.more(ctx, s); err != nil {
			return err
		}
		wrong = append(wrong, s.wrong...)
	}
	return r.verdict(wrong, time.Since(began))
}

// play publishes the day as its wearables would, and waits until it is processed.
func (r *run) play(ctx context.Context, n *node.Node) error {
	passwords := map[string]string{}
	url := ""
	for _, name := range r.day.Devices() {
		c, err := n.AddDevice(ctx, name)
		if err != nil {
			return err
		}
		passwords[name], url = string(c.Password), c.Broker
	}
	events := slices.Collect(r.day.Events())
	began := time.Now()
	rep, err := player.Play(ctx, player.Config{URL: url, Password: func(d string) string { return passwords[d] }, Boot: 0}, events)
	if err != nil {
		return err
	}
	acked := time.Since(began)
	if err := n.WaitIdle(ctx); err != nil {
		return err
	}
	return r.arrived(rep, acked, time.Since(began))
}

func utterance(rec serve.ExportRecord) (u memory.Utterance, err error) {
	if err := json.Unmarshal(rec.Data, &u); err != nil {
		return u, fmt.Errorf("utterance: %w", err)
	}
	return u, nil
}
