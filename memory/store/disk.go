package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// Badger is configured to be small: the whole process takes 20 to 30 MB of
// memory. Values always stay below the value threshold (see maxValue), so the
// value log is empty, and nothing in it has to be collected or forgotten.
const (
	memTable       = 4 << 20
	cache          = 4 << 20
	smallCache     = 2 << 20 // of blocks
	valueLog       = 1 << 20 // the least that Badger accepts; nothing is written to it
	valueThreshold = 512 << 10

	// indexes is for the index of each table, which take some 2.5 % of the records. Where
	// one is missing, Badger decrypts the whole index for each step of a search: with 2 MB
	// of room that held 39 MB at the peak of a first sync.
	indexes = 4 << 20

	// baseTable is the size of tables on the lowest level in use; those of the level
	// below it are twice as large. Badger builds a table in four to eight times its
	// size: with its own 2 MB the builders held 100 MB during a first sync.
	baseTable = 512 << 10
	// Badger builds up to 13 tables at a time, which wait for the disk.
	smallTable = 128 << 10
)

// openBadger opens or makes a database in dir, encrypted with the disk key. Without
// compactors its tables stay as they are. If another process may have written files
// there, [checkFiles] comes first.
func openBadger(dir string, key []byte, small, compactors bool, log *slog.Logger) (*badger.DB, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	opt := sized(badgerOptions(dir, key), small).WithLogger(badgerLog{log})
	if !compactors {
		opt = opt.WithNumCompactors(0)
	}
	if err := badgerfile.RemoveLogsWithoutHeader(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return openUnder(dir, opt)
}

// sized sets the options for a database that uses less memory, if small is set.
func sized(opt badger.Options, small bool) badger.Options {
	if small {
		opt = opt.WithNumMemtables(1).WithBaseTableSize(smallTable).WithBlockCacheSize(smallCache)
	}
	return opt
}

func openUnder(dir string, opt badger.Options) (*badger.DB, error) {
	db, err := badger.Open(opt)
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) {
		return nil, fmt.Errorf("store: %s is under another key: %w", dir, memory.ErrLocked)
	}
	if err != nil {
		return nil, openError(dir, err)
	}
	return db, nil
}

// openError returns Badger's error without its repetitions, if its cause is that dir can't be written:
// Badger wraps no causes.
func openError(dir string, err error) error {
	for _, cause := range []error{fs.ErrPermission, syscall.EROFS} {
		if strings.Contains(err.Error(), cause.Error()) {
			err = cause
		}
	}
	return fmt.Errorf("store: open %s: %w", dir, err)
}

// checkFiles checks the files in dir before Badger opens them. It reads all of them, and
// returns a [Damage] if one was altered. A process does so once. Files that it has written
// itself since need no check when it opens the store again.
func checkFiles(dir string, key []byte) error {
	return fileError(badgerfile.Check(dir, filepath.Join(filepath.Dir(dir), spareName), badgerOptions(dir, key)))
}

// fileError turns an error about a file that was altered, or has another key,
// into one of the store's errors.
func fileError(err error) error {
	if d, ok := errors.AsType[*badgerfile.Damage](err); ok {
		return fileDamage(d)
	}
	switch {
	case errors.Is(err, badgerfile.ErrKey):
		return fmt.Errorf("store: %w: %w", err, memory.ErrLocked)
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func badgerOptions(dir string, key []byte) badger.Options {
	return badger.DefaultOptions(dir).
		WithMetricsEnabled(false).
		WithEncryptionKey(key).
		WithSyncWrites(true).
		WithDetectConflicts(false). // there is only one writer
		WithBypassLockGuard(true).  // the store has its own lock, which also covers blobs and anchor
		WithNumCompactors(2).
		WithNumMemtables(2).
		WithMemTableSize(memTable).
		WithBaseTableSize(baseTable).
		WithBlockCacheSize(cache).
		WithIndexCacheSize(indexes).
		WithValueLogFileSize(valueLog).
		WithValueThreshold(valueThreshold).
		WithCompression(options.None).                    // sealed values can't be compressed
		WithChecksumVerificationMode(options.OnBlockRead) // Open has read every table completely
}

// badgerLog passes on Badger's messages, which contain files, sizes and levels,
// but no values.
type badgerLog struct{ log *slog.Logger }

func (l badgerLog) Errorf(f string, a ...any) {
	level := slog.LevelError
	if strings.HasPrefix(f, "Got error: %v for id") || strings.HasPrefix(f, "Received err: %v") { // the caller gets these, too
		level = slog.LevelDebug
	}
	l.write(level, f, a)
}
func (l badgerLog) Warningf(f string, a ...any) {
	level := slog.LevelWarn
	if strings.Contains(f, "might be too small") || strings.Contains(f, "life expectancy") { // they are small on purpose
		level = slog.LevelDebug
	}
	l.write(level, f, a)
}
func (l badgerLog) Infof(f string, a ...any)  { l.write(slog.LevelDebug, f, a) }
func (l badgerLog) Debugf(f string, a ...any) { l.write(slog.LevelDebug, f, a) }

func (l badgerLog) write(level slog.Level, f string, a []any) {
	if l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, "badger", "said", fmt.Sprintf(f, a...))
	}
}
