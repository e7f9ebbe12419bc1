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

// The evening suite measures the locket program as it is an hour after installation: a daemon with
// its own home, and nothing else.

func runEvening(ctx context.Context, f *frame) (err error) {
	b := eveningBench{stderr: f.stderr, tell: func(r ...result) error { return f.print(r, nil) }}
	parts := f.String("parts", "empty,words,errors,voices,bytes,small", "which of `PARTS` to measure; also first, which takes --memories, and cold, which takes --cold")
	f.StringVar(&b.locket, "locket", "", "the `program` to measure; without, the one beside this one")
	f.IntVar(&b.said, "said", 40, "recordings whose words are looked for")
	f.IntVar(&b.events, "events", 2000, "events of which the bytes on disk are counted")
	f.IntVar(&b.limit, "memory", 128, "`MB` of the control group in which a day is replayed, with one processor")
	f.IntVar(&b.memories, "memories", 0, "of part first: a new device takes as many in that group")
	f.StringVar(&b.dir, "dir", "", "of part first: keep the relay with these memories in `DIR`, or take the one that is there")
	f.DurationVar(&b.idle, "idle", 3*time.Minute, "how long the idle daemon is watched")
	f.StringVar(&b.clips, "speech", "", "`folder` of WAV files for pocketsphinx's word error rate; without, the project's one")
	f.StringVar(&b.cold, "cold", "", "of part cold: the demo is built with no build cache from the repository in `DIR`, which takes minutes")
	if !f.parsed() || f.NArg() > 0 || b.said < 1 || b.events < 1 || b.limit < 64 || b.memories < 0 || b.idle < time.Second {
		return f.usage("--said and --events take 1 or more, --memory 64, --memories 0, --idle 1s")
	}
	asked := strings.Split(*parts, ",")
	for p, told := range map[string]bool{"first": b.memories > 0, "cold": b.cold != ""} { // older flags, from before there were parts
		if told && !slices.Contains(asked, p) {
			asked = append(asked, p)
		} else if !told && slices.Contains(asked, p) {
			return f.usage("part first takes --memories, part cold --cold")
		}
	}
	some := slices.DeleteFunc(b.all(), func(p part) bool { return !slices.Contains(asked, p.name) })
	if len(some) < len(asked) {
		return f.usage("--parts takes some of empty, words, errors, voices, bytes, small, first and cold")
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
	return b.parts(ctx, some)
}

type eveningBench struct {
	locket, dir, clips, cold, homes string
	said, events, limit, memories   int
	idle                            time.Duration
	stderr                          io.Writer
	tell                            func(...result) error // prints figures at once
}

// part is one part of the suite.
type part struct {
	name string
	do   func(context.Context) error
}

// all parts in the order in which they run.
func (b *eveningBench) all() []part {
	return []part{{"empty", b.empty}, {"words", b.words}, {"errors", b.wordErrors}, {"voices", b.whoSpoke},
		{"bytes", b.bytesWritten}, {"small", b.small}, {"first", b.firstSync}, {"cold", b.coldDemo}}
}

// parts measures some parts. One that fails does not keep the others from being measured.
func (b *eveningBench) parts(ctx context.Context, some []part) (err error) {
	for _, p := range some {
		if ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if failed := p.do(ctx); failed != nil {
			failed = fmt.Errorf("%s: %w", p.name, failed)
			fmt.Fprintln(b.stderr, failed) // the others may take half an hour
			err = errors.Join(err, failed)
		}
	}
	return err
}

// env returns the environment of a daemon on its own ports.
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

// start starts a daemon, with words before its command line.
func (b *eveningBench) start(ctx context.Context, home string, before ...string) (*daemon, error) {
	line := append(slices.Clone(before), b.locket, "--home", home, "run", "--json")
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Stderr = b.env(), b.stderr
	return launch(cmd, home)
}

func (b *eveningBench) result(name string, n int, value float64, unit, note string) result {
	return result{Suite: "evening", Case: name, N: n, Value: round(value), Unit: unit, Note: note}
}

// empty measures a home after its first start, the second start, and a daemon that gets no
// requests.
func (b *eveningBench) empty(ctx context.Context) (err error) {
	home, err := b.home(ctx, "empty")
	if err != nil {
		return err
	}
	took := [2]float64{}
	var d *daemon
	for i := range took {
		if d != nil {
			if err := d.stop(); err != nil {
				return err
			}
		}
		began := time.Now()
		if d, err = b.start(ctx, home); err != nil {
			return err
		}
		took[i] = time.Since(began).Seconds()
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	size, err := bytesIn(home)
	if err != nil {
		return err
	}
	err = b.tell(
		b.result("empty_home", 1, float64(size)/1e6, "MB", "as the disk counts it, while the daemon runs"),
		b.result("first_start", 1, took[0], "s", "which compiles the extractors"),
		b.result("start", 1, took[1], "s", ""))
	if err != nil {
		return err
	}
	if err := pause(ctx, time.Minute+10*time.Second); err != nil { // memory used at the start is freed by then
		return err
	}
	cpu, at := processorOf(d.pid()), time.Now()
	woken := switches(d.pid())
	if err := pause(ctx, b.idle); err != nil {
		return err
	}
	spent, of := processorOf(d.pid())-cpu, time.Since(at)
	hours := float64(time.Hour) / float64(of)
	return b.tell(
		b.result("idle_cpu_hour", 1, spent*hours, "s", fmt.Sprintf("extrapolated from %.2f s in %v", spent, of.Round(time.Second))),
		b.result("idle_wakeups_second", 1, float64(switches(d.pid())-woken)/of.Seconds(), "/s", "voluntary context switches of all threads"))
}

// wordErrors measures PocketSphinx's word error rate, as in the worker suite.
func (b *eveningBench) wordErrors(ctx context.Context) error {
	e := &speech.PocketSphinx{}
	if err := e.Find(); err != nil {
		return err
	}
	clips, _, err := recordings(b.clips)
	if err != nil {
		return err
	}
	all, err := wordErrorRate(ctx, e, clips)
	if err != nil {
		return err
	}
	all[0].Suite, all[0].Case = "evening", "wer_pocketsphinx"
	return b.tell(all[0])
}

// whoSpoke measures how well voices are told apart, as in the voices suite.
func (b *eveningBench) whoSpoke(context.Context) error {
	voices, err := recordedVoices()
	if err != nil {
		return err
	}
	return b.tell(diarised("evening", "", threePeople, voices)...)
}

// coldDemo measures the time from a checkout without a build cache to the end of the demo, with the
// settings of the task that runs it.
func (b *eveningBench) coldDemo(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/locket-demo")
	cmd.Dir, cmd.Env = b.cold, append(b.env(), "GOCACHE="+filepath.Join(b.homes, "cache"), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags=stdjson,gjson,nethttpomithttp2")
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out[max(0, len(out)-2000):])
	}
	return b.tell(b.result("cold_demo", 1, time.Since(began).Seconds(), "s", "without a build cache; the modules were there"))
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
