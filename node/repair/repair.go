// Package repair checks a home that no process has open, reports what is damaged,
// and repairs what it can from the rest of the home. Repairs from the relay are made
// by the node, once it is open again.
//
// The words:
//
// A finding is one damaged file or record. What is quarantined is moved into a folder
// below broken/, under its path in the home; nothing is deleted. What is lost can't
// be restored from this disk.
package repair

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/statefile"
)

// Finding is one damaged file or record.
type Finding struct {
	Place  string // path in the home, or a record in words
	What   string // what is wrong
	Done   string // how it was repaired; empty: not yet
	Lost   bool   // it can't be restored from this disk
	damage *store.Damage
}

// Record returns the damage of a record of the node's own store, or nil.
func (f *Finding) Record() *store.Damage { return f.damage }

// Home is a folder to check. Only Dir, Plugins and Unlock are needed for a check.
type Home struct {
	Dir     string
	Plugins string                                          // folder of the plugins, in Dir or elsewhere
	Unlock  func(*keyring.Locked) (keyring.Unlocker, error) // returns the way to open the keys; a nil Unlocker: there is none
	Store   store.Options                                   // of the node's store, without folder and key
	Cursor  string                                          // name of the record that says how far the journal was processed
	Restart func(*store.Tx) error                           // makes the exchange with the relay begin from its first delta

	// For the envelope store; nil: there is none. Envelopes reports what is damaged
	// in it. Refill records that it has to be filled from the folder aside, which is
	// a path in the home, and makes the exchange begin anew. Refilling returns that
	// folder until it is done.
	Envelopes func(ctx context.Context, genesis []byte) ([]error, error)
	Refill    func(tx *store.Tx, aside string) error
	Refilling func(tx *store.Tx) (aside string, err error)
}

// brokenDir is the folder where things are put aside.
const brokenDir = "broken"

// visit is one check of a home. It repairs if quarantineDir is set.
type visit struct {
	Home
	quarantineDir string // folder below broken/; empty: only check, and change nothing
	found         []Finding

	elsewhere string // the same for plugins outside the home; empty: nothing was put aside yet
	ring      *keyring.Ring
}

// Inspect returns what is damaged in a home, and changes nothing. If the keys can't be
// opened, that is a finding, and what needs the keys is not checked.
func Inspect(ctx context.Context, h Home) ([]Finding, error) {
	v := visit{Home: h}
	return v.found, v.all(ctx, &v.found)
}

// Result is the result of a repair.
type Result struct {
	Findings []Finding
	Aside    string // folder of what was put aside; empty if nothing was
	// For the node's store, if it was rebuilt.
	Salvaged bool
	Blobs    []memory.ID // blobs of memories whose files are lost
}

// Repair repairs what it can. It may be called again after a crash.
func Repair(ctx context.Context, h Home, now time.Time) (Result, error) {
	v := visit{Home: h, quarantineDir: quarantineAt(h.Dir, now)}
	r := Result{}
	err := v.repair(ctx, &r)
	r.Findings = v.found
	r.Aside = v.elsewhere
	if _, e := os.Stat(v.quarantineDir); e == nil {
		r.Aside = v.quarantineDir
	}
	return r, err
}

func (v *visit) find(place, done string, lost bool, format string, args ...any) {
	v.found = append(v.found, Finding{Place: place, What: fmt.Sprintf(format, args...), Done: done, Lost: lost})
}

// within returns a path relative to the home, or the path itself if it is outside.
func (v *visit) within(path string) string {
	if rel, err := filepath.Rel(v.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// about returns an error's text without the path, which the finding has already.
func about(err error, path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(err.Error(), path+": ", ""), "damaged: ", ""), ": ")
}

// quarantine moves a file or folder away.
func (v *visit) quarantine(path string) error { return moveInto(v.quarantineDir, v.within(path), path) }

// quarantineAt returns the folder of a home for what is quarantined at this time.
func quarantineAt(home string, now time.Time) string {
	return filepath.Join(home, brokenDir, now.UTC().Format("20060102T150405.000Z"))
}

// moveInto moves a file or folder below dir, under a name with slashes.
func moveInto(dir, name, path string) error {
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := atomicfile.MkdirAll(filepath.Dir(to)); err != nil {
		return fmt.Errorf("put aside: %w", err)
	}
	if err := os.Rename(path, to); err != nil {
		return fmt.Errorf("put aside: %w", err)
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), atomicfile.SyncDir(filepath.Dir(to)))
}

// all does all checks.
func (v *visit) all(ctx context.Context, out *[]Finding) error {
	defer func() { *out = v.found }()
	keys := filepath.Join(v.Dir, "keys")
	for _, err := range keyring.Check(keys) {
		v.find("keys", "", false, "%s", strings.ReplaceAll(err.Error(), v.Dir+string(filepath.Separator), ""))
	}
	err := v.open(ctx)
	if v.ring != nil {
		defer v.ring.Close()
	}
	v.checked()
	v.plugins()
	if err != nil || v.ring == nil {
		return err
	}
	if err := v.lookStore(ctx); err != nil {
		return err
	}
	if err := v.lookEnvelopes(ctx); err != nil {
		return err
	}
	return v.lookJournal(ctx)
}

// open unlocks the ring, or reports why it can't. It returns an error only for a
// reason outside the home.
func (v *visit) open(ctx context.Context) error {
	l, err := keyring.Open(filepath.Join(v.Dir, "keys"))
	var u keyring.Unlocker
	if err == nil {
		if u, err = v.Unlock(l); err != nil {
			return err
		}
		if u == nil {
			v.find("keys", "", false, "the keys are not open: what is sealed with them was not checked")
			return nil
		}
		v.ring, err = l.Unlock(ctx, u)
	}
	switch {
	case errors.Is(err, keyring.ErrWrongPassphrase), errors.Is(err, fs.ErrNotExist) && l != nil:
		return err
	case err != nil && len(v.found) == 0:
		v.find("keys", "", true, "%s", strings.ReplaceAll(err.Error(), v.Dir+string(filepath.Separator), ""))
	}
	return ctx.Err()
}

// stateFiles are checked files of the home, each with the advice for when it can't
// be restored.
var stateFiles = map[string]string{
	"devices.json": "give each wearable new credentials: locket wearable remove, locket wearable add",
	"zones.json":   "set the private zones again, then locket resume: nothing is taken in before",
	"pause.json":   "nothing is taken in until locket resume",
}

// checked checks the files that are signed and not sealed.
func (v *visit) checked() {
	for _, name := range statefile.Names {
		path := filepath.Join(v.Dir, name)
		if err := v.checkState(path); err != nil {
			v.find(name, "", false, "%s", about(err, path))
		}
	}
}

// checkState checks a state file and, if the keys are open, its signature.
func (v *visit) checkState(path string) error {
	var device ed25519.PublicKey
	if v.ring != nil {
		device = v.ring.Public().Device
	}
	b, signed, err := statefile.Read(path, device)
	if err == nil && len(b) > 0 {
		var any any
		err = json.Unmarshal(b, &any)
	}
	if err == nil && v.ring != nil && !signed {
		err = statefile.ErrUnsigned
	}
	return err
}

// pluginKey returns the key that seals the plugins' record, or nil while the keys
// are closed.
func (v *visit) pluginKey() atomicfile.Sealer {
	if v.ring == nil {
		return nil
	}
	return v.ring.StoreKey().Derive(installed.Label)
}

func (v *visit) plugins() {
	for _, p := range installed.Check(v.Plugins, v.pluginKey()) {
		v.find(v.pluginPlace(p.Name), "", false, "%v", p.Err)
	}
}

// pluginPlace returns the name of a file or plugin in the plugins' folder. If that
// folder is outside the home, it is the path.
func (v *visit) pluginPlace(name string) string {
	return v.within(filepath.Join(v.Plugins, filepath.FromSlash(name)))
}
