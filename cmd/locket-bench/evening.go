package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine/speech"
)

// The evening suite measures the locket program as somebody has it who installed it
// an hour ago: a daemon with a home of its own, and nothing else.

func runEvening(ctx context.Context, f *frame) (err error) {
	b := eveningBench{stderr: f.stderr}
	f.StringVar(&b.locket, "locket", "", "the `program` to measure; without, the one beside this one")
	f.IntVar(&b.said, "said", 40, "recordings whose words are looked for")
	f.IntVar(&b.events, "events", 2000, "events of which the bytes on disk are counted")
	f.IntVar(&b.limit, "memory", 128, "`MB` of the control group in which a day is replayed, with one processor")
	f.IntVar(&b.memories, "memories", 0, "have a new device take as many memories in that group too; 0: none")
	f.StringVar(&b.dir, "dir", "", "keep the relay with these memories in `DIR`, or take the one that is there")
	f.DurationVar(&b.idle, "idle", 3*time.Minute, "how long the idle daemon is watched")
	f.StringVar(&b.clips, "speech", "", "`folder` of WAV files for pocketsphinx's word error rate; without, the project's one")
	f.StringVar(&b.cold, "cold", "", "also the demo with no build cache, from the repository in `DIR`: minutes")
	if !f.parsed() || f.NArg() > 0 || b.said < 1 || b.events < 1 || b.limit < 64 || b.memories < 0 || b.idle < time.Second {
		return f.usage("--said and --events take 1 or more, --memory 64, --memories 0, --idle 1s")
	}
	if b.locket == "" {
		if b.locket, err = besideThis("locket"); err != nil {
			return err
		}
	}
	if b.homes, err = os.MkdirTemp("", "locket-bench-evening-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.homes)) }()
	// Who spoke (diarisation_error, beside one_speaker) belongs here as another part.
	var results []result
	for _, part := range []func(context.Context) ([]result, error){b.empty, b.words, b.wordErrors, b.bytesWritten, b.small, b.firstSync, b.coldDemo} {
		r, failed := part(ctx)
		results, err = append(results, r...), errors.Join(err, failed)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(err, f.print(results, nil)) // a part that failed does not take the others' figures along
}

type eveningBench struct {
	locket, dir, clips, cold, homes string
	said, events, limit, memories   int
	idle                            time.Duration
	stderr                          io.Writer
}

// env of a daemon on ports of its own.
func (b *eveningBench) env() []string {
	return append(os.Environ(), "LOCKET_BROKER_LISTEN=127.0.0.1:0", "LOCKET_ZONE=UTC")
}

// home makes one.
func (b *eveningBench) home(ctx context.Context, name string) (string, error) {
	home := filepath.Join(b.homes, name)
	return home, b.command(ctx, "--home", home, "init", "--key-file", "--no-check")
}

// command runs the program.
func (b *eveningBench) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, b.locket, args...)
	cmd.Env = b.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// start has a daemon run, with words before its command line.
func (b *eveningBench) start(ctx context.Context, home string, before ...string) (*daemon, error) {
	line := append(slices.Clone(before), b.locket, "--home", home, "run", "--json")
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Stderr = b.env(), b.stderr
	return launch(cmd, home)
}

func (b *eveningBench) result(name string, n int, value float64, unit, note string) result {
	return result{Suite: "evening", Case: name, N: n, Value: round(value), Unit: unit, Note: note}
}

// empty measures a home that has seen one start, the start after it, and a daemon
// that nobody asks anything.
func (b *eveningBench) empty(ctx context.Context) (out []result, err error) {
	home, err := b.home(ctx, "empty")
	if err != nil {
		return nil, err
	}
	took := [2]float64{}
	var d *daemon
	for i := range took {
		if d != nil {
			if err := d.stop(); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		if d, err = b.start(ctx, home); err != nil {
			return nil, err
		}
		took[i] = time.Since(began).Seconds()
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	size, err := bytesIn(home)
	if err != nil {
		return nil, err
	}
	out = append(out,
		b.result("empty_home", 1, float64(size)/1e6, "MB", "as the disk counts it, while the daemon runs"),
		b.result("first_start", 1, took[0], "s", "which compiles the extractors"),
		b.result("start", 1, took[1], "s", ""))
	if err := pause(ctx, time.Minute+10*time.Second); err != nil { // what it was started with is put away
		return nil, err
	}
	cpu, at := processorOf(d.pid()), time.Now()
	woken := switches(d.pid())
	if err := pause(ctx, b.idle); err != nil {
		return nil, err
	}
	spent, of := processorOf(d.pid())-cpu, time.Since(at)
	hours := float64(time.Hour) / float64(of)
	return append(out,
		b.result("idle_cpu_hour", 1, spent*hours, "s", fmt.Sprintf("extrapolated from %.2f s in %v", spent, of.Round(time.Second))),
		b.result("idle_wakeups_second", 1, float64(switches(d.pid())-woken)/of.Seconds(), "/s", "voluntary context switches of all threads")), nil
}

// wordErrors is PocketSphinx's word error rate, as the worker suite measures it.
func (b *eveningBench) wordErrors(ctx context.Context) ([]result, error) {
	e := &speech.PocketSphinx{}
	if err := e.Find(); err != nil {
		return nil, err
	}
	clips, _, err := recordings(b.clips)
	if err != nil {
		return nil, err
	}
	all, err := wordErrorRate(ctx, e, clips)
	if err != nil {
		return nil, err
	}
	all[0].Suite, all[0].Case = "evening", "wer_pocketsphinx"
	return all[:1], nil
}

// coldDemo is the time from a checkout without a build cache to the demo's end.
func (b *eveningBench) coldDemo(ctx context.Context) ([]result, error) {
	if b.cold == "" {
		return nil, nil
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/locket-demo")
	cmd.Dir, cmd.Env = b.cold, append(b.env(), "GOCACHE="+filepath.Join(b.homes, "cache"))
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out[max(0, len(out)-2000):])
	}
	return []result{b.result("cold_demo", 1, time.Since(began).Seconds(), "s", "without a build cache; the modules were there")}, nil
}

// switches counts how often the threads of a process gave up a processor to wait.
func switches(pid string) (n int) {
	files, _ := filepath.Glob("/proc/" + pid + "/task/*/status")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for line := range strings.Lines(string(b)) {
			var v int
			if _, err := fmt.Sscanf(line, "voluntary_ctxt_switches: %d", &v); err == nil {
				n += v
			}
		}
	}
	return n
}
