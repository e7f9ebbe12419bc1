package carry

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// stateVersion is the version of the file's format.
const stateVersion = 1

// State is stored across restarts, in a JSON file that is replaced as a whole and synced:
//
//	version   1
//	boot      of the latest start; each start takes the next, so that no
//	          (boot, seq) is ever used twice
//
// The parts of the family stand beside them, by name. State is used by one goroutine at a time.
type State struct {
	path  string
	boot  uint64
	parts map[string]json.RawMessage
}

// StoredBit separates the boots under which stored things are published from those of starts. It is
// below 2^53, as whole numbers in JSON have to be.
const StoredBit = 1 << 52

// StoredBoot makes a random boot for stored things.
func StoredBoot() uint64 { return random()>>12 | StoredBit }

// OpenState reads a state file. If there is none, it begins a new state.
func OpenState(path string) (*State, error) {
	s := &State{path: path, parts: map[string]json.RawMessage{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.boot = random() >> 16 // 48 bits: starts have room to count up
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if err := json.Unmarshal(b, &s.parts); err != nil {
		return nil, fmt.Errorf("state: %s: %w", path, err)
	}
	version := 0
	for name, v := range map[string]any{"version": &version, "boot": &s.boot} {
		if err := s.Part(name, v); err != nil {
			return nil, err
		}
	}
	if version != stateVersion {
		return nil, fmt.Errorf("state: %s: version %d, want %d", path, version, stateVersion)
	}
	return s, nil
}

// Begin takes the boot of this start, and stores it on disk before it returns.
func (s *State) Begin() (boot uint64, err error) {
	s.boot++
	s.parts["version"] = json.RawMessage("1")
	return s.boot, s.Keep("boot", s.boot)
}

// Part reads a part into v, and leaves v unchanged if there is none.
func (s *State) Part(name string, v any) error {
	b, ok := s.parts[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("state: %s: %s: %w", s.path, name, err)
	}
	return nil
}

// Stored reads a part into v. boot points to the boot in v under which stored things are published.
// If it is not set yet, Stored sets it and stores it on disk before it returns.
func (s *State) Stored(name string, v any, boot *uint64) error {
	if err := s.Part(name, v); err != nil || *boot != 0 {
		return err
	}
	*boot = StoredBoot()
	return s.Keep(name, v)
}

// Keep stores a part on disk.
func (s *State) Keep(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("state: %s: %w", name, err)
	}
	s.parts[name] = b
	if b, err = json.Marshal(s.parts); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	if err == nil {
		err = atomicfile.Write(s.path, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}
