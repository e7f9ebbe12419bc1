package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
)

// deviceFile holds the wearables that may speak to the node's own broker. It
// lies in the clear, because a locked node lets devices in too; of a password
// it has the argon2id hash.
const deviceFile = "devices.json"

// deviceEntry is a wearable as it is kept.
type deviceEntry struct {
	Name  string    `json:"name"`
	Hash  string    `json:"hash"`
	Added time.Time `json:"added"`
}

// deviceList is intake.Devices over a file. It is safe for concurrent use.
type deviceList struct {
	path string
	mu   sync.Mutex // guards the rest, and the file
	list []deviceEntry
	stat time.Time // of the file as it was read
}

func openDevices(home string) (*deviceList, error) {
	d := &deviceList{path: filepath.Join(home, deviceFile)}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d, d.read()
}

// read takes the file in again where it changed: a command may have written
// it while the daemon runs.
func (d *deviceList) read() error {
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		d.list = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if info.ModTime().Equal(d.stat) {
		return nil
	}
	b, err := atomicfile.ReadChecked(d.path)
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	var list []deviceEntry
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("devices: %s: %w", d.path, err)
	}
	d.list, d.stat = list, info.ModTime()
	return nil
}

func (d *deviceList) write() error {
	b, err := json.MarshalIndent(d.list, "", "  ")
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := atomicfile.WriteChecked(d.path, b); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if info, err := os.Stat(d.path); err == nil {
		d.stat = info.ModTime()
	}
	return nil
}

// Lookup implements intake.Devices.
func (d *deviceList) Lookup(name string) (hash string, enabled bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read() != nil {
		return "", false
	}
	for _, e := range d.list {
		if e.Name == name {
			return e.Hash, true
		}
	}
	return "", false
}

func (d *deviceList) add(e deviceEntry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.read(); err != nil {
		return err
	}
	if slices.ContainsFunc(d.list, func(o deviceEntry) bool { return o.Name == e.Name }) {
		return fmt.Errorf("%w: there is a device %q already", serve.ErrConflict, e.Name)
	}
	d.list = append(d.list, e)
	return d.write()
}

func (d *deviceList) remove(name string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.read(); err != nil {
		return false, err
	}
	n := len(d.list)
	d.list = slices.DeleteFunc(d.list, func(e deviceEntry) bool { return e.Name == name })
	if len(d.list) == n {
		return false, nil
	}
	return true, d.write()
}

func (d *deviceList) all() ([]deviceEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.read()
	return slices.Clone(d.list), err
}

// names gives those of all.
func (d *deviceList) names() ([]string, error) {
	all, err := d.all()
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].Name
	}
	return out, err
}
