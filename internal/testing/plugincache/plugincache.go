// Package plugincache gives tests a folder of compiled plugins to share. Compiling
// them takes seconds, and ten times as long under the race detector.
package plugincache

import (
	"errors"
	"fmt"
	"os"
)

// Env names the folder to the tests of all packages, and to the processes that they start. If it is
// not set, the tests of each package have a folder of their own.
const Env = "TEST_PLUGIN_CACHE"

// Open returns the folder, and makes it known to child processes. done removes what Open created.
func Open() (dir string, done func() error, err error) {
	if dir := os.Getenv(Env); dir != "" {
		return dir, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "locket-plugins-"); err != nil {
		return "", nil, err
	}
	done = func() error {
		err := os.Remove(dir + ".key")
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return errors.Join(os.RemoveAll(dir), err)
	}
	return dir, done, os.Setenv(Env, dir)
}

// Run calls run with the folder, and exits with its code, or with 1 after an error. It is for
// TestMain.
func Run(run func(dir string) (code int, err error)) {
	dir, done, err := Open()
	code := 1
	if err == nil {
		code, err = run(dir)
		err = errors.Join(err, done())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}
