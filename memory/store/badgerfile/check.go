package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

const (
	keyFileHeader  = 28 // KEYREGISTRY: IV, and a known text under it
	manifestHeader = 8  // MANIFEST: magic and version
)

// Check looks at the files in dir before Badger does: an altered byte in
// one of them ends the process in Badger's own goroutines, makes it ask for
// gigabytes, or makes it delete tables that it does not see named any more. It
// names the first that is not as it was written, as a [Damage]. A folder
// without files is in order. It reads everything, as Badger would. In the folder
// copies there may be a copy of the key file. [ErrKey]: opt has another key.
func Check(dir, copies string, opt badger.Options) error {
	manifest, err := readManifest(dir, opt)
	if err != nil {
		return err
	}
	keyPath := filepath.Join(dir, badger.KeyRegistryFileName)
	if err := cutZeros(keyPath, keyFileHeader); err != nil {
		return err
	}
	if err := checkLengths(keyPath, "key file", keyFileHeader); err != nil {
		return err
	}
	keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: opt.EncryptionKey})
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) && copyOpens(copies, opt.EncryptionKey) {
		return &Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: "was altered: its copy opens, and it does not"}
	}
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) {
		return fmt.Errorf("%s %w, or its %s was altered", dir, ErrKey, badger.KeyRegistryFileName)
	}
	if err != nil {
		return &Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: err.Error()}
	}
	ids := make([]uint64, 0, len(manifest.Tables))
	for id := range manifest.Tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		key, err := keys.DataKey(manifest.Tables[id].KeyID)
		if err != nil {
			return &Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: fmt.Sprintf("does not hold the key of table %d", id)}
		}
		if err := checkTable(dir, id, key); err != nil {
			return err
		}
	}
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		logs, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("badger: %w", err)
		}
		for _, path := range logs {
			if err := checkLog(path, keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// readManifest reads which tables there are. Files that it does not name are
// what a crash left, and Badger deletes them: so it must be there with them.
func readManifest(dir string, opt badger.Options) (badger.Manifest, error) {
	bad := &Damage{Kind: "table list", File: badger.ManifestFilename}
	path := filepath.Join(dir, badger.ManifestFilename)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		if err == nil && len(tables) > 0 {
			bad.What = "is missing"
			return badger.Manifest{}, bad
		}
		return badger.Manifest{}, err
	}
	if err != nil {
		return badger.Manifest{}, fmt.Errorf("badger: %w", err)
	}
	defer f.Close()
	if err := checkLengths(path, bad.Kind, manifestHeader); err != nil {
		return badger.Manifest{}, err
	}
	m, _, err := badger.ReplayManifestFile(f, opt.ExternalMagicVersion, opt)
	if err != nil {
		bad.What, _, _ = strings.Cut(err.Error(), "\n")
		return badger.Manifest{}, bad
	}
	return m, nil
}

// cutZeros takes zeros off the end of a file of lengths: what a power cut leaves
// of an entry of which the size had reached the disk, and the bytes had not.
// Badger takes them for an entry, of a key without an IV, and ends the process.
func cutZeros(path string, header int) error {
	p, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	at := header
	for at+8 <= len(p) {
		size := uint64(binary.BigEndian.Uint32(p[at:]))
		if size == 0 || size > uint64(len(p)-at-8) {
			break
		}
		at += 8 + int(size)
	}
	if at >= len(p) || len(bytes.Trim(p[at:], "\x00")) > 0 {
		return nil
	}
	if err := os.Truncate(path, int64(at)); err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	return nil
}

// checkLengths looks through a file of, after a header, a length, a CRC32C
// (4 bytes each, big-endian) and as many bytes as the length says. Badger takes
// a length that reaches beyond the end for the last write before a crash, and
// ignores what follows. It is that only if the checksum fits no shorter length.
func checkLengths(path, what string, header int) error {
	p, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	for at := header; at+8 <= len(p); {
		size, want := uint64(binary.BigEndian.Uint32(p[at:])), binary.BigEndian.Uint32(p[at+4:])
		rest := p[at+8:]
		if size <= uint64(len(rest)) {
			at += 8 + int(size)
			continue
		}
		altered := &Damage{Kind: what, File: filepath.Base(path), What: fmt.Sprintf("its length at byte %d was altered", at)}
		if at == header && want == 0 {
			return altered // the first entry of a new file: empty, and put in place whole
		}
		sum := uint32(0)
		for n := range rest {
			if sum = crc32.Update(sum, y.CastagnoliCrcTable, rest[n:n+1]); sum == want {
				return altered
			}
		}
		return nil
	}
	return nil
}

// DropUnborn removes logs without a header. A power cut in the moment in which a log
// is made leaves its name alone, and Badger then opens nothing.
func DropUnborn(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	values, err2 := filepath.Glob(filepath.Join(dir, "*.vlog"))
	if err := errors.Join(err, err2); err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	for _, path := range append(logs, values...) {
		info, err := os.Stat(path)
		if err == nil && info.Size() < logHeader {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("badger: %w", err)
		}
	}
	return nil
}
