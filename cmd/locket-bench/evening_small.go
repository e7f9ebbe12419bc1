package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// group is a control group of the kernel with a bound of memory.
type group struct {
	dir         string
	limit, peak string // names of its files
	events      string
}

// openGroup makes one of so many MB. It takes root, or a delegated group.
func openGroup(mb int) (*group, error) {
	name := fmt.Sprintf("locket-bench-%d", os.Getpid())
	var errs []error
	for _, g := range []group{
		{"/sys/fs/cgroup/memory/" + name, "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"}, // version 1
		{"/sys/fs/cgroup/" + name, "memory.max", "memory.peak", "memory.events"},
	} {
		if err := os.Mkdir(g.dir, 0o755); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.Itoa(mb<<20)), 0); err != nil {
			errs = append(errs, err, g.close())
			continue
		}
		return &g, nil
	}
	return nil, fmt.Errorf("control group: %w", errors.Join(errs...))
}

func (g *group) close() error { return os.Remove(g.dir) }

// before is what goes before a command line, so that it runs in the group and, where
// taskset is there, on one processor.
func (g *group) before() []string {
	line := []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}
	if path, err := exec.LookPath("taskset"); err == nil {
		line = append(line, path, "-c", "0")
	}
	return line
}

// killed counts the processes that the kernel has killed for want of memory.
func (g *group) killed() (n int) {
	b, _ := os.ReadFile(filepath.Join(g.dir, g.events))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
			n, _ = strconv.Atoi(f[1])
		}
	}
	return n
}

// in runs a daemon of a home in a group, has do done with it, and says what it held
// at most.
func (b *eveningBench) in(ctx context.Context, name, home string, before []string, do func(*daemon) error) (out []result, err error) {
	g, err := openGroup(b.limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	d, err := b.start(ctx, home, append(before, g.before()...)...)
	if err == nil {
		began := time.Now()
		err = do(d)
		took := time.Since(began)
		note := fmt.Sprintf("in a group of %d MB and one processor, %.0f s; %s at the end", b.limit, took.Seconds(), d.residents())
		out = append(out, b.result(name, 1, residentOf(d.pid(), "VmHWM"), "MB", note))
		err = errors.Join(err, d.stop())
	}
	if n := g.killed(); n > 0 {
		err = errors.Join(err, fmt.Errorf("the kernel killed it for want of %d MB", b.limit))
	}
	if err != nil { // what it held until then is no figure of the whole
		return nil, err
	}
	return out, nil
}

// small replays a day in the group, asks, and forgets. The home has been started
// before, as a package's setup does, so that the extractors are compiled.
func (b *eveningBench) small(ctx context.Context) ([]result, error) {
	home, err := b.home(ctx, "small")
	if err != nil {
		return nil, err
	}
	if err := b.command(ctx, "--home", home, "list"); err != nil {
		return nil, err
	}
	return b.in(ctx, "rss_peak_128mb", home, nil, func(d *daemon) error {
		if err := b.command(ctx, "--home", home, "replay", "--generate", "7"); err != nil {
			return err
		}
		if _, err := d.client.Ask(ctx, serve.AskRequest{Question: "where did I park"}); err != nil {
			return err
		}
		return b.command(ctx, "--home", home, "forget", "--since", "2000-01-01", "--until", "2100-01-01", "--yes")
	})
}

// firstSync has a new device take what a relay has, in the group.
func (b *eveningBench) firstSync(ctx context.Context) (out []result, err error) {
	if b.memories == 0 {
		return nil, nil
	}
	dir := b.dir
	if dir == "" {
		dir = filepath.Join(b.homes, "house")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	h, phrase, err := filledHouse(ctx, dir, b.memories)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	home := filepath.Join(b.homes, "new")
	if err := recoverHome(ctx, b.locket, home, h.url, phrase, b.stderr); err != nil {
		return nil, err
	}
	if err := b.command(ctx, "--home", home, "list"); err != nil { // compiles the extractors
		return nil, err
	}
	t := tiersBench{memories: b.memories, stderr: b.stderr}
	settings := []string{"env", "LOCKET_PROFILE=wearable", "LOCKET_SYNC_RELAY=" + h.url}
	return b.in(ctx, "rss_peak_first_sync", home, settings, func(d *daemon) error { return t.settle(ctx, d) })
}
