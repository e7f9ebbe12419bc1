package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// group is a control group of the kernel, named by its folder.
type group string

// setting is a value to write to a file of a group.
type setting struct{ file, value string }

// openGroup makes a group with a limit. The kernel has version 1 of control groups, where each
// controller has its own tree, or version 2. The first settings are for version 1. This needs root,
// or a delegated group.
func openGroup(controller, name string, settings [2][]setting) (group, error) {
	name = fmt.Sprintf("locket-bench-%d-%s", os.Getpid(), name)
	var errs []error
	for i, dir := range []string{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup"} {
		g := group(filepath.Join(dir, name))
		if err := os.Mkdir(string(g), 0o755); err != nil {
			errs = append(errs, err)
			continue
		}
		var err error
		for _, s := range settings[i] {
			err = errors.Join(err, os.WriteFile(filepath.Join(string(g), s.file), []byte(s.value), 0))
		}
		if err == nil {
			return g, nil
		}
		errs = append(errs, err, g.close())
	}
	return "", fmt.Errorf("control group: %w", errors.Join(errs...))
}

func (g group) close() error { return os.Remove(string(g)) }

// before returns the words before a command line that make it run in the group.
func (g group) before() []string {
	return []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(string(g), "cgroup.procs")}
}
