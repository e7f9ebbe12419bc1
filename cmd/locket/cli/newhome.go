package cli

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

// The names inside a home that is being made.
const (
	stagingDir  = "setup.new" // where it is made until its words are checked
	stagingLock = "lock"
	homeKeys    = "keys" // a folder that has these is a home
)

// NewHome is a home that is made in a temporary folder inside its final one. A process that dies
// leaves that folder behind, and the next setup clears it.
type NewHome struct {
	home    string
	lock    *filelock.Lock // on the folder
	Written string         // the final path of the settings; empty if there are none
	Phrase  string
}

func (h *NewHome) staging() string { return filepath.Join(h.home, stagingDir) }

// PrepareHome makes a home that the caller keeps or discards afterwards. It fails with
// ErrHomeExists, or with memory.ErrInUse if another setup is running.
func (a *App) PrepareHome(l *config.Loaded, passphraseFile string, o *InitOptions) (_ *NewHome, err error) {
	if _, err := os.Stat(filepath.Join(l.Home, homeKeys)); err == nil {
		return nil, fmt.Errorf("%w: %s", ErrHomeExists, l.Home)
	}
	h := &NewHome{home: l.Home}
	if err := atomicfile.MkdirAll(h.staging()); err != nil {
		return nil, fmt.Errorf("make home: %w", err)
	}
	if h.lock, err = filelock.Take(filepath.Join(h.staging(), stagingLock)); err != nil {
		return nil, fmt.Errorf("another setup is making this home: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Discard())
		}
	}()
	if err := h.clear(); err != nil {
		return nil, err
	}
	staged := *l
	staged.Home = h.staging()
	if h.Phrase, err = a.InitHome(staged.Config, *o); err != nil {
		return nil, err
	}
	settings := filepath.Join(l.Home, config.FileName)
	if h.Written, err = a.WriteSettings(&staged, settings, passphraseFile, o); err != nil {
		return nil, err
	}
	if h.Written != "" {
		h.Written = settings
	}
	return h, nil
}

// clear removes everything in the folder except the lock.
func (h *NewHome) clear() error {
	err := node.Discard(h.staging())
	names, e := h.entries()
	err = errors.Join(err, e)
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(h.staging(), name)))
	}
	return err
}

func (h *NewHome) entries() (names []string, err error) {
	list, err := os.ReadDir(h.staging())
	for _, e := range list {
		if e.Name() != stagingLock {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Keep moves the home to its place. It moves the keys last: without them there is no home.
func (h *NewHome) Keep() error {
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

// Discard removes the home that was made, and its folder if nothing else is in it. It is safe to
// call twice.
func (h *NewHome) Discard() error {
	if h.lock == nil {
		return nil
	}
	err := errors.Join(h.clear(), h.leave())
	_ = os.Remove(h.home) // it may have other files
	return err
}

func (h *NewHome) leave() error {
	if h.lock == nil {
		return nil
	}
	lock := h.lock
	h.lock, h.Phrase = nil, ""
	// Windows does not remove a file that is open.
	return errors.Join(lock.Release(), os.RemoveAll(h.staging()))
}

// Words returns the words of the phrase.
func (h *NewHome) Words() []string { return strings.Fields(h.Phrase) }
