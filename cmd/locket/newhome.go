package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
)

// The names within a home that is being made.
const (
	stagingDir  = "setup.new" // where it is made, until its words are checked
	stagingLock = "lock"
	homeKeys    = "keys" // with which it is a home
)

// newHome is a home that is made in a folder of its own, within the one where it
// will be. A process that dies leaves that folder, which the next setup clears.
type newHome struct {
	home    string
	lock    *filelock.Lock // on the folder
	written string         // the settings, as they will be called; empty: none
	phrase  string
}

func (h *newHome) staging() string { return filepath.Join(h.home, stagingDir) }

// prepareHome makes a home that is kept or discarded afterwards: errHomeExists,
// memory.ErrInUse where another setup is at work.
func (a *app) prepareHome(l *config.Loaded, passphraseFile string, o *initOptions) (_ *newHome, err error) {
	if _, err := os.Stat(filepath.Join(l.Home, homeKeys)); err == nil {
		return nil, fmt.Errorf("%w: %s", errHomeExists, l.Home)
	}
	h := &newHome{home: l.Home}
	if err := atomicfile.MkdirAll(h.staging()); err != nil {
		return nil, fmt.Errorf("make home: %w", err)
	}
	if h.lock, err = filelock.Take(filepath.Join(h.staging(), stagingLock)); err != nil {
		return nil, fmt.Errorf("another setup makes this home: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.discard())
		}
	}()
	if err := h.clear(); err != nil {
		return nil, err
	}
	staged := *l
	staged.Home = h.staging()
	if h.phrase, err = a.initHome(staged.Config, *o); err != nil {
		return nil, err
	}
	settings := filepath.Join(l.Home, config.FileName)
	if _, err := os.Stat(settings); errors.Is(err, os.ErrNotExist) {
		if h.written, err = a.writeSettings(&staged, passphraseFile, o); err != nil {
			return nil, err
		}
		if h.written != "" {
			h.written = settings
		}
	}
	return h, nil
}

// clear removes what is in the folder, but for the lock.
func (h *newHome) clear() error {
	err := node.Discard(h.staging())
	names, e := h.entries()
	err = errors.Join(err, e)
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(h.staging(), name)))
	}
	return err
}

func (h *newHome) entries() (names []string, err error) {
	list, err := os.ReadDir(h.staging())
	for _, e := range list {
		if e.Name() != stagingLock {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// keep puts the home in its place. The keys go last: without them there is no home.
func (h *newHome) keep() error {
	names, err := h.entries()
	if err != nil {
		return err
	}
	move := func(name string) error {
		return os.Rename(filepath.Join(h.staging(), name), filepath.Join(h.home, name))
	}
	for _, name := range names {
		if name == homeKeys {
			continue
		}
		if err := move(name); err != nil {
			return err
		}
	}
	if err := atomicfile.SyncDir(h.home); err != nil {
		return err
	}
	if err := move(homeKeys); err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(h.home), h.leave())
}

// discard removes the home that was made, and its folder where that has nothing else.
// It is safe to call twice.
func (h *newHome) discard() error {
	if h.lock == nil {
		return nil
	}
	err := errors.Join(h.clear(), h.leave())
	_ = os.Remove(h.home) // it may have other files
	return err
}

func (h *newHome) leave() error {
	if h.lock == nil {
		return nil
	}
	lock := h.lock
	h.lock, h.phrase = nil, ""
	// Windows removes no file that is open.
	return errors.Join(lock.Release(), os.RemoveAll(h.staging()))
}

// words are those of the phrase.
func (h *newHome) words() []string { return strings.Fields(h.phrase) }
