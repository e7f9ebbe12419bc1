package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// source is the source of a release.
type source struct {
	root    string // absolute
	version string // v0.1.0
	commit  string
	time    time.Time // of the commit; every file has this time
	goes    string    // the Go release that go.mod names: go1.26.8
}

var isVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`) // semver.org, without a build

// complete asks git for what the flags did not say. If it asks git, it refuses a tree with
// uncommitted changes.
func (s *source) complete(ctx context.Context, when string) (err error) {
	if s.root, err = filepath.Abs(s.root); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(s.root, "go.mod"))
	if err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	m := regexp.MustCompile(`^module github\.com/locket-dev/locket\s+go (\S+)\n`).FindSubmatch(mod)
	if m == nil {
		return fmt.Errorf("--root: %s is not Locket's source", s.root)
	}
	s.goes = "go" + string(m[1])
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", s.root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if s.version == "" || s.commit == "" || when == "" {
		changes, err := git("status", "--porcelain")
		if err != nil {
			return errors.New("git does not know this source: give --version, --commit and --time")
		}
		if changes != "" {
			return errors.New("there are uncommitted changes: a release is made from a commit")
		}
	}
	for _, ask := range []struct {
		to   *string
		name string
		args []string
	}{
		{&s.version, "version", []string{"describe", "--tags", "--exact-match"}},
		{&s.commit, "commit", []string{"log", "-1", "--format=%H"}},
		{&when, "time", []string{"log", "-1", "--format=%cI"}},
	} {
		if *ask.to != "" {
			continue
		}
		if *ask.to, err = git(ask.args...); err != nil {
			return fmt.Errorf("git does not know the %s: give --%s", ask.name, ask.name)
		}
	}
	if !isVersion.MatchString(s.version) {
		return fmt.Errorf("--version: %q: want a version such as v0.1.0", s.version)
	}
	if s.time, err = time.Parse(time.RFC3339, when); err != nil {
		return fmt.Errorf("--time: %w", err)
	}
	s.time = s.time.UTC()
	return nil
}
