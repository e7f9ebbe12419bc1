package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

const (
	keyFileHeader  = 28 // KEYREGISTRY: IV, and a known text encrypted with it
	manifestHeader = 8  // MANIFEST: magic and version
)

// Check checks the files in dir before Badger opens them. A changed byte in one
// of them can end the process in one of Badger's goroutines, make Badger
// allocate gigabytes, or make it delete tables that the list no longer names.
// Check returns a [Damage] for the first file that is not as it was written. A
// folder without files is sound. Check reads every file completely, as Badger
// does. The folder copies may hold a copy of the key file. Check returns
// [ErrKey] if opt has the wrong key.
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
		return &Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: "was altered: its copy can be opened, but it can't"}
	}
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) {
		return fmt.Errorf("%s %w, or its %s was altered", dir, ErrKey, badger.KeyRegistryFileName)
	}
	if err != nil {
		return &Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: err.Error()}
	}
	for _, id := range slices.Sorted(maps.Keys(manifest.Tables)) {
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

// readManifest reads the list of tables. It must exist if there are other
// files, because Badger deletes tables that it does not name, as leftovers of a
// crash.
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

// cutZeros removes zeros from the end of a file with lengths. A power failure
// leaves them if the file's new size reached the disk and the bytes did not.
// Badger would read them as an entry whose key has no IV, and end the process.
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

// checkLengths checks a file that has, after a header, records of: a length, a
// CRC32C (4 bytes each, big-endian), and as many bytes as the length says.
// Badger takes a length beyond the end of the file for the last write before a
// crash, and ignores the rest. That is right only if the checksum does not
// match a shorter length.
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
			return altered // this is the first entry of a new file; it is empty and was written in one step
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

// CutLogs cuts each log of a memory table in dir behind its last whole transaction, and
// removes those without any, as Badger does when it opens them for writing. Badger opens
// no log for reading alone that has zeros or a part of a transaction at its end, as a
// killed process leaves it. This takes no room on the disk. A log without a damaged
// entry loses nothing that Badger would read; see [Check].
func CutLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	for _, path := range logs {
		p, err := os.ReadFile(path)
		switch end := wholeEnd(p); {
		case err != nil:
		case end <= logHeader:
			err = os.Remove(path)
		case end < len(p):
			err = os.Truncate(path, int64(end))
		}
		if err != nil {
			return fmt.Errorf("badger: %w", err)
		}
	}
	return nil
}

// RemoveLogsWithoutHeader removes logs without a header. A power failure while a log is made
// can leave only its name, and then Badger can't open the database.
func RemoveLogsWithoutHeader(dir string) error {
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
