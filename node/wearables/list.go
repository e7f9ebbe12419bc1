// Package wearables stores the list of wearables that may connect to a node's own broker, and
// reports on them.
package wearables

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/statefile"
)

// File has the wearables that may connect to the node's own broker. It is signed but not
// sealed, because a locked node lets wearables connect, too. It has only the argon2id hashes of
// passwords.
const File = "devices.json"

// entry is a wearable in the file.
type entry struct {
	Name  string    `json:"name"`
	Hash  string    `json:"hash"`
	Added time.Time `json:"added"`
	// Replay: 'locket replay' added it for the time that it runs. If it is still there, that
	// command was killed, and nobody else knows its password.
	Replay bool `json:"replay,omitempty"`
	intake.Topics
}

// List has the wearables that may connect to the node. It is an intake.Devices backed by a
// file, and safe for concurrent use.
type List struct {
	path   string
	key    ed25519.PublicKey // of this device, which signs the file
	mu     sync.Mutex        // guards the fields below, and the file
	list   []entry
	signed bool      // false: no wearable may connect
	stat   time.Time // modification time of the file when it was read
}

// OpenList reads the list of a home; key is the device's key.
func OpenList(home string, key ed25519.PublicKey) (*List, error) {
	d := &List{path: filepath.Join(home, File), key: key}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d, d.read()
}

// read reads the file again if it has changed: a command may have written it while the daemon
// runs.
func (d *List) read() error {
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		d.list, d.signed, d.stat = nil, false, time.Time{}
		return nil
	}
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if info.ModTime().Equal(d.stat) {
		return nil
	}
	b, signed, err := statefile.Read(d.path, d.key)
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	var list []entry
	if len(b) > 0 { // otherwise it is empty and not signed
		if err := json.Unmarshal(b, &list); err != nil {
			return fmt.Errorf("devices: %w: %s: %v", memory.ErrDamaged, d.path, err)
		}
	}
	d.list, d.signed, d.stat = list, signed, info.ModTime()
	return nil
}

// ReadAgain reads the file, even if it does not seem to have changed.
func (d *List) ReadAgain() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stat = time.Time{}
	return d.read()
}

// Signed reports whether an open node of this home wrote the file.
func (d *List) Signed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.signed
}

func (d *List) write(ring *keyring.Ring) error {
	b, err := json.MarshalIndent(serve.NonNil(d.list), "", "  ")
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := statefile.Write(d.path, b, ring); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	d.signed = true
	if info, err := os.Stat(d.path); err == nil {
		d.stat = info.ModTime()
	}
	return nil
}

// Lookup implements intake.Devices.
func (d *List) Lookup(name string) (hash string, enabled bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read() != nil || !d.signed {
		return "", false
	}
	for _, e := range d.list {
		if e.Name == name {
			return e.Hash, true
		}
	}
	return "", false
}

// Topics implements intake.TopicGranter.
func (d *List) Topics(name string) intake.Topics {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read() != nil || !d.signed {
		return intake.Topics{}
	}
	for i := range d.list {
		if d.list[i].Name == name {
			return d.list[i].Topics
		}
	}
	return intake.Topics{}
}

// add adds a wearable. It replaces a login of the same name that a replay has left, unless that
// is connected.
func (d *List) add(e entry, connected bool, ring *keyring.Ring) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.known(); err != nil {
		return err
	}
	i := slices.IndexFunc(d.list, func(o entry) bool { return o.Name == e.Name })
	switch {
	case i < 0:
		d.list = append(d.list, e)
	case d.list[i].Replay && !connected:
		d.list[i] = e
	default:
		return fmt.Errorf("%w: there is a device %q already", serve.ErrConflict, e.Name)
	}
	return d.write(ring)
}

func (d *List) remove(name string, ring *keyring.Ring) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.known(); err != nil {
		return false, err
	}
	n := len(d.list)
	d.list = slices.DeleteFunc(d.list, func(e entry) bool { return e.Name == name })
	if len(d.list) == n {
		return false, nil
	}
	return true, d.write(ring)
}

func (d *List) all() ([]entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.read()
	return slices.Clone(d.list), err
}

// known reads the list before a change. A list that something else wrote or removed must not be
// signed. The caller holds mu.
func (d *List) known() error {
	if err := d.read(); err != nil {
		return err
	}
	if !d.signed {
		return fmt.Errorf("devices: %s: %w: lock the node and unlock it, which puts back what was there", d.path, statefile.ErrUnsigned)
	}
	return nil
}

// Names returns the names of all wearables.
func (d *List) Names() ([]string, error) {
	all, err := d.all()
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].Name
	}
	return out, err
}
