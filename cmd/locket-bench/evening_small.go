package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// openMemoryGroup makes a control group with a limit in MB.
func openMemoryGroup(mb int) (group, error) {
	bytes := strconv.Itoa(mb << 20)
	return openGroup("memory", "memory", [2][]setting{{{"memory.limit_in_bytes", bytes}}, {{"memory.max", bytes}}})
}

// oneProcessor returns the words before a command line that make it run on one processor, if
// taskset exists.
func oneProcessor() []string {
	path, err := exec.LookPath("taskset")
	if err != nil {
		return nil
	}
	return []string{path, "-c", "0"}
}

// killed counts the processes of a group that the kernel has killed because memory ran out.
func (g group) killed() (n int) {
	for _, events := range []string{"memory.oom_control", "memory.events"} { // of versions 1 and 2: one is there
		b, _ := os.ReadFile(filepath.Join(string(g), events))
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
				n, _ = strconv.Atoi(f[1])
			}
		}
	}
	return n
}

// inMemoryGroup runs a daemon of a home in a group, calls do with it, and returns its largest memory: all
// resident memory, and the part of it that is not backed by files.
func (b *eveningBench) inMemoryGroup(ctx context.Context, name, home string, before []string, do func(*daemon) error) (err error) {
	g, err := openMemoryGroup(b.limit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	d, err := b.start(ctx, home, slices.Concat(before, g.before(), oneProcessor())...)
	var held []result
	if err == nil {
		began := time.Now()
		own := watchOwn(d.pid())
		err = do(d)
		took, most := time.Since(began).Seconds(), own()
		note := fmt.Sprintf("in a group of %d MB and one processor, %.0f s; %s at the end", b.limit, took, d.residents())
		held = []result{b.result(name, 1, residentOf(d.pid(), "VmHWM"), "MB", note),
			b.result(name+"_own", 1, most, "MB", fmt.Sprintf("without pages of files; looked at every %v", ownEvery))}
		err = errors.Join(err, d.stop())
		if n := g.killed(); n > 0 { // the memory until the kill does not measure the whole run
			err = errors.Join(err, fmt.Errorf("the kernel killed it after %.0f s for want of %d MB; %.0f were its own at most, looked at every %v", took, b.limit, most, ownEvery))
		}
	}
	if err != nil {
		return err
	}
	return b.tell(held...)
}

// ownEvery is how often watchOwn measures.
const ownEvery = 20 * time.Millisecond

// watchOwn measures the private memory of a process until the returned function is called, which
// returns the maximum in MB.
func watchOwn(pid string) (most func() float64) {
	ctx, stop := context.WithCancel(context.Background())
	seen := make(chan float64)
	go func() {
		mb := 0.0
		for pause(ctx, ownEvery) == nil {
			mb = max(mb, residentOf(pid, "RssAnon"))
		}
		seen <- mb
	}()
	return func() float64 { stop(); return <-seen }
}

// small replays a day in the group, asks, and forgets. The home has been started
// before, so that the extractors are compiled: a first start that compiles does not fit 128 MB.
func (b *eveningBench) small(ctx context.Context) error {
	home, err := b.home(ctx, "small")
	if err != nil {
		return err
	}
	if err := b.command(ctx, "--home", home, "list"); err != nil {
		return err
	}
	return b.inMemoryGroup(ctx, "rss_peak_128mb", home, nil, func(d *daemon) error {
		if err := b.command(ctx, "--home", home, "replay", "--generate", "7"); err != nil {
			return err
		}
		if _, err := d.client.Ask(ctx, serve.AskRequest{Question: "where did I park"}); err != nil {
			return err
		}
		return b.command(ctx, "--home", home, "forget", "--since", "2000-01-01", "--until", "2100-01-01", "--yes")
	})
}

// firstSync lets a new device fetch what a relay has, in the group.
func (b *eveningBench) firstSync(ctx context.Context) (err error) {
	dir := b.dir
	if dir == "" {
		dir = filepath.Join(b.homes, "house")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	h, phrase, err := filledHouse(ctx, dir, b.memories)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	home := filepath.Join(b.homes, "new")
	if err := recoverHome(ctx, b.locket, home, h.url, phrase, b.stderr); err != nil {
		return err
	}
	if err := b.command(ctx, "--home", home, "list"); err != nil { // compiles the extractors
		return err
	}
	t := tiersBench{memories: b.memories, stderr: b.stderr}
	settings := []string{"env", "LOCKET_PROFILE=wearable", "LOCKET_SYNC_RELAY=" + h.url}
	return b.inMemoryGroup(ctx, "rss_peak_first_sync", home, settings, func(d *daemon) error { return t.settle(ctx, d) })
}
