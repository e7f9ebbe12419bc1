// Package installed stores the plugins of a home, as files and a record of them. It
// runs nothing.
//
//	plugins/
//	  pins.json            whose key may publish what (package trust); outlasts a removal
//	  installed.json       the record: what is installed, and what the wearer agreed to
//	                       Both are sealed under a key of the open home, the record
//	                       names all else by its hash: what somebody put there or
//	                       changed is found.
//	  FOLDER/              of one version of one plugin, named by its content:
//	    plugin.toml        the manifest, as it was signed
//	    plugin.sig         the signature; not there where nobody signed
//	    module.wasm
//	  NAME.wasm, NAME.toml put there by hand, by somebody who writes a plugin
//
// A version's files are on disk before the record names them, and the record
// is replaced whole: after a crash a plugin is there in its old or its new
// version, or not at all. What the record doesn't name is removed.
package installed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

// Entry is a plugin's entry in the record.
type Entry struct {
	ID        string            `json:"id"`
	Folder    string            `json:"folder"` // below the plugins folder
	Manifest  string            `json:"manifest_sha256"`
	Module    string            `json:"module_sha256"`
	Publisher string            `json:"publisher,omitempty"` // the pinned key; empty: not signed
	Agreed    []string          `json:"agreed"`              // capabilities that the wearer agreed to, see trust.Asks
	Settings  map[string]string `json:"settings,omitempty"`
	Installed time.Time         `json:"installed"`
	Off       bool              `json:"off,omitempty"`     // the wearer turned it off
	Faulted   bool              `json:"faulted,omitempty"` // three faults in a row turned it off
}

const (
	recordFile    = "installed.json"
	manifestFile  = "plugin.toml"
	signatureFile = "plugin.sig"
	moduleFile    = "module.wasm"
	pinsFile      = "pins.json"
)

// Folder is the plugins folder of a home. Safe for concurrent use.
type Folder struct {
	dir string
	key atomicfile.Sealer

	mu   sync.Mutex
	r    record
	pins *trust.Book
}

// Label names the key of the seals, which is derived from the home's key.
const Label = "installed plugins"

// ErrGone: only one of the two files exists.
var ErrGone = errors.New("is not there")

// Open reads the record, and removes what the record does not name. A missing
// folder counts as empty. If something else wrote the record or the pins, the error
// is atomicfile.ErrUnsealed; if only one of the two exists, it is ErrGone.
func Open(dir string, key atomicfile.Sealer) (*Folder, error) {
	f, err := load(dir, key)
	if err != nil {
		return nil, err
	}
	return f, f.sweep()
}

// load reads the folder. Without a key it does not check the seals.
func load(dir string, key atomicfile.Sealer) (*Folder, error) {
	f := &Folder{dir: dir, key: key}
	if err := f.readRecord(); err != nil {
		return nil, err
	}
	var err error
	if f.pins, err = trust.OpenBook(filepath.Join(dir, pinsFile), key); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, pinsFile)); f.r.Pinned && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("installed plugins: %s %w", pinsFile, ErrGone)
	}
	pins := f.pins.Pins()
	for _, e := range f.r.Plugins {
		if _, ok := pins[e.ID]; !ok {
			return nil, fmt.Errorf("installed plugins: %s %w, or does not name %s, which is installed", pinsFile, ErrGone, e.ID)
		}
	}
	return f, nil
}

// Known reports whether there is a record. A node that has seen one before can tell
// that it was removed.
func (f *Folder) Known() bool {
	_, err := os.Lstat(filepath.Join(f.dir, recordFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// Home returns what an installation is checked against. taken are ids that the
// wearer can't install.
func (f *Folder) Home(taken []string) trust.Home {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := trust.Home{Pins: f.pins.Pins(), Agreed: map[string][]string{}, Taken: taken}
	for _, e := range f.r.Plugins {
		h.Agreed[e.ID] = e.Agreed
	}
	return h
}

// Pin returns what Unpin would forget, with its errors.
func (f *Folder) Pin(id string) (trust.Pin, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pin(id)
}

func (f *Folder) pin(id string) (trust.Pin, error) {
	if f.find(id) >= 0 {
		return trust.Pin{}, fmt.Errorf("%w: %s is installed: remove it first", ErrRefused, id)
	}
	p, ok := f.pins.Pins()[id]
	if !ok {
		return p, fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound)
	}
	return p, nil
}

// Unpin forgets the key that signed a plugin, so that another key may sign it. The
// plugin must not be installed.
func (f *Folder) Unpin(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.pin(id); err != nil {
		return err
	}
	return f.pins.Forget(id)
}

// sweep removes folders that the record never named, or no longer names.
func (f *Folder) sweep() error {
	all, err := Folders(f.dir)
	if err != nil {
		return fmt.Errorf("installed plugins: %w", err)
	}
	for _, dir := range all {
		if slices.ContainsFunc(f.r.Plugins, func(e Entry) bool { return e.Folder == filepath.Base(dir) }) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("installed plugins: %w", err)
		}
	}
	return nil
}

// Folders returns the paths of the versions' folders, whether the record names them
// or not. All other files in the folder are the wearer's own.
func Folders(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found []string
	for _, d := range all {
		if d.IsDir() && folderPattern.MatchString(d.Name()) {
			found = append(found, filepath.Join(dir, d.Name()))
		}
	}
	return found, err
}

// List returns the installed plugins, by id.
func (f *Folder) List() []Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.r.Plugins)
}

// Get returns one of them, or memory.ErrNotFound.
func (f *Folder) Get(id string) (Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(id); i >= 0 {
		return f.r.Plugins[i], nil
	}
	return Entry{}, fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound)
}

func (f *Folder) find(id string) int {
	return slices.IndexFunc(f.r.Plugins, func(e Entry) bool { return e.ID == id })
}

// ManifestOf reads an installed plugin's manifest again, and checks it and its
// signature as at the installation. It refuses a manifest that was changed on disk.
func (f *Folder) ManifestOf(e Entry) (m wasm.Manifest, signature []byte, err error) {
	b, err := f.read(e, manifestFile, e.Manifest)
	if err != nil {
		return m, nil, err
	}
	signature, err = os.ReadFile(filepath.Join(f.dir, e.Folder, signatureFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, nil, fmt.Errorf("plugin %s: %w", e.ID, err)
	}
	m, err = parse(b, signature)
	if err == nil && m.ID != e.ID {
		err = fmt.Errorf("plugin %s: its manifest is of %s", e.ID, m.ID)
	}
	return m, signature, err
}

// RawManifest returns the manifest's text.
func (f *Folder) RawManifest(e Entry) ([]byte, error) { return f.read(e, manifestFile, e.Manifest) }

// Module reads an installed plugin's module again.
func (f *Folder) Module(e Entry) ([]byte, error) { return f.read(e, moduleFile, e.Module) }

func (f *Folder) read(e Entry, name, sum string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(f.dir, e.Folder, name))
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", e.ID, err)
	}
	if hash(b) != sum {
		return nil, fmt.Errorf("plugin %s: %s: %w: it has changed since it was installed", e.ID, name, wasm.ErrHash)
	}
	return b, nil
}

// Put installs a version, or replaces the existing one. was is the entry of that
// one: its files stay until Drop, so that a running call still finds them.
func (f *Folder) Put(p Package, m *wasm.Manifest, now time.Time) (e Entry, was *Entry, err error) {
	e = Entry{ID: m.ID, Manifest: hash(p.Manifest), Module: hash(p.Module), Publisher: m.Publisher,
		Agreed: trust.Asks(m), Settings: p.Settings, Installed: now.UTC()}
	e.Folder = folderName(e)
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := filepath.Join(f.dir, e.Folder)
	files := map[string][]byte{manifestFile: p.Manifest, moduleFile: p.Module}
	if p.Signature != nil {
		files[signatureFile] = p.Signature
	}
	if err := atomicfile.MkdirAll(dir); err != nil {
		return e, nil, fmt.Errorf("install plugin %s: %w", m.ID, err)
	}
	for name, b := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), b); err != nil {
			return e, nil, fmt.Errorf("install plugin %s: %w", m.ID, err)
		}
	}
	if err := atomicfile.SyncDir(f.dir); err != nil { // the folder contains the version's folder
		return e, nil, fmt.Errorf("install plugin %s: %w", m.ID, err)
	}
	if len(f.pins.Pins()) == 0 { // pins without a record are refused
		if err := f.save(f.r); err != nil {
			return e, nil, err
		}
	}
	// The pin is written first. After a crash between the two writes the key is
	// known and the plugin is missing. The other way round, any key would be
	// accepted.
	if err := f.pins.Put(m.ID, trust.Pin{Publisher: m.Publisher, Version: m.Version, SHA256: e.Module}); err != nil {
		return e, nil, fmt.Errorf("install plugin %s: %w", m.ID, err)
	}
	next := f.clone()
	if i := f.find(m.ID); i >= 0 {
		old := next.Plugins[i]
		was, e.Off = &old, old.Off
		if e.Settings == nil {
			e.Settings = old.Settings
		}
		next.Plugins[i] = e
	} else {
		next.Plugins = append(next.Plugins, e)
		sorting.Sort(next.Plugins, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	}
	return e, was, f.save(next)
}

// Drop removes the files of a version that no entry names any more.
func (f *Folder) Drop(e Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.r.Plugins, func(have Entry) bool { return have.Folder == e.Folder }) {
		return nil
	}
	return os.RemoveAll(filepath.Join(f.dir, e.Folder))
}

// Remove removes a plugin from the record, or returns memory.ErrNotFound. Its files
// stay until Drop.
func (f *Folder) Remove(id string) (Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.find(id)
	if i < 0 {
		return Entry{}, fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound)
	}
	e, next := f.r.Plugins[i], f.clone()
	next.Plugins = slices.Delete(next.Plugins, i, i+1)
	return e, f.save(next)
}

// Set records whether a plugin runs: off is the wearer's choice, faulted comes from
// its own faults. For a built-in plugin only off is recorded.
func (f *Folder) Set(id string, off, faulted bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.clone()
	if i := f.find(id); i >= 0 {
		next.Plugins[i].Off, next.Plugins[i].Faulted = off, faulted
		return f.save(next)
	}
	next.Off = slices.DeleteFunc(next.Off, func(s string) bool { return s == id })
	if off {
		next.Off = append(next.Off, id)
	}
	if slices.Equal(next.Off, f.r.Off) {
		return nil
	}
	return f.save(next)
}

// IsOff reports whether the wearer turned a built-in plugin off.
func (f *Folder) IsOff(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.r.Off, id)
}

// LooseModules returns the modules that were copied into the folder by hand, each with a
// manifest of the same name.
func (f *Folder) LooseModules() ([]string, error) {
	return filepath.Glob(filepath.Join(f.dir, "*.wasm"))
}

func folderName(e Entry) string {
	sum := sha256.Sum256([]byte(e.ID + "\x00" + e.Manifest + e.Module))
	return strings.ReplaceAll(e.ID, "/", "+") + "@" + hex.EncodeToString(sum[:8])
}

// folderPattern matches the results of folderName.
var folderPattern = regexp.MustCompile(`^[a-z0-9_+-]+@[0-9a-f]{16}$`)

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
